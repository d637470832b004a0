#include <fmt/format.h>

#include <algorithm>

#include "addons/papers/app/reproduce/claim_runs.h"
#include "app/plot/plot.h"
#include "app/plot/plot_axis.h"
#include "training/experiments/table.h"
#include "training/io/codec.h"

namespace normscope::reproduce {
namespace {

using Json = nlohmann::json;

std::string capital(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// Our usual setting, of every claim whose `setting` states no other.
constexpr const char* kUsualSetting =
    "decoders of width 64 on generated sentences, batches of 16 × 64 symbols, Adam with β = (0.9, 0.98), Xavier's "
    "initialisation, no warm-up, a constant rate (behind a warm-up too), no dropout, label smoothing or weight decay";

std::string state_of(const CheckResult& checked) {
  return verdict_of(checked) + (checked.why.empty() ? "" : ": " + checked.why);
}

/// "met: 12 layers, at which Post-LN fails. Here it does."
std::string regime_text(const Claim& claim) {
  return fmt::format("{}: {}. Here: {}.", to_string(claim.regime.met), claim.regime.effect,
                     claim.regime.here);
}

std::string stated_text(const Statement& stated) {
  return fmt::format("{:g}{}{}", stated.value, stated.unit.empty() ? "" : " " + stated.unit,
                     stated.read_off ? " (read off the picture)" : "");
}

Json band_json(std::optional<double> low, std::optional<double> high) {
  return {{"low", low ? Json(*low) : Json()}, {"high", high ? Json(*high) : Json()}};
}

Json check_json(const CheckResult& checked, const std::optional<Opposite>& opposite) {
  Json json = {{"measure", checked.check->measure},
               {"says", checked.check->says},
               {"band", band_json(checked.check->low, checked.check->high)},
               {"holds", checked.holds},
               {"opposite_seen", checked.opposite},
               {"verdict", to_string(checked.finding)},
               {"speed", checked.speed},
               {"why", checked.why},
               {"not_excluded", checked.not_excluded},
               {"excludes", Json::array()}};
  if (opposite) json["opposite"] = band_json(opposite->low, opposite->high);
  for (const course::Neighbour& neighbour : checked.check->excludes)
    json["excludes"].push_back(neighbour.what);
  return json;
}

Json claim_json(const Outcome& outcome) {
  const Claim& claim = *outcome.claim;
  Json json = {{"id", claim.id},
               {"paper", claim.source.paper},
               {"item", claim.source.item},
               {"version", claim.source.version},
               {"claim", claim.says},
               {"setting", claim.setting},
               {"seeds", outcome.seeds},
               {"definition", definition_of(claim, outcome.seeds)},
               {"verdict", verdict_of(outcome)},
               {"why", outcome.sentence},
               {"controls", Json::object()},
               {"numbers", Json::array()},
               {"measures", Json::object()},
               {"checks", Json::array()},
               {"curves", Json::object()}};
  if (claim.has_runs())
    json["regime"] = {
        {"effect", claim.regime.effect}, {"here", claim.regime.here}, {"met", to_string(claim.regime.met)}};
  for (const Control& control : claim.controls) json["controls"][control.run] = control.chosen;
  for (const Statement& stated : claim.numbers)
    json["numbers"].push_back({{"what", stated.what},
                               {"value", stated.value},
                               {"unit", stated.unit},
                               {"read_off", stated.read_off},
                               {"measure", stated.measure}});
  for (const course::Measure& m : claim.language.measures) {
    json["measures"][m.id] = course::to_json(m, outcome.results.measures.at(m.id));
    json["measures"][m.id]["seeds"] = outcome.results.measures.at(m.id).seeds;
  }
  for (size_t i = 0; i < outcome.checks.size(); ++i)
    json["checks"].push_back(check_json(outcome.checks[i], claim.parts[i].opposite));
  for (const auto& [id, band] : outcome.results.curves)
    json["curves"][id] = {{"x", list_json(band.x)},
                          {"mean", list_json(band.mean)},
                          {"low", list_json(band.low)},
                          {"high", list_json(band.high)}};
  return json;
}

/// Whether all its runs are known, with the time that they took.
bool is_timed(const Outcome& outcome) { return outcome.finding != Finding::Unknown && outcome.seconds > 0; }

/// The speed of a core, measuring included, over the finished runs; without any, a usual value.
double flop_a_second(const std::vector<Outcome>& outcomes) {
  constexpr double kUsual = 5e10;
  double flop = 0, seconds = 0;
  for (const Outcome& outcome : outcomes) {
    if (!is_timed(outcome)) continue;
    flop += cost_of(*outcome.claim, outcome.seeds).flop;
    seconds += outcome.seconds;
  }
  return seconds > 0 ? flop / seconds : kUsual;
}

/// The mean, and the range where the seeds differ: "1.2, 0.9 to 1.5 nats".
std::string value_text(const course::SeedValues& measured, const course::Measure& measure) {
  const std::string mean = mean_text(measured, measure);
  if (measured.values.size() < 2 || std::isnan(measured.spread.low)) return mean;
  const std::string range = course::range_text(measured.spread, measure);
  if (range == mean) return mean;
  course::Measure bare = measure;
  bare.unit.clear();
  return mean_text(measured, bare) + ", " + range;
}

/// The measurements of a check; in a claim of several parts also the text of the part, and its own verdict where the
/// parts differ.
std::string part_text(const Outcome& outcome, const CheckResult& checked) {
  // The word "speed" says its reason itself.
  const std::string why =
      checked.finding == Finding::CannotBeTold || checked.finding == Finding::Beyond ? checked.why : "";
  std::string text = checked.measure->label + ": " + value_text(checked.measured, *checked.measure);
  if (outcome.checks.size() > 1) text = checked.check->says + " " + text;
  if (outcome.finding == Finding::PartsDiffer)
    return fmt::format("{}: *{}{}{}*", text, verdict_of(checked), why.empty() ? "" : ": ", why);
  return why.empty() ? text : fmt::format("{} ({})", text, why);
}

/// Whether every number of the claim's sentence is also shown with its checks.
bool is_repeated(const Outcome& outcome) {
  if (outcome.finding == Finding::Unknown || !outcome.claim->has_runs() || outcome.finding == Finding::Beyond)
    return false;
  const std::string& text = outcome.claim->sentence(outcome.finding);
  for (size_t open = text.find('{'); open != text.npos; open = text.find('{', open + 1)) {
    const std::string name = text.substr(open + 1, text.find('}', open) - open - 1);
    if (std::ranges::none_of(outcome.checks,
                             [&](const CheckResult& checked) { return checked.measure->id == name; }))
      return false;
  }
  return true;
}

experiments::TableRow page_row(const Outcome& outcome) {
  const Claim& claim = *outcome.claim;
  std::string measured;
  for (const CheckResult& checked : outcome.checks)
    measured += (measured.empty() ? "" : "<br>") + part_text(outcome, checked);
  const char* strong = outcome.finding == Finding::Reproduced ? "**" : "";
  const std::string sentence = outcome.finding == Finding::PartsDiffer || is_repeated(outcome)
                                   ? (claim.data.empty() ? "" : claim.data + ".") + controls_text(claim)
                                   : outcome.sentence;
  std::string verdict = fmt::format("{0}{1}{0}.", strong, verdict_of(outcome));
  if (!sentence.empty()) verdict += " " + std::string(trimmed(sentence));
  return {"`" + claim.id + "`", claim.source.item, claim.says, measured, verdict};
}

/// The part of a claim's setting about our runs: `reproduce ID` and the claim's file have the paper's too.
std::string our_setting(const std::string& setting) {
  const std::string here = "Here: ";
  const size_t ours = setting.find(here), theirs = setting.find("The paper");
  if (ours == setting.npos) return setting;
  std::string text = setting.substr(ours + here.size());
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return (theirs < ours ? setting.substr(0, theirs) : "") + text;
}

/// Everything of one paper: which version of it numbers the figures, its claims as a table, then our setting of each
/// and the paper's numbers.
std::string page_section(const std::vector<Outcome>& outcomes, const std::string& paper) {
  experiments::Table table{
      {{"", ""}, {"", "where"}, {"", "the paper's claim"}, {"", "measured here"}, {"", "verdict"}}};
  std::string notes;
  std::set<std::string> versions;
  for (const Outcome& outcome : outcomes) {
    const Claim& claim = *outcome.claim;
    if (claim.source.paper != paper) continue;
    table.rows.push_back(page_row(outcome));
    versions.insert(claim.source.version);
    const std::string seeds = outcome.checks.empty()
                                  ? ""
                                  : fmt::format(", {} seed{}", outcome.seeds, outcome.seeds == 1 ? "" : "s");
    notes += fmt::format("- `{}`{}. {}", claim.id, seeds, our_setting(claim.setting));
    if (claim.has_runs()) notes += " Regime " + regime_text(claim);
    for (size_t i = 0; i < claim.numbers.size(); ++i)
      notes += fmt::format("{}{} {}", i == 0 ? " The paper's numbers: " : "; ", claim.numbers[i].what,
                           stated_text(claim.numbers[i]));
    notes += claim.numbers.empty() ? "\n" : ".\n";
  }
  return fmt::format("\n## {}\n\n{}.\n\n{}\n{}", paper, fmt::join(versions, "; "),
                     experiments::to_markdown(table), notes);
}

using namespace ui;

constexpr float kClaimWidth = 960, kNames = 300, kPanel = 280, kOurs = kNames + kPanel + 40, kRow = 24,
                kHead = 92, kPlotHeight = 380;
constexpr TextStyle kBody{Face::Sans, type::body}, kTick{Face::Sans, type::tick};

/// Places a number in a panel; all numbers of one unit share a scale.
struct Scale : plot::Extent {
  explicit Scale(float at_left) : left(at_left) {}
  float left;
  float at(double value) const {
    return left + kPanel * (high > low ? static_cast<float>((value - low) / (high - low)) : 0.5f);
  }
};

/// Paints the table of a claim. Each unit has its own scale, because only numbers of one unit compare.
class ClaimTable {
 public:
  ClaimTable(Painter& painter, const Theme& theme, const Outcome& outcome)
      : p_(painter), t_(theme), outcome_(outcome), claim_(*outcome.claim), rows_(claim_.numbers) {
    rows_.insert(rows_.end(), claim_.besides.begin(), claim_.besides.end());
  }

  /// The height.
  float draw() {
    p_.text({space::pad, 26}, {Face::Bold, type::run_name}, t_.ink,
            fmt::format("{}, {}", claim_.source.paper, claim_.source.item));
    float y = 34;
    const auto paragraph = [&](Colour colour, const std::string& text) {
      y += p_.text_wrapped({space::pad, y, kClaimWidth - 2 * space::pad, 0}, kBody, colour, text, 16);
    };
    paragraph(t_.ink, claim_.says);
    paragraph(t_.ink2, fmt::format("{}: {}", verdict_of(outcome_), outcome_.sentence));
    y = std::max(y + 12, kHead);
    if (!rows_.empty()) {
      p_.text({kNames, y}, kTick, t_.ink3, tr("the paper; hollow: read off its picture"));
      p_.text({kOurs, y}, kTick, t_.ink3,
              tr("here; line: range of {count} seed | here; line: range of {count} seeds",
                 {{"count", outcome_.seeds}}));
    }
    for (const Statement& row : rows_) {
      y += kRow;
      p_.hairline({kNames, y}, {kClaimWidth - 20, y}, t_.grid);
      p_.text_in({space::pad, y - kRow / 2, kNames - 12 - space::pad, kRow}, kBody, t_.ink2, row.what,
                 Align::Right);
      draw_paper(row, y);
      if (!row.measure.empty()) draw_ours(row, y);
    }
    return y + 24;
  }

 private:
  const course::Measure& measure_of(const Statement& row) const {
    return *claim_.language.measure(row.measure);
  }
  const course::Spread& spread_of(const Statement& row) const {
    return outcome_.results.measures.at(row.measure).spread;
  }

  /// Writes right of `end` in the left half of a panel, and left of `begin` in the right half.
  void number(const Scale& scale, double middle, double begin, double end, float y, const std::string& text) {
    const bool right = scale.at(middle) < scale.left + kPanel / 2;
    p_.text({scale.at(right ? end : begin) + (right ? 10 : -10), y + 4}, kTick, t_.ink2, text,
            right ? Align::Left : Align::Right);
  }

  void draw_paper(const Statement& row, float y) {
    if (std::isnan(row.value)) {
      p_.text({kNames, y + 4}, kTick, t_.ink3, tr("the text states no number"));
      return;
    }
    Scale scale{kNames};
    for (const Statement& other : rows_)
      if (other.unit == row.unit) scale.add(other.value);
    const Rect square = centred({scale.at(row.value), y}, 9, 9);
    p_.fill(square, row.read_off ? t_.panel : t_.ink2);
    p_.outline(square, t_.ink2);
    number(scale, row.value, row.value, row.value, y, fmt::format("{:g} {}", row.value, row.unit));
  }

  void draw_ours(const Statement& row, float y) {
    const course::Measure& measure = measure_of(row);
    const course::Spread& spread = spread_of(row);
    if (!std::isfinite(spread.mean)) {
      p_.text({kOurs, y + 4}, kTick, t_.ink3, tr("no finite number"));
      return;
    }
    Scale scale{kOurs};
    for (const Statement& other : rows_)
      if (!other.measure.empty() && measure_of(other).unit == measure.unit)
        for (const double end : {spread_of(other).low, spread_of(other).high}) scale.add(end);
    const Colour colour = t_.runs[0].line;
    p_.line({scale.at(spread.low), y}, {scale.at(spread.high), y}, colour, 2);
    p_.circle({scale.at(spread.mean), y}, 4, colour);
    number(scale, spread.mean, spread.low, spread.high, y, course::shown(spread.mean, measure));
  }

  Painter& p_;
  const Theme& t_;
  const Outcome& outcome_;
  const Claim& claim_;
  std::vector<Statement> rows_;
};

plot::Column float_column(const std::vector<double>& values) {
  return plot::Column::of(std::vector<float>(values.begin(), values.end()));
}

void widen(const plot::Axis& axis, plot::Extent& range, const std::vector<double>& values) {
  for (const double value : values)
    if (axis.scale != plot::AxisScale::Log || value > 0) range.add(value);
}

void set_range(plot::Axis& axis, const plot::Extent& range) {
  if (range.empty()) return;  // nothing has a number yet
  const auto [low, high] = range;
  const bool log = axis.scale == plot::AxisScale::Log;
  const double margin = high > low ? (log ? 0 : 0.05 * (high - low)) : (log ? 0 : 0.5);
  axis.lo = log ? low / 1.2 : low - margin;
  axis.hi = log ? high * 1.2 : high + margin;
}

plot::PlotSpec curve_plot(const Outcome& outcome, const ClaimPlot& drawn) {
  plot::PlotSpec spec{
      .id = outcome.claim->id, .title = drawn.title, .note = tr("here; bands: range over the seeds")};
  spec.x.label = drawn.x;
  spec.y.label = drawn.y;
  if (drawn.log_x) spec.x.scale = plot::AxisScale::Log;
  if (drawn.log_y) spec.y.scale = plot::AxisScale::Log;
  plot::Extent across, up;
  int run = 0;
  for (const ClaimPlot::Trace& trace : drawn.lines) {
    const course::CurveBand& band = outcome.results.curves.at(trace.line);
    if (band.x.empty()) continue;
    widen(spec.x, across, band.x);
    for (const auto* values : {&band.low, &band.high}) widen(spec.y, up, *values);
    const plot::Ink ink = plot::Ink::run(run++ % 4);
    if (outcome.seeds > 1) {
      spec.bands.push_back({.id = trace.line,
                            .x = float_column(band.x),
                            .lo = float_column(band.low),
                            .hi = float_column(band.high),
                            .ink = ink});
    }
    spec.series.push_back({.id = trace.line,
                           .name = trace.name,
                           .x = float_column(band.x),
                           .y = float_column(band.mean),
                           .ink = ink,
                           .markers = band.x.size() <= 24 ? plot::Markers::All : plot::Markers::Sparse});
  }
  set_range(spec.x, across);
  set_range(spec.y, up);
  return spec;
}

/// What a page says before its tables, about {} the command, {} the verdicts counted, {} runs and {} steps, and {} the
/// usual setting.
constexpr const char* kPageHead =
    "# Reproduction\n\n"
    "What became of the papers' figures, tables and theorems at this program's scale. The program writes this page:\n\n"
    "```\n{}\n```\n\n"
    "{}. {} runs, {} steps (a run that several claims ask for counts in each).\n\n"
    "A verdict holds for its setting alone, and is given only where this has the regime in which the source's effect "
    "lives: a depth, a share of the warm-up in the training, a precision. Each claim names it below its table. Each "
    "claim of several parts has one verdict a part, and one for the whole where all agree; otherwise its *parts "
    "differ*.\n\n"
    "| verdict | when |\n|--|--|\n"
    "| **reproduced** | it holds with every seed |\n"
    "| contradicted here | with every seed the measure lies where the opposite does |\n"
    "| cannot be told here | the runs are not in the regime in which the source's effect lives, a neighbouring "
    "hypothesis would pass too, the start shows it already, a better control could turn it, as the best one lies at an "
    "end of what was tried, every seed falls short of a threshold that is ours, or \"as good\" is measured more "
    "coarsely than half of the smallest effect that the source shows |\n"
    "| not at this scale | none of these |\n"
    "| no system yet | no run of this program could show it |\n"
    "| (speed, not quality) | the losses compared had not levelled off, or how far they still fell was not measured: "
    "`reproduce ID` says which |\n\n"
    "Measured is the mean, and the range over the seeds where they differ; losses are in nats. Below each table stand "
    "our settings; `normscope reproduce ID` tells the paper's beside them. Where a setting says nothing else: {}. The "
    "rules and the files of the claims: [claims/README.md](../claims/README.md).\n";

}  // namespace

std::string measured_text(const Outcome& outcome, const std::string& id) {
  const course::Measure& measure = *outcome.claim->language.measure(id);
  const course::SeedValues& measured = outcome.results.measures.at(id);
  if (measured.values.empty()) return "–";
  const std::string mean = mean_text(measured, measure);
  const size_t seeds = outcome.spread_alone ? static_cast<size_t>(outcome.seeds) : measured.values.size();
  if (seeds == 1) return mean + ", one seed";
  if (std::isnan(measured.spread.low)) return fmt::format("{} over {} seeds", mean, seeds);
  return fmt::format("{}, {} over {} seeds", mean, course::range_text(measured.spread, measure), seeds);
}

std::string list_text(const std::vector<Outcome>& outcomes) {
  using experiments::Kind;
  experiments::Table table{{{"", "claim"},
                            {"", "source"},
                            {"", "where"},
                            {"", "runs", Kind::Number},
                            {"", "steps", Kind::Number},
                            {"", "of a core", Kind::Number},
                            {"", "state"}}};
  const double speed = flop_a_second(outcomes);
  for (const Outcome& outcome : outcomes) {
    const Cost cost = cost_of(*outcome.claim, outcome.seeds);
    const std::string time = outcome.finding == Finding::Beyond ? "–"
                             : is_timed(outcome)
                                 ? duration_words(outcome.seconds)
                                 : "about " + duration_words(std::max(cost.flop / speed, 1.0));
    table.rows.push_back({outcome.claim->id, outcome.claim->source.paper, outcome.claim->source.item,
                          cost.runs, cost.steps, time, verdict_of(outcome)});
  }
  return experiments::to_text(table);
}

std::string to_text(const Outcome& outcome) {
  const Claim& claim = *outcome.claim;
  std::string out = fmt::format("{}: {}, {} ({})\n  claim    {}\n", claim.id, claim.source.paper,
                                claim.source.item, claim.source.version, claim.says);
  for (const Statement& stated : claim.numbers)
    out += fmt::format("  paper    {}: {}{}\n", stated.what, stated_text(stated),
                       stated.measure.empty() ? "" : "; here: " + measured_text(outcome, stated.measure));
  for (const Statement& beside : claim.besides)
    out += fmt::format("  here     {}: {}\n", beside.what, measured_text(outcome, beside.measure));
  for (const CheckResult& checked : outcome.checks)
    out += fmt::format("  check    {} [{}: {}; expected {}: {}]\n", checked.check->says,
                       checked.measure->label, measured_text(outcome, checked.measure->id),
                       course::band_text(*checked.check), state_of(checked));
  if (claim.has_runs()) out += fmt::format("  regime   {}\n", regime_text(claim));
  return out + fmt::format("  verdict  {}: {}\n  setting  {}\n  usual    {}\n", capital(verdict_of(outcome)),
                           outcome.sentence, claim.setting, kUsualSetting);
}

std::string summary_text(const std::vector<Outcome>& outcomes) {
  std::string out = fmt::format("{} claim{}:", outcomes.size(), outcomes.size() == 1 ? "" : "s");
  const char* between = " ";
  for (const Finding finding :
       {Finding::Reproduced, Finding::PartsDiffer, Finding::NotAtThisScale, Finding::CannotBeTold,
        Finding::Contradicted, Finding::Unknown, Finding::Beyond}) {
    const auto count = std::ranges::count(outcomes, finding, &Outcome::finding);
    if (count == 0) continue;
    const auto speed = std::ranges::count_if(outcomes, [&](const Outcome& one) {
      return one.finding == finding && verdict_of(one) != to_string(finding);
    });
    out += fmt::format("{}{} {}", between, count, to_string(finding));
    if (speed > 0) out += fmt::format(" ({} of them of speed, not quality)", speed);
    between = ", ";
  }
  return out;
}

Json to_json(const std::vector<Outcome>& outcomes) {
  Json json = {{"format", "normscope reproduction 1"}, {"claims", Json::array()}};
  for (const Outcome& outcome : outcomes) json["claims"].push_back(claim_json(outcome));
  return json;
}

std::string to_csv(const std::vector<Outcome>& outcomes) {
  experiments::Table table{
      experiments::data_columns({"claim", "paper", "item", "verdict", "measure", "unit", "seed", "value"})};
  for (const Outcome& outcome : outcomes) {
    const Claim& claim = *outcome.claim;
    for (const course::Measure& m : claim.language.measures) {
      const auto& [values, spread, seeds] = outcome.results.measures.at(m.id);
      for (size_t i = 0; i < seeds.size(); ++i)
        table.rows.push_back({claim.id, claim.source.paper, claim.source.item, verdict_of(outcome), m.id,
                              m.unit, seeds[i], values[i]});
    }
  }
  return experiments::to_csv(table);
}

std::string to_markdown(const std::vector<Outcome>& outcomes, const std::string& command) {
  std::vector<std::string> papers;
  Cost all;
  for (const Outcome& outcome : outcomes) {
    const std::string& paper = outcome.claim->source.paper;
    if (std::ranges::find(papers, paper) == papers.end()) papers.push_back(paper);
    const Cost cost = cost_of(*outcome.claim, outcome.seeds);
    all.runs += cost.runs;
    all.steps += cost.steps;
  }
  std::string out =
      fmt::format(kPageHead, command, summary_text(outcomes), all.runs, all.steps, kUsualSetting);
  for (const std::string& paper : papers) out += page_section(outcomes, paper);
  return out;
}

std::string to_svg(const Outcome& outcome) {
  return ui::to_svg(outcome.claim->id, [&](Painter& p, const Theme& t) {
    float y = ClaimTable(p, t, outcome).draw();
    for (const ClaimPlot& drawn : outcome.claim->drawings) {
      plot::draw_still(p, t, curve_plot(outcome, drawn), {0, y, kClaimWidth, kPlotHeight});
      y += kPlotHeight;
    }
    return Vec{kClaimWidth, y};
  });
}

}  // namespace normscope::reproduce

#include "addons/papers/app/reproduce/writers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "addons/papers/app/reproduce/plan.h"
#include "addons/papers/app/reproduce/recorded.h"
#include "app/course/check.h"
#include "training/experiments/table.h"
#include "training/io/number_json.h"
#include "training/io/text.h"

namespace normscope::reproduce {
namespace {

using Json = nlohmann::json;

std::string capital(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// Holds for our runs of every claim whose setting says nothing else.
constexpr const char* kUsualSetting =
    "decoders of width 64 on generated sentences, batches of 16 × 64 symbols, Adam with β = (0.9, 0.98), Xavier's "
    "initialisation, no warm-up, a constant rate (behind a warm-up too), no dropout, label smoothing or weight decay";

/// The verdict of a part, with the reason.
std::string state_of(const Checked& checked) {
  return verdict_of(checked) + (checked.why.empty() ? "" : ": " + checked.why);
}

std::string stated_text(const Stated& stated) {
  return fmt::format("{:g}{}{}", stated.value, stated.unit.empty() ? "" : " " + stated.unit,
                     stated.read_off ? " (read off the picture)" : "");
}

int32_t count_of(const std::vector<Outcome>& outcomes, Finding finding) {
  return static_cast<int32_t>(std::count_if(outcomes.begin(), outcomes.end(),
                                            [&](const Outcome& one) { return one.finding == finding; }));
}

Json band_json(std::optional<double> low, std::optional<double> high) {
  return {{"low", low ? Json(*low) : Json()}, {"high", high ? Json(*high) : Json()}};
}

Json check_json(const Checked& checked, const std::optional<Opposite>& opposite) {
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

/// The seeds of a measure's values; empty: it has none.
std::vector<int32_t> seeds_of(const Outcome& outcome, const std::string& id) {
  const auto it = outcome.seeds_of.find(id);
  return it == outcome.seeds_of.end() ? std::vector<int32_t>{} : it->second;
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
  for (const Control& control : claim.controls) json["controls"][control.run] = control.chosen;
  for (const Stated& stated : claim.numbers)
    json["numbers"].push_back({{"what", stated.what},
                               {"value", stated.value},
                               {"unit", stated.unit},
                               {"read_off", stated.read_off},
                               {"measure", stated.measure}});
  for (const course::Measure& m : claim.language.measures) {
    json["measures"][m.id] = course::to_json(m, outcome.results.measures.at(m.id));
    json["measures"][m.id]["seeds"] = seeds_of(outcome, m.id);
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

/// Whether all of its runs are there, with the time that they took.
bool is_timed(const Outcome& outcome) { return outcome.finding != Finding::Unknown && outcome.seconds > 0; }

/// The speed of a core, measuring included, over the finished runs; without any it is that of
/// docs/reproduction.md.
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
std::string value_text(const course::Measured& measured, const course::Measure& measure) {
  const std::string mean = mean_text(measured, measure);
  if (measured.values.size() < 2 || std::isnan(measured.spread.low)) return mean;
  const std::string range = course::range_text(measured.spread, measure);
  if (range == mean) return mean;
  course::Measure bare = measure;
  bare.unit.clear();
  return mean_text(measured, bare) + ", " + range;
}

/// What was measured of a check; in a claim of several parts also what the part says, and its own verdict where the
/// parts differ.
std::string part_text(const Outcome& outcome, const Checked& checked) {
  // The word "speed" says its reason itself.
  const std::string why =
      checked.finding == Finding::CannotBeTold || checked.finding == Finding::Beyond ? checked.why : "";
  std::string text = checked.measure->label + ": " + value_text(checked.measured, *checked.measure);
  if (outcome.checks.size() > 1) text = checked.check->says + " " + text;
  if (outcome.finding == Finding::PartsDiffer)
    return fmt::format("{}: *{}{}{}*", text, verdict_of(checked), why.empty() ? "" : ": ", why);
  return why.empty() ? text : fmt::format("{} ({})", text, why);
}

/// Whether the claim's sentence has no number that does not stand beside its checks.
bool is_repeated(const Outcome& outcome) {
  if (outcome.finding == Finding::Unknown || outcome.finding == Finding::Beyond) return false;
  const std::string& text = outcome.claim->sentence(outcome.finding);
  for (size_t open = text.find('{'); open != text.npos; open = text.find('{', open + 1)) {
    const std::string name = text.substr(open + 1, text.find('}', open) - open - 1);
    if (std::none_of(outcome.checks.begin(), outcome.checks.end(),
                     [&](const Checked& checked) { return checked.measure->id == name; }))
      return false;
  }
  return true;
}

experiments::TableRow page_row(const Outcome& outcome) {
  const Claim& claim = *outcome.claim;
  std::string measured;
  for (const Checked& checked : outcome.checks)
    measured += (measured.empty() ? "" : "<br>") + part_text(outcome, checked);
  const char* strong = outcome.finding == Finding::Reproduced ? "**" : "";
  const std::string sentence = outcome.finding == Finding::PartsDiffer || is_repeated(outcome)
                                   ? (claim.data.empty() ? "" : claim.data + ".") + controls_text(claim)
                                   : outcome.sentence;
  std::string verdict = fmt::format("{0}{1}{0}.", strong, verdict_of(outcome));
  if (!sentence.empty()) verdict += " " + std::string(trimmed(sentence));
  return {"`" + claim.id + "`", claim.source.item, claim.says, measured, verdict};
}

/// Everything of one paper: which version of it numbers the figures, its claims as a table, then the setting of each
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
    notes += fmt::format("- `{}`{}. {}", claim.id, seeds, claim.setting);
    for (size_t i = 0; i < claim.numbers.size(); ++i)
      notes += fmt::format("{}{} {}", i == 0 ? " Its numbers: " : "; ", claim.numbers[i].what,
                           stated_text(claim.numbers[i]));
    notes += claim.numbers.empty() ? "\n" : ".\n";
  }
  return fmt::format("\n## {}\n\n{}.\n\n{}\n{}", paper, fmt::join(versions, "; "),
                     experiments::to_markdown(table), notes);
}

}  // namespace

std::string measured_text(const Outcome& outcome, const std::string& id) {
  const course::Measure& measure = *outcome.claim->language.measure(id);
  const course::Measured& measured = outcome.results.measures.at(id);
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
  for (const Stated& stated : claim.numbers)
    out += fmt::format("  paper    {}: {}{}\n", stated.what, stated_text(stated),
                       stated.measure.empty() ? "" : "; here: " + measured_text(outcome, stated.measure));
  for (const Beside& beside : claim.besides)
    out += fmt::format("  here     {}: {}\n", beside.what, measured_text(outcome, beside.measure));
  for (const Checked& checked : outcome.checks)
    out += fmt::format("  check    {} [{}: {}; expected {}: {}]\n", checked.check->says,
                       checked.measure->label, measured_text(outcome, checked.measure->id),
                       course::band_text(*checked.check), state_of(checked));
  return out + fmt::format("  verdict  {}: {}\n  setting  {}\n  usual    {}\n", capital(verdict_of(outcome)),
                           outcome.sentence, claim.setting, kUsualSetting);
}

std::string summary_text(const std::vector<Outcome>& outcomes) {
  std::string out = fmt::format("{} claim{}:", outcomes.size(), outcomes.size() == 1 ? "" : "s");
  const char* between = " ";
  for (const Finding finding :
       {Finding::Reproduced, Finding::PartsDiffer, Finding::NotAtThisScale, Finding::CannotBeTold,
        Finding::Contradicted, Finding::Unknown, Finding::Beyond}) {
    const int32_t count = count_of(outcomes, finding);
    if (count == 0) continue;
    const auto speed = std::count_if(outcomes.begin(), outcomes.end(), [&](const Outcome& one) {
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
      const std::vector<double>& values = outcome.results.measures.at(m.id).values;
      const std::vector<int32_t> seeds = seeds_of(outcome, m.id);
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
    if (std::find(papers.begin(), papers.end(), paper) == papers.end()) papers.push_back(paper);
    const Cost cost = cost_of(*outcome.claim, outcome.seeds);
    all.runs += cost.runs;
    all.steps += cost.steps;
  }
  std::string out = fmt::format(
      "# Reproduction\n\n"
      "What became of the papers' figures, tables and theorems at this program's scale. The program writes this page:\n\n"
      "```\n{}\n```\n\n"
      "{}. {} runs, {} steps (a run that several claims ask for counts in each).\n\n"
      "A verdict holds for its setting alone. Each claim of several parts has one a part, and one for the whole where all "
      "agree; otherwise its *parts differ*.\n\n"
      "| verdict | when |\n|--|--|\n"
      "| **reproduced** | it holds with every seed |\n"
      "| contradicted here | with every seed the measure lies where the opposite does |\n"
      "| cannot be told here | a neighbouring hypothesis would pass too, or \"as good\" is measured more coarsely than half "
      "of the smallest effect that the source shows |\n"
      "| not at this scale | none of these |\n"
      "| no system yet | no run of this program could show it |\n"
      "| (speed, not quality) | the losses compared had not levelled off, or how far they still fell was not measured: `reproduce ID` says which |\n\n"
      "Measured is the mean, and the range over the seeds where they differ; losses are in nats. Below each table stand the "
      "settings, the paper's where it was checked and ours. Ours, where a setting says nothing else: {}. The rules and the "
      "files of the claims: [claims/README.md](../claims/README.md).\n",
      command, summary_text(outcomes), all.runs, all.steps, kUsualSetting);
  for (const std::string& paper : papers) out += page_section(outcomes, paper);
  return out;
}

}  // namespace normscope::reproduce

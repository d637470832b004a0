#include "app/course/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <set>
#include <span>

#include "app/course/curves.h"
#include "app/course/map.h"
#include "app/course/report.h"
#include "app/course/tables.h"
#include "app/plot/plot.h"
#include "app/ui/theme.h"
#include "app/ui/widgets.h"
#include "engine/io/output_file.h"
#include "training/experiments/study.h"
#include "training/experiments/table.h"
#include "training/io/codec.h"
#include "training/io/input_kinds.h"
#include "training/io/input_value.h"
#include "training/io/text.h"
#include "training/measure/initial_analysis.h"

namespace normscope::course {

using experiments::StudyRun;

namespace {

int32_t seeds_of(const Curve& curve, Tier tier) { return tier == Tier::Full ? kFullSeeds : curve.fast_seeds; }

void keep_runs(const Lesson& lesson, experiments::RunStore& store, Results& out,
               const experiments::OnStep& on_step) {
  for (const LessonRun& run : lesson.runs) {
    const StudyRun seed_1 = run_of(lesson, run.id, 1);
    const auto done =
        shows_trained_map(lesson, run.id) ? store.get(seed_1, on_step) : store.find(seed_1.key());
    for (const Figure& f : lesson.figures)
      if (f.map_run == run.id && f.map_at_start)
        out.maps[run.id + " start"] = done ? done->shares_start : store.start_shares(seed_1.spec);
      else if (f.map_run == run.id)
        out.maps[run.id + " end"] = done->shares_end;
    if (!done) continue;  // not trained: only its initial models were measured
    out.texts[run.id] = done->text;
    out.level = done->level;
  }
}

/// Calls job(i, store) for every i < count on as many threads as the store has, each with one thread of
/// its own: small models train faster side by side, with identical bits.
void in_parallel(experiments::RunStore& store, size_t count,
                 const std::function<void(size_t, experiments::RunStore&)>& job) {
  std::atomic<bool> stop{false};
  const auto make = [&]() -> experiments::WorkOn {
    return [&, own = std::shared_ptr<experiments::RunStore>(store.beside(1))](size_t i) { job(i, *own); };
  };
  experiments::run_jobs("a lesson's runs", count, store.threads(), stop, make, [] {});
}

/// Adds the runs that a curve needs for one seed.
void add_runs(const Lesson& lesson, const Curve& curve, uint64_t seed, std::vector<StudyRun>& runs) {
  if (curve.of == Curve::Of::Tape) return;
  StudyRun run = run_of(lesson, curve.run, seed);
  if (is_swept(curve))
    std::ranges::move(points_of(curve, run), std::back_inserter(runs));
  else if (is_trained(curve) || curve.of == Curve::Of::Shares)
    runs.push_back(std::move(run));
}

bool inside(const Check& check, double value) {
  return !std::isnan(value) && (!check.low || value >= *check.low) && (!check.high || value <= *check.high);
}

/// Writes a limit as in lesson.toml, with a real minus sign.
std::string limit_text(double limit) { return ui::with_minus(fmt::format("{}", limit)); }

std::string padded(const std::string& text, size_t width, bool right = false) {
  const std::string blanks(width > terminal_columns(text) ? width - terminal_columns(text) : 0, ' ');
  return right ? blanks + text : text + blanks;
}

constexpr size_t kClaim = 84, kMeasured = 14, kSpread = 26;  // columns

using Json = nlohmann::json;

Json lesson_json(const LessonReport& report) {
  const Lesson& lesson = *report.lesson;
  Json json = {{"id", lesson.id},           {"claim", lesson.claim}, {"seeds", report.results.seeds},
               {"passed", report.passed()}, {"stale", report.stale}, {"measures", Json::object()},
               {"checks", Json::array()}};
  for (const Measure& m : lesson.measures)
    json["measures"][m.id] = to_json(m, report.results.measures.at(m.id));
  for (const CheckOutcome& outcome : report.outcomes)
    json["checks"].push_back({{"measure", outcome.check->measure},
                              {"says", outcome.check->says},
                              {"band", band_text(*outcome.check)},
                              {"holds", outcome.holds}});
  return json;
}

bool complete_for(const Lesson& lesson, const Measure& m, const CurveSet& curves) {
  if (m.curve.empty())
    return complete_for(lesson, *lesson.measure(m.first), curves) &&
           complete_for(lesson, *lesson.measure(m.second), curves);
  const auto known = [&](const std::string& other) {
    return other.empty() || is_scale(other) || is_law(other) || curves.contains(other);
  };
  return curves.contains(m.curve) && known(m.against) && known(m.law) &&
         std::ranges::all_of(m.rivals, known) &&
         (m.offset.empty() || complete_for(lesson, *lesson.measure(m.offset), curves));
}

}  // namespace

CurveBand band_of(const Curve& curve, const std::vector<CurveSet>& seeds) {
  CurveBand band;
  for (size_t i = 0;; ++i) {
    std::vector<double> values;
    for (const CurveSet& set : seeds)
      if (const auto it = set.find(curve.id); it != set.end() && i < it->second.y.size()) {
        if (values.empty()) band.x.push_back(it->second.x[i]);
        values.push_back(it->second.y[i]);
      }
    if (values.empty()) return band;
    const Spread s = spread_of(values, curve.mean);
    band.mean.push_back(s.mean);
    band.low.push_back(s.low);
    band.high.push_back(s.high);
  }
}

Results results_of(const Lesson& lesson, const std::vector<CurveSet>& seeds) {
  Results results;
  for (const Measure& m : lesson.measures) {
    SeedValues& measured = results.measures[m.id];
    for (size_t i = 0; i < seeds.size(); ++i) {
      if (!complete_for(lesson, m, seeds[i])) continue;
      measured.values.push_back(evaluate(lesson, m, seeds[i]));
      measured.seeds.push_back(static_cast<int32_t>(i) + 1);
    }
    measured.spread = spread_of(measured.values, m.mean);
  }
  for (const Curve& curve : lesson.curves) results.curves[curve.id] = band_of(curve, seeds);
  return results;
}

bool holds(const Check& check, const SeedValues& measured) {
  return !measured.values.empty() &&
         std::ranges::all_of(measured.values, [&](double x) { return inside(check, x); });
}

std::vector<double> values_of(const Lesson& lesson, const Check& check, const Neighbour& neighbour,
                              const Results& results) {
  if (neighbour.value) return {*neighbour.value};
  if (!neighbour.measure.empty()) return results.measures.at(neighbour.measure).values;
  const Measure& measure = *lesson.measure(check.measure);
  CurveSet curves;
  for (const auto& [id, band] : results.curves) curves[id] = {band.x, band.mean};
  CurveData& own = curves.at(measure.curve);
  if (!neighbour.curve.empty()) {
    own = curves.at(neighbour.curve);
  } else {
    const double offset =
        measure.offset.empty() ? 1 : evaluate(lesson, *lesson.measure(measure.offset), curves);
    // Scaled to end at the curve's last value, so that only its form counts.
    const std::vector<double> law = law_values(neighbour.law, own.x, offset);
    const double factor = own.y.back() / law.back();
    for (size_t i = 0; i < own.y.size(); ++i) own.y[i] = factor * law[i];
  }
  return {evaluate(lesson, measure, curves)};
}

bool LessonReport::passed() const { return std::ranges::all_of(outcomes, &CheckOutcome::holds); }

/// Adds the runs whose maps after training are drawn, with the first seed: see keep_runs().
void add_mapped(const Lesson& lesson, std::vector<StudyRun>& runs) {
  for (const LessonRun& run : lesson.runs)
    if (shows_trained_map(lesson, run.id)) runs.push_back(run_of(lesson, run.id, 1));
}

std::vector<StudyRun> runs_of(const std::vector<const Lesson*>& lessons, Tier tier) {
  std::vector<StudyRun> runs;
  std::vector<const Lesson*> measured = lessons;
  for (const Lesson* lesson : lessons)
    if (lesson->closing) measured.push_back(lesson->closing->experiment.get());
  for (uint64_t seed = 1; seed <= kFullSeeds; ++seed)
    for (const Lesson* lesson : measured)
      for (const Curve& curve : lesson->curves)
        if (static_cast<int32_t>(seed) <= seeds_of(curve, tier)) add_runs(*lesson, curve, seed, runs);
  for (const Lesson* lesson : lessons) add_mapped(*lesson, runs);
  std::set<std::string> keys;
  std::erase_if(runs, [&](const StudyRun& run) { return !keys.insert(run.key()).second; });
  return runs;
}

namespace {

/// The curves of every seed of the tier; a seed lacks those that it is not measured with.
std::vector<CurveSet> measured_seeds(const Lesson& lesson, experiments::RunStore& store, Tier tier,
                                     const experiments::OnStep& on_step) {
  std::vector<CurveSet> seeds(kFullSeeds);
  std::vector<std::pair<const Curve*, CurveData*>> jobs;
  std::vector<uint64_t> seed_of;
  for (size_t seed = 0; seed < kFullSeeds; ++seed)
    for (const Curve& curve : lesson.curves)
      if (static_cast<int32_t>(seed) < seeds_of(curve, tier)) {
        jobs.emplace_back(&curve, &seeds[seed][curve.id]);  // std::map keeps references valid
        seed_of.push_back(seed + 1);
      }
  in_parallel(store, jobs.size(), [&](size_t i, experiments::RunStore& own) {
    *jobs[i].second = measure_curve(lesson, *jobs[i].first, seed_of[i], own, on_step);
  });
  return seeds;
}

/// Judges the right answer of the case at the end: every seed must give it, and none of the wrong ones may be as right.
CheckOutcome case_outcome(const Case& closing, experiments::RunStore& store, Tier tier,
                          const experiments::OnStep& on_step) {
  const Lesson& experiment = *closing.experiment;
  const Check& check = experiment.checks.front();
  const Results results = results_of(experiment, measured_seeds(experiment, store, tier, on_step));
  const SeedValues& measured = results.measures.at(check.measure);
  const bool tells = std::ranges::none_of(check.excludes, [&](const Neighbour& wrong) {
    return std::ranges::any_of(values_of(experiment, check, wrong, results),
                               [&](double value) { return inside(check, value); });
  });
  return {&check, experiment.measure(check.measure), measured, tells && holds(check, measured)};
}

}  // namespace

LessonReport check_lesson(const Lesson& lesson, experiments::RunStore& store, Tier tier,
                          const experiments::OnStep& on_step) {
  const auto start = std::chrono::steady_clock::now();
  LessonReport report{.lesson = &lesson};
  store.train_ahead(runs_of({&lesson}, tier), on_step);
  const std::vector<CurveSet> seeds = measured_seeds(lesson, store, tier, on_step);
  Results& results = report.results = results_of(lesson, seeds);
  results.seeds = tier == Tier::Full ? kFullSeeds : 1;
  keep_runs(lesson, store, results, on_step);
  for (const Check& check : lesson.checks) {
    const SeedValues& measured = results.measures[check.measure];
    report.outcomes.push_back({&check, lesson.measure(check.measure), measured, holds(check, measured)});
  }
  if (lesson.closing) report.outcomes.push_back(case_outcome(*lesson.closing, store, tier, on_step));
  report.stale = staleness(lesson, results);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

std::string band_text(const Check& check) {
  if (check.low && check.high) return limit_text(*check.low) + " to " + limit_text(*check.high);
  return check.low ? "at least " + limit_text(*check.low) : "at most " + limit_text(*check.high);
}

std::string spread_text(const CheckOutcome& v) {
  const Spread& s = v.measured.spread;
  if (v.measured.values.size() < 2) return "one seed";
  if (v.measure->mean == Mean::Count) return range_text(s, *v.measure);
  Measure bare = *v.measure;
  bare.unit.clear();
  return fmt::format("{} to {}", shown(s.low, bare), shown(s.high, bare));
}

std::string table_head() {
  return fmt::format("{} {} {} {}\n", padded("claim", kClaim), padded("measured", kMeasured, true),
                     padded("  spread over seeds", kSpread), "verdict");
}

std::string to_text(const LessonReport& report) {
  const Lesson& lesson = *report.lesson;
  std::string out = fmt::format("{} {}: {}\n", lesson.number, lesson.title, lesson.claim);
  for (const CheckOutcome& v : report.outcomes) {
    out += fmt::format("{} {} {} {}\n", padded("  " + v.check->says, kClaim),
                       padded(shown(v.measured.spread.mean, *v.measure), kMeasured, true),
                       padded("  " + spread_text(v), kSpread), v.holds ? "holds" : "FAILS");
    if (!v.holds)
      out += fmt::format("    {}: measured {:.5g}, expected {}; this contradicts: {}\n", v.measure->label,
                         fmt::join(v.measured.values, ", "), band_text(*v.check), v.check->says);
  }
  if (!report.stale.empty()) out += fmt::format("    measured.json: {}\n", report.stale);
  return out;
}

Json to_json(const Measure& measure, const SeedValues& measured) {
  return {{"label", measure.label},
          {"unit", measure.unit},
          {"averaged", to_string(measure.mean)},
          {"mean", number_json(measured.spread.mean)},
          {"low", number_json(measured.spread.low)},
          {"high", number_json(measured.spread.high)},
          {"values", list_json(measured.values)}};
}

Json to_json(const std::vector<LessonReport>& reports) {
  Json json = {{"format", "normscope lessons 1"}, {"lessons", Json::array()}};
  for (const LessonReport& report : reports) json["lessons"].push_back(lesson_json(report));
  return json;
}

std::string to_csv(const std::vector<LessonReport>& reports) {
  experiments::Table table{experiments::data_columns({"lesson", "measure", "unit", "seed", "value"})};
  for (const LessonReport& report : reports)
    for (const Measure& m : report.lesson->measures) {
      const std::vector<double>& values = report.results.measures.at(m.id).values;
      for (size_t i = 0; i < values.size(); ++i)
        table.rows.push_back({report.lesson->id, m.id, m.unit, i + 1, values[i]});
    }
  return experiments::to_csv(table);
}

std::string to_markdown(const std::vector<LessonReport>& reports, const std::string& command) {
  std::string out = fmt::format("# What the lessons claim, measured\n\nMade by `{}`.\n", command);
  for (const LessonReport& report : reports) {
    experiments::Table table{{{"", "claim"},
                              {"", "measured"},
                              {"", "value"},
                              {"", "range of seeds"},
                              {"", "must lie in"},
                              {"", "verdict"}}};
    for (const ClaimRow& row : claim_rows(*report.lesson, report.results))
      table.rows.push_back(
          {row.says, row.what, row.value, row.range, row.band, row.holds ? "holds" : "fails"});
    out += fmt::format("\n## {}. {}\n\n{}\n\n{}", report.lesson->number, report.lesson->title,
                       report.lesson->claim, experiments::to_markdown(table));
  }
  return out;
}

std::string to_svg(const LessonReport& report, const Figure& figure) {
  return kept_svg(*report.lesson, figure, report.results, ui::theme(false), {640, 400});
}

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kNever = std::numeric_limits<double>::infinity();

double at(const CurveData& c, double x) {
  double best = kUnknown, distance = kNever;
  for (size_t i = 0; i < c.x.size(); ++i)
    if (std::abs(c.x[i] - x) < distance) {
      distance = std::abs(c.x[i] - x);
      best = c.y[i];
    }
  return distance < 1e-6 * (1 + std::abs(x)) ? best : kUnknown;
}

std::vector<double> between(const CurveData& c, double from, double to) {
  std::vector<double> out;
  for (size_t i = 0; i < c.x.size(); ++i)
    if (from == to || (c.x[i] >= from && c.x[i] <= to)) out.push_back(c.y[i]);
  return out;
}

std::vector<double> logs(std::vector<double> v) {
  for (double& x : v) x = std::log(x);
  return v;
}

/// Fits a straight line of y against a scale of x or another curve.
LinearFit fit(const std::vector<double>& x, const std::vector<double>& y, const std::string& against,
              const CurveSet& curves) {
  if (x.size() < 2) return {};
  if (against == "x") return linear_fit(x, y);
  if (against == "log x") return linear_fit(logs(x), y);
  const auto other = curves.find(against);
  return other == curves.end() || other->second.y.size() != y.size() ? LinearFit{}
                                                                     : linear_fit(other->second.y, y);
}

/// The misfit() of a law, or of another curve over the same x, to this curve.
double misfit_of(const std::string& law, const CurveData& c, const CurveSet& curves, double offset) {
  if (const auto other = curves.find(law); other != curves.end()) return misfit(other->second.y, c.y);
  return misfit(law_values(law, c.x, offset), c.y);
}

double lead(const Measure& m, const CurveData& c, const CurveSet& curves, double offset) {
  double rival = kNever;
  for (const std::string& law : m.rivals) rival = std::min(rival, misfit_of(law, c, curves, offset));
  return rival / misfit_of(m.law, c, curves, offset);
}

double first_below(const CurveData& c, double limit) {
  for (size_t i = 0; i < c.x.size(); ++i)
    if (c.y[i] < limit) return c.x[i];
  return kNever;
}

double median(std::vector<double> v) {
  if (std::ranges::any_of(v, [](double x) { return std::isnan(x); })) return kUnknown;
  std::ranges::sort(v);
  const size_t half = v.size() / 2;
  return v.size() % 2 == 1 ? v[half] : (v[half - 1] + v[half]) / 2;
}

double of_curve(const Measure& m, const CurveData& c, const CurveSet& curves, double offset) {
  if (c.y.empty()) return kUnknown;
  if (m.take == "at") return at(c, m.a);
  if (m.take == "fall") return at(c, m.a) / at(c, m.b);
  if (m.take == "first_below") return first_below(c, m.a);
  if (m.take == "exponent") return linear_fit(logs(c.x), logs(c.y)).slope;
  const std::vector<double> y = between(c, m.a, m.b);
  if (m.take == "lead") return lead(m, c, curves, offset);
  if (m.take == "r2" || m.take == "slope") {
    const LinearFit f = fit(c.x, c.y, m.against, curves);
    return m.take == "r2" ? f.r2 : f.slope;
  }
  if (y.empty()) return kUnknown;
  if (m.take == "passes") return std::ranges::any_of(y, [&](double v) { return v > m.limit; }) ? 1 : 0;
  if (m.take == "median") return median(y);
  if (m.take == "min") return *std::ranges::min_element(y);
  if (m.take == "max") return *std::ranges::max_element(y);
  return spread_of(y, m.mean).mean;
}

/// The share of a gradient that the norms of a walk leave at a step, from the W2 of the top layer down to that of a
/// layer: one over the product of the divisors on this way.
double left_of(const Lesson& lesson, const Measure& m, const CurveSet& curves) {
  const std::vector<std::string>* norms = norms_of_walk(lesson, m.curve);
  if (!norms || !curves.contains(m.curve)) return kUnknown;
  const Curve& walk = *lesson.curve(m.curve);
  const auto layers = static_cast<size_t>(layers_of(walk.y, lesson.run(walk.run)->spec.model));
  const size_t begin = static_cast<size_t>(m.a - walk.from) * layers;
  std::vector<std::span<const double>> squares;
  for (const std::string& id : *norms) {
    const auto it = curves.find(id);
    if (it == curves.end() || it->second.y.size() < begin + layers) return kUnknown;
    squares.push_back(std::span(it->second.y).subspan(begin, layers));
  }
  const std::vector<std::vector<double>> divisors = divisors_of(squares);
  double left = 1;
  for (size_t layer = static_cast<size_t>(m.b) - 1; layer + 1 < layers; ++layer)
    for (const double divisor : divisors[layer]) left /= divisor;
  return left;
}

/// Turns "nats" into "nat". A factor ("1 times as much") and a symbol ("1 ms") stay as they are.
std::string singular(const std::string& unit) {
  const bool plural = unit.size() > 3 && unit.ends_with('s') && !unit.ends_with("ss") && unit != "times";
  return plural ? unit.substr(0, unit.size() - 1) : unit;
}

std::string beside(const std::string& number, const std::string& unit) {
  return unit.empty() || unit == "×" ? number + unit : number + " " + unit;
}

std::string measured_path(const Lesson& lesson) {
  return (std::filesystem::path(lesson.folder) / "measured.json").string();
}

std::string hash_of(const Lesson& lesson) { return hash_text(definition(lesson)); }

/// Writes five significant digits, because people read and compare these numbers.
constexpr codec::AnyNumber kShort{.digits = 5};

std::optional<std::string> read(const Lesson& lesson) {
  return read_input_file_if_there(measured_path(lesson), input::kMeasured);
}

}  // namespace

bool is_scale(std::string_view against) { return against == "x" || against == "log x"; }

bool is_law(std::string_view law) { return law == "line" || law == "root" || law == "log"; }

std::vector<double> law_values(std::string_view law, const std::vector<double>& x, double offset) {
  std::vector<double> y;
  for (double v : x)
    y.push_back(law == "line"   ? v
                : law == "root" ? std::sqrt(v)
                : law == "log"  ? std::log1p(v / offset)
                                : kUnknown);
  return y;
}

double misfit(const std::vector<double>& law, const std::vector<double>& y) {
  if (law.size() != y.size() || y.empty()) return kUnknown;
  double ff = 0, fy = 0, yy = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    ff += law[i] * law[i];
    fy += law[i] * y[i];
    yy += y[i] * y[i];
  }
  return std::sqrt(std::max(0.0, 1 - fy * fy / (ff * yy)));
}

bool may_be_censored(const Curve& curve) {
  return asks_critical_rate(curve) || curve.of == Curve::Of::Border;
}

bool may_be_censored(const Lesson& lesson, const Measure& m) {
  if (m.take == "passes") return false;
  if (m.take == "first_below") return true;  // a curve may end before it falls below, which reads "never"
  if (!m.curve.empty()) return may_be_censored(*lesson.curve(m.curve));
  return may_be_censored(lesson, *lesson.measure(m.first)) ||
         may_be_censored(lesson, *lesson.measure(m.second));
}

double evaluate(const Lesson& lesson, const Measure& m, const CurveSet& curves) {
  if (m.curve.empty()) {
    const double a = evaluate(lesson, *lesson.measure(m.first), curves),
                 b = evaluate(lesson, *lesson.measure(m.second), curves);
    return m.take == "ratio" ? a / b : a - b;
  }
  if (m.take == "left") return left_of(lesson, m, curves);
  const auto it = curves.find(m.curve);
  const double offset = m.offset.empty() ? kUnknown : evaluate(lesson, *lesson.measure(m.offset), curves);
  return it == curves.end() ? kUnknown : of_curve(m, it->second, curves, offset);
}

Spread spread_of(const std::vector<double>& values, Mean mean) {
  if (values.empty()) return {kUnknown, kUnknown, kUnknown, 0};
  Spread s{0, values[0], values[0], values.size()};
  for (double v : values) {
    s.mean += (mean == Mean::Geometric ? std::log(v) : v) /
              (mean == Mean::Count ? 1.0 : static_cast<double>(values.size()));
    s.low = std::min(s.low, v);
    s.high = std::max(s.high, v);
  }
  if (mean == Mean::Geometric) s.mean = std::exp(s.mean);
  if (mean == Mean::Median) s.mean = median(values);
  return s;
}

std::string with_unit(const std::string& number, const std::string& unit) {
  return beside(number, number == "1" ? singular(unit) : unit);
}

std::string shown(double value, const Measure& m, const Words& words) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return words.tr("never");
  // Five seeds do not determine every digit of 19 448, so it is shown as 19 000.
  if (std::abs(value) >= 1000) {
    const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) + 1 - m.digits);
    value = std::round(value / unit) * unit;
  }
  const bool plain = m.loss && std::abs(value) >= 0.1 && std::abs(value) < 1000;  // neither tiny nor exploded
  const std::string number =
      with_unit(plain ? ui::with_minus(ui::decimals(value, 2)) : ui::number(value, m.digits), m.unit);
  constexpr double kAtBound = 1e-6;  // allows for the rounding of divided floats
  if (m.most && value >= *m.most * (1 - kAtBound)) return words.tr("at least ") + number;
  if (m.least && value <= *m.least * (1 + kAtBound)) return words.tr("at most ") + number;
  return number;
}

std::string range_text(const Spread& spread, const Measure& m, const Words& words) {
  if (m.mean == Mean::Count)
    return words.tr("{some} of {all}", {{"some", fmt::format("{}", spread.mean)}, {"all", spread.seeds}});
  const std::string low = shown(spread.low, m, words);
  if (low == shown(spread.high, m, words)) return low;
  Measure bare = m;
  bare.unit.clear();
  const std::string text =
      shown(spread.low, bare, words) + words.tr(" to ") + shown(spread.high, bare, words);
  return std::isfinite(spread.high) ? beside(text, m.unit) : text;
}

template <class Io>
void io(Io& io, codec::Of<Io, SeedValues>& m) {
  io("values", m.values, codec::List{1, kMaxLessonEntries, kShort});
  io.note("mean", kShort.write(m.spread.mean));
}

template <class Io>
void io(Io& io, codec::Of<Io, CurveBand>& c) {
  io("x", c.x, codec::List{0, kMaxCurvePoints, kShort});
  const codec::List as_many{c.x.size(), c.x.size(), kShort};
  io("mean", c.mean, as_many);
  io("low", c.low, as_many);
  io("high", c.high, as_many);
}

template <class Io>
void io(Io& io, codec::Of<Io, Results>& r) {
  io("seeds", r.seeds, codec::Whole{1, kMaxLessonEntries});
  io("level", r.level, kShort);
  io("measures", r.measures, codec::Map{kMaxLessonEntries, codec::Object{}});
  io("curves", r.curves, codec::Map{kMaxLessonEntries, codec::Object{}});
  io.optional("texts", r.texts, codec::Map{kMaxLessonEntries, codec::Text{kMaxTextBytes}});
  io.optional("maps", r.maps, codec::Map{kMaxLessonEntries, ShareRows{kShort}});
}

void save_results(const Lesson& lesson, const Results& results) {
  codec::Json root = codec::write(results);
  root["lesson"] = lesson.id;
  root["definition"] = hash_of(lesson);
  for (const auto& [id, m] : results.measures)
    root["measures"][id]["averaged"] = to_string(lesson.measure(id)->mean);
  for (const auto& [id, c] : results.curves)
    root["curves"][id]["averaged"] = to_string(lesson.curve(id)->mean);
  write_file(measured_path(lesson), root.dump(1) + "\n", "lesson");
}

std::optional<Results> parse_results(std::string_view text, const std::string& name, const Lesson& lesson) {
  const InputValue root = InputValue::parse(text, name);
  const auto made_of = root.find("definition");
  if (!made_of || made_of->text(kMaxTextBytes) != hash_of(lesson)) return std::nullopt;
  auto results = codec::read<Results>(root);
  for (auto& [id, m] : results.measures) {
    const Measure* measure = lesson.measure(id);
    m.spread = spread_of(m.values, measure ? measure->mean : Mean::Arithmetic);
  }
  return results;
}

std::optional<Results> load_results(const Lesson& lesson) {
  const auto text = read(lesson);
  return text ? parse_results(*text, measured_path(lesson), lesson) : std::nullopt;
}

std::string staleness(const Lesson& lesson, const Results& fresh) {
  if (!read(lesson)) return "missing: write it with normscope lesson check --full --write";
  const std::optional<Results> kept = load_results(lesson);
  if (!kept) return "does not match this lesson: write it again with normscope lesson check --full --write";
  for (const auto& [id, m] : fresh.measures) {
    const auto it = kept->measures.find(id);
    if (it == kept->measures.end()) return fmt::format("has no '{}': write it again", id);
    // The tolerance covers training on another instruction set, but not by another version of the engine.
    const Spread& s = it->second.spread;
    const double tolerance =
        0.5 * (s.high - s.low) + 0.25 * std::max(std::abs(s.low), std::abs(s.high)) + 0.05;
    for (double v : m.values)
      if (!std::isinf(v) && (std::isnan(v) || v < s.low - tolerance || v > s.high + tolerance))
        return fmt::format("'{}' is {:.4g} now and was {:.4g} to {:.4g}: write it again", id, v, s.low,
                           s.high);
  }
  return {};
}

}  // namespace normscope::course

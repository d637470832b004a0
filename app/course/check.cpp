#include "app/course/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <iterator>
#include <set>

#include "app/course/map.h"
#include "app/course/report.h"
#include "app/plot/plot.h"
#include "app/ui/theme.h"
#include "app/ui/widgets.h"
#include "training/experiments/study.h"
#include "training/experiments/table.h"
#include "training/io/codec.h"
#include "training/io/text.h"

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
    if (!done) continue;  // a run of which only fresh models were measured
    out.texts[run.id] = done->text;
    out.level = done->level;
  }
}

/// Calls job(i, store) for every i < count on as many threads as the store has, each with one thread of
/// its own: small models train faster side by side than with all threads on one of them, and to the same bits.
void in_parallel(experiments::RunStore& store, size_t count,
                 const std::function<void(size_t, experiments::RunStore&)>& job) {
  std::atomic<bool> stop{false};
  const auto make = [&]() -> experiments::WorkOn {
    return [&, own = std::shared_ptr<experiments::RunStore>(store.beside(1))](size_t i) { job(i, *own); };
  };
  experiments::work_off("a lesson's runs", count, store.threads(), stop, make, [] {});
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

/// Writes it as in lesson.toml, with a minus sign.
std::string limit_text(double limit) { return ui::with_minus(fmt::format("{}", limit)); }

std::string padded(const std::string& text, size_t width, bool right = false) {
  const std::string blanks(width > terminal_columns(text) ? width - terminal_columns(text) : 0, ' ');
  return right ? blanks + text : text + blanks;
}

constexpr size_t kClaim = 84, kMeasured = 14, kSpread = 26;

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
    Measured& measured = results.measures[m.id];
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

bool holds(const Check& check, const Measured& measured) {
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
    // Scaled to the curve that it stands for, so that nothing but its form speaks.
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
  for (uint64_t seed = 1; seed <= kFullSeeds; ++seed)
    for (const Lesson* lesson : lessons)
      for (const Curve& curve : lesson->curves)
        if (static_cast<int32_t>(seed) <= seeds_of(curve, tier)) add_runs(*lesson, curve, seed, runs);
  for (const Lesson* lesson : lessons) add_mapped(*lesson, runs);
  std::set<std::string> keys;
  std::erase_if(runs, [&](const StudyRun& run) { return !keys.insert(run.key()).second; });
  return runs;
}

LessonReport check_lesson(const Lesson& lesson, experiments::RunStore& store, Tier tier,
                          const experiments::OnStep& on_step) {
  const auto start = std::chrono::steady_clock::now();
  LessonReport report{.lesson = &lesson};
  store.train_ahead(runs_of({&lesson}, tier), on_step);
  std::vector<CurveSet> seeds(kFullSeeds);
  std::vector<std::pair<const Curve*, CurveData*>> jobs;
  std::vector<uint64_t> seed_of;
  for (size_t seed = 0; seed < kFullSeeds; ++seed)
    for (const Curve& curve : lesson.curves)
      if (static_cast<int32_t>(seed) < seeds_of(curve, tier)) {
        jobs.emplace_back(&curve, &seeds[seed][curve.id]);  // a map's values stay where they are
        seed_of.push_back(seed + 1);
      }
  in_parallel(store, jobs.size(), [&](size_t i, experiments::RunStore& own) {
    *jobs[i].second = measure_curve(lesson, *jobs[i].first, seed_of[i], own, on_step);
  });
  Results& results = report.results = results_of(lesson, seeds);
  results.seeds = tier == Tier::Full ? kFullSeeds : 1;
  keep_runs(lesson, store, results, on_step);
  for (const Check& check : lesson.checks) {
    const Measured& measured = results.measures[check.measure];
    report.outcomes.push_back({&check, lesson.measure(check.measure), measured, holds(check, measured)});
  }
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

Json to_json(const Measure& measure, const Measured& measured) {
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

}  // namespace normscope::course

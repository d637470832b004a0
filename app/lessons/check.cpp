#include "app/lessons/check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace normscope::lessons {
namespace {

int32_t seeds_of(const Curve& curve, Tier tier) { return tier == Tier::Full ? kFullSeeds : curve.fast_seeds; }

/// Curves that a seed has; a measure exists for the seeds that all its curves have.
bool complete_for(const Lesson& lesson, const Measure& m, const CurveSet& curves) {
  if (m.curve.empty())
    return complete_for(lesson, *lesson.measure(m.first), curves) &&
           complete_for(lesson, *lesson.measure(m.second), curves);
  return curves.contains(m.curve) && (m.against.empty() || is_scale(m.against) || curves.contains(m.against));
}

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
    band.mean.push_back(s.mean), band.low.push_back(s.low), band.high.push_back(s.high);
  }
}

void keep_runs(const Lesson& lesson, RunStore& store, Results& out, const OnStep& on_step) {
  for (const LessonRun& run : lesson.runs) {
    const bool mapped = std::any_of(lesson.figures.begin(), lesson.figures.end(),
                                    [&](const Figure& f) { return f.map_run == run.id; });
    const RunSpec spec = spec_of(lesson, run.id, 1);
    const auto done =
        mapped ? store.get(spec, run.edits, on_step) : store.find(RunStore::key_of(spec, run.edits));
    if (!done) continue;  // a run of which only fresh models were measured
    out.texts[run.id] = done->text, out.level = done->level;
    for (const Figure& f : lesson.figures)
      if (f.map_run == run.id)
        out.maps[run.id + (f.map_at_start ? " start" : " end")] =
            f.map_at_start ? done->shares_start : done->shares_end;
  }
}

bool inside(const Check& check, double value) {
  return !std::isnan(value) && (!check.low || value >= *check.low) && (!check.high || value <= *check.high);
}

}  // namespace

bool LessonReport::passed() const {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.holds; });
}

LessonReport check_lesson(const Lesson& lesson, RunStore& store, Tier tier, const OnStep& on_step) {
  const auto start = std::chrono::steady_clock::now();
  LessonReport report;
  report.lesson = &lesson;
  std::vector<CurveSet> seeds(kFullSeeds);
  for (size_t seed = 0; seed < kFullSeeds; ++seed)
    for (const Curve& curve : lesson.curves)
      if (static_cast<int32_t>(seed) < seeds_of(curve, tier))
        seeds[seed][curve.id] = measure_curve(lesson, curve, seed + 1, store, on_step);
  Results& results = report.results;
  results.seeds = tier == Tier::Full ? kFullSeeds : 1;
  for (const Measure& m : lesson.measures) {
    Measured& measured = results.measures[m.id];
    for (const CurveSet& set : seeds)
      if (complete_for(lesson, m, set)) measured.values.push_back(evaluate(lesson, m, set));
    measured.spread = spread_of(measured.values, m.mean);
  }
  for (const Curve& curve : lesson.curves) results.curves[curve.id] = band_of(curve, seeds);
  keep_runs(lesson, store, results, on_step);
  for (const Check& check : lesson.checks) {
    Verdict v{&check, lesson.measure(check.measure), results.measures[check.measure], false};
    v.holds = !v.measured.values.empty() && std::all_of(v.measured.values.begin(), v.measured.values.end(),
                                                        [&](double x) { return inside(check, x); });
    report.verdicts.push_back(std::move(v));
  }
  report.stale = staleness(lesson, results);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

std::string band_text(const Check& check) {
  if (check.low && check.high) return fmt::format("{} to {}", *check.low, *check.high);
  return check.low ? fmt::format("at least {}", *check.low) : fmt::format("at most {}", *check.high);
}

std::string to_text(const LessonReport& report) {
  const Lesson& lesson = *report.lesson;
  std::string out = fmt::format("{} {}: {}  ({:.1f} s)\n  claim: {}\n", lesson.number, lesson.title,
                                report.passed() ? "holds" : "FAILS", report.seconds, lesson.claim);
  for (const Verdict& v : report.verdicts) {
    const Spread& s = v.measured.spread;
    std::string range = v.measured.values.size() > 1 ? fmt::format(" ({:.4g} to {:.4g}, {} seeds)", s.low,
                                                                   s.high, v.measured.values.size())
                                                     : "";
    out += fmt::format("  {}  {:<58} {:>10.4g}{}  band {}\n", v.holds ? "ok  " : "FAIL", v.measure->label,
                       s.mean, range, band_text(*v.check));
    if (!v.holds)
      out += fmt::format("        measured {:.5g}; this contradicts: {}\n",
                         fmt::join(v.measured.values, ", "), v.check->says);
  }
  if (!report.stale.empty()) out += fmt::format("  measured.json: {}\n", report.stale);
  return out;
}

}  // namespace normscope::lessons

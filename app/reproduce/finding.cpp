#include "app/reproduce/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace normscope::reproduce {
namespace {

bool all_opposite(const std::optional<Opposite>& opposite, const lessons::Measured& measured) {
  return opposite && !measured.values.empty() &&
         std::all_of(measured.values.begin(), measured.values.end(),
                     [&](double value) { return !std::isnan(value) && opposite->holds(value); });
}

/// {MEASURE} becomes its mean, as it is shown.
std::string filled_in(const std::string& sentence, const Claim& claim, const lessons::Results& results) {
  std::string out;
  for (size_t at = 0; at < sentence.size();) {
    const size_t open = sentence.find('{', at), close = sentence.find('}', open);
    out += sentence.substr(at, open - at);
    if (open == sentence.npos || close == sentence.npos) break;
    const std::string name = sentence.substr(open + 1, close - open - 1);
    out += lessons::shown(results.measures.at(name).spread.mean, *claim.language.measure(name));
    at = close + 1;
  }
  return out;
}

/// A neighbour whose value, where it is measured, lies in the band of the check.
std::string passing_neighbour(const Claim& claim, const lessons::Check& check,
                              const lessons::Results& results) {
  for (const lessons::Neighbour& neighbour : check.excludes) {
    const lessons::Measure& measure = *claim.language.measure(check.measure);
    const bool of_curve = !neighbour.curve.empty() || !neighbour.law.empty();
    const auto missing = [&](const std::string& curve) {
      const auto it = results.curves.find(curve);
      return !curve.empty() && (it == results.curves.end() || it->second.mean.empty());
    };
    if (of_curve && (missing(measure.curve) || missing(neighbour.curve))) continue;
    for (const double value : values_of(claim.language, check, neighbour, results))
      if (lessons::holds(check, {{value}, {value, value, value}})) return neighbour.what;
  }
  return {};
}

void conclude(Outcome& outcome, const std::string& why) {
  const Claim& claim = *outcome.claim;
  bool known = why.empty(), holds = true, opposite = false;
  // A neighbour's measure too, and what the sentence names.
  for (const auto& [id, measured] : outcome.results.measures)
    known = known && static_cast<int32_t>(measured.values.size()) >= outcome.seeds;
  for (size_t i = 0; i < claim.language.checks.size(); ++i) {
    Checked checked;
    checked.check = &claim.language.checks[i];
    checked.measure = claim.language.measure(checked.check->measure);
    checked.measured = outcome.results.measures[checked.check->measure];
    checked.holds = lessons::holds(*checked.check, checked.measured);
    checked.opposite = all_opposite(claim.opposites[i], checked.measured);
    checked.not_excluded = passing_neighbour(claim, *checked.check, outcome.results);
    holds = holds && checked.holds && checked.not_excluded.empty();
    opposite = opposite || checked.opposite;
    outcome.checks.push_back(std::move(checked));
  }
  if (!claim.beyond.empty()) {
    outcome.finding = Finding::Beyond;
    outcome.sentence = claim.beyond;
    return;
  }
  outcome.finding = !known     ? Finding::Unknown
                    : opposite ? Finding::Contradicted
                    : holds    ? Finding::Reproduced
                               : Finding::NotAtThisScale;
  const std::string data = claim.data.empty() ? "" : claim.data + ": ";
  outcome.sentence = known         ? data + filled_in(claim.sentence(outcome.finding), claim, outcome.results)
                     : why.empty() ? "Not all of its runs are there yet."
                                   : why;
}

}  // namespace

Outcome judge(const Claim& claim, const std::vector<lessons::CurveSet>& curves, int32_t seeds,
              const std::string& why) {
  Outcome outcome;
  outcome.claim = &claim;
  outcome.seeds = seeds;
  outcome.results.seeds = seeds;
  for (const lessons::Measure& m : claim.language.measures) {
    lessons::Measured& measured = outcome.results.measures[m.id];
    for (size_t i = 0; i < curves.size(); ++i) {
      if (!complete_for(claim.language, m, curves[i])) continue;
      measured.values.push_back(evaluate(claim.language, m, curves[i]));
      outcome.seeds_of[m.id].push_back(static_cast<int32_t>(i) + 1);
    }
    measured.spread = spread_of(measured.values, m.mean);
  }
  for (const lessons::Curve& curve : claim.language.curves)
    outcome.results.curves[curve.id] = band_of(curve, curves);
  conclude(outcome, why);
  return outcome;
}

Outcome judge_values(const Claim& claim, const std::map<std::string, std::vector<double>>& values,
                     int32_t seeds) {
  Outcome outcome;
  outcome.claim = &claim;
  outcome.seeds = seeds;
  outcome.results.seeds = seeds;
  for (const lessons::Measure& m : claim.language.measures) {
    lessons::Measured& measured = outcome.results.measures[m.id];
    if (const auto it = values.find(m.id); it != values.end()) measured.values = it->second;
    for (size_t i = 0; i < measured.values.size(); ++i)
      outcome.seeds_of[m.id].push_back(static_cast<int32_t>(i) + 1);
    measured.spread = spread_of(measured.values, m.mean);
  }
  conclude(outcome, "");
  return outcome;
}

}  // namespace normscope::reproduce

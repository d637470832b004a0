#include "training/experiments/arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace normscope::experiments {
namespace {

using Json = nlohmann::json;
using Strength = Agreement::Strength;

constexpr const char* kStrengths[] = {"few seeds", "seeds disagree", "leans", "holds"};  // in files

/// The step from which a seed learns; infinite where it does not.
double learns_at(const SeedEnd& seed) {
  return seed.verdict == Verdict::Learns ? seed.verdict.since : std::numeric_limits<double>::infinity();
}

double height_of(const SeedEnd& seed) {
  return std::isfinite(seed.loss) ? seed.loss : std::numeric_limits<double>::infinity();
}

void count(Agreement& agreement, double first, double second) {
  ++(first < second ? agreement.first : second < first ? agreement.second : agreement.neither);
}

ArmPair pair_of(std::span<const Arm> arms, size_t first, size_t second) {
  ArmPair pair{first, second};
  pair.same_data = arms[first].data.hash == arms[second].data.hash;
  for (const SeedEnd& one : arms[first].seeds) {
    const auto other = std::ranges::find(arms[second].seeds, one.seed, &SeedEnd::seed);
    if (other == arms[second].seeds.end() || one.verdict == Verdict::Failed ||
        other->verdict == Verdict::Failed)
      continue;
    count(pair.learns, learns_at(one), learns_at(*other));
    count(pair.loss, height_of(one), height_of(*other));
    if (std::isfinite(one.loss) && std::isfinite(other->loss))
      pair.differences.push_back(one.loss - other->loss);
  }
  return pair;
}

/// A number that is not finite is written as null.
Json to_json(const Summary& summary) {
  if (summary.count == 0) return {};
  return {
      {"mean", summary.mean}, {"low", summary.low}, {"high", summary.high}, {"deviation", summary.deviation}};
}

std::string few(int32_t seeds) {
  return fmt::format("{} seed{}: expected at least {}", seeds, seeds == 1 ? "" : "s", Agreement::kLeast);
}

Json to_json(const Agreement& agreement, const Arm& first, const Arm& second, bool same_data) {
  const std::string a(1, first.letter), b(1, second.letter);
  Json out{{a, agreement.first}, {b, agreement.second}, {"neither", agreement.neither}, {"p", agreement.p()}};
  const Strength strength = agreement.strength();
  out["finding"] = {};
  if (!same_data)
    out["why"] = "they read other data";
  else if (strength == Strength::Few)
    out["why"] = few(agreement.pairs());
  else if (strength == Strength::Differs)
    out["why"] = agreement.first + agreement.second > 0 ? kStrengths[static_cast<size_t>(strength)]
                                                        : "no seed tells them apart";
  else
    out["finding"] = {{"arm", agreement.first > 0 ? a : b},
                      {"strength", kStrengths[static_cast<size_t>(strength)]}};
  return out;
}

Json to_json(const Arm& arm) {
  const Verdicts verdicts = arm.verdicts();
  Json seeds = Json::array(), counts = Json::object(), steps = Json::array();
  for (const SeedEnd& seed : arm.seeds) {
    seeds.push_back(seed.seed);
    if (seed.verdict == Verdict::Learns) steps.push_back(seed.verdict.since);
  }
  for (size_t kind = 0; kind < kVerdictKinds; ++kind)
    if (const int32_t seen = verdicts.count(static_cast<Verdict::Kind>(kind)); seen > 0)
      counts[std::string(kVerdictWords[kind])] = seen;
  Json out{{"run", std::string(1, arm.letter)},
           {"name", arm.name},
           {"seeds", std::move(seeds)},
           {"verdicts", std::move(counts)},
           {"verdict", {}},
           {"learns_at", std::move(steps)},
           {"loss", to_json(arm.loss())},
           {"difference", to_json(arm.above_level())}};
  const std::optional<Verdict::Kind> shared = verdicts.shared();
  if (verdicts.seeds() < Agreement::kLeast)
    out["why"] = few(verdicts.seeds());
  else if (!shared)
    out["why"] = kStrengths[static_cast<size_t>(Strength::Differs)];
  else
    out["verdict"] = word_of(*shared);
  return out;
}

}  // namespace

Summary summary_of(std::span<const double> numbers) {
  Summary out;
  double sum = 0, squares = 0;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    out.low = out.count ? std::min(out.low, number) : number;
    out.high = out.count ? std::max(out.high, number) : number;
    sum += number;
    ++out.count;
  }
  if (out.count == 0) return out;
  out.mean = sum / out.count;
  for (const double number : numbers)
    if (std::isfinite(number)) squares += (number - out.mean) * (number - out.mean);
  if (out.count > 1) out.deviation = std::sqrt(squares / (out.count - 1));
  return out;
}

SeedEnd end_of(const RunSpec& spec, std::span<const float> losses, double level) {
  Series series;
  for (size_t i = 0; i < losses.size(); ++i) series.steps.push_back(static_cast<int32_t>(i) + 1);
  series.values.assign(losses.begin(), losses.end());
  const std::vector<RunEvent> events = events_of(series, level, spec.train.schedule.warmup);
  const Yardstick by{.level = level, .guessing = guessing_loss(spec.model), .ended = true};
  const auto last = losses.last(std::min(losses.size(), static_cast<size_t>(kLossWindow)));
  const double sum = std::accumulate(last.begin(), last.end(), 0.0);
  return {spec.seed, judge(verdict_of(events), losses, by), sum / static_cast<double>(last.size()), level};
}

Verdicts Arm::verdicts() const {
  Verdicts all;
  for (const SeedEnd& seed : seeds) all.add(seed.verdict);
  return all;
}

Summary Arm::loss() const {
  std::vector<double> losses;
  for (const SeedEnd& seed : seeds) losses.push_back(seed.loss);
  return summary_of(losses);
}

Summary Arm::above_level() const {
  std::vector<double> differences;
  for (const SeedEnd& seed : seeds) differences.push_back(seed.loss - seed.level);
  return summary_of(differences);
}

Strength Agreement::strength() const {
  if (pairs() < kLeast) return Strength::Few;
  if (first != pairs() && second != pairs()) return Strength::Differs;
  return pairs() < kEnough ? Strength::Leans : Strength::Holds;
}

double Agreement::p() const {
  const int32_t decided = first + second;
  if (decided == 0) return std::numeric_limits<double>::quiet_NaN();
  double ways = 1, tail = 0;  // ways to choose k of them, for k = 0, 1, ...
  for (int32_t k = 0; k <= std::min(first, second); ++k) {
    tail += ways;
    ways *= static_cast<double>(decided - k) / (k + 1);
  }
  return std::min(1.0, 2 * tail / std::exp2(decided));
}

std::vector<ArmPair> pairs_of(std::span<const Arm> arms) {
  std::vector<ArmPair> pairs;
  for (size_t first = 0; first < arms.size(); ++first)
    for (size_t second = first + 1; second < arms.size(); ++second)
      pairs.push_back(pair_of(arms, first, second));
  return pairs;
}

nlohmann::json to_json(std::span<const Arm> arms) {
  Json told = Json::array(), pairs = Json::array();
  for (const Arm& arm : arms) told.push_back(to_json(arm));
  for (const ArmPair& pair : pairs_of(arms)) {
    const Arm &first = arms[pair.first], &second = arms[pair.second];
    pairs.push_back({{"runs", {std::string(1, first.letter), std::string(1, second.letter)}},
                     {"learns_earlier", to_json(pair.learns, first, second, pair.same_data)},
                     {"ends_lower", to_json(pair.loss, first, second, pair.same_data)},
                     {"difference", pair.same_data ? to_json(summary_of(pair.differences)) : Json()}});
  }
  return {{"arms", std::move(told)}, {"pairs", std::move(pairs)}};
}

}  // namespace normscope::experiments

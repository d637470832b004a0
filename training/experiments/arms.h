// Settings over their seeds, and every two of them seed by seed: what may be said of a difference where luck counts as
// well. What programs read of compare and instant is made here, so that one seed is nowhere told as a finding.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "training/data/task.h"
#include "training/measure/verdict.h"
#include "training/spec/spec.h"

namespace normscope::experiments {

/// Of those of some numbers that are finite. Each is NaN where none is; `deviation`, of a sample, also where one is.
struct Summary {
  double mean = std::numeric_limits<double>::quiet_NaN(), low = mean, high = mean, deviation = mean;
  int32_t count = 0;
};
Summary summary_of(std::span<const double> numbers);

/// What one seed of an arm came to.
struct SeedEnd {
  uint64_t seed = 1;
  Verdict verdict;
  double loss = std::numeric_limits<double>::quiet_NaN();   ///< at its end, nats
  double level = std::numeric_limits<double>::quiet_NaN();  ///< the loss of knowing frequencies alone, nats
};

/// What the losses of a trained run say: those of a rerun are all that is kept of it. `level`: as Plateau's.
SeedEnd end_of(const RunSpec& spec, std::span<const float> losses, double level);

/// One setting over its seeds.
struct Arm {
  char letter = 'A';
  std::string name;
  DataIdentity data{};         ///< losses on other data do not compare
  std::vector<SeedEnd> seeds;  ///< by seed
  Verdicts verdicts() const;
  Summary loss() const;
  Summary above_level() const;  ///< of loss minus level
};

/// How far the seeds of two arms agree on which of them comes first.
struct Agreement {
  enum class Strength : uint8_t {
    Few,      ///< fewer pairs of seeds than kLeast
    Differs,  ///< not every pair says the same
    Leans,    ///< every pair does, of fewer than kEnough
    Holds     ///< every pair does
  };
  static constexpr int32_t kLeast = 3, kEnough = 5;
  int32_t first = 0, second = 0, neither = 0;  ///< pairs in which that arm comes first
  int32_t pairs() const { return first + second + neither; }
  Strength strength() const;
  /// The sign test: how probable so one-sided a count is, or a more one-sided one, if a coin chose each first. NaN
  /// without a pair in which one comes first. Of five seeds that agree it is 0.0625.
  double p() const;
};

/// Two arms with the seeds that both have. With equal seeds they read the same batches from the same first weights.
struct ArmPair {
  size_t first = 0, second = 0;  ///< places among the arms
  Agreement learns{};  ///< which learns at an earlier step; one that does not learn never comes first
  Agreement loss{};    ///< which ends with the lower loss; one that is not finite is above any
  std::vector<double> differences{};  ///< the first one's loss minus the second one's, where both are finite
  bool same_data = true;
};
/// Every two arms, in their order. Seeds that could not be trained count in no pair.
std::vector<ArmPair> pairs_of(std::span<const Arm> arms);

/// The members "arms" and "pairs" of what programs read; docs/log-format.md has the fields.
nlohmann::json to_json(std::span<const Arm> arms);

}  // namespace normscope::experiments

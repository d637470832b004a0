// The reproduce fixture is a claim on a model that takes no time, with a line of every kind, for the tests of normscope
// reproduce.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "addons/papers/app/reproduce/finding.h"
#include "refusals/refusals.h"
#include "training/support/tiny.h"

namespace normscope::fixture {

/// The tiny lines of one run, on one line each.
inline const std::string kTinyLines = test::tiny_lines() + "train.steps = 12\n";

inline const std::string kTinyClaim = test::refusal_base("claim");

/// A claim on sentence pairs, and what it trains where they are missing.
inline const std::string kPairsClaim =
    test::read_all(NORMSCOPE_SOURCE_DIR "/addons/papers/tests/pairs-claim.toml");

/// Concludes as from recorded numbers, the measures' values by seed; it knows the fall of no loss.
inline reproduce::Outcome judge_values(const reproduce::Claim& claim,
                                       const std::map<std::string, std::vector<double>>& values,
                                       int32_t seeds) {
  reproduce::Outcome outcome;
  outcome.claim = &claim;
  outcome.seeds = outcome.results.seeds = seeds;
  for (const course::Measure& m : claim.language.measures) {
    course::SeedValues& measured = outcome.results.measures[m.id];
    if (values.contains(m.id)) measured.values = values.at(m.id);
    for (size_t i = 0; i < measured.values.size(); ++i) measured.seeds.push_back(static_cast<int32_t>(i) + 1);
    measured.spread = spread_of(measured.values, m.mean);
  }
  conclude_recorded(outcome, {}, {});
  return outcome;
}

}  // namespace normscope::fixture

// From what was measured to what became of a claim. Reproduced: every check holds with every
// seed, and lies where none of its neighbouring hypotheses would. Contradicted here: with
// every seed some check's measure lies where the claim's opposite does. Not at this scale: neither, so the effect is absent,
// too small, or not there with every seed. Called by the trainer, the writers and the tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/course/check.h"
#include "app/reproduce/claim.h"

namespace normscope::reproduce {

/// A check with what was measured.
struct Checked {
  const lessons::Check* check = nullptr;
  const lessons::Measure* measure = nullptr;
  lessons::Measured measured;
  bool holds = false;
  bool opposite = false;  ///< every seed lies in the opposite band
  /// The neighbouring hypothesis that the check does not tell the claim from, as it was measured: its value lies in the
  /// band too. Empty: there is none.
  std::string not_excluded{};
};

struct Outcome {
  const Claim* claim = nullptr;
  int32_t seeds = 0;         ///< asked for
  lessons::Results results;  ///< measures and curves of the seeds that there are
  std::map<std::string, std::vector<int32_t>> seeds_of{};  ///< of a measure's values: whose they are
  std::vector<Checked> checks;
  Finding finding = Finding::Unknown;
  std::string sentence;  ///< the claim's, with its numbers filled in; of Unknown what is missing
  double seconds = 0;    ///< of a core, that its runs took to train, whoever trained them
};

/// `curves`: by seed, from 1; those that are there. `why`: what could not be trained, in a line; empty: nothing.
Outcome judge(const Claim& claim, const std::vector<lessons::CurveSet>& curves, int32_t seeds,
              const std::string& why = {});

/// The checks and the finding alone, from the measures' values by seed.
Outcome judge_values(const Claim& claim, const std::map<std::string, std::vector<double>>& values,
                     int32_t seeds);

}  // namespace normscope::reproduce

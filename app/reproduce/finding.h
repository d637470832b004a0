// From what was measured to what became of a claim, part by part: each check has a verdict of its own. Reproduced: it holds
// with every seed, and lies where none of its neighbouring hypotheses would. Contradicted here: with every seed its measure
// lies where the opposite does. Cannot be told here: a neighbour lies in its band too, or a band that says "as good" is
// wider than half of the smallest effect that the source shows, or the seeds scatter by more than it. Not at this scale:
// none of these. A claim has the verdict that all of its parts have; where they disagree it says so, and none labels the
// whole. Called by the trainer, the writers and the tests.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/course/check/check.h"
#include "app/reproduce/claim.h"

namespace normscope::reproduce {

/// A check with what was measured.
struct Checked {
  const course::Check* check = nullptr;
  const course::Measure* measure = nullptr;
  course::Measured measured;
  bool holds = false;
  bool opposite = false;  ///< every seed lies in the opposite band
  Finding finding = Finding::Unknown;
  /// It compares losses of which some still fell by more than kLevel of the claimed difference in the last quarter, or the
  /// claim says itself that it is of speed: the word is speed, not quality.
  bool speed = false;
  bool compares = false;  ///< runs at their end, in a claim of quality or of speed
  std::string why{};      ///< it cannot be told, or is of speed; empty: there is nothing to say
  /// The neighbouring hypothesis that the check does not tell the claim from, as it was measured: its value lies in the
  /// band too. Empty: there is none.
  std::string not_excluded{};
};

struct Outcome {
  const Claim* claim = nullptr;
  std::shared_ptr<const Claim>
      own{};  ///< what `claim` points to where it is not the caller's: its controls are chosen
  /// Some measures are known by mean and range alone (recorded.h): their values are the ends of the range.
  bool spread_alone = false;
  int32_t seeds = 0;        ///< asked for
  course::Results results;  ///< measures and curves of the seeds that there are
  std::map<std::string, std::vector<int32_t>> seeds_of{};  ///< of a measure's values: whose they are
  std::vector<Checked> checks;
  Finding finding = Finding::Unknown;
  std::string sentence;  ///< the claim's, with its numbers filled in; of Unknown what is missing
  double seconds = 0;    ///< of a core, that its runs took to train, whoever trained them
};

/// Quality: in every arm and with every seed the fitted fall of the loss over the last quarter is at most this part of the
/// claimed difference, which is the edge of a band around 0, and else the smallest of the differences measured.
inline constexpr double kLevel = 0.05;

/// A measure's mean as it is shown. Where it never came with some seeds, and did with others, their number in its place: what
/// has no end is counted and not averaged.
std::string mean_text(const course::Measured& measured, const course::Measure& measure);

/// The verdict of a claim, or of one of its parts: "reproduced", "reproduced (speed, not quality)".
std::string verdict_of(const Outcome& outcome);
std::string verdict_of(const Checked& checked);

/// `curves`: by seed, from 1; those that are there. `why`: what could not be trained, in a line; empty: nothing.
Outcome judge(const Claim& claim, const std::vector<course::CurveSet>& curves, int32_t seeds,
              const std::string& why = {});

/// The checks and the finding of measures and falls (lines of kLateFall) that are there already; `not_excluded` by check.
void conclude_recorded(Outcome& outcome, const std::map<std::string, course::CurveData>& falls,
                       const std::vector<std::string>& not_excluded);

/// The checks and the finding alone, from the measures' values by seed; of no losses whose fall is known.
Outcome judge_values(const Claim& claim, const std::map<std::string, std::vector<double>>& values,
                     int32_t seeds);

}  // namespace normscope::reproduce

// The verdict on a claim, from the measurements, part by part: each check has a verdict of its own.
// Reproduced: the check holds with every seed, and its value lies where no neighbouring hypothesis would put it.
// Contradicted here: with every seed the measure lies in the band of the opposite. Cannot be told here: the runs are
// not in the source's regime; a neighbour lies in the check's band too; the band held before training; a band that says
// "as good" is wider than half of the smallest effect that the source shows, or the seeds scatter by more than that
// band; a control is at its best at an end of the values tried, and a better one could turn the verdict; or every seed
// falls short of a threshold that no source states. Not at this scale: none of these. A claim has the verdict that all
// of its parts share; where they disagree its verdict is PartsDiffer. The trainer, the writers and the tests call this.
#pragma once

#include "addons/papers/app/reproduce/claim.h"
#include "app/course/check.h"

namespace normscope::reproduce {

/// A check with what was measured.
struct CheckResult : course::CheckOutcome {
  bool opposite = false;  ///< every seed lies in the opposite band
  Finding finding = Finding::Unknown;
  /// Whether the check compares speed, not quality: some of its losses still fell by more than kLevel of the claimed
  /// difference in the last quarter, or the claim is one of speed.
  bool speed = false;
  bool compares = false;  ///< compares runs at their end, in a claim of quality or of speed
  std::string why{};      ///< why it cannot be told, or is of speed; empty: nothing to say
  /// Names the neighbouring hypothesis that the check cannot rule out, because its measured value lies
  /// in the band too. Empty: there is none.
  std::string not_excluded{};
};

struct Outcome {
  const Claim* claim = nullptr;
  std::shared_ptr<const Claim> own{};  ///< owns `claim` where its controls were chosen
  /// Whether some measures are known by mean and range alone (RecordedFindings): their values are the ends
  /// of the range.
  bool spread_alone = false;
  int32_t seeds = 0;        ///< requested
  course::Results results;  ///< measures and curves of the seeds known so far
  std::vector<CheckResult> checks;
  Finding finding = Finding::Unknown;
  std::string sentence;  ///< the claim's, with its numbers filled in; of Unknown what is missing
  double seconds = 0;    ///< core seconds that its runs took, wherever they were trained
};

/// The limit for a claim of quality: in every arm and with every seed the fitted fall of the loss over the
/// last quarter is at most this share of the claimed difference. That difference is the edge of a band around 0, or
/// else the smallest difference measured.
inline constexpr double kLevel = 0.05;

/// A measure's mean as text; "never with 2 of 5 seeds" where only some values are infinite, because an infinite value
/// is counted and not averaged.
std::string mean_text(const course::SeedValues& measured, const course::Measure& measure);

/// Says " Post-LN is at its best: learning rate 0.002, the best of 9 …" of each control; empty: there is none.
std::string controls_text(const Claim& claim);

/// The verdict of a claim, or of one of its parts: "reproduced", "reproduced (speed, not quality)".
std::string verdict_of(const Outcome& outcome);
std::string verdict_of(const CheckResult& checked);

/// Judges the claim from the curves that are there, by seed from 1. `why` says in a line what could not be
/// trained; empty: nothing.
Outcome judge(const Claim& claim, const std::vector<course::CurveSet>& curves, int32_t seeds,
              const std::string& why = {});

/// Fills in the checks and the finding from measures and falls (lines of kLateFall) that are
/// already known; `not_excluded` has one text per check.
void conclude_recorded(Outcome& outcome, const std::map<std::string, course::CurveData>& falls,
                       const std::vector<std::string>& not_excluded);

// Earlier measurements of claims, in one file (claims/recorded.json). A claim whose runs,
// lines and measures are unchanged is judged anew from them, without training, even if its bands, sentences or rules
// have changed. New measurements join the file, but never replace better numbers. A file that cannot be read is
// refused; a recorded claim whose definition has changed counts as absent. The command and the tests call this.

/// What was measured of one claim.
struct RecordedFindings {
  std::string definition;  ///< definition_of() of the claim at that time
  int32_t seeds = 0;
  std::map<std::string, course::SeedValues> measures;  ///< without values where only mean and range were kept
  std::map<std::string, std::string> chosen;           ///< by control, the cell that was chosen for it
  std::vector<std::string> at_end;                     ///< the controls that are Control::at_end
  std::vector<std::string> not_excluded;  ///< by check, as CheckResult has it; empty: no neighbour was tested
  std::map<std::string, course::CurveData> falls;  ///< lines of kLateFall: the largest over the seeds
};
using RecordedClaims = std::map<std::string, RecordedFindings>;

/// A hash of all that decides the numbers of a claim: runs, controls, lines and measures, and how many seeds.
std::string definition_of(const Claim& claim, int32_t seeds);

/// Throws Error for any other text.
RecordedClaims parse_recorded(std::string_view json, const std::string& name);
/// No claims where the file is missing.
RecordedClaims read_recorded(const std::string& file);
std::string to_text(const RecordedClaims& claims);

/// What was measured. It returns nothing for a claim that has no verdict, nothing to measure, or no sentence pairs.
std::optional<RecordedFindings> record_of(const Outcome& outcome);
/// Whether the kept numbers of this claim are better than new ones from `seeds` seeds: the claim is
/// unchanged, and they come from more seeds or from sentence pairs that are now missing.
bool is_kept(const Claim& claim, int32_t seeds, const RecordedClaims& claims);
/// Judges by the claim as it is now. It returns nothing where the recorded claim differs from it, or
/// lacks a measure that it names.
std::optional<Outcome> judge_recorded(const Claim& claim, int32_t seeds, const RecordedClaims& claims);

/// One line per claim: id, source, runs and steps, the core time that they took ("about 40 s" where
/// some are missing: an estimate from their arithmetic), and the verdict.
std::string list_text(const std::vector<Outcome>& outcomes);
/// Shows claim, setting, the paper's numbers and ours with their range over seeds, checks, verdict and why.
std::string to_text(const Outcome& outcome);
/// Counts verdicts: "31 claims: 24 reproduced, 5 not at this scale, 2 contradicted here".
std::string summary_text(const std::vector<Outcome>& outcomes);

/// Writes "normscope reproduction 1" (docs/log-format.md). Nothing in it depends on which machine trained a
/// run, or when.
nlohmann::json to_json(const std::vector<Outcome>& outcomes);
/// One line per measure and seed.
std::string to_csv(const std::vector<Outcome>& outcomes);
/// Draws the paper's numbers next to ours, and below them the claim's curves, in light colours, and in dark ones where
/// the viewer prefers them.
std::string to_svg(const Outcome& outcome);
/// Writes a page; `command` says how it was made.
std::string to_markdown(const std::vector<Outcome>& outcomes, const std::string& command);

/// Says "0.914, 0.902 to 0.931 over 5 seeds", or "–" for what was not measured.
std::string measured_text(const Outcome& outcome, const std::string& measure);

}  // namespace normscope::reproduce

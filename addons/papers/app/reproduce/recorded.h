// Recorded numbers are what was measured of claims before, in one file (claims/recorded.json). A claim whose runs,
// lines and measures are unchanged is judged anew from them, without training, even if its bands, sentences or rules
// have changed. New measurements join the file, but never replace better numbers. A file that cannot be read is
// refused; a recorded claim whose definition has changed counts as absent. The command and the tests call this.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "addons/papers/app/reproduce/finding.h"

namespace normscope::reproduce {

/// What a measure came to: one value per seed, or, where only these were kept, mean and range.
struct RecordedMeasure {
  std::vector<double> values;
  course::Spread spread;
};

/// What was measured of one claim.
struct Recorded {
  std::string definition;  ///< definition_of() of the claim at that time
  int32_t seeds = 0;
  std::map<std::string, RecordedMeasure> measures;
  std::map<std::string, std::string> chosen;  ///< by control, the cell that was chosen for it
  std::vector<std::string> not_excluded;      ///< by check, as Checked has it; empty: no neighbour was tested
  std::map<std::string, course::CurveData> falls;  ///< lines of kLateFall: the largest over the seeds
};
using RecordedClaims = std::map<std::string, Recorded>;

/// A hash of all that decides the numbers of a claim: runs, controls, lines and measures, and how
/// many seeds.
std::string definition_of(const Claim& claim, int32_t seeds);

/// Throws Error for any other text.
RecordedClaims parse_recorded(std::string_view json, const std::string& name);
/// No claims where the file is missing.
RecordedClaims read_recorded(const std::string& file);
std::string to_text(const RecordedClaims& claims);

/// What was measured. It returns nothing for a claim that has no verdict, nothing to measure, or no
/// sentence pairs.
std::optional<Recorded> record_of(const Outcome& outcome);
/// Whether the kept numbers of this claim are better than new ones from `seeds` seeds: the claim is
/// unchanged, and they come from more seeds or from sentence pairs that are now missing.
bool is_kept(const Claim& claim, int32_t seeds, const RecordedClaims& claims);
/// Judges by the claim as it is now. It returns nothing where the recorded claim differs from it, or
/// lacks a measure that it names.
std::optional<Outcome> judge_recorded(const Claim& claim, int32_t seeds, const RecordedClaims& claims);

}  // namespace normscope::reproduce

// Numbers of claims that were measured before, in one file (claims/recorded.json): a claim whose runs, lines and measures
// are still those that were measured is judged anew from them, whatever became of its bands, sentences and rules, and
// nothing is trained. What is measured now joins them, and takes the place of no better numbers. A file that cannot be
// read is refused; a claim of it that is not the same any more counts as absent. Called by the command and the tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/reproduce/finding.h"

namespace normscope::reproduce {

/// What a measure came to: a value a seed, or, where only these were kept, mean and range.
struct RecordedMeasure {
  std::vector<double> values;
  course::Spread spread;
};

/// What was measured of one claim.
struct Recorded {
  std::string definition;  ///< definition_of() of the claim then
  int32_t seeds = 0;
  std::map<std::string, RecordedMeasure> measures;
  std::map<std::string, std::string> chosen;  ///< of its controls
  std::vector<std::string> not_excluded;      ///< by check, as Checked has it; empty: none was looked for
  std::map<std::string, course::CurveData> falls;  ///< lines of kLateFall: the largest over the seeds
};
using RecordedClaims = std::map<std::string, Recorded>;

/// A hash of all that decides the numbers of a claim: runs, controls, lines and measures, and how many seeds.
std::string definition_of(const Claim& claim, int32_t seeds);

/// Throws Error for what is no such file.
RecordedClaims parse_recorded(std::string_view json, const std::string& name);
/// None where the file is missing.
RecordedClaims read_recorded(const std::string& file);
std::string to_text(const RecordedClaims& claims);

/// What was measured; nothing of a claim without a verdict, with none to measure, or without its sentence pairs.
std::optional<Recorded> record_of(const Outcome& outcome);
/// Whether the numbers that are kept of this claim are better than new ones of so many seeds: they are still its own, and
/// of more seeds or of sentence pairs that the claim now lacks.
bool is_kept(const Claim& claim, int32_t seeds, const RecordedClaims& claims);
/// The verdict as the claim has it now. Nothing where it is another claim, or lacks a measure that it names.
std::optional<Outcome> judge_recorded(const Claim& claim, int32_t seeds, const RecordedClaims& claims);

}  // namespace normscope::reproduce

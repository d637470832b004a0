// The writers show what became of claims as a table for a terminal, as JSON, CSV and SVG, and as the page
// docs/reproduction.md. They take every number from finding.h. The command and the tests call them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "addons/papers/app/reproduce/finding.h"

namespace normscope::reproduce {

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
/// Draws the paper's numbers beside ours, and below them the claim's curves, in light colours, and in dark
/// ones where the viewer prefers them.
std::string to_svg(const Outcome& outcome);
/// Writes a page; `command` says how it was made.
std::string to_markdown(const std::vector<Outcome>& outcomes, const std::string& command);

/// Says "0.914, 0.902 to 0.931 over 5 seeds", or "–" for what was not measured.
std::string measured_text(const Outcome& outcome, const std::string& measure);

}  // namespace normscope::reproduce

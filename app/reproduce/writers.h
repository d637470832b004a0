// What became of claims as a table for a terminal, as JSON, CSV, SVG and as the page docs/reproduction.md. Every number in
// any of them comes from finding.h. Called by the command and the tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/reproduce/finding.h"
#include "app/reproduce/plan.h"

namespace normscope::reproduce {

/// A line a claim: id, source, runs and steps, the time of a core that they took ("about 40 s" where some are missing: a
/// guess from their arithmetic), what became of it.
std::string list_text(const std::vector<Outcome>& outcomes);
/// Claim, setting, the paper's numbers and ours with their range over seeds, checks, verdict and why.
std::string to_text(const Outcome& outcome);
/// "31 claims: 24 reproduced, 5 not at this scale, 2 contradicted here".
std::string summary_text(const std::vector<Outcome>& outcomes);

/// "normscope reproduction 1" (docs/log-format.md). Nothing in it depends on who trained which run, or when.
nlohmann::json to_json(const std::vector<Outcome>& outcomes);
/// A line a measure and seed.
std::string to_csv(const std::vector<Outcome>& outcomes);
/// The paper's numbers beside ours, and below them the claim's curves; light, and dark where the viewer prefers it.
std::string to_svg(const Outcome& outcome);
/// A page; `command`: how it was made.
std::string to_markdown(const std::vector<Outcome>& outcomes, const std::string& command);

/// "0.914, 0.902 to 0.931 over 5 seeds"; "–" for what was not measured.
std::string measured_text(const Outcome& outcome, const std::string& measure);

}  // namespace normscope::reproduce

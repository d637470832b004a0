// These functions write a comparison as text for a terminal, Markdown, JSON and CSV, with the numbers of the value.
// docs/log-format.md has the fields.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "addons/compare/app/comparison.h"

namespace normscope::compare {

/// Writes the runs, the settings that differ, the first places and the table at the end.
std::string to_text(const Comparison&);
/// Writes them as a page. `pictures` are paths as seen from the page; it may be empty.
std::string to_markdown(const Comparison&, const std::vector<std::string>& pictures = {});
/// Writes format "normscope comparison 1". Numbers have six digits; a number that is not finite or not known
/// is null.
nlohmann::json to_json(const Comparison&);

std::string settings_csv(const Comparison&);
/// Writes every point of a run's map: layer, step, place on the shared axis, log10 of the ratio.
std::string map_csv(const Comparison&, size_t run);
std::string end_csv(const Comparison&);

}  // namespace normscope::compare

// The check writers show what `normscope lesson check` measured, as JSON, CSV and Markdown; docs/log-format.md
// describes the files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/course/check/check.h"

namespace normscope::course {

/// `to_json` of a measure is what was measured over the seeds, in the JSON of lessons and of claims.
nlohmann::json to_json(const Measure& measure, const Measured& measured);
/// `to_json` of reports writes "normscope lessons 1": for each lesson its measures by seed and its checks.
nlohmann::json to_json(const std::vector<LessonReport>& reports);
std::string to_csv(const std::vector<LessonReport>& reports);  ///< one line per measure and seed
/// Draws a figure over the measured seeds, in the light theme.
std::string to_svg(const LessonReport& report, const Figure& figure);
/// Writes a page; `command` says how it was made.
std::string to_markdown(const std::vector<LessonReport>& reports, const std::string& command);

}  // namespace normscope::course

// What `normscope lesson check` measured, as JSON, CSV and Markdown; docs/log-format.md describes the files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/course/check/check.h"

namespace normscope::course {

/// What was measured over the seeds, as the JSON of lessons and of claims has it.
nlohmann::json to_json(const Measure& measure, const Measured& measured);
/// "normscope lessons 1": of each lesson its measures by seed and its checks.
nlohmann::json to_json(const std::vector<LessonReport>& reports);
std::string to_csv(const std::vector<LessonReport>& reports);  ///< a line a measure and seed
/// A figure over the seeds that were measured, in the light theme.
std::string to_svg(const LessonReport& report, const Figure& figure);
/// `command`: how the page was made.
std::string to_markdown(const std::vector<LessonReport>& reports, const std::string& command);

}  // namespace normscope::course

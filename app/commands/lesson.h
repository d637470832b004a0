// The lessons that a command line names.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "app/course/reader.h"

namespace normscope::commands {

/// The lessons of a folder; empty: those that came with the program. It says on standard error
/// which lessons cannot be read. `language` ("de") is an order: it throws CommandError where no lesson has it. `wish`
/// is used without one, for lessons that have it; otherwise lessons are in English.
course::Course course_of(const std::string& folder, const std::string& language = "",
                         const std::string& wish = "");

void add_language(CLI::App& app, std::string& language);
/// Throws CommandError for a language that no lesson of `folder` (empty: the course's) has; an empty
/// language is English.
void check_language(const std::string& language, const std::string& folder = "");

/// Throws a CommandError that names the lessons.
const course::Lesson& lesson_of(const course::Course& course, const std::string& id);

}  // namespace normscope::commands

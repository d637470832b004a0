// The lessons that a command line names.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/course/reader.h"

namespace normscope::commands {

/// The lessons of a folder; empty: the program's own. Prints to standard error which lessons cannot be read.
/// `language` ("de") is required: throws CommandError if no lesson has it. Without `language` the lessons are in the
/// language `wish`. A lesson that lacks the language is in English.
course::Course course_of(const std::string& folder, const std::string& language = "",
                         const std::string& wish = "");

/// The names of the program's lessons, for completion.
std::vector<std::string> lesson_names();

void add_language(CLI::App& app, std::string& language);
/// Throws CommandError for a language that no lesson of `folder` (empty: the course's) has; an empty
/// language is English.
void check_language(const std::string& language, const std::string& folder = "");

/// Finds a lesson by name or number. Throws CommandError, which lists the lessons if all could be read.
const course::Lesson& lesson_of(const course::Course& course, const std::string& id);

}  // namespace normscope::commands

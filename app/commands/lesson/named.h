// The lessons that a command is about.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "app/course/reader.h"

namespace normscope::commands {

/// The lessons of a folder; empty: those that came with the program. Says on standard error which cannot be read.
/// In `language` ("de"), which is an order: throws CommandError where no lesson has it. Without one in the `wish`, used
/// where a lesson has it; English without either.
course::Course course_of(const std::string& folder, const std::string& language = "",
                         const std::string& wish = "");

/// The option --language of the commands that show lessons.
void add_language(CLI::App& app, std::string& language);
/// Throws CommandError for a language that no lesson of `folder` (empty: the course's) has; empty: English.
void check_language(const std::string& language, const std::string& folder = "");

/// Throws CommandError naming those that there are.
const course::Lesson& lesson_of(const course::Course& course, const std::string& id);

}  // namespace normscope::commands

// The lessons that a command is about.
#pragma once

#include <string>

#include "app/course/reader.h"

namespace normscope::cli {

/// The lessons of a folder; empty: those that came with the program. Says on standard error which cannot be read.
lessons::Course course_of(const std::string& folder);

/// Throws CommandError naming those that there are.
const lessons::Lesson& lesson_of(const lessons::Course& course, const std::string& id);

}  // namespace normscope::cli

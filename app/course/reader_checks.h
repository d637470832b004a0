// The reader checks cover what no single table of a lesson can see: that every name refers to something, that the claim
// is short, that no text between two actions is a wall of words. read_lesson calls them at its end.
#pragma once

#include "app/course/lesson.h"
#include "training/io/toml_table.h"

namespace normscope::course {

inline constexpr int32_t kClaimWords = 25, kStepWords = 130;

/// Throws Error with the table's file.
void check_references(const Lesson& lesson, const Table& root);

}  // namespace normscope::course

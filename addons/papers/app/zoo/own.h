// Own entries are rows of the zoo that a user made, for instance a wiring put together in a lesson. They are kept in
// one JSON file beside the progress of the lessons, and `normscope zoo` lists, trains and shows them beside its own.
// The lesson player, the command and the tests call this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "addons/papers/app/study/study_file.h"

namespace normscope::zoo {

/// The largest number of entries in one file.
inline constexpr size_t kMostOwn = 200;

/// Zoo.json in the folder of lessons.json. It is empty where `progress_path` is empty.
std::string own_path(const std::string& progress_path);

/// The entries in the order in which they were made. Throws Error for a damaged file, for settings
/// that no run has, and for a name that the zoo already has.
std::vector<sweep::StudyRow> parse_own(std::string_view text, const std::string& name);
/// Parses the file; it returns no entries where there is no file.
std::vector<sweep::StudyRow> read_own(const std::string& path);

/// The placements that the user added as files (training/files/placement_file.h), an entry each.
std::vector<sweep::StudyRow> own_placements();

/// Adds an entry and returns its name, "own-3", with the lowest free number. An entry with exactly the same
/// settings is not added again. Throws Error where the file cannot be written.
std::string enter(const std::string& path, const std::vector<std::string>& set);

}  // namespace normscope::zoo

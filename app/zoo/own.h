// Entries that somebody made, a wiring put together in a lesson for instance: one JSON file beside the progress of the
// lessons, whose entries `normscope zoo` lists, trains and shows beside its own. Called by the lesson player, the
// command and the tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/zoo/entries.h"

namespace normscope::zoo {

/// Of one file, at most.
inline constexpr size_t kMostOwn = 200;

/// zoo.json in the folder of lessons.json; empty where that is.
std::string own_path(const std::string& progress_path);

/// In the order in which they were made. Throws Error for what is damaged, no setting of a run, or a name of the zoo.
std::vector<Entry> parse_own(std::string_view text, const std::string& name);
/// Of the file; none where there is none.
std::vector<Entry> read_own(const std::string& path);

/// Adds an entry, and returns its name, "own-3", with the lowest number that is free; one with the very same settings is not added again. Throws Error
/// where it cannot be kept.
std::string enter(const std::string& path, const std::vector<std::string>& set);

}  // namespace normscope::zoo

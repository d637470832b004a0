// The zoo is the study of studies/zoo.toml, asked of the rows, depths and settings that somebody chose, with his own rows.
// The command and the tests call it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "addons/papers/app/study/study_file.h"

namespace normscope::zoo {

struct Choice {
  std::string only{};  ///< names of rows and parts, with commas; empty: all
  std::vector<int32_t> depths = {6};
  int32_t seeds = 3;
  int32_t steps = 0, warmup = 0;   ///< 0: as the file has them
  std::vector<std::string> set{};  ///< on the model that the rows change
};

/// Beyond eight layers the rate is 1e-3 over 400 steps, as at 3e-3 no deep Post-LN learns, whatever is on its skip path;
/// and unless some are named, only the rows of the question of depth are there. Parts of another network have a depth of
/// their own. Throws an Error that lists the names.
sweep::StudyFile study_of(const Choice& choice, const std::vector<sweep::StudyRow>& own = {});

// Own entries are rows of the zoo that a user made, for instance a wiring put together in a lesson. They are kept in
// one JSON file beside the progress of the lessons, and `normscope zoo` lists, trains and shows them beside its own.
// The lesson player, the command and the tests call this.

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

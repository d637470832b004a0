// The zoo is the study of studies/zoo.toml, asked of the rows, depths and settings that somebody chose, with his own rows.
// The command and the tests call it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "addons/papers/app/study_file.h"

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
sweep::StudyFile study_of(const Choice& choice, const std::vector<sweep::Bundle>& own = {});

/// The placements that the user added as files (training/files/placement_file.h), an entry each.
std::vector<sweep::Bundle> own_placements();

}  // namespace normscope::zoo

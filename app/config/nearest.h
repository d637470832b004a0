// "did you mean" for keys and names: the nearest known ones by edit distance. Called by the configuration
// reader and the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// All keys of the field table.
std::vector<std::string> field_keys();
/// ": did you mean train.warmup?" when one is near, else ": expected one of ..." with the names.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace normscope

// The files that this add-on reads, with their limits: README.md lists the same, and a test compares the two.
#pragma once

#include "engine/io/input_file.h"

namespace normscope::input {

inline constexpr InputKind kClaim{"", "a claim in TOML", 1'000'000};
inline constexpr InputKind kStudy{"", "a study in TOML", 1'000'000};

}  // namespace normscope::input

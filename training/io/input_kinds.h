// The files that runs and the program read besides safetensors, with their limits.
#pragma once

#include "engine/io/input_file.h"

namespace normscope::input {

// docs/files.md lists the same limits, and a test compares the two.
inline constexpr InputKind kText{"text", "a UTF-8 text file", 50'000'000,
                                 "so cut it, for example with head -c 50000000"};
inline constexpr InputKind kTable{"", "a UTF-8 text file of lines", 2'000'000'000};
inline constexpr InputKind kSession{"session", "a session.toml", 64'000'000};
inline constexpr InputKind kConfig{"", "a configuration in TOML", 1'000'000};
inline constexpr InputKind kPlacement{"", "a placement in TOML", 1'000'000};
inline constexpr InputKind kSettings{"", "settings in TOML", 1'000'000};
inline constexpr InputKind kDesktop{"", "settings of the desktop", 1'000'000};
inline constexpr InputKind kScript{"", "a script of hand movements", 1'000'000};
inline constexpr InputKind kLesson{"", "a lesson in TOML", 1'000'000};
inline constexpr InputKind kProse{"", "a text in Markdown", 1'000'000};
inline constexpr InputKind kMeasured{"", "a measured.json", 16'000'000};
inline constexpr InputKind kProgress{"", "a lessons.json", 16'000'000};
inline constexpr InputKind kResult{"", "a stored result", 16'000'000};
inline constexpr InputKind kLog{"", "a training log", uint64_t{1} << 40};
inline constexpr InputKind kAny{"", "a regular file", uint64_t{1} << 40};  // its kind is still to be found
inline constexpr InputKind kPage{"", "a page in Markdown", 16'000'000};

}  // namespace normscope::input

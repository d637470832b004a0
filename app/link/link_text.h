// What writer and reader of links share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace normscope::link {

/// The version stands first, and the mark before every line.
inline constexpr char kVersion = '1', kMark = '&';
/// The last line: without it the link was cut off.
inline constexpr std::string_view kEnd = "end";

inline constexpr size_t kMostBookmarks = 1000, kLongestName = 255;

/// Reads the value of a key. It throws Error for anything but a whole number from `low` to `high`.
int32_t whole(std::string_view key, std::string_view text, int32_t low, int32_t high);
double real(std::string_view key, std::string_view text, double low, double high);

}  // namespace normscope::link

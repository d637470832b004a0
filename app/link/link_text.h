// This file has what writer and reader of links share.
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

/// A field that names a file. assets/words/link.toml has what a person calls it.
struct FileField {
  std::string_view key, option;
};
inline constexpr FileField kFileFields[] = {
    {"data.text", "--text FILE"},
    {"data.pairs", "--set data.pairs=FILE"},
    {"data.labels", "--set data.labels=FILE"},
    {"data.images", "--set data.images=FILE"},
    {"data.image_labels", "--set data.image_labels=FILE"},
    {"data.treebank", "--set data.treebank=FILE"},
    {"data.valid", "--set data.valid=FILE"},
    {"data.tokenizer", "--set data.tokenizer=FILE"},
    {"train.init_from", "--set train.init_from=FILE"}};  // every field with a file that a run reads
const FileField* file_field(std::string_view key);       ///< nullptr: no file

/// Reads the value of a key. It throws Error for what is no whole number from `low` to `high`.
int32_t whole(std::string_view key, std::string_view text, int32_t low, int32_t high);
double real(std::string_view key, std::string_view text, double low, double high);

}  // namespace normscope::link

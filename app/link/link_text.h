// What writer and reader of links share.
#pragma once

#include <cstddef>
#include <string_view>

namespace normscope::link {

/// The version stands first: '&' behind it for lines in plain text, '.' for packed ones.
inline constexpr char kVersion = '1';
inline constexpr char kPlainMark = '&', kPackedMark = '.';
/// The last line: without it the link was cut off.
inline constexpr std::string_view kEnd = "end";

inline constexpr size_t kMostBookmarks = 1000, kLongestName = 255;

/// Fields that name a file, and what a person calls it.
struct FileField {
  std::string_view key, words, option;
};
inline constexpr FileField kFileFields[] = {
    {"data.text", "text", "--text FILE"},
    {"data.pairs", "sentence pairs", "--set data.pairs=FILE"},
    {"data.labels", "labelled texts", "--set data.labels=FILE"},
    {"data.images", "images", "--set data.images=FILE"},
    {"data.image_labels", "image labels", "--set data.image_labels=FILE"},
    {"data.treebank", "treebank", "--set data.treebank=FILE"},
    {"data.valid", "validation file", "--set data.valid=FILE"},
    {"data.tokenizer", "tokenizer", "--set data.tokenizer=FILE"},
    {"train.init_from", "saved run", "--set train.init_from=FILE"}};  // all that there are: what a run reads
const FileField* file_field(std::string_view key);  ///< nullptr: no file

}  // namespace normscope::link

// The files of assets/words, which the build embeds in the program.
#pragma once

#include <span>
#include <string_view>

namespace normscope::words {

struct WordFile {
  std::string_view path;  ///< below assets/words: "glossary.toml", "de/lessons.toml"
  std::string_view text;
};

std::span<const WordFile> word_files();

}  // namespace normscope::words

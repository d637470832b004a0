// The zoo's data: rows, the words that stand beside what the engine's own lists give, and what an earlier,
// independent study of the same questions found. To add an entry is to add one row to table.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/zoo/entries.h"

namespace normscope::zoo {

/// Rows of their own, beside those that follow from the engine's lists.
std::span<const Entry> rows();

/// Title and source of a row that follows from a setting: "model.norm", "rms".
struct ValueWords {
  const char *key, *value, *title, *source;
};
/// nullptr where the table is silent.
const ValueWords* find_words(std::string_view key, std::string_view value);

/// What the study found, and how to see whether it holds here.
struct Claim {
  enum class Expect : uint8_t {
    Learns,
    Stuck,     ///< does not leave the plateau, or is worse
    Partly,    ///< some seeds leave it, or late
    AsGoodAs,  ///< as `other` in the same arm: losses of the seeds overlap, or their means are within 0.05
    WorseThan  ///< every seed's loss lies above every one of `other`
  };
  int32_t layers;
  const char* entry;
  bool warmup;  ///< which arm
  Expect expect;
  const char* other;  ///< for the last two; else ""
  const char* study;  ///< its setting, where it differs, and its numbers
};
std::span<const Claim> claims();

}  // namespace normscope::zoo

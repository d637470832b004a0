// The zoo's data: its rows, and what an earlier, independent study of the same questions found. To add an entry, add
// one row to table.cpp, and its title and source to assets/words/zoo.toml.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "addons/papers/app/zoo/entries.h"

namespace normscope::zoo {

/// A row that does not follow from the engine's lists.
struct EntryRow {
  std::string name;
  std::vector<std::string> set;  ///< what it changes on the default model
  Group group;
};
std::span<const EntryRow> rows();

/// What the study found, and how to see whether it holds here.
struct Expected {
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
std::span<const Expected> claims();

}  // namespace normscope::zoo

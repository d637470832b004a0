// `Predictor` says how likely the next bit of a link's text is, learned from the text before it. It computes in
// integers, so that every machine predicts the same. A packed link must be readable for ever: what is learned here,
// and from what, is part of the link's version and never changes under the same number
// (tests/app/link/test_link_packing.cpp keeps an old link).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace normscope::link {

/// `LinePlace` says where the text stands in a line such as "set=B:wiring.L03.attn=before=ln". Its hashes leave out
/// the run's letter, so that what was said of one run predicts what is said of the next.
struct LinePlace {
  uint32_t text = 0;   ///< of the line so far
  uint32_t key = 0;    ///< "wiring.L03.attn"
  uint32_t word = 0;   ///< since the last blank, = or :
  uint32_t above = 0;  ///< key of the line above
  uint8_t letter = 0, letter_above = 0, first = 0;

  void take(uint8_t byte);

 private:
  uint32_t head_ = 0;  // text up to the first =
  uint8_t last_ = 0;
  int in_value_ = -1;  // bytes since the first =; -1: before it
  bool in_key_ = true;
};

class Predictor {
 public:
  /// `Predictor` knows the words of the format from the start.
  Predictor();
  /// `chance` returns the chance that the next bit is 1, of 65,536, and never certain.
  uint32_t chance();
  /// `learn` is told what the bit was.
  void learn(uint32_t bit);

 private:
  static constexpr size_t kModels = 7;
  struct Slot {
    uint16_t chance = 32768, seen = 0;
  };

  void begin_byte();

  std::vector<Slot> slots_;  // a table per model
  std::array<uint32_t, kModels> context_{};
  std::array<size_t, kModels> slot_{};
  std::array<int32_t, kModels> vote_{};
  std::array<std::array<int32_t, kModels>, 256> weights_{};  // by the bits of this byte so far
  LinePlace place_;
  uint64_t recent_ = 0;  // the last eight bytes
  uint32_t byte_ = 1;    // the bits of this one, behind a leading 1
  uint32_t chance_ = 32768;
};

}  // namespace normscope::link

// The measure rules are how measurements are kept (training/spec/codec.h); measured.json and the learner's own
// measurements have the same parts.
#pragma once

#include <cstddef>
#include <vector>

#include "training/spec/codec.h"

namespace normscope::course {

inline constexpr size_t kMostOfCurve = 100'000;  ///< points
inline constexpr size_t kMostOfLesson = 1000;    ///< measures, curves, runs
inline constexpr size_t kMostOfText = 100'000;   ///< bytes of text that a model wrote

/// A beta^2 map: row i holds the shares of the input and of the i + 1 branches before it.
struct ShareRows {
  codec::AnyNumber share{};
  static constexpr size_t kMost = 1024;

  codec::Json write(const std::vector<std::vector<double>>& rows) const {
    return codec::List{1, kMost, codec::List{1, kMost + 1, share}}.write(rows);
  }
  void read(const InputValue& json, std::vector<std::vector<double>>& rows) const {
    rows.clear();
    for (const InputValue& row : json.list(1, kMost)) {
      const size_t shares = rows.size() + 2;
      codec::List{1, shares, share}.read(row, rows.emplace_back());
    }
  }
};

}  // namespace normscope::course

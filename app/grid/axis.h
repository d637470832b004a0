// An axis of a grid is a setting and the values that it takes, which can be written as text and read back. The text is
// what --axis takes:
//
//   train.warmup=0,25,50,100,200   values, in this order; separated by ';' where one contains a comma
//   train.lr=1e-4:1e-2:log7        seven values, evenly spaced in the logarithm; the inner ones snap to two
//                                  digits, as 2.2e-4
//   train.beta2=0.9:0.99:lin4      four values, evenly spaced
//   model.placement=all            every choice of a setting that has choices
//
// Whole numbers are rounded, and a repeated value is left out. A range stays a range in the text, so that the screen
// shows the handles that were set. Sweeps, claims of papers and the course call this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "training/spec/spec.h"

namespace normscope::grid {

/// The largest number of values of one axis.
inline constexpr int32_t kMaxValues = 100;

struct Axis {
  enum class Kind : uint8_t { List, Linear, Log };
  std::string key{};                  ///< "train.lr", "wiring.L*.attn"
  std::vector<std::string> values{};  ///< at least one, each once, as get_field() writes them
  Kind kind = Kind::List;
  std::string from{}, to{};              ///< of a range, as get_field() writes them
  int32_t count = 0;                     ///< of a range, as asked for: rounding may leave fewer
  std::string label() const;             ///< "learning rate"; the key where the table has no words
  std::string title() const;             ///< "warm-up, steps"
  std::string said(size_t place) const;  ///< a value as it is shown
  bool operator==(const Axis&) const = default;
};

/// Reads the text. `base` is the run that the value is set on, for keys that depend on it (wiring.*).
/// Throws an Error that names the key, the fault and what was expected, and for an unknown key the nearest one.
Axis axis_from(std::string_view text, const RunSpec& base);
/// Writes the text from which axis_from() makes the same axis.
std::string to_text(const Axis& axis);
/// Finds the index of a value, written in any equivalent way ("1e-3", "0.001"). Throws an Error that lists the values.
size_t place_of(const Axis& axis, std::string_view value, const RunSpec& base);
/// The rank of a key in the order in which settings must be set; wiring.* comes after every key that makes layers.
size_t order_of(std::string_view key);

// The border of a grid shows where learning begins. It is drawn in the gaps between cells in which at least half of the
// known seeds learn and the other cells. Sweeps and the course's maps call it.

/// Runs from corner to corner of the grid: x from 0 at the left of the first column, y from 0 below the first
/// row, upwards. A straight piece is one segment.
struct Segment {
  int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool operator==(const Segment&) const = default;
};

/// Whether at least half of the known seeds learn. A cell without known seeds is on neither side, and no border runs
/// along it.
enum class Side : uint8_t { Learns, Other, None };
Side side_of(int32_t learn, int32_t known);

/// Returns vertical pieces first, from left to right, then horizontal ones from the bottom up.
std::vector<Segment> border_of(size_t columns, size_t rows,
                               const std::function<Side(size_t column, size_t row)>& side);

/// (level - loss) / (level - the best cell's loss): 1 for the best cell, `level` being letter frequencies. NaN where
/// one of them is not finite.
double share_learned(double loss, double level, double best);

}  // namespace normscope::grid

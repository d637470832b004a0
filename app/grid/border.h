// The border of a grid shows where learning begins. It is drawn in the gaps between cells in which at least half of the
// known seeds learn and the other cells. Sweeps and the course's maps call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace normscope::grid {

/// Runs from corner to corner of the grid: x from 0 at the left of the first column, y from 0 below the first
/// row, upwards. A straight piece is one segment.
struct Segment {
  int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool operator==(const Segment&) const = default;
};

/// Whether at least half of the known seeds learn. A cell of which none is known is on neither side, and no border runs
/// along it.
enum class Side : uint8_t { Learns, Other, None };
Side side_of(int32_t learn, int32_t known);

/// Returns vertical pieces first, from left to right, then horizontal ones from the bottom up.
std::vector<Segment> border_of(size_t columns, size_t rows,
                               const std::function<Side(size_t column, size_t row)>& side);

/// (level - loss) / (level - the best cell's loss): 1 for the best cell, `level` being letter frequencies. NaN where one of
/// them is not finite.
double share_learned(double loss, double level, double best);

}  // namespace normscope::grid

// The border of a sweep: where it begins to learn. Drawn in the gaps between the cells of which at least half of the
// known seeds learn and the others. Called by the writers, the screen and the tests.
#pragma once

#include <cstdint>
#include <vector>

#include "app/sweep/cells.h"

namespace normscope::sweep {

/// From corner to corner of the grid: x from 0 at the left of the first column, y from 0 below the first row, upwards.
/// Straight pieces are one segment.
struct Segment {
  int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool operator==(const Segment&) const = default;
};

/// Whether at least half of the known seeds learn. A cell of which nothing is known, or that cannot be trained, is on
/// neither side, and no border runs along it.
enum class Side : uint8_t { Learns, Other, None };
Side side_of(const Cell& cell);

/// Upright pieces first, from left to right, then the level ones from below.
std::vector<Segment> border_of(const Grid& grid);

}  // namespace normscope::sweep

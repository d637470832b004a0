// The border of a sweep shows where learning begins. It is drawn in the gaps between cells in which at least half of
// the known seeds learn and the other cells. The writers, the screen and the tests call it.
#pragma once

#include <cstdint>
#include <vector>

#include "app/sweep/cells.h"

namespace normscope::sweep {

/// Runs from corner to corner of the grid: x from 0 at the left of the first column, y from 0 below the first
/// row, upwards. A straight piece is one segment.
struct Segment {
  int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool operator==(const Segment&) const = default;
};

/// Whether at least half of the known seeds learn. A cell that is unknown or cannot be trained is on
/// neither side, and no border runs along it.
enum class Side : uint8_t { Learns, Other, None };
Side side_of(const Cell& cell);

/// Returns vertical pieces first, from left to right, then horizontal ones from the bottom up.
std::vector<Segment> border_of(const Grid& grid);

}  // namespace normscope::sweep

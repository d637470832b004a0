#include "app/grid/border.h"

#include <cmath>
#include <limits>

namespace normscope::grid {
namespace {

bool parts(Side one, Side other) { return one != Side::None && other != Side::None && one != other; }

/// Extends the last piece where the new one continues it in the same direction.
void lengthen(std::vector<Segment>& segments, const Segment& piece) {
  if (!segments.empty()) {
    Segment& last = segments.back();
    const bool goes_on = last.x1 == piece.x0 && last.y1 == piece.y0;
    const bool straight = (last.x0 == last.x1) == (piece.x0 == piece.x1);
    if (goes_on && straight) {
      last.x1 = piece.x1;
      last.y1 = piece.y1;
      return;
    }
  }
  segments.push_back(piece);
}

}  // namespace

Side side_of(int32_t learn, int32_t known) {
  if (known == 0) return Side::None;
  return 2 * learn >= known ? Side::Learns : Side::Other;
}

std::vector<Segment> border_of(size_t columns, size_t rows, const std::function<Side(size_t, size_t)>& side) {
  const auto at = [&](int32_t column, int32_t row) {
    return side(static_cast<size_t>(column), static_cast<size_t>(row));
  };
  const auto width = static_cast<int32_t>(columns), height = static_cast<int32_t>(rows);
  std::vector<Segment> segments;
  for (int32_t x = 1; x < width; ++x)
    for (int32_t y = 0; y < height; ++y)
      if (parts(at(x - 1, y), at(x, y))) lengthen(segments, {x, y, x, y + 1});
  for (int32_t y = 1; y < height; ++y)
    for (int32_t x = 0; x < width; ++x)
      if (parts(at(x, y - 1), at(x, y))) lengthen(segments, {x, y, x + 1, y});
  return segments;
}

double share_learned(double loss, double level, double best) {
  if (!std::isfinite(loss) || !std::isfinite(level) || !std::isfinite(best))
    return std::numeric_limits<double>::quiet_NaN();
  return level > best ? (level - loss) / (level - best) : 0;  // no cell has learned anything
}

}  // namespace normscope::grid

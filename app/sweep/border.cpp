#include "app/sweep/border.h"

namespace normscope::sweep {
namespace {

bool parts(const Cell& a, const Cell& b) {
  const Side one = side_of(a), other = side_of(b);
  return one != Side::None && other != Side::None && one != other;
}

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

Side side_of(const Cell& cell) {
  if (cell.known == 0 || cell.sign == Sign::Failed) return Side::None;
  return 2 * cell.count(Verdict::Learns) >= cell.known ? Side::Learns : Side::Other;
}

std::vector<Segment> border_of(const Grid& grid) {
  const auto columns = static_cast<int32_t>(grid.plan.columns()),
             rows = static_cast<int32_t>(grid.plan.rows());
  const auto cell = [&](int32_t column, int32_t row) -> const Cell& {
    return grid.at(static_cast<size_t>(column), static_cast<size_t>(row));
  };
  std::vector<Segment> segments;
  for (int32_t x = 1; x < columns; ++x)
    for (int32_t y = 0; y < rows; ++y)
      if (parts(cell(x - 1, y), cell(x, y))) lengthen(segments, {x, y, x, y + 1});
  for (int32_t y = 1; y < rows; ++y)
    for (int32_t x = 0; x < columns; ++x)
      if (parts(cell(x, y - 1), cell(x, y))) lengthen(segments, {x, y, x + 1, y});
  return segments;
}

}  // namespace normscope::sweep

// The metric along each row and each column beside the grid.
#include <cmath>
#include <optional>
#include <vector>

#include "app/sweep/screen/sweep_screen.h"

namespace normscope::sweep {

using namespace ui;

namespace {

/// Lines between cells that have a value; a gap where one has none.
void draw_profile(Painter& p, const std::vector<std::optional<Vec>>& points, Colour colour, bool lit) {
  const std::optional<Vec>* before = nullptr;
  for (const auto& point : points) {
    if (before && *before && point) p.line(**before, *point, colour, lit ? 2.2f : 1.2f);
    if (lit && point) p.circle(*point, 3, colour);
    before = &point;
  }
}

}  // namespace

void SweepScreen::draw_profiles(Ui& ui, const GridLayout& at, const Rect& above, const Rect& beside) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const std::optional<Place> lit = shown_cell();
  const Rect top{at.area.x, above.y + 6, at.area.w, above.h - 14},
      side{at.area.right() + 14, at.area.y, beside.w - 24, at.area.h};
  const auto share = [&](size_t column, size_t row) {
    return static_cast<float>(scale_.colour(value_of(grid_.at(column, row), metric_)));
  };
  ui.mark("sweep/profiles/rows", top, plan_.axes[1].label(),
          "The metric along every row; higher is better where colours are dark.");
  ui.mark("sweep/profiles/columns", side, plan_.axes[0].label(), "The metric along every column.");
  p.hairline({top.x, top.bottom()}, {top.right(), top.bottom()}, t.grid);
  p.hairline({side.x, side.y}, {side.x, side.bottom()}, t.grid);
  for (const bool now : {false, true}) {
    for (size_t row = 0; row < plan_.rows(); ++row) {
      if ((lit && lit->row == row) != now) continue;
      std::vector<std::optional<Vec>> points;
      for (size_t column = 0; column < plan_.columns(); ++column) {
        const float s = share(column, row);
        points.push_back(std::isfinite(s)
                             ? std::optional(Vec{at.pitch(column, row).centre().x, top.y + (1 - s) * top.h})
                             : std::nullopt);
      }
      draw_profile(p, points, now ? t.ink : t.slot.alpha(0.55f), now);
    }
    for (size_t column = 0; column < plan_.columns(); ++column) {
      if ((lit && lit->column == column) != now) continue;
      std::vector<std::optional<Vec>> points;
      for (size_t row = 0; row < plan_.rows(); ++row) {
        const float s = share(column, row);
        points.push_back(std::isfinite(s)
                             ? std::optional(Vec{side.x + s * side.w, at.pitch(column, row).centre().y})
                             : std::nullopt);
      }
      draw_profile(p, points, now ? t.ink : t.slot.alpha(0.55f), now);
    }
  }
}

}  // namespace normscope::sweep

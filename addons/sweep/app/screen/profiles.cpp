// The profiles draw the metric along each row and each column beside the grid.
#include <cmath>
#include <optional>
#include <vector>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "app/words/words.h"
#include "training/io/text_table.h"

namespace normscope::sweep {

using namespace ui;

namespace {

/// Joins neighbouring cells that have a value, and leaves a gap where one has none.
void draw_profile(Painter& p, const std::vector<std::optional<Vec>>& points, Colour colour, bool lit) {
  const std::optional<Vec>* before = nullptr;
  for (const auto& point : points) {
    if (before && *before && point) p.line(**before, *point, colour, lit ? 2.2f : 1.2f);
    if (lit && point) p.circle(*point, 3, colour);
    before = &point;
  }
}

}  // namespace

/// Labels the ends of the profiles and says whose profiles are dark.
void SweepScreen::draw_scale_words(Ui& ui, const GridLayout& at, const Rect& top) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const TextStyle mono{Face::Mono, type::tick}, small{Face::Sans, type::tick};
  const auto words = [&](double end) {
    if (!std::isfinite(end)) return std::string();
    return info(metric_).log ? number_text(end, metric_) : words::with_decimal(fixed(end, 2));
  };
  p.text({top.x - 8, top.y + 8}, mono, t.ink3, words(scale_.high), Align::Right);
  p.text({top.x - 8, top.bottom() + 2}, mono, t.ink3, words(scale_.low), Align::Right);
  const float right = top.right() + 12;
  const std::optional<Place> lit = shown_cell();
  if (!lit) {
    p.text({right, top.y + 10}, small, t.ink3, tr("one line a row"));
    return;
  }
  const TextStyle bold{Face::Bold, type::tick};
  const std::string value = plan_.axes[1].said(lit->row);
  const std::string row = plan_.axes[1].label() + " " + value;
  p.text({right, top.y + 10}, bold, t.ink, p.text_width(bold, row) <= 96 ? row : value);
  p.text({right, top.y + 25}, small, t.ink3, tr("other rows"));
  const std::string column = plan_.axes[0].said(lit->column);
  p.text({right, at.area.bottom() + 16}, bold, t.ink, column);
}

void SweepScreen::draw_profiles(Ui& ui, const GridLayout& at, const Rect& above, const Rect& beside) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const std::optional<Place> lit = shown_cell();
  const Rect top{at.area.x, above.y + 6, at.area.w, above.h - 14},
      side{at.area.right() + 14, at.area.y, beside.w - 24, at.area.h};
  const auto share = [&](size_t column, size_t row) {
    return static_cast<float>(scale_.colour(value_of(grid_->at(column, row), metric_)));
  };
  ui.mark("sweep/profiles/rows", top, plan_.axes[1].label(),
          tr("The metric along every row; higher is better where colours are dark."));
  ui.mark("sweep/profiles/columns", side, plan_.axes[0].label(), tr("The metric along every column."));
  draw_scale_words(ui, at, top);
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

// This SVG of a sweep has the screen's grid with every value of both axes, what it says, and the key (sweep_writers.h).
#include <algorithm>
#include <string>

#include "addons/sweep/app/grid_picture.h"
#include "addons/sweep/app/screen/words.h"
#include "addons/sweep/app/sweep_writers.h"
#include "app/ui/svg.h"
#include "app/words/words.h"

namespace normscope::sweep {

using namespace ui;

namespace {

constexpr float kMostWidth = 1100, kMostHeight = 700, kLeast = 26;

float widest_value(const Painter& p, const Axis& axis) {
  float widest = 0;
  for (size_t i = 0; i < axis.values.size(); ++i)
    widest = std::max(widest, p.text_width({Face::Mono, type::tick}, axis.said(i)));
  return widest;
}

/// Has cells as large as on the screen, but wide enough for every value of the first axis.
GridLayout layout_alone(const Painter& p, const Plan& plan, float left) {
  const auto columns = static_cast<float>(plan.columns()), rows = static_cast<float>(plan.rows());
  const float w = std::max(std::clamp(kMostWidth / columns, kLeast, kMostCell.x),
                           widest_value(p, plan.axes[0]) + 10),
              h = std::clamp(kMostHeight / rows, kLeast, kMostCell.y);
  return {{left, 124, w * columns, h * rows}, plan.columns(), plan.rows()};
}

Vec paint_sweep(Painter& p, const Theme& t, const Grid& grid, Metric metric) {
  const TextStyle body{Face::Sans, type::body}, small{Face::Sans, type::tick};
  const float x = space::pad;
  p.text({x, 28}, {Face::Bold, type::run_name}, t.ink, capitalised(title_of(grid, metric)));
  const std::string note = metric == Metric::Loss ? loss_note(grid) + "; " : "";
  const std::string setting = note + setting_text(grid);
  p.text({x, 48}, body, t.ink3, setting);
  p.text({x, 68}, body, t.ink2, grid_sentence(grid));

  GridPicture picture{.grid = grid, .metric = metric, .scale = scale_of(grid, metric), .alone = true};
  if (grid.plan.axes.size() > 1)
    picture.names = std::max(picture.names, widest_value(p, grid.plan.axes[1]) + 14);
  const GridLayout at = layout_alone(p, grid.plan, x + picture.names);
  picture.paint(p, t, at);

  const Rect key{x + 40, at.area.bottom() + 60, 240, 12}, words{x, key.bottom() + 4, 320, 16};
  picture.paint_key(p, t, key, words);
  const float right = words.right() + 20;
  p.text({right, key.bottom()}, small, t.ink3,
         tr("↘ learns  — stuck  ↗ diverges  × not finite  ? seeds disagree  … not decided"));
  p.text({right, key.bottom() + 18}, small, t.ink3,
         tr("Line: where at least half of the seeds begin to learn. Under a cell stand its seeds. "
            "Dashed: not trained yet."));
  const float widest = std::max(930.f, 2 * x + p.text_width(body, setting));
  return {std::max(at.area.right() + 80, widest), words.bottom() + 14};
}

}  // namespace

std::string to_svg(const Grid& grid, Metric metric) {
  return ui::to_svg(title_of(grid, metric),
                    [&](Painter& p, const Theme& t) { return paint_sweep(p, t, grid, metric); });
}

}  // namespace normscope::sweep

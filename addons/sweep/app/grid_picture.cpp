#include "addons/sweep/app/grid_picture.h"

#include <algorithm>

#include "addons/sweep/app/sweep_writers.h"
#include "app/ui/widgets.h"
#include "training/io/text.h"

namespace normscope::sweep {
using namespace ui;
namespace {

constexpr float kStripHeight = 15;
constexpr float kStripe = 1.7f, kStripePitch = 7;  // of the hatching
constexpr TextStyle kMono{Face::Mono, type::tick}, kFigure{Face::Mono, type::body},
    kSmall{Face::Sans, type::tick}, kBold{Face::Bold, type::body};

/// Draws a text only if it fits as a whole.
bool whole_text(Painter& p, const Rect& rect, TextStyle style, Colour colour, std::string_view text,
                Align align) {
  if (p.text_width(style, text) > rect.w) return false;
  p.text_in(rect, style, colour, text, align);
  return true;
}

bool not_finite(const Cell& cell) { return cell.known > 0 && !std::isfinite(cell.mean) && !cell.failed(); }

struct GridBrush {
  const GridPicture& of;
  Painter& p;
  const Theme& t;
  const GridLayout& at;

  Colour colour(double share) const {
    const double width = std::max(0.01, of.ends[1] - of.ends[0]);
    return heat_colour(t, static_cast<float>(std::clamp((share - of.ends[0]) / width, 0.0, 1.0)));
  }
  Colour colour_of(const Cell& cell) const {
    const double share = of.scale.colour(value_of(cell, of.metric));
    return std::isfinite(share) ? colour(share) : t.panel;
  }

  /// One field per seed; while it trains, filled by its progress; while it waits, dashed.
  void strip(const Rect& strip, const Cell& cell) const {
    const float each = strip.w / static_cast<float>(cell.runs.size());
    for (size_t i = 0; i < cell.runs.size(); ++i) {
      const Rect field{strip.x + static_cast<float>(i) * each, strip.y, std::max(1.f, each - 2), strip.h};
      if (!cell.runs[i]) {
        p.dashed_outline(field, t.strong, 1, {2, 2}, 2);
        for (const UnderWay& run : of.under_way)
          if (run.column == cell.column && run.row == cell.row && run.seed == i + 1)
            p.fill({field.x, field.y, field.w * run.share, field.h}, t.control, 2);
        continue;
      }
      Cell one;
      one.runs = {cell.runs[i]};
      one.predicted = cell.predicted;
      one.summarise();
      p.fill(field, colour_of(one), 2);
      p.outline(field, t.strong, 1, 2);
      if (one.known > 0 && !std::isfinite(one.mean)) p.hatch(field, t.error, kStripe, kStripePitch);
    }
  }

  void cell(const Cell& cell) const {
    Rect block = at.block(cell.column, cell.row);
    const bool seeds = cell.runs.size() > 1 && at.has_sign() && block.h > 2 * kStripHeight;
    if (seeds) strip(block.take_bottom(kStripHeight - 3, 3), cell);
    const bool predicted = is_predicted(of.metric) && std::isfinite(value_of(cell, of.metric));
    const bool empty = (cell.known == 0 && !predicted) || cell.failed();
    const Colour fill = empty ? t.panel : colour_of(cell);
    p.fill(block, fill, 3);
    if (empty)
      p.dashed_outline(block, t.strong, 1, {3, 3}, 3);
    else
      p.outline(block, t.border, 1, 3);
    if (not_finite(cell)) p.hatch(block, t.error, kStripe, kStripePitch);
    std::string share;
    for (const UnderWay& run : of.under_way)
      if (cell.known == 0 && run.column == cell.column && run.row == cell.row) {
        share = tr("{percent} %", {{"percent", fmt::format("{:.0f}", 100 * run.share)}});
        if (!seeds) p.fill({block.x, block.bottom() - 3, block.w * run.share, 3}, t.control, 1);
      }
    if (at.has_sign()) words(block, cell, empty ? t.ink3 : ink_on(fill), share);
    for (const auto& [place, letter] : of.open)
      if (place == Place{cell.column, cell.row} && at.has_words() && block.h >= 64)
        tile(p, t, {block.right() - 20, block.bottom() - 20, 16, 16}, letter - 'A');
  }

  void words(const Rect& block, const Cell& cell, Colour ink, const std::string& under_way) const {
    Rect rest = block.inset(at.has_words() ? 6 : 3, at.has_words() ? 6 : 2);
    const Rect first = at.has_words() ? rest.take_top(14, 4) : rest;
    if (!cell.waits())
      whole_text(p, first, kFigure, ink, cell.mark(), at.has_number() ? Align::Left : Align::Centre);
    const Rect right{first.x + 12, first.y, first.w - 12, first.h};
    if (at.has_number() && !cell.failed() && std::isfinite(value_of(cell, of.metric)) &&
        !whole_text(p, right, kFigure, ink, value_text(cell, of.metric), Align::Right))
      whole_text(p, right, kFigure, ink, brief_text(cell, of.metric), Align::Right);
    if (!at.has_words() || rest.h < 14) return;
    const Rect line = rest.take_top(14);
    if (!whole_text(p, line, kSmall, ink, under_way.empty() ? cell.words() : under_way, Align::Left))
      whole_text(p, line, kSmall, ink, tr(cell.sign()), Align::Left);
  }

  /// Draws values below the columns and left of the rows; where they are too close, every second, third, ...
  void labels() const {
    const Plan& plan = of.grid.plan;
    float right = at.area.x - 8;
    for (size_t i = 0; i < plan.columns(); ++i) {
      const std::string text = plan.axes[0].said(i);
      const float x = at.pitch(i, 0).centre().x, half = p.text_width(kMono, text) / 2;
      if (x - half < right || x + half > at.area.right() + at.pitch_x() / 2) continue;
      p.text({x, at.area.bottom() + 16}, kMono, of.lit && of.lit->column == i ? t.ink : t.ink2, text,
             Align::Centre);
      right = x + half + 8;
    }
    const std::string across = plan.axes[0].title();
    const float width = of.alone ? std::max(at.area.w, p.text_width(kSmall, across)) : at.area.w;
    whole_text(p, {at.area.x, at.area.bottom() + 22, width, 18}, kSmall, t.ink3, across, Align::Centre);
    if (plan.axes.size() < 2) return;
    const Rect upwards = of.alone ? Rect{at.area.x - of.names, at.area.y - 40, at.area.w + of.names + 60, 16}
                                  : Rect{at.area.x - of.names, at.area.y - 20, 74, 16};
    p.text_in(upwards, kSmall, t.ink3,
              fitting(p, kSmall, upwards.w, {plan.axes[1].title(), plan.axes[1].label()}));
    float lowest = at.area.bottom() + 8;
    for (size_t i = 0; i < plan.rows(); ++i) {
      const Rect place = at.pitch(0, i);
      if (place.centre().y + 8 > lowest) continue;
      const Rect room{place.x - of.names, place.centre().y - 8, of.names - 6, 16};
      if (whole_text(p, room, kMono, of.lit && of.lit->row == i ? t.ink : t.ink2, plan.axes[1].said(i),
                     Align::Right))
        lowest = place.centre().y - 8;
    }
  }

  const std::string& word(int32_t column, int32_t row) const {
    const Cell& cell = of.grid.at(static_cast<size_t>(column), static_cast<size_t>(row));
    return side_of(cell) == grid::Side::Learns ? tr("learns")
           : cell.verdict == Verdict::Stuck    ? tr("stuck")
                                               : tr("does not");
  }

  /// Labels the border where it leaves the grid at the top; in a file, at the right.
  void border() const {
    const auto x_of = [&](int32_t x) { return at.area.x + static_cast<float>(x) * at.pitch_x(); };
    const auto y_of = [&](int32_t y) { return at.area.bottom() - static_cast<float>(y) * at.pitch_y(); };
    const auto top = static_cast<int32_t>(at.rows), right = static_cast<int32_t>(at.columns);
    bool named = false;
    for (const grid::Segment& s : border_of(of.grid)) {
      const bool leaves = s.x0 == s.x1 && s.y1 == top;
      p.line({x_of(s.x0), y_of(s.y0)}, {x_of(s.x1), y_of(s.y1) - (leaves ? 16.f : 0.f)}, t.ink, 2.4f);
      if (named) continue;
      if (leaves) {
        const float x = x_of(s.x0), y = at.area.y - 20;
        whole_text(p, {x - 70, y, 64, 16}, kBold, t.ink, word(s.x0 - 1, top - 1), Align::Right);
        whole_text(p, {x + 6, y, 64, 16}, kBold, t.ink, word(s.x0, top - 1), Align::Left);
        named = true;
      } else if (of.alone && s.y0 == s.y1 && s.x1 == right) {  // horizontal pieces come last
        const float x = at.area.right() + 6, y = y_of(s.y0);
        p.text({x, y - 6}, kBold, t.ink, word(right - 1, s.y0));
        p.text({x, y + 15}, kBold, t.ink, word(right - 1, s.y0 - 1));
        named = true;
      }
    }
  }
};

constexpr float kMaxWidth = 1100, kMaxHeight = 700, kMin = 26;

float widest_value(const Painter& p, const Axis& axis) {
  float widest = 0;
  for (size_t i = 0; i < axis.values.size(); ++i)
    widest = std::max(widest, p.text_width({Face::Mono, type::tick}, axis.said(i)));
  return widest;
}

/// Cells as large as on the screen, but wide enough for every value of the first axis.
GridLayout layout_alone(const Painter& p, const Plan& plan, float left) {
  const auto columns = static_cast<float>(plan.columns()), rows = static_cast<float>(plan.rows());
  const float w = std::max(std::clamp(kMaxWidth / columns, kMin, kMaxCell.x),
                           widest_value(p, plan.axes[0]) + 10),
              h = std::clamp(kMaxHeight / rows, kMin, kMaxCell.y);
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
         tr("↘ learns  — stuck  ~ too slow  ↗ diverges  × not finite  ? seeds disagree  … not decided"));
  p.text({right, key.bottom() + 18}, small, t.ink3,
         tr("Line: where at least half of the seeds begin to learn. Under a cell stand its seeds. "
            "Dashed: not trained yet."));
  const float widest = std::max(930.f, 2 * x + p.text_width(body, setting));
  return {std::max(at.area.right() + 80, widest), words.bottom() + 14};
}

/// As paint_sweep(), in the width that a page has, without the words that a caption says.
Vec paint_figure(Painter& p, const Theme& t, const Grid& grid, Metric metric, float width) {
  constexpr float kWord = 66, kMargin = 12;  // right of the grid: what a border is called
  GridPicture picture{.grid = grid, .metric = metric, .scale = scale_of(grid, metric), .alone = true};
  const Plan& plan = grid.plan;
  const bool two = plan.axes.size() > 1, border = !border_of(grid).empty();
  picture.names = two ? widest_value(p, plan.axes[1]) + 14 : 4;
  const auto columns = static_cast<float>(plan.columns()), rows = static_cast<float>(plan.rows());
  const float w = std::max(4.f, (width - picture.names - (border && two ? kWord : kMargin)) / columns);
  const Rect area{picture.names, two ? 44.f : 24.f, w * columns, std::clamp(w, kMin, kMaxCell.y) * rows};
  const Rect key{area.x, area.bottom() + 50, std::min(area.w, 240.f), 12};
  const Rect words{0, key.bottom() + 4, width, 16};
  const Vec size{width, words.bottom() + 4};
  p.fill({0, 0, size.x, size.y}, t.panel);
  picture.paint(p, t, {area, plan.columns(), plan.rows()});
  picture.paint_key(p, t, key, {key.x, words.y, width - key.x, words.h});
  return size;
}

}  // namespace

void GridPicture::paint(Painter& p, const Theme& t, const GridLayout& at) const {
  const GridBrush brush{*this, p, t, at};
  for (const Cell& cell : grid.cells) {
    if (alone)
      p.begin_group(fmt::format("{}: {}", grid.text_of(cell),
                                cell.refused.empty() ? cell.words() : std::string(cell.refused)));
    brush.cell(cell);
    if (alone) p.end_group();
  }
  if (lit) p.outline(at.pitch(lit->column, lit->row).inset(0.6f), t.ink, line::outline, 4);
  brush.border();
  brush.labels();
}

void GridPicture::paint_seeds(Painter& p, const Theme& t, const Rect& strip, const Cell& cell) const {
  GridBrush{*this, p, t, {}}.strip(strip, cell);
}

void GridPicture::paint_key(Painter& p, const Theme& t, const Rect& key, const Rect& words) const {
  if (!has_colours()) {
    const Rect line{key.x, key.y - 4, words.right() - key.x, 16};
    p.text_in(line, kSmall, t.ink2,
              fitting(p, kSmall, line.w,
                      {tr("No colours: losses of different data do not compare."),
                       tr("No colours: different data.")}));
    return;
  }
  const GridBrush brush{*this, p, t, {}};
  colour_scale(p, key, 40, false, [&](float share) { return brush.colour(static_cast<double>(share)); });
  const bool loss = metric == Metric::Loss, known = std::isfinite(scale.low) && std::isfinite(scale.high);
  const auto value = [&](double end) {
    if (!known) return std::string();
    return info(metric).log ? number_text(end, metric) : words::with_decimal(fixed(end, 2));
  };
  const std::string low = value(scale.low) + (loss ? " " + words::spoken(frequencies_of(grid.unit())) : ""),
                    high = loss ? tr("best cell {loss}", {{"loss", value(scale.high)}}) : value(scale.high);
  if (p.text_width(kSmall, low + high) + 20 >= words.w) return;
  p.text_in(words, kSmall, t.ink2, low);
  p.text_in(words, kSmall, t.ink2, high, Align::Right);
}

std::string to_svg(const Grid& grid, Metric metric) {
  return ui::to_svg(title_of(grid, metric),
                    [&](Painter& p, const Theme& t) { return paint_sweep(p, t, grid, metric); });
}

plot::FigurePicture figure_of(const Grid& grid, Metric metric) {
  return [&grid, metric](Painter& p, const Theme& t, float width) {
    return paint_figure(p, t, grid, metric, width);
  };
}

}  // namespace normscope::sweep

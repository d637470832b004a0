// The grid: cells with their signs, numbers and seeds, the values of the axes, and the border where it begins to learn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/sweep/border.h"
#include "app/sweep/screen/sweep_screen.h"
#include "app/sweep/screen/words.h"
#include "app/sweep/sweep_writers.h"
#include "app/ui/widgets.h"
#include "training/data/identity/data_identity.h"

namespace normscope::sweep {

using namespace ui;

namespace {

constexpr float kStripHeight = 15;
constexpr float kStripe = 1.7f, kStripePitch = 7;  // of the hatch

/// Drawn only where it fits whole.
bool whole_text(Painter& p, const Rect& rect, TextStyle style, Colour colour, std::string_view text,
                Align align) {
  if (p.text_width(style, text) > rect.w) return false;
  p.text_in(rect, style, colour, text, align);
  return true;
}

bool not_finite(const Cell& cell) {
  return cell.known > 0 && !std::isfinite(cell.mean) && cell.sign != Sign::Failed;
}

}  // namespace

Colour SweepScreen::colour_of(const Theme& t, double value) const {
  const double share = scale_.colour(value);
  if (!std::isfinite(share)) return t.panel;
  const double width = std::max(0.01, key_[1] - key_[0]);
  return heat_colour(t, static_cast<float>(std::clamp((share - key_[0]) / width, 0.0, 1.0)));
}

/// A field a seed; one that trains is filled as far as it is, one that waits is dashed.
void SweepScreen::draw_strip(Ui& ui, const Rect& strip, const Cell& cell) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float each = strip.w / static_cast<float>(cell.runs.size());
  for (size_t i = 0; i < cell.runs.size(); ++i) {
    const Rect field{strip.x + static_cast<float>(i) * each, strip.y, std::max(1.f, each - 2), strip.h};
    if (!cell.runs[i]) {
      p.dashed_outline(field, t.strong, 1, {2, 2}, 2);
      for (const UnderWay& run : state_->under_way)
        if (run.column == cell.column && run.row == cell.row && run.seed == i + 1)
          p.fill({field.x, field.y, field.w * run.share, field.h}, t.slot, 2);
      continue;
    }
    Cell one;
    one.runs = {cell.runs[i]};
    one.summarise();
    p.fill(field, colour_of(t, value_of(one, metric_)), 2);
    p.outline(field, t.strong, 1, 2);
    if (one.known > 0 && !std::isfinite(one.mean)) p.hatch(field, t.error, kStripe, kStripePitch);
  }
}

void SweepScreen::draw_cell(Ui& ui, const GridLayout& at, const Cell& cell) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  Rect block = at.block(cell.column, cell.row);
  const bool strip = cell.runs.size() > 1 && at.has_sign() && block.h > 2 * kStripHeight;
  if (strip) draw_strip(ui, block.take_bottom(kStripHeight - 3, 3), cell);
  const bool empty = cell.known == 0 || cell.sign == Sign::Failed;
  const Colour fill = empty ? t.panel : colour_of(t, value_of(cell, metric_));
  const Colour ink = empty ? t.ink3 : ink_on(fill);
  p.fill(block, fill, 3);
  if (empty)
    p.dashed_outline(block, t.strong, 1, {3, 3}, 3);
  else
    p.outline(block, t.border, 1, 3);
  if (not_finite(cell)) p.hatch(block, t.error, kStripe, kStripePitch);
  std::string under_way;
  for (const UnderWay& run : state_->under_way)
    if (cell.known == 0 && run.column == cell.column && run.row == cell.row) {
      under_way = fmt::format("{:.0f} %", 100 * run.share);
      if (!strip) p.fill({block.x, block.bottom() - 3, block.w * run.share, 3}, t.slot, 1);
    }
  if (!at.has_sign()) return;
  Rect rest = block.inset(at.has_words() ? 6 : 3, at.has_words() ? 6 : 2);
  Rect first = at.has_words() ? rest.take_top(14, 4) : rest;
  const TextStyle mono{Face::Mono, type::body};
  if (cell.sign != Sign::Waiting)
    whole_text(p, first, mono, ink, mark(cell.sign), at.has_number() ? Align::Left : Align::Centre);
  if (at.has_number() && !empty && std::isfinite(value_of(cell, metric_)))
    whole_text(p, {first.x + 12, first.y, first.w - 12, first.h}, mono, ink, value_text(cell, metric_),
               Align::Right);
  if (at.has_words() && rest.h >= 14) {
    const Rect line = rest.take_top(14);
    const TextStyle small{Face::Sans, type::tick};
    if (!whole_text(p, line, small, ink, under_way.empty() ? cell.words() : under_way, Align::Left))
      whole_text(p, line, small, ink, to_string(cell.sign), Align::Left);
  }
  const char letter = letter_of({cell.column, cell.row});
  if (letter && at.has_words() && block.h >= 64)
    tile(ui, {block.right() - 20, block.bottom() - 20, 16, 16}, letter - 'A');
}

void SweepScreen::draw_cells(Ui& ui, const GridLayout& at) {
  for (const Cell& cell : grid_->cells) draw_cell(ui, at, cell);
  if (const std::optional<Place> shown = shown_cell())
    ui.paint().outline(at.pitch(shown->column, shown->row).inset(0.6f), ui.theme().ink, line::outline, 4);
}

/// Values below the columns and left of the rows; of those that stand too close every second, third, ...
void SweepScreen::draw_labels(Ui& ui, const GridLayout& at) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const TextStyle mono{Face::Mono, type::tick};
  const std::optional<Place> lit = shown_cell();
  float right = at.area.x - 8;
  for (size_t i = 0; i < plan_.columns(); ++i) {
    const std::string& text = plan_.axes[0].values[i];
    const float x = at.pitch(i, 0).centre().x, half = p.text_width(mono, text) / 2;
    if (x - half < right || x + half > at.area.right() + at.pitch_x() / 2) continue;
    p.text({x, at.area.bottom() + 16}, mono, lit && lit->column == i ? t.ink : t.ink2, text, Align::Centre);
    right = x + half + 8;
  }
  whole_text(p, {at.area.x, at.area.bottom() + 22, at.area.w, 18}, {Face::Sans, type::tick}, t.ink3,
             plan_.axes[0].title(), Align::Centre);
  if (plan_.axes.size() < 2) return;
  float lowest = at.area.bottom() + 8;
  for (size_t i = 0; i < plan_.rows(); ++i) {
    const Rect place = at.pitch(0, i);
    const std::string& text = plan_.axes[1].values[i];
    if (place.centre().y + 8 > lowest) continue;
    const Rect room{place.x - 64, place.centre().y - 8, 58, 16};
    if (whole_text(p, room, mono, lit && lit->row == i ? t.ink : t.ink2, text, Align::Right))
      lowest = place.centre().y - 8;
  }
}

void SweepScreen::draw_border(Ui& ui, const GridLayout& at) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const auto x_of = [&](int32_t x) { return at.area.x + static_cast<float>(x) * at.pitch_x(); };
  const auto y_of = [&](int32_t y) { return at.area.bottom() - static_cast<float>(y) * at.pitch_y(); };
  const auto top = static_cast<int32_t>(plan_.rows());
  bool named = false;
  for (const Segment& s : border_of(*grid_)) {
    const bool leaves = s.x0 == s.x1 && s.y1 == top;
    p.line({x_of(s.x0), y_of(s.y0)}, {x_of(s.x1), y_of(s.y1) - (leaves ? 16.f : 0.f)}, t.ink, 2.4f);
    if (!leaves || named) continue;
    named = true;
    const auto word = [&](int32_t column) {
      const Cell& cell = grid_->at(static_cast<size_t>(column), static_cast<size_t>(top - 1));
      return side_of(cell) == Side::Learns ? "learns" : cell.sign == Sign::Stuck ? "stuck" : "does not";
    };
    const TextStyle bold{Face::Bold, type::body};
    const float x = x_of(s.x0), y = at.area.y - 20;
    whole_text(p, {x - 70, y, 64, 16}, bold, t.ink, word(s.x0 - 1), Align::Right);
    whole_text(p, {x + 6, y, 64, 16}, bold, t.ink, word(s.x0), Align::Left);
  }
}

void SweepScreen::draw_grid_panel(Ui& ui, const Rect& rect) {
  const bool compact = size_ == Size::Compact;
  const std::string title = info(metric_).title;
  PanelOptions options;
  options.title = capitalised(title.size() < 40 ? title : info(metric_).name);
  options.note = metric_ == Metric::Loss
                     ? fmt::format("{}, mean of {}", nats_per(grid_->unit()), loss_window_text(*grid_))
                     : fmt::format("{} steps", base_.train.steps);
  Rect rest = panel(ui, rect, options);
  const Rect sentence = rest.take_top(space::sentence_row);
  const std::string words = grid_sentence(*grid_);
  const TextStyle body{Face::Sans, type::body}, small{Face::Sans, type::tick};
  ui.paint().text_in(sentence.moved(0, -7), body, ui.theme().ink2,
                     fitting(ui.paint(), body, sentence.w, {words, words.substr(0, words.find(". ") + 1)}));
  ui.mark("sweep/sentence", sentence, words, "What the grid says, computed from its cells.");
  const Rect foot = rest.take_bottom(40, 4);
  if (plan_.axes.size() < 2) {
    draw_key(ui, foot);
    return draw_line_plot(ui, rest);
  }
  Rect above{}, beside{};
  if (!compact) above = rest.take_top(88);
  rest.take_top(24);
  rest.take_left(64);
  if (!compact) beside = rest.take_right(84, 8);
  rest.take_bottom(42);
  const GridLayout at = fitted(rest, plan_.columns(), plan_.rows());
  const Rect upwards{at.area.x - 64, at.area.y - 20, 74, 16};
  ui.paint().text_in(upwards, small, ui.theme().ink3,
                     fitting(ui.paint(), small, upwards.w, {plan_.axes[1].title(), plan_.axes[1].label()}));
  draw_key(ui, {foot.x, std::min(foot.y, at.area.bottom() + 56), foot.w, foot.h});
  hold_grid(ui, at);
  draw_cells(ui, at);
  draw_border(ui, at);
  draw_labels(ui, at);
  draw_brush(ui, at);
  if (!compact) draw_profiles(ui, at, above, beside);
}

}  // namespace normscope::sweep

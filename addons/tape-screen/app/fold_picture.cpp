#include "addons/tape-screen/app/fold_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "app/ui/paint.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/measure/step/memory_map.h"

namespace normscope::tape_screen {

using namespace ui;

namespace {

constexpr TextStyle kFigure{Face::Mono, type::tick}, kWord{Face::Sans, type::tick},
    kName{Face::Mono, type::body};
constexpr float kTrack = 8, kTurn = 16;

/// 1.5 px at a norm of 10^-6 and 8 px at 0.03, logarithmic, within what the track can show.
float width_of(double gradient) {
  if (!(gradient > 0) || !std::isfinite(gradient)) return 1.5f;
  const double low = -6, high = std::log10(0.03);
  const double share = (std::log10(gradient) - low) / (high - low);
  return std::clamp(static_cast<float>(1.5 + 6.5 * share), 1.f, 11.f);
}

void band(Painter& p, float x, float from, float to, float from_width, float to_width, Colour colour) {
  const std::array<Vec, 4> corners{Vec{x - from_width / 2, from}, Vec{x + from_width / 2, from},
                                   Vec{x + to_width / 2, to}, Vec{x - to_width / 2, to}};
  p.polygon(corners, colour);
}

std::string milliseconds(double seconds) {
  const double ms = 1e3 * seconds;
  return ms < 0.1 ? ui::decimals(ms, 3) : ms < 10 ? ui::decimals(ms, 2) : ui::decimals(ms, 1);
}

/// GFLOP/s without the unit, which stands above, or GB/s with it.
std::string rate_words(const FoldSide& side) {
  if (side.seconds <= 0) return "";
  if (side.cost.flop > 0) return fmt::format("{:.0f}", 1e-9 * side.cost.flop / side.seconds);
  const double rate = 1e-9 * side.cost.bytes / side.seconds;
  return side.cost.bytes <= 0 ? ""
         : rate < 10          ? ui::decimals(rate, 1) + " GB/s"
                              : fmt::format("{:.0f} GB/s", rate);
}

/// Paints parts of the picture in one theme.
struct FoldBrush {
  const FoldPicture& fit;
  Painter& p;
  const Theme& t;

  void track() const {
    const Colour colour = t.runs[static_cast<size_t>(fit.facts.letter - 'A')].line;
    const bool begins = fit.first == 0, folds = fit.folds();
    const bool updates = begins && !fit.rows.empty() && fit.rows[0].kind == RowKind::Update;
    const float bottom = fit.list.bottom();
    const float top = fit.list.y + (updates ? fit.at.row + 2 : 0);
    const float fold = bottom + 24, turn = folds ? fold - kTurn : bottom;
    p.fill({fit.left() - kTrack / 2, top, kTrack, turn - top}, colour);
    // Upwards the width between two rows goes from one gradient to the other.
    double gradient = gradient_way(fit.facts).begins;
    float y = turn, width = folds ? kTrack : width_of(gradient);
    for (size_t row = fit.end; row-- > fit.first + (updates ? 1 : 0);) {
      const FoldRow& at = fit.rows[row];
      // The gradient of the loss itself is one and not on this scale.
      if (at.gradient > 0 && at.op != "cross-entropy") gradient = at.gradient;
      const float next = width_of(gradient);
      band(p, fit.right(), fit.y(row), y, next, width, colour);
      y = fit.y(row);
      width = next;
    }
    const float end = updates ? fit.y(0) + 4 : fit.list.y;
    band(p, fit.right(), end, y, width, width, colour);
    if (updates) {
      const std::array<Vec, 3> arrow{Vec{fit.right(), end - 8}, Vec{fit.right() + 6, end + 2},
                                     Vec{fit.right() - 6, end + 2}};
      p.polygon(arrow, colour);
    }
    if (!folds) return;
    constexpr float kQuarter = std::numbers::pi_v<float> / 2;
    p.line({fit.left() + kTurn, fold}, {fit.right() - kTurn, fold}, colour, kTrack);
    p.arc({fit.left() + kTurn, turn}, kTurn, kQuarter, 2 * kQuarter, colour, kTrack);
    p.arc({fit.right() - kTurn, turn}, kTurn, 0, kQuarter, colour, kTrack);
    p.text_in(fit.turn(), {Face::Bold, type::body}, t.ink, fit.turn_words(), Align::Centre);
  }

  /// Marks every instruction of a line by a dot on its track.
  void dots() const {
    for (size_t row = fit.first; row < fit.end; ++row) {
      const FoldRow& at = fit.rows[row];
      if (at.kind != RowKind::Line) continue;
      if (at.forward.instruction >= 0) p.circle({fit.left(), fit.y(row)}, 1.8f, t.panel);
      if (at.backward.instruction >= 0) p.circle({fit.right(), fit.y(row)}, 1.8f, t.panel);
    }
  }

  void names(const FoldRow& row, float y) const {
    const bool group = row.kind == RowKind::Layer || row.kind == RowKind::Sublayer;
    float x = fit.panel.x + fit.at.name + (row.depth && row.kind != RowKind::Layer ? 15.f : 0.f);
    if (row.mark) p.text({fit.left() + 8, y + 4}, kName, t.ink, row.mark == '+' ? "+" : "≠");
    if (group && !fit.alone)
      draw_icon(p, row.open ? Icon::ChevronDown : Icon::ChevronRight, {x + 5, y}, 12, t.ink2);
    if (!row.opens_with.empty() && !fit.alone) draw_icon(p, Icon::ChevronDown, {x - 9, y}, 9, t.ink3);
    if (group) x += 14;
    if (row.kind == RowKind::Layer) {
      int layers = 1;
      for (const FoldLine& line : fit.facts.fold.lines)
        layers = std::max(layers, static_cast<int>(line.layer));
      p.fill({x + 2, y - 4, 8, 8}, depth_colour(t, row.layer - 1, layers), 2);
      x += 16;
    }
    const bool bold = row.kind == RowKind::Layer || row.kind == RowKind::Update;
    const TextStyle style = bold                        ? TextStyle{Face::Bold, type::body}
                            : row.kind == RowKind::Line ? kName
                                                        : TextStyle{Face::Sans, type::body};
    x += p.text({x, y + 4}, style, t.ink, row.label) + 10;
    if (row.kind == RowKind::Update) {
      const std::string arrives =
          tr("gradient {norm}", {{"norm", number(gradient_way(fit.facts).arrives, 2)}});
      const float right = fit.panel.x + fit.at.bytes_right;
      p.text({right, y + 4}, kWord, t.ink2, arrives, Align::Right);
      if (x + p.text_width(kWord, row.op) + p.text_width(kWord, arrives) + 10 < right)
        p.text({x, y + 4}, kWord, t.ink3, row.op);
      return;
    }
    const std::string& shape = group ? row.op : row.shape;
    const TextStyle shape_style = group ? kWord : kFigure;
    const float shape_right = fit.panel.x + fit.at.shape_right,
                shape_left = shape_right - p.text_width(shape_style, shape);
    if (x < shape_left) p.text({shape_right, y + 4}, shape_style, t.ink3, shape, Align::Right);
    p.text({fit.panel.x + fit.at.bytes_right, y + 4}, kFigure, t.ink3,
           words::with_decimal(size_words(row.bytes)), Align::Right);
    if (fit.alone && row.gradient > 0)
      p.text({fit.right() - 14, y + 4}, kFigure, t.ink2, number(row.gradient, 2), Align::Right);
    const float aligned = std::max(x, fit.panel.x + fit.at.name + 97);
    const bool room = fit.wide && !group;
    if (room && aligned + p.text_width(kWord, row.op) + 8 < shape_left)
      p.text({aligned, y + 4}, kWord, t.ink3, row.op);
    else if (room && x + p.text_width(kWord, row.op) + 8 < shape_left)
      p.text({x, y + 4}, kWord, t.ink3, row.op);
  }

  /// Draws the time as a bar, whose dark part is the arithmetic at the peak. Where bytes count it has none.
  void side(const FoldRow& row, float y, bool forward) const {
    const FoldSide& side = forward ? row.forward : row.backward;
    if (side.instruction < 0 || side.seconds <= 0 || !fit.clock) return;
    const float most = (forward ? fit.at.left_room : fit.at.right_room);
    const float px = fit.px_per_second;
    const float w = std::clamp(static_cast<float>(side.seconds) * px, 1.f, most);
    const float peak = side.cost.flop > 0 && fit.facts.roof.flops > 0
                           ? std::min(w, static_cast<float>(side.cost.flop / fit.facts.roof.flops) * px)
                           : 0.f;
    const float x = fit.panel.x + (forward ? fit.at.bar_right - w : fit.at.bar_left);
    p.fill({x, y - 5, w, 10}, t.trough, 1);
    if (peak > 0) p.fill({forward ? x + w - peak : x, y - 5, peak, 10}, t.ink2, 1);
    const std::string ms = milliseconds(side.seconds);
    p.text({forward ? x - 6 : x + w + 7, y + 4}, kFigure, t.ink, ms, forward ? Align::Right : Align::Left);
    if (!fit.wide) return;
    p.text({fit.panel.x + (forward ? fit.at.rate_left : fit.at.rate_right), y + 4}, kFigure, t.ink3,
           rate_words(side), Align::Right);
  }

  void row(size_t row) const {
    const FoldRow& at = fit.rows[row];
    const float y = fit.y(row);
    if (at.kind == RowKind::Layer)
      p.hairline({fit.panel.x + fit.at.name, y - fit.at.row / 2},
                 {fit.panel.x + fit.at.bytes_right, y - fit.at.row / 2}, t.grid);
    names(at, y);
    side(at, y, true);
    side(at, y, false);
  }
};

}  // namespace

std::string FoldPicture::turn_words() const {
  return tr("the fold: loss {loss}, gradient {norm}",
            {{"loss", number(facts.loss, 3)}, {"norm", number(gradient_way(facts).begins, 2)}});
}

void FoldPicture::paint_headings(Painter& p, const Theme& t, float y) const {
  const float x = panel.x;
  const TextStyle bold{Face::Bold, type::body};
  p.text({x + at.bar_right, y}, bold, t.ink, tr(wide ? "forward" : "forward, ms"), Align::Right);
  p.text({x + at.bar_left, y}, bold, t.ink, tr(wide ? "backward" : "backward, ms"));
  p.text({x + at.shape_right, y}, kWord, t.ink3, tr("result"), Align::Right);
  p.text({x + at.bytes_right, y}, kWord, t.ink3, tr("bytes"), Align::Right);
  p.text({left(), y}, bold, t.ink, "↓", Align::Centre);
  p.text({right(), y}, bold, t.ink, "↑", Align::Centre);
  if (wide) {
    p.text({x + at.name, y}, kWord, t.ink3, tr("instruction"));
    p.text({x + at.rate_left, y}, kWord, t.ink3, "GFLOP/s", Align::Right);
    p.text({x + at.rate_right, y}, kWord, t.ink3, "GFLOP/s", Align::Right);
    p.text({x + 106, y}, kWord, t.ink3, "ms", Align::Right);
    p.text({x + at.bar_left + 112, y}, kWord, t.ink3, "ms", Align::Right);
  }
  if (alone) p.text({right() - 14, y}, kWord, t.ink3, tr("gradient"), Align::Right);
}

void FoldPicture::paint(Painter& p, const Theme& t) const {
  const FoldBrush brush{*this, p, t};
  brush.track();
  for (size_t row = first; row < end; ++row) {
    if (alone) p.begin_group(rows[row].name + ": " + rows[row].op);
    brush.row(row);
    if (alone) p.end_group();
  }
  brush.dots();
}

std::string times_of(const StepFacts& facts) {
  if (!facts.timed) return "";
  return tr(
      "{forward} ms forward, {backward} ms backward, {update} ms update; one thread, each "
      "instruction alone",
      {{"forward", ui::significant(1e3 * facts.fold.forward.seconds, 3)},
       {"backward", ui::significant(1e3 * facts.fold.backward.seconds, 3)},
       {"update", ui::significant(1e3 * facts.fold.updates.seconds, 3)}});
}

std::string fold_svg(const StepFacts& facts) {
  OpenRows all;
  for (const FoldGroup& group : facts.fold.groups) all.by_hand[group.name] = true;
  const std::vector<FoldRow> rows = fold_rows(facts, all);
  FoldPicture picture{.facts = facts, .rows = rows, .at = kFoldAlone, .alone = true};
  picture.panel = {0, 0, 850, 0};
  picture.list = {0, 88, picture.panel.w, static_cast<float>(rows.size()) * kFoldAlone.row};
  picture.end = rows.size();
  double forward = 1e-9, backward = 1e-9;
  for (const FoldRow& row : rows) {
    forward = std::max(forward, row.forward.seconds);
    backward = std::max(backward, row.backward.seconds);
  }
  picture.px_per_second =
      static_cast<float>(std::min(kFoldAlone.left_room / forward, kFoldAlone.right_room / backward));
  const std::string title =
      tr("run {run} at step {step}, loss {loss}",
         {{"run", facts.letter}, {"step", facts.step}, {"loss", ui::significant(facts.loss, 3)}});
  return ui::to_svg(title, [&](Painter& p, const Theme& t) {
    const TextStyle body{Face::Sans, type::body};
    p.text({space::pad, 26}, {Face::Bold, type::run_name}, t.ink, title);
    p.text({space::pad, 46}, body, t.ink2, fold_sentence(facts));
    picture.paint_headings(p, t, 78);
    picture.paint(p, t);
    p.text({space::pad, picture.list.bottom() + 52}, body, t.ink2, times_of(facts));
    return Vec{picture.panel.w, picture.list.bottom() + 68};
  });
}

}  // namespace normscope::tape_screen

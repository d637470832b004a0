// The track of the fold: down on the left, up on the right as wide as the gradient; the play head on it; the foot of
// the panel.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "app/tape_screen/tape_screen.h"
#include "app/ui/widgets.h"

namespace normscope::tape_screen {

using namespace ui;

namespace {

constexpr float kTrack = 8, kTurn = 16;

/// 1.5 px at a norm of 10^-6, 8 px at 0.03, log; within what the track can show.
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

}  // namespace

void TapeScreen::draw_track(Ui& ui, const Fitted& fit) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Colour colour = t.runs[static_cast<size_t>(facts_->letter - 'A')].line;
  const bool begins = fit.first == 0, folds = fit.end == rows_.size();
  const bool updates = begins && !rows_.empty() && rows_[0].kind == RowKind::Update;
  const float bottom = fit.list.bottom();
  const float top = fit.list.y + (updates ? fit.at.row + 2 : 0);
  const float fold = bottom + 24, turn = folds ? fold - kTurn : bottom;
  p.fill({fit.left() - kTrack / 2, top, kTrack, turn - top}, colour);
  // Upwards: the width between two rows goes from one gradient to the other.
  double gradient = gradient_way(*facts_).begins;
  float y = turn, width = folds ? kTrack : width_of(gradient);
  for (size_t row = fit.end; row-- > fit.first + (updates ? 1 : 0);) {
    const FoldRow& at = rows_[row];
    // The loss's own is one and not on this scale.
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
  const std::string words = fmt::format("the fold: loss {}, gradient {}", number(facts_->loss, 3),
                                        number(gradient_way(*facts_).begins, 2));
  const Rect line{fit.left() + 20, bottom - 2, fit.right() - fit.left() - 40, 20};
  ui.mark("tape/turn", line, words, "Where forward ends and backward begins (F).");
  p.text_in(line, {Face::Bold, type::body}, t.ink, words, Align::Centre);
}

/// Every instruction of a line is a dot on its track.
void TapeScreen::draw_dots(Ui& ui, const Fitted& fit) {
  for (size_t row = fit.first; row < fit.end; ++row) {
    const FoldRow& at = rows_[row];
    if (at.kind != RowKind::Line) continue;
    if (at.forward.instruction >= 0) ui.paint().circle({fit.left(), fit.y(row)}, 1.8f, ui.theme().panel);
    if (at.backward.instruction >= 0) ui.paint().circle({fit.right(), fit.y(row)}, 1.8f, ui.theme().panel);
  }
}

void TapeScreen::draw_head(Ui& ui, const Fitted& fit) {
  const std::optional<size_t> row = row_of(rows_, *facts_, head_);
  if (!row || *row < fit.first || *row >= fit.end) return;
  const bool forward = is_forward(facts_->program, head_);
  const Vec at{forward ? fit.left() : fit.right(), fit.y(*row)};
  if (facts_->broken && facts_->broken->instruction == head_)
    ui.paint().dashed_outline({fit.panel.x + 6, at.y - fit.at.row / 2, fit.panel.w - 18, fit.at.row},
                              ui.theme().error, 1.2f, {4, 3}, 6);
  HitOptions options;
  options.focusable = false;
  const Hit hit =
      ui.hit("tape/head", centred(at, 24, 24), fmt::format("{}", head_),
             "The play head. Drag it, or Left and Right: one instruction in order of execution.", options);
  ui.paint().accent_disc(ui.theme(), at, hit.held || hit.hovered ? 9.f : 8.f);
  if (!hit.held) return;
  const Vec mouse = ui.mouse();
  const bool left = mouse.x < (fit.left() + fit.right()) / 2;
  const float rows = (mouse.y - fit.list.y) / fit.at.row;
  const auto over = std::clamp<std::ptrdiff_t>(
      static_cast<std::ptrdiff_t>(std::floor(rows)) + static_cast<std::ptrdiff_t>(fit.first), 0,
      static_cast<std::ptrdiff_t>(rows_.size()) - 1);
  const FoldRow& target = rows_[static_cast<size_t>(over)];
  if (target.kind == RowKind::Layer && target.open) return;
  const int32_t there = left ? target.forward.instruction : target.backward.instruction;
  if (there >= 0) go(static_cast<size_t>(there));
}

void TapeScreen::draw_finite(Ui& ui, const Rect& line) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  if (!state_->error.empty() && size_ == Size::Compact) {  // else it stands above
    ui.mark("tape/error", line, state_->error, "Why what was asked for last is not there.");
    p.text_in(line, {Face::Sans, type::body}, t.ink, state_->error);
    return;
  }
  if (!facts_->broken) {
    const std::string words = "✓ Every number of this step is finite.";
    ui.mark("tape/finite", line, words, "All that the step wrote was looked at.");
    const float w = p.text_in(line, {Face::Bold, type::body}, t.ink, words);
    const std::string more = "The first that is not would be named here, and the head would go there.";
    const TextStyle style{Face::Sans, type::body};
    if (w + 12 + p.text_width(style, more) <= line.w)
      p.text_in({line.x + w + 10, line.y, line.w, line.h}, style, t.ink3, more);
    return;
  }
  std::string words =
      fmt::format("first not finite: {}, instruction {}", facts_->broken_tensor, facts_->broken->instruction);
  const TextStyle style{Face::Bold, type::body};
  if (p.text_width(style, words) + 40 > line.w)
    words = fmt::format("first not finite: instruction {}", facts_->broken->instruction);
  const float w = p.text_width(style, words) + 24;
  HitOptions options;
  const Rect place{line.x, line.y + 1, w, line.h - 2};
  if (ui.hit("tape/finite", place, words, "The head goes there (N).", options).clicked) to_broken();
  p.fill(place, t.error, 5);
  p.text_in(place.inset(12, 0), style, t.panel, words);
}

void TapeScreen::draw_foot(Ui& ui, Rect foot, bool clock) {
  if (foot.h < 10) return;
  if (size_ == Size::Compact) return draw_finite(ui, foot.take_top(22));
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Fold& fold = facts_->fold;
  p.hairline({foot.x, foot.y}, {foot.right(), foot.y}, t.border);
  foot.take_top(6);
  Rect line = foot.take_top(22);
  const TextStyle figure{Face::MonoMedium, type::body}, word{Face::Sans, type::body};
  if (facts_->timed && clock) {
    const std::array<std::pair<double, const char*>, 3> sums{std::pair{fold.forward.seconds, "ms forward"},
                                                             std::pair{fold.backward.seconds, "ms backward"},
                                                             std::pair{fold.updates.seconds, "ms update"}};
    for (const auto& [seconds, what] : sums) {
      line.take_left(p.text_in(line, figure, t.ink, fmt::format("{:.3g}", 1e3 * seconds)) + 5);
      line.take_left(p.text_in(line, word, t.ink2, what) + 22);
    }
  }
  p.text_in(line, word, t.ink3, fmt::format("{} probes are not listed", fold.probes));
  line = foot.take_top(22);
  std::string key = "Track: as wide as the gradient, log.";
  if (facts_->timed && clock && facts_->roof.flops > 0) {
    p.fill({line.x, line.centre().y - 5, 48, 10}, t.trough, 1);
    p.fill({line.x, line.centre().y - 5, 24, 10}, t.ink2, 1);
    line.take_left(56);
    key = fmt::format("dark: what this core's peak of {:.0f} GFLOP/s would need; light: the rest. {}",
                      1e-9 * facts_->roof.flops, key);
  }
  ui.mark("tape/key", line, key,
          "Times: each instruction alone, the fastest of several passes; what trains meanwhile slows them.");
  p.text_in(line, word, t.ink2, key);
  draw_finite(ui, foot.take_top(24));
}

}  // namespace normscope::tape_screen

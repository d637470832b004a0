// The play head on the track of the fold, and the foot of the panel.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/tape_screen/tape_screen.h"
#include "app/ui/widgets.h"

namespace normscope::tape_screen {

using namespace ui;

void TapeScreen::draw_head(Ui& ui, const FoldPicture& fit) {
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

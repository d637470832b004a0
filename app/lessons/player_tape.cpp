// The player's table of a tape: its instructions, run forward and backward one at a time by a button or an arrow key.
// See player.h.
#include <algorithm>

#include "app/course/tapes/tape_curves.h"
#include "app/lessons/player.h"
#include "app/ui/widgets.h"
#include "engine/core/boundary.h"

namespace normscope::lessons {

using namespace ui;

namespace {

constexpr float kHead = 24, kControls = 44, kLowestLine = 15, kLine = 54;
constexpr float kRoomy = 28;  // a line of that height has larger letters

/// Where the columns begin, as shares of the width.
constexpr float kValueAt = 0.25f, kGradientAt = 0.58f;

size_t lines_of(const TapeRow& row) { return std::max<size_t>({1, row.value.size(), row.gradient.size()}); }

}  // namespace

/// The table after as many instructions as the hand has run; replayed when one of what decides it has changed.
const TapeTable& Player::tape_now(const Figure& figure) {
  const std::pair<std::string, size_t> which{figure.id, tape_done_[figure.id]};
  const Changes changes = shown_changes();
  if (tape_ && tape_of_ == which && tape_changes_ == changes) return *tape_;
  tape_of_ = which;
  tape_changes_ = changes;
  tape_error_ = guarded("replaying [tape." + figure.tape + "]", [&] {
    tape_ = table_of_tape(tape_of(*lesson(), figure.tape, changes), which.second, course_.words);
  });
  if (!tape_ || !tape_error_.empty()) tape_ = TapeTable{};
  return *tape_;
}

/// Before the commitment what flows back is not shown: it is what is asked.
size_t Player::tape_end(const TapeTable& table) {
  return step_ == StepKind::Predict && !locked() ? table.forward : table.lines;
}

void Player::move_tape(const Figure& figure, int by) {
  const TapeTable& table = tape_now(figure);
  const size_t most = tape_end(table);
  const auto wanted = static_cast<std::ptrdiff_t>(std::min(table.done, most)) + by;
  tape_done_[figure.id] =
      static_cast<size_t>(std::clamp<std::ptrdiff_t>(wanted, 0, static_cast<std::ptrdiff_t>(most)));
}

void Player::draw_tape(Ui& ui, Rect rect, const Figure& figure) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  Rect controls = rect.take_bottom(kControls, 4);
  HitOptions options;
  options.arrows = true;
  options.radius = radius::panel;
  const TapeTable before = tape_now(figure);
  const size_t most = tape_end(before);
  const std::string value = phrase("{} of {}", before.done, before.lines);
  const Hit hand = ui.hit(
      "lesson/tape", rect, value,
      word("The tape: the right arrow key or a click runs its next instruction, the left one takes it back."),
      options);
  ButtonOptions next, back;
  next.primary = work_left();
  next.enabled = before.done < most;
  back.enabled = before.done > 0;
  const Rect buttons{controls.x, controls.y + 6, controls.w, 32};
  Rect row = buttons;
  int by = hand.arrow_x + (hand.clicked ? 1 : 0);
  const std::string forward = before.done < before.forward ? word("Next: forward") : word("Next: backward");
  if (button(ui, "lesson/tape/next", row.take_right(140, 8), forward, word("Runs the next instruction."),
             next))
    ++by;
  if (button(ui, "lesson/tape/back", row.take_right(76, 12), word("Back"),
             word("Takes the last instruction back."), back))
    --by;
  if (by != 0 || before.done > most) move_tape(figure, by);
  const TapeTable& table = tape_now(figure);
  const std::string said = !tape_error_.empty() ? tape_error_
                           : table.done == 0    ? word("Nothing has run yet.")
                           : table.said.empty() ? value
                                                : table.said;
  p.text_in(row, {Face::Sans, type::body}, tape_error_.empty() ? t.ink2 : t.error,
            fitting(p, {Face::Sans, type::body}, row.w, {said, value}));
  show_tape(ui, rect, table);
}

void Player::show_tape(Ui& ui, Rect rect, const TapeTable& table) const {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float value_at = rect.x + rect.w * kValueAt, gradient_at = rect.x + rect.w * kGradientAt;
  const Rect head = rect.take_top(kHead);
  const TextStyle small{Face::Sans, type::body};
  p.text_in({value_at, head.y, gradient_at - value_at, head.h}, small, t.ink3, word("forward: value"));
  p.text_in({gradient_at, head.y, head.right() - gradient_at, head.h}, small, t.ink3,
            word("backward: gradient"));
  size_t lines = 0;
  for (const TapeRow& row : table.rows) lines += lines_of(row);
  if (lines == 0) return;
  const float line = std::clamp(rect.h / static_cast<float>(lines), kLowestLine, kLine);
  const bool roomy = line >= kRoomy;
  const TextStyle large{Face::Mono, type::title};
  const auto fits = [&](const std::vector<std::string>& texts, float width) {
    return std::all_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return p.text_width(large, text) <= width - 6; });
  };
  const bool all_fit = std::all_of(table.rows.begin(), table.rows.end(), [&](const TapeRow& row) {
    return fits(row.value, gradient_at - value_at) && fits(row.gradient, rect.right() - gradient_at);
  });
  const TextStyle number = roomy && all_fit ? large : TextStyle{Face::Mono, type::tick};
  const TextStyle bold{Face::Bold, roomy ? type::run_name : type::body};
  float names = 0;  // the widest
  for (const TapeRow& row : table.rows) names = std::max(names, p.text_width(bold, row.name));
  const auto column = [&](const std::vector<std::string>& texts, float x, float to, float y) {
    for (size_t i = 0; i < texts.size(); ++i)
      p.text_in({x, y + line * static_cast<float>(i), to - x, line}, number, t.ink, texts[i]);
  };
  for (const TapeRow& row : table.rows) {
    const Rect box = rect.take_top(line * static_cast<float>(lines_of(row)));
    if (row.now) p.fill(box, t.accent_soft, 4);
    p.hairline({box.x, box.y}, {box.right(), box.y}, t.border);
    const Rect name{box.x + 4, box.y, value_at - box.x - 8, line};
    p.text_in(name, bold, t.ink, row.name);
    const Rect what{name.x + names + 10, name.y, name.w - names - 10, name.h};
    p.text_in(what, small, t.ink3, fitting(p, small, what.w, {row.what}));
    column(row.value, value_at, gradient_at, box.y);
    column(row.gradient, gradient_at, box.right(), box.y);
  }
}

}  // namespace normscope::lessons

// The player's table of a tape has its instructions, run forward and backward one at a time by a button or an arrow
// key. See player.h.
#include <algorithm>
#include <limits>
#include <tuple>

#include "app/course/tapes.h"
#include "app/lessons/player.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kHead = 24, kControls = 44, kLowestLine = 15, kLine = 54;
constexpr float kRoomy = 28;  // a line of that height has larger letters

/// `kValueAt` and `kGradientAt` are where the columns begin, as shares of the width.
constexpr float kValueAt = 0.25f, kGradientAt = 0.58f;

size_t lines_of(const TapeRow& row) { return std::max<size_t>({1, row.value.size(), row.gradient.size()}); }

/// `Cells` have one width, so that numbers of a column are below each other, each at the right of its cell.
struct Cells {
  float each = 0, gap = 0;
  size_t most = 0;  ///< numbers in a line
  float width() const { return static_cast<float>(most) * (each + gap) - gap; }
};

Cells cells_of(const Painter& p, TextStyle style, const std::vector<TapeRow>& rows,
               std::vector<std::string> TapeRow::*column) {
  // As wide from the start as most numbers are, so that they stay in place as others join them.
  Cells cells{p.text_width(style, "−0.123"), p.text_width(style, " ")};
  for (const TapeRow& row : rows)
    for (const std::string& line : row.*column) {
      const std::vector<std::string> numbers = numbers_in(line);
      cells.most = std::max(cells.most, numbers.size());
      for (const std::string& one : numbers) cells.each = std::max(cells.each, p.text_width(style, one));
    }
  return cells;
}

/// How far numbers stand apart where there is room, up to three times as far as they must; more stays free
/// behind the last, before the next column.
float gap_in(const Cells& cells, float room) {
  if (cells.most < 2) return cells.gap;
  const float free = (room - 5 * cells.gap - static_cast<float>(cells.most) * cells.each) /
                     static_cast<float>(cells.most - 1);
  return std::clamp(free, cells.gap, 3 * cells.gap);
}

/// Begins at `at`. Where the cells have no room, lines stay as they are.
void draw_numbers(Ui& ui, TextStyle style, const std::vector<std::string>& lines, const Cells& cells,
                  Rect at) {
  for (const std::string& line : lines) {
    const bool fits = cells.width() <= at.w;
    if (!fits) ui.paint().text_in(at, style, ui.theme().ink, line);
    const float gap = gap_in(cells, at.w);
    Rect place{at.x, at.y, cells.each, at.h};
    for (const std::string& one : numbers_in(fits ? line : "")) {
      ui.paint().text_in(place, style, ui.theme().ink, one, Align::Right);
      place.x += cells.each + gap;
    }
    at.y += at.h;
  }
}

}  // namespace

/// Leaves each tape as its run does, even where the hand has not gone through it.
void Player::run_tapes() {
  for (const Figure& figure : lesson()->figures)
    if (!figure.tape.empty()) tape_done_[figure.tape] = std::numeric_limits<size_t>::max();
}

/// The table after as many instructions as the hand has run, replayed when what decides it has changed.
const TapeTable& Player::tape_now(const Figure& figure) {
  const std::pair<std::string, size_t> which{figure.tape, tape_done_[figure.tape]};
  const Changes changes = shown_changes();
  if (tape_ && tape_of_ == which && tape_changes_ == changes) return *tape_;
  tape_of_ = which;
  tape_changes_ = changes;
  tape_error_ = guarded("replaying [tape." + figure.tape + "]", [&] {
    tape_ = table_of_tape(tape_of(*lesson(), figure.tape, changes), which.second, *course_.words);
  });
  if (!tape_ || !tape_error_.empty()) tape_ = TapeTable{};
  return *tape_;
}

/// Hides what flows back before the commitment, as that is the question.
size_t Player::tape_end(const TapeTable& table) {
  return step_ == StepKind::Predict && !locked() ? table.forward : table.lines;
}

void Player::move_tape(const Figure& figure, int by) {
  const TapeTable& table = tape_now(figure);
  const size_t most = tape_end(table);
  const auto wanted = static_cast<std::ptrdiff_t>(std::min(table.done, most)) + by;
  tape_done_[figure.tape] =
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
  const std::string value = tr("{done} of {all}", {{"done", before.done}, {"all", before.lines}});
  const Hit hand =
      ui.hit("lesson/tape", rect, value,
             tr("The tape: the right arrow key or a click runs its next instruction, the left one takes "
                "it back."),
             options);
  ButtonOptions next, back;
  next.primary = work_left();
  next.enabled = before.done < most;
  back.enabled = before.done > 0;
  const Rect buttons{controls.x, controls.y + 6, controls.w, 32};
  Rect row = buttons;
  int by = hand.arrow_x + (hand.clicked ? 1 : 0);
  const std::string forward = before.done < before.forward ? tr("Next: forward") : tr("Next: backward");
  if (button(ui, "lesson/tape/next", row.take_right(140, 8), forward, tr("Runs the next instruction."), next))
    ++by;
  if (button(ui, "lesson/tape/back", row.take_right(76, 12), tr("Back"),
             tr("Takes the last instruction back."), back))
    --by;
  if (by != 0 || before.done > most) move_tape(figure, by);
  const TapeTable& table = tape_now(figure);
  const std::string said = !tape_error_.empty()                      ? words::spoken(tape_error_)
                           : table.done == 0 && figure.follow == 0   ? tr("Nothing has run yet.")
                           : table.said.empty() || figure.follow > 0 ? value
                                                                     : table.said;
  p.text_in(row, {Face::Sans, type::body}, tape_error_.empty() ? t.ink2 : t.error,
            fitting(p, {Face::Sans, type::body}, row.w, {said, value}));
  if (figure.follow > 0 && tape_error_.empty())
    show_network(ui, rect, figure, table);
  else
    show_tape(ui, rect, table);
}

void Player::show_tape(Ui& ui, Rect rect, const TapeTable& table) const {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  float value_at = rect.x + rect.w * kValueAt, gradient_at = rect.x + rect.w * kGradientAt;
  const Rect head = rect.take_top(kHead);
  const TextStyle small{Face::Sans, type::body};
  size_t lines = 0;
  for (const TapeRow& row : table.rows) lines += lines_of(row);
  if (lines == 0) return;
  const float line = std::clamp(rect.h / static_cast<float>(lines), kLowestLine, kLine);
  const bool roomy = line >= kRoomy;
  float value_room = gradient_at - value_at - 6, gradient_room = rect.right() - gradient_at - 6;
  const auto cells = [&](TextStyle style) {
    return std::pair{cells_of(p, style, table.rows, &TapeRow::value),
                     cells_of(p, style, table.rows, &TapeRow::gradient)};
  };
  const TextStyle large{Face::Mono, type::title};
  TextStyle number = large;
  auto [values, gradients] = cells(number);
  if (!roomy || values.width() > value_room || gradients.width() > gradient_room) {
    number = {Face::Mono, type::tick};
    std::tie(values, gradients) = cells(number);
  }
  if (values.width() > value_room) {  // takes what the gradients leave, then what the names leave
    gradient_room = std::max(gradients.width(), gradient_room - (values.width() - value_room));
    gradient_at = rect.right() - gradient_room - 6;
    value_room = values.width();
    value_at = std::min(value_at, gradient_at - 6 - value_room);
  }
  p.text_in({value_at, head.y, gradient_at - value_at, head.h}, small, t.ink3, tr("forward: value"));
  p.text_in({gradient_at, head.y, head.right() - gradient_at, head.h}, small, t.ink3,
            tr("backward: gradient"));
  const TextStyle bold{Face::Bold, roomy ? type::run_name : type::body};
  float names = 0;  // the widest
  for (const TapeRow& row : table.rows) names = std::max(names, p.text_width(bold, row.name));
  for (const TapeRow& row : table.rows) {
    const Rect box = rect.take_top(line * static_cast<float>(lines_of(row)));
    if (row.now) p.fill(box, t.accent_soft, 4);
    p.hairline({box.x, box.y}, {box.right(), box.y}, t.border);
    const Rect name{box.x + 4, box.y, value_at - box.x - 8, line};
    p.text_in(name, bold, t.ink, row.name);
    const Rect what{name.x + names + 10, name.y, name.w - names - 10, name.h};
    p.text_in(what, small, t.ink3, fitting(p, small, what.w, {row.what}));
    draw_numbers(ui, number, row.value, values, {value_at, box.y, value_room, line});
    draw_numbers(ui, number, row.gradient, gradients, {gradient_at, box.y, gradient_room, line});
  }
}

}  // namespace normscope::lessons

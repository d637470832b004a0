#include "app/lesson-player/tape_hand.h"

#include <algorithm>
#include <limits>

#include "app/course/pictures/network.h"
#include "app/lesson-player/lesson_context.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kHead = 24, kControls = 44, kLowestLine = 15, kLine = 54;
constexpr float kRoomy = 28;  // a line of that height has larger letters

/// Where the columns begin, as shares of the width.
constexpr float kValueAt = 0.25f, kGradientAt = 0.58f;

constexpr float kLeastWords = 76;  // px: in lower room beside the drawing its words have no place
const TextStyle kNow{Face::Bold, type::title}, kFormula{Face::Sans, type::title},
    kHint{Face::Sans, type::body};

size_t lines_of(const TapeRow& row) { return std::max<size_t>({1, row.value.size(), row.gradient.size()}); }

/// All of one width, so that numbers of a column are below each other, each at the right of its cell.
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

void show_tape(Ui& ui, Rect rect, const LessonContext& context, const TapeTable& table) {
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
  p.text_in({value_at, head.y, gradient_at - value_at, head.h}, small, t.ink3, context.tr("forward: value"));
  p.text_in({gradient_at, head.y, head.right() - gradient_at, head.h}, small, t.ink3,
            context.tr("backward: gradient"));
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

/// How the followed number came about in the line that ran last.
std::string formula_now(const LessonContext& context, const SmallTape& tape, const TapeTable& table,
                        size_t place) {
  if (table.done == 0) return "";
  return followed(tape, replay_small_tape(tape), table.done - 1, place, *context.course.words);
}

/// Draws the network; what the last line did stands in the room beside it, where there is some.
void show_network(Ui& ui, const Rect& rect, const LessonContext& context, const Figure& figure,
                  const TapeTable& table) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const SmallTape tape = tape_of(context.lesson, figure.tape, context.shown_changes());
  const TapeNetwork network = network_of(tape, table);
  const NetworkPlaces places = places_of(network, rect);
  const TapeTable shorter = table_of_tape(tape, table.done, *context.course.words, 2);
  NetworkPicture picture{&network, &table, &shorter, static_cast<size_t>(figure.follow)};
  if (const size_t pointed = place_at(picture, places, ui.mouse());
      pointed > 0 && ui.under_mouse() == "lesson/tape")
    picture.place = pointed;
  draw_network(p, t, picture, places);
  Rect words = places.free;
  if (words.h < kLeastWords) return;
  words.take_top(p.text_wrapped(words, kNow, t.ink,
                                table.done == 0 ? context.tr("Nothing has run yet.") : table.said, 18),
                 6);
  words.take_top(p.text_wrapped(words, kFormula, t.ink, formula_now(context, tape, table, picture.place), 19),
                 6);
  for (const char* key :
       {"In each box: the value above, its gradient below.", "Point at a number to follow it."})
    if (words.h >= 18) words.take_top(p.text_wrapped(words, kHint, t.ink3, context.tr(key), 17));
}

}  // namespace

/// Leaves each tape as its run does, even where the user has not gone through it.
void TapeHand::run_all(const Lesson& lesson) {
  for (const Figure& figure : lesson.figures)
    if (!figure.tape.empty()) done_[figure.tape] = std::numeric_limits<size_t>::max();
}

/// The table after as many instructions as the user has run, replayed when what decides it has changed.
const TapeTable& TapeHand::table(const LessonContext& context, const Figure& figure) {
  const std::tuple now{figure.tape, done_[figure.tape], context.shown_changes()};
  if (table_ && table_of_ == now) return *table_;
  table_of_ = now;
  error_ = guarded("replaying [tape." + figure.tape + "]", [&] {
    table_ = table_of_tape(tape_of(context.lesson, figure.tape, std::get<2>(now)), std::get<1>(now),
                           *context.course.words);
  });
  if (!table_ || !error_.empty()) table_ = TapeTable{};
  return *table_;
}

/// Hides what flows back before the commitment, as that is the question.
size_t TapeHand::end(const LessonContext& context, const TapeTable& table) {
  return context.locked() ? table.lines : table.forward;
}

bool TapeHand::left(const LessonContext& context, const Figure& figure) {
  if (figure.tape.empty()) return false;
  const TapeTable& now = table(context, figure);
  return now.done < end(context, now);
}

void TapeHand::move(const LessonContext& context, const Figure& figure, int by) {
  const TapeTable& now = table(context, figure);
  const size_t most = end(context, now);
  const auto wanted = static_cast<std::ptrdiff_t>(std::min(now.done, most)) + by;
  done_[figure.tape] =
      static_cast<size_t>(std::clamp<std::ptrdiff_t>(wanted, 0, static_cast<std::ptrdiff_t>(most)));
}

void TapeHand::draw(Ui& ui, Rect rect, LessonContext& context, const Figure& figure) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  Rect controls = rect.take_bottom(kControls, 4);
  HitOptions options;
  options.arrows = true;
  options.radius = radius::panel;
  const TapeTable before = table(context, figure);
  const size_t most = end(context, before);
  const std::string value = context.tr("{done} of {all}", {{"done", before.done}, {"all", before.lines}});
  const Hit hand = ui.hit(
      "lesson/tape", rect, value,
      context.tr("The tape: the right arrow key or a click runs its next instruction, the left one takes "
                 "it back."),
      options);
  ButtonOptions next, back;
  next.primary = context.step() < StepKind::Compare && before.done < most;
  next.enabled = before.done < most;
  back.enabled = before.done > 0;
  const Rect buttons{controls.x, controls.y + 6, controls.w, 32};
  Rect row = buttons;
  int by = hand.arrow_x + (hand.clicked ? 1 : 0);
  const std::string forward =
      before.done < before.forward ? context.tr("Next: forward") : context.tr("Next: backward");
  if (button(ui, "lesson/tape/next", row.take_right(140, 8), forward,
             context.tr("Runs the next instruction."), next))
    ++by;
  if (button(ui, "lesson/tape/back", row.take_right(76, 12), context.tr("Back"),
             context.tr("Takes the last instruction back."), back))
    --by;
  if (by != 0 || before.done > most) move(context, figure, by);
  const TapeTable& table = this->table(context, figure);
  const std::string said = !error_.empty()                           ? words::spoken(error_)
                           : table.done == 0 && figure.follow == 0   ? context.tr("Nothing has run yet.")
                           : table.said.empty() || figure.follow > 0 ? value
                                                                     : table.said;
  p.text_in(row, {Face::Sans, type::body}, error_.empty() ? t.ink2 : t.error,
            fitting(p, {Face::Sans, type::body}, row.w, {said, value}));
  if (figure.follow > 0 && error_.empty())
    show_network(ui, rect, context, figure, table);
  else
    show_tape(ui, rect, context, table);
}

}  // namespace normscope::lessons

// The player's frame has the list and the text column. See player.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "app/lessons/opening_picture.h"
#include "app/lessons/player.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

Desk Player::draw(Ui& ui, const Rect& area, const LabView& view) {
  Desk desk;
  finish_measuring();
  size_ = layout_for(ui.size());
  std::optional<session::ReplaceRuns> to_lab;
  const bool compact = size_ == Size::Compact;
  const float margin = compact ? 8 : space::margin, gap = compact ? 6 : space::gap;
  Rect rest = area;
  const Rect footer = rest.take_bottom(compact ? 56.f : 76.f);
  rest = {rest.x + margin, rest.y + gap, rest.w - 2 * margin, rest.h - 2 * gap};
  if (!lesson()) {
    const Rect content = panel(ui, rest, {tr("Lessons"), "", "", 0, false});
    const std::string why = course_.broken.empty() ? tr("There are no lessons beside the program.")
                                                   : words::spoken(course_.broken[0].error);
    ui.paint().text_wrapped(content, {Face::Sans, type::title}, ui.theme().ink2, why, 20);
    ui.mark("lesson/none", rest, why, tr("Why there is no course."));
    return desk;
  }
  if (!compact) draw_list(ui, rest.take_left(size_ == Size::Full ? 264.f : 56.f, gap));
  if (aside_ == Aside::Review) {
    draw_review(ui, rest);
  } else if (aside_ == Aside::Why) {
    draw_why(ui, rest);
  } else {
    // Of the smallest window, 1024 wide, a phone shows 520: on one side the text, on the other what is in the figure.
    const float narrow = std::max(440.f, 476 - (ui.size().x - 1024));
    draw_text(ui, rest.take_left(compact ? narrow : 600.f, gap));
    draw_figure(ui, rest);
  }
  draw_footer(ui, footer, to_lab);
  desk.copied = std::exchange(copied_, "");
  if (found_asked_) to_lab = std::exchange(found_asked_, std::nullopt);
  // The control that is meant, until the hand has found it.
  if (step_ == StepKind::Predict && aside_ == Aside::None && !lesson()->spotlight.empty()) {
    const Control* control = ui.registry().find(lesson()->spotlight);
    const Prediction& q = lesson()->prediction;
    const bool untouched = !touched_ && sketch_.size() <= 1 && !locked();
    // A drawing has its own: the square where it begins.
    if (control && untouched && q.kind != Prediction::Kind::Draw)
      spotlight(ui.paint(), ui.theme(), control->rect);
  }
  fresh_ = false;
  if (to_lab) desk.replacing = std::move(*to_lab);
  // Two trainings at once would only slow each other down.
  if (measuring() && view.playing) desk.commands.emplace_back(session::Pause{});
  return desk;
}

// ---- list

namespace {

constexpr float kNarrowList = 100;  // no words beside the signs

/// The ring of a lesson: empty, begun (an arc), done (a check mark).
void mark(Painter& p, const Theme& t, Vec c, float r, const LessonProgress& progress, int number,
          bool with_number) {
  if (progress.done) {
    p.circle(c, r, t.inverse);
    const Vec points[] = {
        {c.x - r * 0.45f, c.y}, {c.x - r * 0.1f, c.y + r * 0.35f}, {c.x + r * 0.5f, c.y - r * 0.35f}};
    p.polyline(points, t.on_inverse, 1.8f);
    return;
  }
  p.ring(c, r, t.strong, 2.2f);
  const float share = static_cast<float>(progress.step) / 4 + (progress.committed ? 0.05f : 0);
  if (share > 0) p.arc(c, r, -1.5708f, -1.5708f + 6.2832f * share, t.ink, 2.2f);
  if (with_number)
    p.text_in(centred(c, 2 * r, 2 * r), {Face::Mono, type::tick}, t.ink2, std::to_string(number),
              Align::Centre);
}

}  // namespace

/// Draws what all rows of the list share, and returns the middle of the row's sign. Without `what` the row
/// is a single line; a narrow one has no words.
Vec Player::draw_list_row(Ui& ui, const Rect& row, bool current, bool hovered, const std::string& title,
                          const std::string& what) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  if (current || hovered) p.fill(row, current ? t.sunk : t.raised, 6);
  if (current) p.accent_box(t, {row.x - 3, row.y + 8, 5, row.h - 16}, 2);
  if (row.w < kNarrowList) return row.centre();
  const Rect words{row.x + 38, what.empty() ? row.centre().y - 10 : row.y + 7, row.w - 44, 20};
  p.text_in(words, {current ? Face::Bold : Face::Sans, type::title}, current ? t.ink : t.ink2, title);
  if (!what.empty()) p.text_in({words.x, words.y + 20, words.w, 18}, {Face::Sans, type::tick}, t.ink3, what);
  return {row.x + 18, row.centre().y};
}

/// Draws all lessons, whatever the height: rows of two lines, or of one.
void Player::draw_list_items(Ui& ui, Rect rest) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const bool narrow = rest.w < kNarrowList;
  const float pitch = std::min(narrow ? 48.f : kListRow, rest.h / list_rows());
  const float gap = pitch < 44 ? 1.f : 4.f;
  const bool one_line = pitch < 46;
  for (size_t i = 0; i < course_.lessons.size(); ++i) {
    const Lesson& l = course_.lessons[i];
    const LessonProgress& progress = progress_.of(l.id);
    const Rect row = rest.take_top(pitch - gap, gap);
    const Hit h = ui.hit("lesson/list/" + l.id, row,
                         progress.done       ? "done"
                         : progress.step > 0 ? "begun"
                                             : "new",
                         l.title + ": " + l.question);
    const Vec middle = draw_list_row(
        ui, row, i == current_ && !of_course(), h.hovered, l.title,
        one_line ? "" : tr("Lesson {number}, {minutes} min", {{"number", l.number}, {"minutes", l.minutes}}));
    mark(p, t, middle, 8.5f, progress, l.number, narrow || one_line);
    if (h.clicked) {
      choose(i);
      ui.close_popup();
    }
  }
  if (course_.why)
    draw_course_row(ui, rest.take_top(pitch - gap, gap),
                    {Aside::Why, "lesson/why", "So why?", "what the course found",
                     "What the lessons have measured, put together: what held up, what was let go, what is "
                     "open.",
                     Icon::Help},
                    one_line);
  draw_course_row(ui, rest.take_top(pitch - gap),
                  {Aside::Review, "lesson/review", "Review", "all predictions, once more",
                   "All your predictions beside what was measured.", Icon::Bookmark},
                  one_line);
}

void Player::draw_list(Ui& ui, Rect rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const auto done = std::count_if(course_.lessons.begin(), course_.lessons.end(),
                                  [&](const Lesson& l) { return progress_.of(l.id).done; });
  if (size_ == Size::Medium) {
    panel(ui, rect, {});
    return draw_list_items(ui, rect.inset(6, 10));
  }
  Rect rest = panel(ui, rect, {tr("Course"), "", "", 0, false});
  p.text_in({rect.x, rect.y + 4, rect.w - 14, space::title_row - 4}, {Face::Sans, type::body}, t.ink3,
            tr("{done} of {all} done", {{"done", done}, {"all", course_.lessons.size()}}), Align::Right);
  // A third of the panel stays for what was predicted.
  const Rect list{rect.x + 8, rest.y + 2, rect.w - 16, std::min(kListRow * list_rows(), rest.h * 2 / 3)};
  draw_list_items(ui, list);
  Rect below{rest.x, list.bottom() + 8, rest.w, rect.bottom() - list.bottom() - 16};
  for (size_t i = 0; i < course_.broken.size(); ++i) {
    const TextStyle style{Face::Sans, type::tick};
    const std::string whole = words::spoken(course_.broken[i].error);
    const float high = p.text_wrapped(below, style, t.error, p.fit_words(style, whole, below.w), 16);
    HitOptions options;
    options.focusable = false;
    ui.hit(fmt::format("lesson/broken/{}", i), {below.x, below.y, below.w, high}, "", whole, options);
    below.take_top(high, 8);
  }
  p.hairline({below.x, below.y}, {below.right(), below.y}, t.border);
  below.take_top(14);
  p.text_in(below.take_top(20, 6), {Face::Bold, type::body}, t.ink, tr("Your predictions"));
  bool any = false;
  for (const Lesson& l : course_.lessons) {
    const LessonProgress& progress = progress_.of(l.id);
    if (progress.said.empty() || (progress.measured.empty() && !progress.skipped)) continue;
    // Two orders are too many words for this column: they stand on Compare and in the review.
    const bool order = l.prediction.kind == Prediction::Kind::Order && !progress.score.empty();
    const std::string words = progress.skipped ? progress.said
                              : order          ? progress.score
                                               : tr("You said {said}. Measured: {measured}.",
                                                    {{"said", progress.said}, {"measured", progress.measured}});
    const TextStyle style{Face::Sans, type::body};
    any = true;
    if (p.wrapped_height(below.w, style, words, 18) + 22 > below.h) continue;
    p.text_in(below.take_top(18), style, t.ink3, tr("Lesson {number}", {{"number", l.number}}));
    below.take_top(p.text_wrapped(below, style, t.ink2, words, 18), 10);
  }
  if (!any)
    p.text_wrapped(below, {Face::Sans, type::body}, t.ink3,
                   tr("They are kept here, beside what was measured."), 18);
}

// ---- text

float Player::draw_head(Ui& ui, Rect rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float top = rect.y;
  const bool task = aside_ == Aside::Challenge;
  p.text_in(rect.take_top(20, 4), {Face::Sans, type::body}, t.ink3,
            tr(task ? "Challenge of lesson {number}, about {minutes} minutes"
                    : "Lesson {number}, about {minutes} minutes",
               {{"number", lesson()->number},
                {"minutes", task ? lesson()->challenge->minutes : lesson()->minutes}}));
  const TextStyle big{Face::Bold, size_ == Size::Compact ? 22.f : type::lesson};
  rect.take_top(p.text_wrapped(rect, big, t.ink, lesson()->title, big.px * 1.3f), 10);
  if (step_ == StepKind::Predict) {
    rect.take_top(p.text_wrapped(rect, {Face::Sans, type::prose}, t.ink2, lesson()->question,
                                 size_ == Size::Compact ? 24.f : 26.f),
                  size_ == Size::Compact ? 8 : 12);
    p.hairline({rect.x, rect.y}, {rect.right(), rect.y}, t.border);
    rect.take_top(size_ == Size::Compact ? 12 : 18);
  } else if (size_ != Size::Compact) {
    rect.take_top(8);
  }
  return rect.y - top;
}

namespace {

constexpr float kBoxLine = 25, kBoxLineCompact = 22, kFade = 36;

/// Fades the page where it continues past its edge, so that no line is cut in half.
void fade_out(Painter& p, const Rect& edge, Colour to, bool downwards) {
  constexpr int kSteps = 12;  // one over the other
  const float step = edge.h / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const float gone = step * static_cast<float>(i);
    p.fill({edge.x, downwards ? edge.y + gone : edge.y, edge.w, edge.h - gone}, to.alpha(0.3f));
  }
}

}  // namespace

float Player::box_height(Ui& ui, float width, std::string_view text) const {
  const float line = size_ == Size::Compact ? kBoxLineCompact : kBoxLine;
  return ui.paint().wrapped_height(width, {Face::Sans, type::run_name}, text, line) + 24 + 28;
}

float Player::draw_box(Ui& ui, const Rect& rect, std::string_view title, std::string_view text, bool yellow) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float height = box_height(ui, rect.w, text);
  const Rect box{rect.x - 16, rect.y, rect.w + 32, height};
  p.fill(box, yellow ? t.accent_soft : t.sunk, radius::panel);
  Rect inside = box.inset(16, 12);
  p.text_in(inside.take_top(22, 6), {Face::Bold, type::run_name}, t.ink, title);
  p.text_wrapped(inside, {Face::Sans, type::run_name}, t.ink, text,
                 size_ == Size::Compact ? kBoxLineCompact : kBoxLine);
  return height;
}

void Player::draw_text(Ui& ui, const Rect& rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  panel(ui, rect, {});
  ui.mark("lesson/text", rect, lesson()->title, tr("The text of the step."));
  const bool compact = size_ == Size::Compact;
  const float width = std::min(520.f, rect.w - 48), side = (rect.w - width) / 2, top = compact ? 14.f : 30.f;
  // The task stays in sight: where the text is longer than its panel, it alone moves above the task.
  const bool task = step_ == StepKind::Predict;
  float end = 0;  // of what is read
  const float box = task ? box_height(ui, width, lesson()->prediction.ask) : 0;
  const bool pinned = task && top + text_height_ + 18 + box + 12 > rect.h;
  Rect seen = rect.inset(1);
  if (pinned) seen.h -= box + 22;
  const float room = seen.h - top, furthest = std::max(0.f, text_height_ + (pinned ? 8.f : 16.f) - room);
  scroll(ui, rect, room, furthest);

  std::optional<HandsWithin> hands;
  if (aside_ != Aside::None) hands.emplace(ui, seen);
  p.push_clip(seen);
  Rect rest{rect.x + side, rect.y + top - scroll_, width, 10000};
  const float from = rest.y;
  rest.take_top(draw_head(ui, rest));
  rest.take_top(draw_score(ui, rest));
  std::vector<Rect> formulas;
  draw_body(ui, rest, seen, formulas);
  text_height_ = rest.y - from;
  if (aside_ == Aside::None) draw_edges(ui, seen, formulas, furthest);
  p.pop_clip();
  hands.reset();
  end = rest.y;
  if (task) {
    const float y = pinned ? seen.bottom() + 8 : rest.y + 18;
    if (pinned) p.hairline({seen.x, seen.bottom()}, {seen.right(), seen.bottom()}, t.border);
    draw_box(ui, {rest.x, y, width, box}, tr("Your prediction"), lesson()->prediction.ask, true);
    ui.mark("lesson/task", {rest.x - 16, y, width + 32, box}, lesson()->prediction.ask, tr("What is asked."));
    end = y + box;
  }
  if (task || step_ == StepKind::Run) draw_opening(ui, {rest.x, end + 26, width, rect.bottom() - end - 42});
  if (furthest > 0) {
    const float bar = room * room / (room + furthest);
    p.fill({rect.right() - 8, rect.y + 12 + (room - 12 - bar) * scroll_ / furthest, 4, bar}, t.strong, 2);
  }
}

/// Fades what continues past an edge; where a formula would be cut, the page ends above its line. A button
/// scrolls on.
void Player::draw_edges(Ui& ui, const Rect& seen, const std::vector<Rect>& formulas, float furthest) {
  const Rect text = seen.inset(7, 0);  // within the round corners
  const bool above = scroll_ > 0, below = scroll_ < furthest;
  const float first = text.y + (above ? kFade : 0), last = text.bottom() - (below ? kFade : 0);
  float from = first, to = last;
  for (bool moved = true; moved;) {  // one line may reach into the next
    moved = false;
    for (const Rect& formula : formulas) {
      const bool at_top = above && formula.y < from && formula.bottom() > from;
      const bool at_end = below && formula.y < to && formula.bottom() > to;
      if (at_top) from = formula.bottom();
      if (at_end) to = formula.y;
      moved |= at_top || at_end;
    }
  }
  for (size_t i = 0; i < formulas.size(); ++i)
    ui.mark(fmt::format("lesson/formula/{}", i), formulas[i], "", tr("The text of the step."));
  readable_ = {text.x, from, text.w, to - from};
  ui.mark("lesson/readable", readable_, "", tr("The text of the step."));
  const Colour panel = ui.theme().panel;
  if (from > first)
    ui.paint().fill({text.x, text.y, text.w, from - text.y}, panel);
  else if (above)
    fade_out(ui.paint(), {text.x, text.y, text.w, kFade}, panel, false);
  if (to < last)
    ui.paint().fill({text.x, to, text.w, text.bottom() - to}, panel);
  else if (below)
    fade_out(ui.paint(), {text.x, last, text.w, kFade}, panel, true);
  ButtonOptions quiet;
  quiet.quiet = true;
  if (below &&
      icon_button(ui, "lesson/more", {seen.right() - 33, seen.bottom() - 28, 24, 24}, Icon::ChevronDown,
                  tr("The text goes on: scroll, press PageDown or click."), quiet))
    scroll_ += (to - seen.y) * 0.8f;
}

/// Draws the text of the step, or the page beside it.
void Player::draw_body(Ui& ui, Rect& rest, const Rect& seen, std::vector<Rect>& formulas) {
  if (aside_ == Aside::Say) return void(rest.take_top(draw_says(ui, rest, seen)));
  if (aside_ == Aside::Challenge) return void(rest.take_top(draw_challenge(ui, rest, seen)));
  Dragged dragged;
  FlowContext context = flow_context(ui);
  context.seen = readable_.h > 0 ? readable_ : seen;
  context.formulas = &formulas;
  std::set<const view::Term*> used;  // a term is underlined once on the page, how far it reaches included
  context.used = &used;
  const bool explain = step_ == StepKind::Explain;
  rest.take_top(flow(ui, rest, explain ? explained_ : lesson()->step(step_).text, context, true, &dragged));
  draw_sentence_end(ui, rest, context);
  if (dragged.knob.empty()) return;
  const Knob& knob = *lesson()->knob(dragged.knob);
  knobs_[knob.id] = std::clamp(knob_value(knob) + dragged.steps * knob.step, knob.low, knob.high);
}

/// Draws the lesson's runs in the room that the text leaves free.
void Player::draw_opening(Ui& ui, const Rect& room) {
  const auto state = measurer_->state();
  opening_->draw(ui, room, *lesson(), shown_changes(), locked() && own_state(*state) ? state.get() : nullptr);
}

/// Draws what follows the prose: at the end the claim and how far it reaches, and what is wrong with
/// the reference numbers.
void Player::draw_sentence_end(Ui& ui, Rect& rest, const FlowContext& context) {
  if (step_ == StepKind::Explain) {
    draw_keep_words(ui, rest);
    rest.take_top(18);
    rest.take_top(draw_box(ui, rest, tr("Claim"), lesson()->claim, false), 10);
    draw_reach(ui, rest, context);
  }
  if (!reference_error_.empty())
    rest.take_top(ui.paint().text_wrapped(rest, {Face::Sans, type::body}, ui.theme().error,
                                          words::spoken(reference_error_), 18));
}

}  // namespace normscope::lessons

#include "app/lesson-player/text_column.h"

#include <imgui.h>

#include <algorithm>

#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kFade = 36, kBoxPad = 16;

/// Fades the page where it continues past its edge, so that no line is cut in half.
void fade_out(Painter& p, const Rect& edge, Colour to, bool downwards) {
  constexpr int kSteps = 12;  // one over the other
  const float step = edge.h / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const float gone = step * static_cast<float>(i);
    p.fill({edge.x, downwards ? edge.y + gone : edge.y, edge.w, edge.h - gone}, to.alpha(0.3f));
  }
}

/// Shows what share of the page is seen, and where.
void draw_bar(Ui& ui, float right, float y, float room, float high, float at, float furthest) {
  if (furthest <= 0) return;
  const float bar = high * high / (high + furthest);
  ui.paint().fill({right - 8, y + (room - bar) * at / furthest, 4, bar}, ui.theme().strong, 2);
}

}  // namespace

// Takes the mouse from what is scrolled out of sight; the keyboard reaches it, and it comes into sight.
// ImGui's own rectangle is set back to the one below on the stack of clips: it goes around a painter's, never inside.
HandsWithin::HandsWithin(const Ui& ui, const Rect& seen) {
  const float s = ui.scale();
  ImGui::PushClipRect({seen.x * s, seen.y * s}, {seen.right() * s, seen.bottom() * s}, true);
}
HandsWithin::~HandsWithin() { ImGui::PopClipRect(); }

TextColumn::TextColumn(Ui& ui, Rect& room, LessonContext& context, Of of, std::string task)
    : flow(context.flow()), ui_(ui), context_(context), of_(of), task_(std::move(task)) {
  // Of the smallest window, 1024 wide, a phone shows 520: on one side the text, on the other what is in the figure.
  const float narrow = std::max(440.f, 476 - (ui.size().x - 1024));
  const bool compact = context.compact();
  rect_ = room.take_left(compact ? narrow : 600.f, compact ? 6 : space::gap);
  panel(ui, rect_, {});
  ui.mark("lesson/text", rect_, context.lesson.title, context.tr("The text of the step."));
  const float width = std::min(520.f, rect_.w - 48), top = compact ? 14.f : 30.f;
  rest = {rect_.x + (rect_.w - width) / 2, rect_.y + top, width, 10000};
  const float box = task_.empty() ? 0 : box_height(task_), height = context.scroll.text_height;
  pinned_ = !task_.empty() && top + height + 18 + box + 12 > rect_.h;
  seen = rect_.inset(1);
  if (pinned_) seen.h -= box + 22;
  room_ = seen.h - top;
  furthest_ = std::max(0.f, height + (pinned_ ? 8.f : 16.f) - room_);
  context.scroll.move(ui, rect_, room_, furthest_);
  if (of == Of::Controls) hands_.emplace(ui, seen);
  ui.paint().push_clip(seen);
  rest.y = from_ = rest.y - context.scroll.at;
  flow.seen = of == Of::Prose && context.scroll.readable.h > 0 ? context.scroll.readable : seen;
  flow.used = &used_;
  if (of == Of::Prose) flow.formulas = &formulas_;
}

void TextColumn::head(Head kind) {
  Painter& p = ui_.paint();
  const Theme& t = ui_.theme();
  const Lesson& lesson = context_.lesson;
  const bool compact = context_.compact(), task = kind == Head::Challenge;
  p.text_in(rest.take_top(20, 4), {Face::Sans, type::body}, t.ink3,
            context_.tr(
                task ? "Challenge of lesson {number}, about {minutes} minutes"
                     : "Lesson {number}, about {minutes} minutes",
                {{"number", lesson.number}, {"minutes", task ? lesson.challenge->minutes : lesson.minutes}}));
  const TextStyle big{Face::Bold, compact ? 22.f : type::lesson};
  rest.take_top(p.text_wrapped(rest, big, t.ink, lesson.title, big.px * 1.3f), 10);
  if (kind == Head::Question) {
    rest.take_top(
        p.text_wrapped(rest, {Face::Sans, type::prose}, t.ink2, lesson.question, compact ? 24.f : 26.f),
        compact ? 8 : 12);
    p.hairline({rest.x, rest.y}, {rest.right(), rest.y}, t.border);
    rest.take_top(compact ? 12 : 18);
  } else if (!compact) {
    rest.take_top(8);
  }
}

void TextColumn::prose(const Prose& text) {
  KnobDrag dragged;
  rest.take_top(lessons::flow(ui_, rest, text, flow, true, &dragged));
  if (dragged.knob.empty()) return;
  const Knob& knob = *context_.lesson.knob(dragged.knob);
  context_.knobs[knob.id] =
      std::clamp(context_.knob_value(knob) + dragged.steps * knob.step, knob.low, knob.high);
}

float TextColumn::box_height(std::string_view text) const {
  return ui_.paint().wrapped_height(rest.w, {Face::Sans, type::run_name}, text,
                                    context_.compact() ? 22.f : 25.f) +
         52;
}

void TextColumn::draw_box(const Rect& box, std::string_view title, std::string_view text, Colour fill) {
  Painter& p = ui_.paint();
  p.fill(box, fill, radius::panel);
  Rect inside = box.inset(kBoxPad, 12);
  p.text_in(inside.take_top(22, 6), {Face::Bold, type::run_name}, ui_.theme().ink, title);
  p.text_wrapped(inside, {Face::Sans, type::run_name}, ui_.theme().ink, text,
                 context_.compact() ? 22.f : 25.f);
}

void TextColumn::box(std::string_view title, std::string_view text) {
  draw_box(rest.take_top(box_height(text), 10).inset(-kBoxPad, 0), title, text, ui_.theme().sunk);
}

void TextColumn::close(bool opening) {
  Painter& p = ui_.paint();
  const Theme& t = ui_.theme();
  if (of_ == Of::Prose && !context_.reference_error.empty())
    rest.take_top(
        p.text_wrapped(rest, {Face::Sans, type::body}, t.error, words::spoken(context_.reference_error), 18));
  context_.scroll.text_height = rest.y - from_;
  if (of_ == Of::Prose) draw_edges();
  p.pop_clip();
  hands_.reset();
  float end = rest.y;
  if (!task_.empty()) {
    const float y = pinned_ ? seen.bottom() + 8 : rest.y + 18;
    if (pinned_) p.hairline({seen.x, seen.bottom()}, {seen.right(), seen.bottom()}, t.border);
    const Rect box{rest.x - kBoxPad, y, rest.w + 2 * kBoxPad, box_height(task_)};
    draw_box(box, context_.tr("Your prediction"), task_, t.accent_soft);
    ui_.mark("lesson/task", box, task_, context_.tr("What is asked."));
    end = box.bottom();
  }
  if (opening) {
    const auto state = context_.state();
    context_.opening.draw(ui_, {rest.x, end + 26, rest.w, rect_.bottom() - end - 42}, context_.lesson,
                          context_.shown_changes(),
                          context_.locked() && context_.is_own(*state) ? state.get() : nullptr);
  }
  draw_bar(ui_, rect_.right(), rect_.y + 12, room_ - 12, room_, context_.scroll.at, furthest_);
}

/// Fades what continues past an edge; where a formula would be cut, the page ends above its line. A button scrolls on.
void TextColumn::draw_edges() {
  const Rect text = seen.inset(7, 0);  // within the round corners
  Scroll& scroll = context_.scroll;
  const bool above = scroll.at > 0, below = scroll.at < furthest_;
  const float first = text.y + (above ? kFade : 0), last = text.bottom() - (below ? kFade : 0);
  float from = first, to = last;
  for (bool moved = true; moved;) {  // one line may reach into the next
    moved = false;
    for (const Rect& formula : formulas_) {
      const bool at_top = above && formula.y < from && formula.bottom() > from;
      const bool at_end = below && formula.y < to && formula.bottom() > to;
      if (at_top) from = formula.bottom();
      if (at_end) to = formula.y;
      moved |= at_top || at_end;
    }
  }
  const std::string& help = context_.tr("The text of the step.");
  for (size_t i = 0; i < formulas_.size(); ++i)
    ui_.mark(fmt::format("lesson/formula/{}", i), formulas_[i], "", help);
  scroll.readable = {text.x, from, text.w, to - from};
  ui_.mark("lesson/readable", scroll.readable, "", help);
  const Colour panel = ui_.theme().panel;
  if (from > first)
    ui_.paint().fill({text.x, text.y, text.w, from - text.y}, panel);
  else if (above)
    fade_out(ui_.paint(), {text.x, text.y, text.w, kFade}, panel, false);
  if (to < last)
    ui_.paint().fill({text.x, to, text.w, text.bottom() - to}, panel);
  else if (below)
    fade_out(ui_.paint(), {text.x, last, text.w, kFade}, panel, true);
  if (below &&
      icon_button(ui_, "lesson/more", {seen.right() - 33, seen.bottom() - 28, 24, 24}, Icon::ChevronDown,
                  context_.tr("The text goes on: scroll, press PageDown or click."), {.quiet = true}))
    scroll.at += (to - seen.y) * 0.8f;
}

void draw_scrolled(Ui& ui, const Rect& rect, const Rect& room, LessonContext& context,
                   const std::function<float(float y)>& content) {
  Painter& p = ui.paint();
  Scroll& scroll = context.scroll;
  Rect seen = room;
  if (scroll.text_height > room.h) {  // a way on below, for whom no wheel is at hand
    const Rect foot = seen.take_bottom(26, 4);
    ButtonOptions more{.enabled = scroll.at + seen.h + 1 < scroll.text_height,
                       .quiet = true,
                       .icon = Icon::ChevronDown,
                       .style = {Face::Sans, type::body}};
    if (button(ui, "lesson/more", centred(foot.centre(), 150, 26), context.tr("More below"),
               context.tr("Moves on, as wheel, PageDown and PageUp do."), more))
      scroll.at += seen.h * 0.8f;
  }
  const float furthest = std::max(0.f, scroll.text_height - seen.h);
  scroll.move(ui, rect, seen.h, furthest);
  {
    const HandsWithin hands(ui, seen);
    p.push_clip(seen);
    scroll.text_height = content(seen.y - scroll.at);
    p.pop_clip();
  }
  draw_bar(ui, rect.right(), seen.y, seen.h, seen.h, scroll.at, furthest);
}

}  // namespace normscope::lessons

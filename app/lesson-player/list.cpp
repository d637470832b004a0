// The list of lessons has minutes and progress, and at the end the pages of the course.
#include <fmt/format.h>

#include <algorithm>

#include "app/lesson-player/player.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kListRow = 56;      // where there is room
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

/// Draws what all rows of the list share, and returns the middle of the row's sign. Without `what` the row
/// is a single line; a narrow one has no words.
Vec draw_row(Ui& ui, const Rect& row, bool current, bool hovered, const std::string& title,
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

}  // namespace

float list_height(const LessonContext& context) {
  return kListRow * static_cast<float>(context.course.lessons.size() + (context.course.why ? 2 : 1));
}

void draw_list_items(Ui& ui, Rect rest, LessonContext& context) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const bool narrow = rest.w < kNarrowList;
  const float pitch = std::min(narrow ? 48.f : kListRow, rest.h * kListRow / list_height(context));
  const float gap = pitch < 44 ? 1.f : 4.f;
  const bool one_line = pitch < 46;
  for (size_t i = 0; i < context.course.lessons.size(); ++i) {
    const Lesson& l = context.course.lessons[i];
    const LessonProgress& progress = context.progress.of(l.id);
    const Rect row = rest.take_top(pitch - gap, gap);
    const Hit h = ui.hit("lesson/list/" + l.id, row,
                         progress.done       ? "done"
                         : progress.step > 0 ? "begun"
                                             : "new",
                         l.title + ": " + l.question);
    const Vec middle = draw_row(ui, row, i == context.index && !of_course(context.page), h.hovered, l.title,
                                one_line ? ""
                                         : context.tr("Lesson {number}, {minutes} min",
                                                      {{"number", l.number}, {"minutes", l.minutes}}));
    mark(p, t, middle, 8.5f, progress, l.number, narrow || one_line);
    if (h.clicked) {
      context.turn.lesson = i;
      ui.close_popup();
    }
  }
  const auto course_row = [&](const Rect& row, PageKind page, const char* control, const std::string& title,
                              const std::string& what, const std::string& help, Icon icon) {
    const bool current = context.page == page;
    const Hit h = ui.hit(control, row, current ? "open" : "", help);
    draw_icon(p, icon, draw_row(ui, row, current, h.hovered, title, one_line ? "" : what), 16, t.ink2);
    if (!h.clicked) return;
    context.turn.page = page;
    ui.close_popup();
  };
  if (context.course.why)
    course_row(
        rest.take_top(pitch - gap, gap), PageKind::Why, "lesson/why", context.tr("So why?"),
        context.tr("what the course found"),
        context.tr(
            "What the lessons have measured, put together: what held up, what was let go, what is open."),
        Icon::Help);
  course_row(rest.take_top(pitch - gap), PageKind::Review, "lesson/review", context.tr("Review"),
             context.tr("all predictions, once more"),
             context.tr("All your predictions beside what was measured."), Icon::Bookmark);
}

void draw_list(Ui& ui, const Rect& rect, LessonContext& context) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const auto done = std::ranges::count_if(context.course.lessons,
                                          [&](const Lesson& l) { return context.progress.of(l.id).done; });
  if (context.size == Size::Medium) {
    panel(ui, rect, {});
    return draw_list_items(ui, rect.inset(6, 10), context);
  }
  Rect rest = panel(ui, rect, {context.tr("Course"), "", "", 0, false});
  p.text_in({rect.x, rect.y + 4, rect.w - 14, space::title_row - 4}, {Face::Sans, type::body}, t.ink3,
            context.tr("{done} of {all} done", {{"done", done}, {"all", context.course.lessons.size()}}),
            Align::Right);
  // A third of the panel stays for what was predicted.
  const Rect list{rect.x + 8, rest.y + 2, rect.w - 16, std::min(list_height(context), rest.h * 2 / 3)};
  draw_list_items(ui, list, context);
  Rect below{rest.x, list.bottom() + 8, rest.w, rect.bottom() - list.bottom() - 16};
  for (size_t i = 0; i < context.course.broken.size(); ++i) {
    const TextStyle style{Face::Sans, type::tick};
    const std::string whole = words::spoken(context.course.broken[i].error);
    const float high = p.text_wrapped(below, style, t.error, p.fit_words(style, whole, below.w), 16);
    HitOptions options;
    options.focusable = false;
    ui.hit(fmt::format("lesson/broken/{}", i), {below.x, below.y, below.w, high}, "", whole, options);
    below.take_top(high, 8);
  }
  p.hairline({below.x, below.y}, {below.right(), below.y}, t.border);
  below.take_top(14);
  p.text_in(below.take_top(20, 6), {Face::Bold, type::body}, t.ink, context.tr("Your predictions"));
  bool any = false;
  for (const Lesson& l : context.course.lessons) {
    const LessonProgress& progress = context.progress.of(l.id);
    if (progress.said.empty() || (progress.measured.empty() && !progress.skipped)) continue;
    // Two orders are too many words for this column: they stand on Compare and in the review.
    const bool order = l.prediction.kind == Prediction::Kind::Order && !progress.score.empty();
    const std::string words = progress.skipped ? progress.said
                              : order
                                  ? progress.score
                                  : context.tr("You said {said}. Measured: {measured}.",
                                               {{"said", progress.said}, {"measured", progress.measured}});
    const TextStyle style{Face::Sans, type::body};
    any = true;
    if (p.wrapped_height(below.w, style, words, 18) + 22 > below.h) continue;
    p.text_in(below.take_top(18), style, t.ink3, context.tr("Lesson {number}", {{"number", l.number}}));
    below.take_top(p.text_wrapped(below, style, t.ink2, words, 18), 10);
  }
  if (!any)
    p.text_wrapped(below, {Face::Sans, type::body}, t.ink3,
                   context.tr("They are kept here, beside what was measured."), 18);
}

}  // namespace normscope::lessons

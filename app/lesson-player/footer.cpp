// The footer has the steps, the button that leads on, and the way to the Lab.
#include <algorithm>

#include "app/lesson-player/player.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::lessons {

using namespace ui;

namespace {

struct Place {
  const char *name, *label;
};
constexpr Place kPlaces[] = {{"predict", "Predict"},     {"run", "Run"},         {"compare", "Compare"},
                             {"challenge", "Challenge"}, {"explain", "Explain"}, {"say", "Say"}};

/// Draws one place with its left edge there; returns the right edge.
float draw_place(Ui& ui, Vec at, LessonContext& context, PageKind page, int index, int now, bool words) {
  const Place& place = kPlaces[static_cast<size_t>(page)];
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float r = context.compact() ? 12.f : 14.5f;
  const bool open = static_cast<int>(step_of(page)) <= context.kept().step;
  const bool current = index == now, passed = index < now;
  const TextStyle style{current ? Face::Bold : Face::Sans, type::run_name};
  const Rect box{at.x, at.y - r, 2 * r + (words ? 10 + p.text_width(style, context.tr(place.label)) : 0),
                 2 * r};
  HitOptions options;
  options.enabled = open && !current;
  if (ui.hit(std::string("lesson/step/") + place.name, box,
             current  ? "here"
             : passed ? "done"
             : open   ? "open"
                      : "later",
             open ? context.tr(place.label) + "."
                  : context.tr("{step}: comes after the steps before it.",
                               {{"step", context.tr(place.label)}}),
             options)
          .clicked)
    context.turn.page = page;
  const Vec c{at.x + r, at.y};
  if (current)
    p.accent_disc(t, c, r);
  else if (passed)
    p.circle(c, r, t.inverse);
  else
    p.ring(c, r - 0.7f, t.strong, 1.4f);
  if (passed) {
    const Vec points[] = {{c.x - 5, c.y}, {c.x - 1, c.y + 4}, {c.x + 5, c.y - 4}};
    p.polyline(points, t.on_inverse, 2);
  } else {
    p.text_in(centred(c, 2 * r, 2 * r), {Face::Bold, type::title}, current ? t.on_accent : t.ink3,
              std::to_string(index + 1), Align::Centre);
  }
  if (words)
    p.text_in({at.x + 2 * r + 10, at.y - r, box.right() - at.x - 2 * r - 8, 2 * r}, style,
              current || passed ? t.ink : t.ink3, context.tr(place.label));
  return box.right();
}

/// The four steps, and what the lesson has beside them. It returns their right end.
float draw_stepper(Ui& ui, const Rect& rect, LessonContext& context) {
  constexpr size_t kFar = 5;  // so many stand further apart
  std::vector<PageKind> all{PageKind::Predict, PageKind::Run, PageKind::Compare};
  if (context.lesson.challenge) all.push_back(PageKind::Challenge);
  all.push_back(PageKind::Explain);
  if (!context.lesson.says.empty()) all.push_back(PageKind::Say);
  float wanted = 0;
  for (const PageKind page : all)
    wanted += 44 + ui.paint().text_width({Face::Bold, type::run_name},
                                         context.tr(kPlaces[static_cast<size_t>(page)].label));
  const int now = static_cast<int>(std::ranges::find(all, context.page) - all.begin());
  float x = rect.x;
  for (size_t i = 0; i < all.size(); ++i) {
    const int index = static_cast<int>(i);
    const bool words = !context.compact() || wanted <= rect.w || index == now;
    x = draw_place(ui, {x, rect.centre().y}, context, all[i], index, now, words) + 10;
    if (i + 1 == all.size() || context.compact()) continue;
    const float gap = all.size() > kFar ? 12 : 30;
    ui.paint().hairline({x, rect.centre().y}, {x + gap, rect.centre().y}, ui.theme().strong);
    x += gap + 10;
  }
  return x;
}

/// What to do now, left of the stepper.
std::string hint(const LessonContext& context, const Page& page) {
  if (const std::string notice = words::spoken(context.progress.notice()); !notice.empty()) return notice;
  if (const std::string missing = page.missing(context); !missing.empty()) return missing;
  const auto state = context.state();
  switch (context.page) {
    case PageKind::Predict:
      return context.tr("Arrow keys work too");
    case PageKind::Run:
    case PageKind::Compare:
    case PageKind::Explain:
      return state->running           ? state->doing
             : context.kept().skipped ? context.tr("Without a prediction")
                                      : context.tr("Prediction saved for next time");
    default:
      return "";
  }
}

/// Opens the list of lessons, which has no room elsewhere.
void draw_course_button(Ui& ui, const Rect& left, LessonContext& context) {
  if (button(ui, "lesson/course", {left.x, left.centre().y - 15, 104, 30},
             context.tr("Lesson {number}", {{"number", context.lesson.number}}),
             context.tr("All lessons, with minutes and progress.")))
    ui.open_popup("lesson/course");
  // All of them, in lower rows where there is no room.
  const float h = std::min(list_height(context) + 16, left.y - 12);
  const Rect list{left.x, left.y - h - 6, 280, h};
  if (!ui.begin_popup("lesson/course", list)) return;
  draw_list_items(ui, list.inset(8), context);
  ui.end_popup();
}

/// Says left of the buttons, where there is room, why the one that leads on is grey; its help says so
/// too.
void draw_why_grey(Ui& ui, const Rect& room, const std::string& why) {
  for (const float px : {type::body, type::tick})
    if (const TextStyle style{Face::Sans, px}; ui.paint().text_width(style, why) <= room.w) {
      ui.paint().text_in(room, style, ui.theme().ink3, why, Align::Right);
      return;
    }
}

}  // namespace

void draw_footer(Ui& ui, const Rect& rect, LessonContext& context, Page& page) {
  Painter& p = ui.paint();
  p.fill(rect, ui.theme().panel);
  p.hairline({rect.x, rect.y}, {rect.right(), rect.y}, ui.theme().border);
  const bool compact = context.compact(), full = context.size == Size::Full, course = of_course(context.page);
  const Rect left{rect.x + (compact ? 10.f : 24.f), rect.y, compact ? 110.f : 240.f, rect.h};
  if (compact)
    draw_course_button(ui, left, context);
  else if (full)
    p.text_in(left, {Face::Sans, type::body}, ui.theme().ink3, hint(context, page));
  // In a small window the words of the steps need what the buttons leave.
  const float steps_at = compact ? left.right() + 6 : full ? rect.x + 285 : rect.x + 24;
  const float steps_end =
      course ? steps_at
             : draw_stepper(ui, {steps_at, rect.y, rect.right() - steps_at - 388, rect.h}, context);

  const float h = compact ? 32.f : space::lesson_button_h, y = rect.centre().y - h / 2;
  Rect right{rect.x, y, rect.w - (compact ? 10.f : 14.f), h};
  const bool locked = context.locked();
  const WayOn way = page.way_on(context);
  const std::string why_grey = page.missing(context), skip = page.skip_help(context);
  ButtonOptions primary, quiet;
  quiet.quiet = true;
  primary.primary = !page.work_left(context);
  primary.enabled = way.open;
  if (button(ui, "lesson/next", right.take_right(compact ? 130.f : 178.f, 8), way.text, way.help, primary))
    page.go_on(context);
  if (course) return;
  if (!context.lesson.runs.empty() &&
      button(ui, "lesson/lab", right.take_right(compact ? 120.f : 178.f, 8),
             compact ? context.tr("To the Lab") : context.tr("Take this to the Lab"),
             locked ? context.tr("Opens these runs in the Lab.")
                    : context.tr("Opens these runs in the Lab, paused at step 0.")))
    context.desk.replacing = context.runs();
  if (context.page == PageKind::Predict && locked &&
      button(ui, "lesson/redo", right.take_right(compact ? 104.f : 120.f, 8), context.tr("Predict again"),
             context.tr("A second prediction; the first is kept beside it."), quiet))
    context.turn.again = true;
  if (!skip.empty() &&
      button(ui, "lesson/skip", right.take_right(compact ? 60.f : 72.f, 8), context.tr("Skip"), skip, quiet))
    page.skip(context);
  if (context.page == PageKind::Run && context.state()->running &&
      button(ui, "lesson/stop", right.take_right(72, 8), context.tr("Stop"),
             context.tr("Stops the measurement."), quiet))
    context.measurer.stop();
  // On a large screen it stands at the left.
  if (!full) draw_why_grey(ui, {steps_end, y, right.right() - steps_end - 4, h}, why_grey);
}

}  // namespace normscope::lessons

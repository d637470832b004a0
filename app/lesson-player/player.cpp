#include "app/lesson-player/player.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/lesson-player/figures.h"
#include "app/lesson-player/progress.h"
#include "app/lesson-player/worker.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/core/error.h"

namespace normscope::lesson_player {

using namespace ui;
using namespace course;

Player::Player(Course course, std::unique_ptr<Measurer> measurer, std::string progress_path,
               std::unique_ptr<Measurer> case_measurer)
    : measurer_(std::move(measurer)),
      case_measurer_(case_measurer ? std::move(case_measurer)
                                   : std::make_unique<Worker>(std::function<void()>{}, 1)),
      progress_(progress_path),
      folder_(SavedCurves::folder_beside(progress_path)) {
  courses_.push_back(std::make_unique<Course>(std::move(course)));
  say_progress_anew();
  const std::vector<Lesson>& lessons = this->course().lessons;
  // The course goes on where it was left: at the first lesson that is not done. Lesson 0 is for who has done none.
  const auto done = [&](const Lesson& lesson) { return progress_.of(lesson.id).done; };
  const bool begun = std::ranges::any_of(lessons, done);
  size_t first = 0;
  while (first + 1 < lessons.size() && (done(lessons[first]) || (begun && lessons[first].number == 0)))
    ++first;
  if (!lessons.empty()) choose(first);
}

Player::~Player() { stop_measuring(); }

void Player::say_progress_anew() {
  for (const Lesson& lesson : course().lessons)
    if (progress_.find(lesson.id)) say_anew(lesson, progress_.of(lesson.id));
}

void Player::say_in(std::string_view language, const std::function<Course()>& read) {
  const auto known =
      std::ranges::find_if(courses_, [&](const auto& one) { return one->words->name() == language; });
  if (known == courses_.end())
    courses_.push_back(std::make_unique<Course>(read()));
  else
    std::rotate(known, known + 1, courses_.end());
  say_progress_anew();
  if (!context_) return;
  const Lesson* const same = course().find(context_->lesson.id);
  if (!same) return choose(0);
  const PageKind page = context_->page, left = context_->left;
  const bool again = context_->again;
  const view::Answer answer = context_->locked() ? view::Answer{} : this->answer();
  auto knobs = std::move(context_->knobs);
  auto chosen = std::move(context_->chosen);
  auto predicted_for = std::move(context_->predicted_for);
  choose(static_cast<size_t>(same - course().lessons.data()));
  LessonContext& context = *context_;
  context.knobs = std::move(knobs);
  context.chosen = std::move(chosen);
  context.predicted_for = std::move(predicted_for);
  predict_->offer(answer, context);
  if (again) predict_->begin_again(context);
  if (!of_course(page) && page != PageKind::Predict) return go(page);
  context.page = page;
  context.left = left;
}

void Player::choose(size_t index) {
  const auto state = measurer_->state();
  if (context_ && state->running && state->lesson == context_->lesson.id) interrupted_.insert(state->lesson);
  stop_measuring();
  context_ =
      std::make_unique<LessonContext>(course(), index, *measurer_, *case_measurer_, progress_, folder_);
  context_->interrupted = &interrupted_;
  auto predict = make_predict_page(*context_);
  predict_ = predict.get();
  pages_.clear();
  pages_.push_back(std::move(predict));
  add_lesson_pages(pages_, *context_);
  add_course_pages(pages_);
  context_->page = context_->locked() ? PageKind::Run : PageKind::Predict;
  if (interrupted_.erase(context_->lesson.id) > 0 && context_->locked()) context_->measure();
}

/// To a page of this lesson.
void Player::go(PageKind page) {
  LessonContext& context = *context_;
  context.page = page;
  context.scroll.restart();
  context.fresh = page == PageKind::Predict;
  LessonProgress& kept = context.kept();
  kept.step = std::max(kept.step, static_cast<int>(context.step()));
  progress_.save();
  if (std::exchange(context.again, false)) predict_->take_up(context);  // left without a second one
  if (context.step() < StepKind::Compare) return;
  // In a lesson that is opened again nothing is measured yet, and the text of these steps speaks of it.
  const auto state = measurer_->state();
  if (!context.is_own(*state) || !(state->running || state->done)) context.measure();
  context.figures->tapes.run_all(context.lesson);
}

void Player::carry_out(const Turn& turn) {
  if (turn.lesson) choose(*turn.lesson);
  LessonContext& context = *context_;
  if (turn.again) {
    context.page = PageKind::Predict;
    if (context.locked()) predict_->begin_again(context);
  }
  if (!turn.page) return;
  if (!of_course(*turn.page) && !of_course(context.page)) return go(*turn.page);
  if (!of_course(context.page)) context.left = page_of(context.step());
  context.page = *turn.page;
  context.scroll.restart();
}

void Player::open(std::string_view id, StepKind step, const view::Answer& answer) {
  const Lesson* const lesson = course().find(id);
  if (!lesson) throw Error("lesson '{}' is not in this course", id);
  choose(static_cast<size_t>(lesson - course().lessons.data()));
  predict_->offer(answer, *context_);
  if (step == StepKind::Predict) return;
  const LessonProgress& kept = context_->kept();
  if (!kept.committed && !kept.skipped) predict_->commit(*context_, !predict_->complete(*context_));
  context_->turn = {};
  go(page_of(step));
}

view::Answer Player::answer() const { return context_ ? predict_->answer(*context_) : view::Answer{}; }

void Player::lead_to(StepKind step, std::string_view figure) {
  if (!context_->locked()) predict_->next = std::max(PageKind::Run, page_of(step));
  context_->figures->show(context_->lesson, step, figure);
}

const std::string& Player::figure_id() const { return context_->figures->shown(*context_).id; }

ScreenRequests Player::draw(Ui& ui, const Rect& area, const LabView& view) {
  const Size size = layout_for(ui.size());
  const bool compact = size == Size::Compact;
  const float margin = compact ? 8 : space::margin, gap = compact ? 6 : space::gap;
  Rect rest = area;
  const Rect footer = rest.take_bottom(compact ? 56.f : 76.f);
  rest = {rest.x + margin, rest.y + gap, rest.w - 2 * margin, rest.h - 2 * gap};
  if (!context_) {
    const Rect content = panel(ui, rest, {course().words->tr("Lessons"), "", "", 0, false});
    const std::string why = course().broken.empty()
                                ? course().words->tr("There are no lessons beside the program.")
                                : words::spoken(course().broken[0].error);
    ui.paint().text_wrapped(content, {Face::Sans, type::title}, ui.theme().ink2, why, 20);
    ui.mark("lesson/none", rest, why, course().words->tr("Why there is no course."));
    return {};
  }
  context_->size = size;
  if (context_->just_measured()) {
    for (const auto& page : pages_) page->measured(*context_);
    context_->experiment->measured(*context_);
  }
  ui.begin_region("lessons");
  if (!compact) draw_list(ui, rest.take_left(size == Size::Full ? 264.f : 56.f, gap), *context_);
  carry_out(std::exchange(context_->turn, {}));
  LessonContext& context = *context_;
  context.size = size;
  ui.begin_region("page");
  shown().draw(ui, rest, context);
  ui.begin_region("steps");
  draw_footer(ui, footer, context, shown());
  // The control that is meant, until the user has found it.
  const Control* const meant = ui.registry().find(context.lesson.spotlight);
  if (context.page == PageKind::Predict && meant && !context.locked() && predict_->wants_spotlight())
    spotlight(ui.paint(), ui.theme(), meant->rect);
  ScreenRequests requests = std::exchange(context.requests, {});
  carry_out(std::exchange(context.turn, {}));
  context_->fresh = false;
  // Two trainings at once would only slow each other down.
  if (measuring() && view.playing) requests.commands.emplace_back(session::Pause{});
  return requests;
}

// ---- the footer has the steps, and the buttons lesson/next and lesson/lab.

namespace {

struct Place {
  const char *name, *label;
};
constexpr Place kPlaces[] = {{"predict", "Predict"},     {"run", "Run"},         {"compare", "Compare"},
                             {"challenge", "Challenge"}, {"explain", "Explain"}, {"case", "Case"}};

/// Draws one step with its left edge at `at`; returns the right edge.
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
  if (ui.hit(std::string("lesson/step/") + place.name, box,
             current  ? "here"
             : passed ? "done"
             : open   ? "open"
                      : "later",
             open ? context.tr(place.label) + "."
                  : context.tr("{step}: comes after the steps before it.",
                               {{"step", context.tr(place.label)}}),
             {.enabled = open && !current})
          .clicked)
    context.turn.page = page;
  const Vec c{at.x + r, at.y};
  if (current)
    p.accent_disc(t, c, r);
  else if (passed)
    p.circle(c, r, t.inverse);
  else
    p.ring(c, r - 0.7f, t.control, 1.4f);
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

/// The four steps, and Challenge and Case if the lesson has them. Returns their right end.
float draw_stepper(Ui& ui, const Rect& rect, LessonContext& context) {
  constexpr size_t kFar = 5;  // up to this many have the wide gap
  std::vector<PageKind> all{PageKind::Predict, PageKind::Run, PageKind::Compare};
  if (context.lesson.challenge) all.push_back(PageKind::Challenge);
  all.push_back(PageKind::Explain);
  if (context.lesson.closing) all.push_back(PageKind::Case);
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

/// Writes left of the buttons, where there is room, why lesson/next is grey; its help says so too.
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
    context.requests.replacing = context.runs();
  if (context.page == PageKind::Predict && locked &&
      button(ui, "lesson/redo", right.take_right(compact ? 104.f : 120.f, 8), context.tr("Predict again"),
             context.tr("A second prediction; the first is kept beside it."), quiet))
    context.turn.again = true;
  const std::string& skip_it = context.tr("Skip");
  const float skip_width =
      std::max(compact ? 60.f : 72.f, ui.paint().text_width({Face::Bold, type::title}, skip_it) + 20);
  if (!skip.empty() && button(ui, "lesson/skip", right.take_right(skip_width, 8), skip_it, skip, quiet))
    page.skip(context);
  if (context.page == PageKind::Run && context.state()->running &&
      button(ui, "lesson/stop", right.take_right(72, 8), context.tr("Stop"),
             context.tr("Stops the measurement."), quiet))
    context.measurer.stop();
  // On a large screen it stands at the left.
  if (!full) draw_why_grey(ui, {steps_end, y, right.right() - steps_end - 4, h}, why_grey);
}

// ---- the list of lessons has minutes and progress, and at the end the pages of the course.

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
  p.ring(c, r, t.control, 2.2f);
  const float share = static_cast<float>(progress.step) / 4 + (progress.committed ? 0.05f : 0);
  if (share > 0) p.arc(c, r, -1.5708f, -1.5708f + 6.2832f * share, t.ink, 2.2f);
  if (with_number)
    p.text_in(centred(c, 2 * r, 2 * r), {Face::Mono, type::tick}, t.ink2, std::to_string(number),
              Align::Centre);
}

/// Draws the common part of a row of the list, and returns the centre of the row's sign. Without `what` the row is a
/// single line; a narrow one has no words.
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
  const Ui::Group group(ui, "course");
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
    const bool stopped = context.interrupted->contains(l.id);
    const bool open = i == context.index && !of_course(context.page);
    std::string help = narrow ? l.title + ": " + l.question : l.question;
    if (stopped)
      help += " " + context.tr("Its measurement stopped when you left, and goes on when you return.");
    const Hit h = ui.hit("lesson/list/" + l.id, row,
                         progress.done       ? "done"
                         : progress.step > 0 ? "begun"
                                             : "new",
                         help, {.selected = open});
    const Vec middle = draw_row(ui, row, open, h.hovered, l.title,
                                one_line  ? ""
                                : stopped ? context.tr("stopped; goes on when you return")
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
    const Hit h = ui.hit(control, row, current ? "open" : "", help, {.selected = current});
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
    ui.hit(fmt::format("lesson/broken/{}", i), {below.x, below.y, below.w, high}, "", whole,
           {.focusable = false});
    below.take_top(high, 8);
  }
  p.hairline({below.x, below.y}, {below.right(), below.y}, t.border);
  below.take_top(14);
  p.text_in(below.take_top(20, 6), {Face::Bold, type::body}, t.ink, context.tr("Your predictions"));
  bool any = false;
  for (const Lesson& l : context.course.lessons) {
    const LessonProgress& progress = context.progress.of(l.id);
    if (progress.said.empty() || (progress.measured.empty() && !progress.skipped)) continue;
    if (!progress.skipped && !is_told(progress)) continue;
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

}  // namespace normscope::lesson_player

// The pages of the course. The last but one: what the course found, put together.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "app/course/check.h"
#include "app/course/lesson.h"
#include "app/course/reader.h"
#include "app/lesson-player/progress.h"
#include "app/lesson-player/text_column.h"
#include "app/ui/widgets.h"
#include "engine/core/boundary.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kWhyWidth = 680;

class WhyPage : public CoursePage {
 public:
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    Rect seen = panel(ui, rect, {context.tr("So why?"), "", "", 0, false});
    seen = {rect.x + space::pad, seen.y, rect.w - 2 * space::pad, rect.bottom() - seen.y - 8};
    const float width = std::min(kWhyWidth, seen.w - 16), left = seen.x + (seen.w - width) / 2;
    read_this_frame_ = false;
    FlowContext words;
    words.words = context.course.words;
    words.seen = seen;
    words.ring = [&](const std::string& control, const Rect& place, const std::string& id, bool clicked) {
      context.scroll.follow_focus(ui, control, place, seen);
      if (clicked)
        context.turn.lesson = static_cast<size_t>(context.course.find(id) - context.course.lessons.data());
    };
    words.text = [&](const Inline& piece) -> std::string {
      if (piece.kind == Inline::Kind::Lesson) return std::to_string(context.course.find(piece.text)->number);
      const auto [lesson, measure] = measure_named(context.course, piece.text);
      const Results* const results = results_of(*lesson, context);
      if (!results || !results->measures.contains(measure->id)) return "–";
      return range_text(results->measures.at(measure->id).spread, *measure, *context.course.words);
    };
    draw_scrolled(ui, rect, seen, context, [&](float y) {
      return flow(ui, {left, y + 10, width, 0}, *context.course.why, words, true, nullptr) + 30;
    });
  }

 private:
  /// Reads a lesson's measured numbers, at most one lesson a frame.
  const Results* results_of(const Lesson& lesson, LessonContext& context) {
    const auto known = results_.find(lesson.id);
    if (known != results_.end()) return known->second ? &*known->second : nullptr;
    if (std::exchange(read_this_frame_, true)) return nullptr;
    std::optional<Results>& results = results_[lesson.id];
    const Message fault = guarded("lesson " + lesson.id, [&] { results = load_results(lesson); });
    if (!fault.empty()) context.reference_error = fault;
    return results ? &*results : nullptr;
  }

  bool read_this_frame_ = false;                           ///< one more lesson into results_
  std::map<std::string, std::optional<Results>> results_;  ///< by lesson
};

// ---- The last page of the course: all predictions beside what was measured, and a way to make them again.

constexpr float kReviewLine = 18, kReviewPad = 10, kAgain = 112, kReviewHead = 24;
constexpr TextStyle kReviewSmall{Face::Sans, type::body};
constexpr TextStyle kReviewWords{Face::Sans, type::title};

/// Lesson, said, measured, how far off; the button takes what is left.
std::array<Rect, 4> columns(Rect row) {
  row.take_right(kAgain, 12);
  const float w = row.w;
  return {row.take_left(w * 0.40f, 12), row.take_left(w * 0.21f - 12, 12), row.take_left(w * 0.22f - 12, 12),
          row};
}

bool answered(const LessonProgress& p) { return p.committed || p.skipped; }

/// The first answer that was off, as a question; else what there is to say.
std::string sentence_of(const LessonContext& context) {
  size_t made = 0;
  for (const course::Lesson& l : context.course.lessons) made += context.progress.of(l.id).committed;
  for (const course::Lesson& l : context.course.lessons) {
    const LessonProgress& p = context.progress.of(l.id);
    if (p.committed && !p.score.empty() && !is_right(p.score, *context.course.words))
      return context.tr("In lesson {number} your answer was: {score}. What would you say now?",
                        {{"number", l.number}, {"score", p.score}});
  }
  if (made == 0) return context.tr("Nothing was predicted yet.");
  return context.tr("One prediction, and it is not off. | {count} predictions, none of them off.",
                    {{"count", made}});
}

/// Draws one row and returns its height.
float draw_lesson(Ui& ui, const Rect& rect, LessonContext& context, size_t index, const Rect& seen) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const course::Lesson& l = context.course.lessons[index];
  const LessonProgress& progress = context.progress.of(l.id);
  const bool known = answered(progress) && !progress.measured.empty();
  std::array<Rect, 4> cell = columns(rect);
  std::string asked = l.prediction.ask;
  if (!l.says.empty() && (answered(progress) || !progress.words.empty()))
    asked +=
        " " + context.tr("Sentences right: {right} of {all}.",
                         {{"right", course::said_right(l.says, progress.words)}, {"all", l.says.size()}});
  std::string first;
  if (const JudgedPrediction& told = progress.first; !told.said.empty())
    first =
        context.tr("first: {said}{comma}{score}",
                   {{"said", told.said}, {"comma", told.score.empty() ? "" : ", "}, {"score", told.score}});
  const std::string words[] = {progress.skipped     ? context.tr("skipped")
                               : progress.committed ? progress.said
                                                    : "–",
                               known                ? progress.measured
                               : answered(progress) ? context.tr("not measured yet")
                                                    : "–",
                               known && progress.committed ? progress.score : ""};
  float high = 22 + p.wrapped_height(cell[0].w, kReviewSmall, asked, kReviewLine);
  for (size_t i = 0; i < 3; ++i) {
    float column = p.wrapped_height(cell[i + 1].w, kReviewWords, words[i], kReviewLine);
    if (i == 0 && !first.empty()) column += 4 + p.wrapped_height(cell[1].w, kReviewSmall, first, kReviewLine);
    high = std::max(high, column);
  }
  p.hairline({rect.x, rect.y}, {rect.right(), rect.y}, t.border);
  for (Rect& one : cell) one.y = rect.y + kReviewPad;
  p.text_in({cell[0].x, cell[0].y, cell[0].w, 20}, {Face::Bold, type::title}, t.ink,
            fmt::format("{}. {}", l.number, l.title));
  p.text_wrapped({cell[0].x, cell[0].y + 22, cell[0].w, 0}, kReviewSmall, t.ink2, asked, kReviewLine);
  for (size_t i = 0; i < 3; ++i) {
    const float down =
        p.text_wrapped(cell[i + 1], kReviewWords, i == 2 ? t.ink : t.ink2, words[i], kReviewLine);
    if (i == 0 && !first.empty())
      p.text_wrapped({cell[1].x, cell[1].y + down + 4, cell[1].w, 0}, kReviewSmall, t.ink3, first,
                     kReviewLine);
  }
  ui.mark("lesson/review/row/" + l.id, {rect.x, rect.y, rect.w, high + 2 * kReviewPad},
          fmt::format("{} | {} | {}", words[0], words[1], words[2]),
          context.tr("What was predicted and what was measured."));
  const std::string name = "lesson/review/" + l.id;
  const Rect box{rect.right() - kAgain, rect.y + kReviewPad, kAgain, 28};
  if (button(ui, name, box, answered(progress) ? context.tr("Predict again") : context.tr("Predict"),
             answered(progress) ? context.tr("The same prediction once more; the first is kept beside it.")
                                : context.tr("Opens this lesson's prediction.")))
    context.turn = {.lesson = index, .again = true};
  context.scroll.follow_focus(ui, name, box, seen);
  return high + 2 * kReviewPad;
}

/// Copies all predictions as a line, which can be given to a teacher.
void draw_copy(Ui& ui, const Rect& rect, LessonContext& context) {
  ButtonOptions options;
  options.enabled =
      std::ranges::any_of(context.progress.all(), [](const auto& one) { return answered(one.second); });
  options.style = {Face::Sans, type::body};
  const std::string& label = context.tr("Copy my predictions");
  const float width = ui.paint().text_width(options.style, label) + 28;
  const Rect place{rect.right() - space::pad - width, rect.y + 6, width, 26};
  if (button(ui, "lesson/review/copy", place, label,
             context.tr("Copies all predictions as one line, for a teacher who gathers those of a class."),
             options))
    context.requests.copied = predictions_line(context.progress.all());
}

class ReviewPage : public CoursePage {
 public:
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    Rect seen = panel(ui, rect, {context.tr("Your predictions, and what was measured"), "", "", 0, false});
    draw_copy(ui, rect, context);
    seen = {rect.x + space::pad, seen.y, rect.w - 2 * space::pad, rect.bottom() - seen.y - 8};
    ui.paint().text_wrapped(seen.take_top(kReviewLine + 4, 8), kReviewWords, ui.theme().ink,
                            sentence_of(context), kReviewLine);
    const std::array<Rect, 4> head = columns(seen.take_top(kReviewHead));
    const std::string titles[] = {context.tr("what was asked"), context.tr("you said"),
                                  context.tr("measured"), context.tr("how far off")};
    for (size_t i = 0; i < head.size(); ++i)
      ui.paint().text_in({head[i].x, head[i].y, head[i].w, kReviewHead}, {Face::Bold, type::body},
                         ui.theme().ink3, titles[i]);
    draw_scrolled(ui, rect, seen, context, [&](float y) {
      const float from = y;
      for (size_t i = 0; i < context.course.lessons.size(); ++i)
        y += draw_lesson(ui, {seen.x, y, seen.w, 0}, context, i, seen);
      return y - from;
    });
  }
};

}  // namespace

void add_course_pages(Pages& pages) {
  pages.push_back(std::make_unique<WhyPage>());
  pages.push_back(std::make_unique<ReviewPage>());
}

}  // namespace normscope::lessons

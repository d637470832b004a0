// The last page of a lesson is a new case: what will become of a model that no page has shown? The learner chooses an
// answer and may write why; then the case is trained while she looks on, and the page says what is behind each answer,
// with the author's sentence beside hers. The lesson ends here, or with Explain where it has no case.
// Controls: lesson/case/1 to 4, lesson/case/sentence, lesson/case/train; lesson/case is the verdict.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/course/check.h"
#include "app/course/lesson.h"
#include "app/lesson-player/figures.h"
#include "app/lesson-player/lesson_context.h"
#include "app/lesson-player/progress.h"
#include "app/ui/widgets.h"

namespace normscope::lesson_player {

using namespace ui;
using namespace course;

namespace {

constexpr TextStyle kAsk{Face::Sans, type::run_name}, kText{Face::Sans, type::title},
    kBoldText{Face::Bold, type::title};
constexpr float kAskLine = 23, kTextLine = 19, kAnswerPad = 9, kDot = 26, kGap = 12;

void draw_tick(Painter& p, Vec centre, Colour ink) {
  const Vec points[] = {{centre.x - 6, centre.y}, {centre.x - 1, centre.y + 5}, {centre.x + 7, centre.y - 5}};
  p.polyline(points, ink, 2.2f);
}

class CasePage : public Page {
 public:
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    if (!context.lesson.closing) return;
    const Case& closing = *context.lesson.closing;
    const bool locked = place_of_answer(closing, context.kept().answer).has_value();
    if (locked && !begun(context)) context.case_measurer.start(*closing.experiment, {});
    const auto state = context.case_measurer.state();
    TextColumn text(ui, rect, context, TextColumn::Of::Controls);
    text.head();
    ui.paint().text_in(text.rest.take_top(22, 8), {Face::Bold, type::run_name}, ui.theme().ink,
                       context.tr("A new case"));
    paragraph(ui, text, kAsk, ui.theme().ink, closing.ask, kAskLine);
    draw_answers(ui, text, context, locked);
    draw_sentence(ui, text, context);
    if (!locked) draw_train(ui, text, context);
    if (locked) draw_verdict(ui, text, context, *state);
    text.close();
    if (locked)
      draw_case_figure(ui, rect, context, *closing.experiment, *state, view_);
    else
      context.experiment->draw(ui, rect, context);
  }
  WayOn way_on(const LessonContext& context) const override { return way_out(context, missing(context)); }
  void go_on(LessonContext& context) override { finish_lesson(context, missing(context).empty()); }
  /// The case must have an answer of this version of the lesson, and its result.
  std::string missing(const LessonContext& context) const override {
    const Case& closing = *context.lesson.closing;
    if (!place_of_answer(closing, context.kept().answer)) return context.tr("Decide the case first");
    const auto state = context.case_measurer.state();
    return begun(context) && state->running ? context.tr("The case is being trained") : "";
  }
  std::string skip_help(const LessonContext& context) const override {
    return place_of_answer(*context.lesson.closing, context.kept().answer)
               ? ""
               : context.tr("On without this case; this lesson is not marked as done.");
  }
  void skip(LessonContext& context) override { context.leave(); }
  bool work_left(LessonContext& context) const override {
    return chosen_ && !place_of_answer(*context.lesson.closing, context.kept().answer);
  }

 private:
  /// Whether the case is being trained, or was; a training that the learner left does not count.
  static bool begun(const LessonContext& context) {
    const auto state = context.case_measurer.state();
    return state->lesson == context.lesson.closing->experiment->id && !state->stopped;
  }

  static void paragraph(Ui& ui, TextColumn& text, const TextStyle& style, Colour ink,
                        const std::string& words, float line = kTextLine) {
    text.rest.take_top(ui.paint().text_wrapped(text.rest, style, ink, words, line), kGap);
  }

  /// The answers as rows, one of which is chosen until the case is trained; then the right one is ticked.
  void draw_answers(Ui& ui, TextColumn& text, LessonContext& context, bool locked) {
    Painter& p = ui.paint();
    const Theme& t = ui.theme();
    const Case& closing = *context.lesson.closing;
    const std::vector<std::string> answers = answers_of(closing);
    const std::optional<size_t> kept = place_of_answer(closing, context.kept().answer);
    const std::optional<size_t> said = kept ? kept : chosen_;
    int number = 0;
    for (const size_t answer : offered_order(closing)) {
      const std::string name = fmt::format("lesson/case/{}", ++number);
      const float width = text.rest.w - kDot - 2 * kAnswerPad;
      const float high = std::max(p.wrapped_height(width, kText, answers[answer], kTextLine),
                                  p.wrapped_height(width, kBoldText, answers[answer], kTextLine)) +
                         2 * kAnswerPad;
      const Rect box = text.rest.take_top(high, 6);
      const bool own = said == answer, right = locked && answer == 0;
      const Hit h = ui.hit(name, box, answers[answer], context.tr("What you expect of this case."),
                           {.enabled = !locked, .radius = radius::field});
      context.scroll.follow_focus(ui, name, box, text.seen);
      if (h.clicked) chosen_ = answer;
      p.fill(box, own ? t.sunk : h.hovered ? t.raised : t.panel, radius::field);
      p.outline(box, own ? t.ink : t.control, own ? 1.6f : 1.f, radius::field);
      const Vec dot{box.x + kAnswerPad + 7, box.y + kAnswerPad + kTextLine / 2};
      if (right)
        draw_tick(p, dot, t.ink);
      else
        p.ring(dot, 6, t.control, 1.4f);
      if (own && !right) p.circle(dot, 3.4f, t.ink);
      p.text_wrapped({box.x + kAnswerPad + kDot, box.y + kAnswerPad, width, 0},
                     own || right ? kBoldText : kText, t.ink, answers[answer], kTextLine);
    }
    text.rest.take_top(6);
  }

  /// One sentence of the learner's own, before the result and after it.
  static void draw_sentence(Ui& ui, TextColumn& text, LessonContext& context) {
    std::string& sentence = context.kept().sentence;
    const std::string before = sentence;
    ui.paint().text_in(text.rest.take_top(20, 4), {Face::Bold, type::body}, ui.theme().ink,
                       context.tr("Why? In one sentence of your own:"));
    const Rect box = text.rest.take_top(30, kGap);
    text_field(ui, "lesson/case/sentence", box, context.tr("because"), sentence,
               context.tr("Your reason. It is kept, and a teacher who gathers your answers reads it."));
    context.scroll.follow_focus(ui, "lesson/case/sentence", box, text.seen);
    if (sentence.size() > kLongestSentence) sentence = before;
    if (sentence != before) context.progress.save();
  }

  void draw_train(Ui& ui, TextColumn& text, LessonContext& context) {
    const Rect box{text.rest.x, text.rest.y, 190, 34};
    ButtonOptions options;
    options.enabled = chosen_.has_value();
    options.primary = options.enabled;
    if (button(ui, "lesson/case/train", box, context.tr("Train it"),
               context.tr(chosen_ ? "Trains the case now, within moments; your answer is kept."
                                  : "Choose an answer first."),
               options)) {
      const Case& closing = *context.lesson.closing;
      context.kept().answer = closing.kept[*chosen_];
      context.progress.save();
      context.case_measurer.start(*closing.experiment, {});
    }
    context.scroll.follow_focus(ui, "lesson/case/train", box, text.seen);
    const std::string told =
        context.tr(chosen_ ? "It is trained at once, before your eyes; your answer stays."
                           : "Choose an answer, and it is trained before your eyes.");
    const Rect beside{box.right() + kGap, box.y, text.rest.w - box.w - kGap, 0};
    const float high = ui.paint().wrapped_height(beside.w, kText, told, kTextLine);
    ui.paint().text_wrapped({beside.x, box.y + std::max(0.f, (box.h - high) / 2), beside.w, 0}, kText,
                            ui.theme().ink2, told, kTextLine);
    text.rest.take_top(std::max(box.h, high), kGap);
  }

  /// What was measured, what is behind the answer, and the author's sentence.
  static void draw_verdict(Ui& ui, TextColumn& text, LessonContext& context, const MeasureState& state) {
    const Theme& t = ui.theme();
    const Case& closing = *context.lesson.closing;
    const Lesson& experiment = *closing.experiment;
    const size_t said = *place_of_answer(closing, context.kept().answer);
    const Rect top = text.rest;
    if (state.running)
      return paragraph(ui, text, kText, t.ink2, context.tr("Training: {doing}", {{"doing", state.doing}}));
    if (!state.error.empty()) return paragraph(ui, text, kText, t.error, words::spoken(state.error));
    const Check& check = experiment.checks.front();
    const Measure& measure = *experiment.measure(check.measure);
    const double found = evaluate(experiment, measure, state.curves);
    const std::string verdict = said == 0 ? context.tr("Right. {why}", {{"why", closing.why}})
                                          : context.tr("No. {why}", {{"why", reason_of(closing, said)}});
    paragraph(
        ui, text, kBoldText, t.ink,
        context.tr("Measured, {label}: {value}.",
                   {{"label", measure.label}, {"value", shown(found, measure, *context.course.words)}}));
    if (!holds(check, {{found}, {}}))
      paragraph(ui, text, kText, t.ink2,
                context.tr("With the random starts of this course it came out otherwise: {right}",
                           {{"right", check.says}}));
    paragraph(ui, text, kText, t.ink, verdict);
    if (said != 0) paragraph(ui, text, kText, t.ink, closing.why);
    text.box(context.tr("The author's sentence"), closing.own);
    text.rest.take_top(kGap);
    ui.mark("lesson/case", {top.x, top.y, top.w, text.rest.y - top.y}, verdict, closing.ask);
  }

  std::optional<size_t> chosen_;  ///< a place in answers_of(), before the case is trained
  plot::View view_;
};

}  // namespace

std::unique_ptr<Page> make_case_page(const LessonContext&) { return std::make_unique<CasePage>(); }

}  // namespace normscope::lesson_player

// The third page has the prediction beside what was measured, and the verdict.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/lesson-player/experiment.h"
#include "app/lesson-player/text_column.h"
#include "app/lesson-player/verdict.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;

namespace {

constexpr TextStyle kScoreHead{Face::Sans, type::body}, kScoreWords{Face::Sans, type::title},
    kVerdict{Face::Bold, type::run_name}, kScoreFigure{Face::Mono, type::figure};
constexpr float kScoreLine = 18, kScoreCell = 10;

/// "A → B (last); C": what is in order, each on a line of its own, and what is said of it.
struct InOrder {
  std::vector<std::string> places;
  std::string note;
};

InOrder in_order(std::string words, const std::string& last) {
  InOrder out;
  const std::string end = fmt::format(" ({})", last);  // a card may have semicolons of its own
  if (const size_t at = words.rfind(end); at != words.npos) {
    out.note = words.substr(at + end.size());
    words.resize(at);
  }
  constexpr std::string_view kThen = " → ";
  for (size_t at = words.find(kThen); at != words.npos; at = words.find(kThen)) {
    out.places.push_back(words.substr(0, at));
    words.erase(0, at + kThen.size());
  }
  out.places.push_back(words);
  return out;
}

class ComparePage : public Page {
 public:
  explicit ComparePage(const LessonContext& context) : judged_(context.kept()) {}
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    if (!context.measured) judged_ = context.kept();
    TextColumn text(ui, rect, context, TextColumn::Of::Prose);
    text.head();
    if (!judged_.measured.empty()) draw_score(ui, text.rest, context);
    text.prose(context.lesson.step(course::StepKind::Compare).text);
    text.close();
    context.experiment->draw(ui, rect, context);
  }
  WayOn way_on(const LessonContext& context) const override {
    if (const auto& task = context.lesson.challenge)
      return {
          context.tr("Next: Challenge"),
          context.tr("A task for a run of your own, about {minutes} minutes.", {{"minutes", task->minutes}})};
    return {context.tr("Next: Explain"), context.tr("What is behind it.")};
  }
  void go_on(LessonContext& context) override {
    context.turn.page = context.lesson.challenge ? PageKind::Challenge : PageKind::Explain;
  }
  /// Puts what was said and what was measured side by side. Only what has the setting of the prediction is kept.
  void measured(LessonContext& context) override {
    const auto state = context.state();
    LessonProgress& kept = context.kept();
    judged_ = kept;
    judged_.found = found_of(context.lesson, state->curves);
    judged_.own_setting = !state->changes.empty();
    judged_.language = context.lesson.words->name();
    judged_.measured.clear();
    judged_.score.clear();
    faults_ = put_in_words(context.lesson, context.seeds(), judged_);
    if (!as_predicted(context) || !(context.predicted_for || kept.measured.empty())) return;
    kept = judged_;
    context.progress.save();
  }

 private:
  struct Score {
    std::array<std::string, 3> heads, values;  ///< said, measured, verdict
    std::string thought;                       ///< what is right, and what may have led to what is not
    std::string first;                         ///< the prediction before this one; empty: there is none
  };
  /// Whether the measurement has the setting that the prediction was made for.
  static bool as_predicted(const LessonContext& context) {
    return context.state()->changes == context.predicted_for.value_or(course::Changes{});
  }
  /// Fills in the box: said, measured, verdict; and what was said first.
  Score scored(const LessonContext& context) const {
    const LessonProgress& progress = judged_;
    const bool drew = context.lesson.prediction.kind == course::Prediction::Kind::Draw;
    const bool ordered = context.lesson.prediction.kind == course::Prediction::Kind::Order;
    // An answer is right or wrong for the setting that it was given for.
    const bool other = context.measured && !progress.skipped && !as_predicted(context);
    Score score;
    score.heads = {drew ? context.tr("You drew, at the end") : context.tr("You said"),
                   drew ? context.tr("Measured, at the end") : context.tr("Measured"),
                   progress.skipped ? context.tr("Your prediction")
                   : other          ? context.tr("That was for")
                   : drew           ? context.tr("Your curve is")
                   : ordered        ? context.tr("Your order:")
                                    : context.tr("Your answer is")};
    score.values = {progress.skipped ? context.tr("nothing##score") : progress.said,
                    context.measured           ? progress.measured
                    : context.state()->running ? context.tr("measuring …")
                                               : context.tr("not measured"),
                    progress.skipped   ? context.tr("skipped")
                    : other            ? context.tr("another setting")
                    : context.measured ? progress.score
                                       : ""};
    if (context.measured && !progress.skipped && !other) {
      score.thought = right_in_words(context.lesson, context.seeds(), progress);
      if (const std::string thought = course::thought_behind(context.lesson, faults_); !thought.empty())
        score.thought += (score.thought.empty() ? "" : " ") +
                         context.tr("A thought that leads there: {thought}", {{"thought", thought}});
    }
    if (const JudgedPrediction& first = progress.first; !first.said.empty())
      score.first = context.tr(
          "Your first prediction: {said}{comma}{score}",
          {{"said", first.said}, {"comma", first.score.empty() ? "" : ", "}, {"score", first.score}});
    return score;
  }
  /// Draws the box, and takes its height from `rest`.
  void draw_score(Ui& ui, Rect& rest, const LessonContext& context) const {
    const Score score = scored(context);
    const bool order = context.lesson.prediction.kind == course::Prediction::Kind::Order;
    Painter& p = ui.paint();
    const Theme& t = ui.theme();
    const auto room_for = [&](const std::string& text) {
      return text.empty() ? 0 : p.wrapped_height(rest.w, kScoreWords, text, kScoreLine) + 6;
    };
    const auto draw = [&](Rect rect, bool seen) {
      return order ? draw_order_score(ui, rect, context, score, seen)
                   : draw_value_score(ui, rect, context, score, seen);
    };
    const float thought = room_for(score.thought), first = room_for(score.first);
    const float high = draw(rest, false);
    const Rect box{rest.x - 16, rest.y, rest.w + 32, 24 + high + thought + first};
    p.fill(box, t.sunk, radius::panel);
    const Rect inside = box.inset(16, 12);
    draw(inside, true);
    Rect below{inside.x, inside.y + high, inside.w, thought + first};
    p.text_wrapped(below.take_top(thought).inset(0, 6), kScoreWords, t.ink, score.thought, kScoreLine);
    p.text_wrapped(below.inset(0, 6), kScoreWords, t.ink2, score.first, kScoreLine);
    ui.mark("lesson/score", box, score.values[2], context.tr("Your prediction beside the measurement."));
    rest.take_top(box.h, 18);
  }
  /// Three cells beside each other. It returns the height, and draws only if told to.
  static float draw_value_score(Ui& ui, Rect rect, const LessonContext& context, const Score& score,
                                bool draw) {
    Painter& p = ui.paint();
    const Theme& t = ui.theme();
    const float width = rect.w / 3;
    const bool narrow =
        p.text_width(kVerdict, score.values[2]) > width - 2;  // "within the five seeds", on a small window
    const float high =
        narrow ? std::max(32.f, p.wrapped_height(width - kScoreCell, kVerdict, score.values[2], 20)) : 32;
    // What was said and what was measured compare at one size.
    const auto large = [&](size_t i) {
      return p.text_width(kScoreFigure, score.values[i]) <= width - kScoreCell - 8;
    };
    const TextStyle& figure = large(0) && large(1) ? kScoreFigure : kScoreWords;
    for (size_t i = 0; draw && i < 3; ++i) {
      Rect cell = rect.take_left(width);
      cell.w -= kScoreCell;
      const std::string& head = score.heads[i];
      p.text_in(cell.take_top(18, 6), kScoreHead, t.ink3,
                i == 1 ? fitting(p, kScoreHead, cell.w, {head, context.tr("Measured")}) : head);
      if (i == 2 && narrow)
        p.text_wrapped(cell, kVerdict, t.ink, score.values[i], 20);
      else
        p.text_in({cell.x, cell.y, cell.w + 8, 28}, i == 2 ? kVerdict : figure, t.ink, score.values[i]);
    }
    return 24 + high;
  }
  /// The verdict, and below it both orders, a card in a line, so that they compare side by side.
  static float draw_order_score(Ui& ui, Rect rect, const LessonContext& context, const Score& score,
                                bool draw) {
    Painter& p = ui.paint();
    const Theme& t = ui.theme();
    const course::Prediction& q = context.lesson.prediction;
    const float top = rect.y, width = rect.w / 2;
    Rect verdict = rect.take_top(20, 8);
    if (draw) {
      const float head = p.text_in(verdict, kScoreHead, t.ink3, score.heads[2]);
      verdict.take_left(head + 8);
      p.text_in(verdict, kVerdict, t.ink, score.values[2]);
    }
    float high = 0;
    std::string note = context.tr("from {first} to {last}", {{"first", q.first}, {"last", q.last}});
    for (const size_t i : {0, 1}) {
      Rect cell{rect.x + width * static_cast<float>(i), rect.y, width - (i == 0 ? kScoreCell : 0), 0};
      const Rect head = cell.take_top(18, 4);
      if (draw) p.text_in(head, kScoreHead, t.ink3, score.heads[i]);
      const InOrder order = in_order(score.values[i], q.last);
      for (const std::string& place : order.places) {
        const float line = p.wrapped_height(cell.w, kScoreWords, place, kScoreLine);
        if (draw) p.text_wrapped(cell, kScoreWords, t.ink, place, kScoreLine);
        cell.take_top(line);
      }
      note += order.note;
      high = std::max(high, cell.y - rect.y);
    }
    rect.take_top(high, 6);
    const float below = p.wrapped_height(rect.w, kScoreHead, note, kScoreLine);
    if (draw) p.text_wrapped(rect, kScoreHead, t.ink2, note, kScoreLine);
    return rect.y + below - top;
  }

  LessonProgress judged_;            ///< the prediction beside what was measured last
  std::vector<std::string> faults_;  ///< of that prediction; see course/exercises.h
};

}  // namespace

std::unique_ptr<Page> make_compare_page(const LessonContext& context) {
  return std::make_unique<ComparePage>(context);
}

}  // namespace normscope::lessons

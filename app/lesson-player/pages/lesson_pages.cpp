// The pages of a lesson after the prediction. The second page measures: it shows the trained runs, their progress,
// and the figure as it grows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "app/course/check.h"
#include "app/course/lesson.h"
#include "app/course/pictures/pictures.h"
#include "app/course/reader.h"
#include "app/lesson-player/figures.h"
#include "app/lesson-player/flow.h"
#include "app/lesson-player/lesson_context.h"
#include "app/lesson-player/progress.h"
#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/io/output_file.h"
#include "training/files/config_file.h"
#include "training/io/text.h"
#include "training/spec/small_size.h"

namespace normscope::lesson_player {

using namespace ui;
using namespace course;

namespace {

/// Whether all curves over the steps of a run are complete.
bool curves_known(const Lesson& lesson, const std::string& run, const MeasureState& state) {
  bool any = false;
  for (const Curve& curve : lesson.curves) {
    if (curve.of != Curve::Of::Run || curve.run != run) continue;
    any = true;
    const auto it = state.curves.find(curve.id);
    if (it == state.curves.end() || it->second.x.empty() || it->second.x.back() < curve.to) return false;
  }
  return any;
}

constexpr float kMeasuring = 22, kMeasuringBar = 160, kMeasuringGap = 12;

/// A row of its own, below those of the runs: what is being trained if it has no row, the time left, and a bar.
void draw_measuring(Ui& ui, Rect row, const LessonContext& context, const MeasureState& state) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const TextStyle small{Face::Sans, type::body};
  const Rect place = row.take_right(std::min(kMeasuringBar, row.w / 3), kMeasuringGap);
  const Rect bar{place.x, place.centre().y - 3, place.w, 6};
  if (state.running) {
    p.fill(bar, t.trough, 3);
    p.fill({bar.x, bar.y, bar.w * static_cast<float>(state.share), bar.h}, t.ink, 3);
    if (std::isfinite(state.seconds_left)) {
      const std::string left =
          context.tr("about {time} left", {{"time", duration_words(state.seconds_left)}});
      p.text_in(row.take_right(p.text_width(small, left), kMeasuringGap), small, t.ink2, left);
    }
    if (state.run.empty()) p.text_in(row, small, t.ink2, fitting(p, small, row.w, {state.doing, ""}));
  }
  if (!state.error.empty()) p.text_in(row, small, t.error, words::spoken(state.error));
  ui.mark("lesson/measuring", bar,
          state.running      ? state.doing
          : context.measured ? "done"
                             : "waiting",
          context.tr("How far the measurement has come."));
}

class RunPage : public Page {
 public:
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    TextColumn text(ui, rect, context, TextColumn::Of::Prose);
    text.head();
    text.prose(context.lesson.step(StepKind::Run).text);
    text.close(true);
    Rect rest = figure_panel(ui, rect, context);
    const auto state = context.state();
    if (state->lesson == context.lesson.id) context.figures->follow(context, state->growing);
    context.figures->draw_head(ui, rest, context);
    Rect foot =
        figure_foot(ui, rest, context, runs_height(context) + kMeasuring, !context.lesson.runs.empty());
    context.figures->draw(ui, rest, context);
    draw_runs(ui, foot, context, [&](const LessonRun& run) -> RunNote {
      if (state->running && state->run == run.id) return {state->doing};
      if (context.measured || curves_known(context.lesson, run.id, *state)) return {context.tr("measured")};
      return {state->running ? context.tr("waits its turn") : state->stopped ? context.tr("stopped") : ""};
    });
    if (state->lesson == context.lesson.id) draw_measuring(ui, foot.take_top(kMeasuring), context, *state);
  }
  WayOn way_on(const LessonContext& context) const override {
    const bool running = context.state()->running;
    if (context.measured)
      return {context.tr("Next: Compare"), context.tr("Your prediction beside the measurement."), !running};
    return {running ? context.tr("Measuring …") : context.tr("Run"), context.tr("Measures now."), !running};
  }
  void go_on(LessonContext& context) override {
    if (context.measured)
      context.turn.page = PageKind::Compare;
    else
      context.measure();
  }
  bool work_left(LessonContext& context) const override {
    return context.figures->tapes.left(context, context.figures->shown(context));
  }
};

// ---- The third page has the prediction beside what was measured, and the verdict.

constexpr TextStyle kScoreHead{Face::Sans, type::body}, kScoreWords{Face::Sans, type::title},
    kVerdict{Face::Bold, type::run_name}, kScoreFigure{Face::Mono, type::figure};
constexpr float kScoreLine = 18, kScoreCell = 10;

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
  /// Judges the prediction. The result is kept only if it was measured with the setting of the prediction.
  void measured(LessonContext& context) override {
    const auto state = context.state();
    LessonProgress& kept = context.kept();
    judged_ = kept;
    judged_.found = found_of(context.lesson, state->curves);
    judged_.own_setting = !state->changes.empty();
    judged_.language = context.lesson.words->name();
    judged_.measured.clear();
    judged_.score.clear();
    judged_.grade = Grade::None;
    faults_ = put_in_words(context.lesson, context.seeds(), judged_);
    if (!as_predicted(context) || !(context.predicted_for || kept.measured.empty())) return;
    kept = judged_;
    context.progress.save();
  }

 private:
  struct Score {
    std::array<std::string, 3> heads, values;  ///< said, measured, verdict
    std::array<std::vector<std::string>, 2>
        places;           ///< of an order: the cards that were said, that were measured
    std::string note;     ///< on the measured order
    std::string thought;  ///< what is right, and what may have led to what is not
    std::string first;    ///< the prediction before this one; empty: there is none
  };
  /// Whether the measurement has the setting that the prediction was made for.
  static bool as_predicted(const LessonContext& context) {
    return context.state()->changes == context.predicted_for.value_or(course::Changes{});
  }
  /// The texts of the score box: said, measured, verdict, and the first prediction.
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
    if (ordered) {
      const auto texts = [](const std::vector<const course::Prediction::Card*>& cards) {
        std::vector<std::string> all;
        for (const course::Prediction::Card* card : cards) all.push_back(card->text);
        return all;
      };
      if (!progress.skipped) score.places[0] = texts(said_order(context.lesson, progress));
      if (context.measured) {
        const MeasuredOrder order = measured_order(context.lesson, context.seeds(), progress);
        score.places[1] = texts(order.cards);
        score.note = order.note;
      }
      for (const size_t i : {0, 1})
        if (score.places[i].empty()) score.places[i] = {score.values[i]};
    }
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
    const std::string note =
        context.tr("from {first} to {last}", {{"first", q.first}, {"last", q.last}}) + score.note;
    for (const size_t i : {0, 1}) {
      Rect cell{rect.x + width * static_cast<float>(i), rect.y, width - (i == 0 ? kScoreCell : 0), 0};
      const Rect head = cell.take_top(18, 4);
      if (draw) p.text_in(head, kScoreHead, t.ink3, score.heads[i]);
      for (const std::string& place : score.places[i]) {
        const float line = p.wrapped_height(cell.w, kScoreWords, place, kScoreLine);
        if (draw) p.text_wrapped(cell, kScoreWords, t.ink, place, kScoreLine);
        cell.take_top(line);
      }
      high = std::max(high, cell.y - rect.y);
    }
    rect.take_top(high, 6);
    const float below = p.wrapped_height(rect.w, kScoreHead, note, kScoreLine);
    if (draw) p.text_wrapped(rect, kScoreHead, t.ink2, note, kScoreLine);
    return rect.y + below - top;
  }

  LessonProgress judged_;            ///< the prediction beside what was measured last
  std::vector<std::string> faults_;  ///< of that prediction; see course/lesson.h
};

// ---- The fourth page explains: what is behind the measurement, the claim, and how far it reaches.

constexpr float kSmallLine = 21;

class ExplainPage : public Page {
 public:
  explicit ExplainPage(const LessonContext& context) {
    const auto [explained, reach] = context.lesson.step(StepKind::Explain).text.at_heading();
    const auto second = reach.blocks.begin() + (reach.blocks.empty() ? 0 : 1);
    explained_ = explained;
    reach_in_short_ = {reach.file, {reach.blocks.begin(), second}};
    reach_in_full_ = {reach.file, {second, reach.blocks.end()}};
  }
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    const Lesson& lesson = context.lesson;
    TextColumn text(ui, rect, context, TextColumn::Of::Prose);
    text.head();
    text.prose(explained_);
    text.rest.take_top(18);
    text.box(context.tr("Claim"), lesson.claim);
    draw_what_if(ui, text, context);
    draw_reach(ui, text, context);
    text.close();
    context.experiment->draw(ui, rect, context);
  }
  WayOn way_on(const LessonContext& context) const override {
    if (!context.lesson.closing) return way_out(context, "");
    return {context.tr("Next: Case"), context.tr("A new case to decide, which is then trained.")};
  }
  void go_on(LessonContext& context) override {
    if (!context.lesson.closing) return finish_lesson(context, true);
    context.turn.page = PageKind::Case;
  }

 private:
  /// Draws Lesson::what_if, and the button that opens its small runs in the Lab.
  void draw_what_if(Ui& ui, TextColumn& text, LessonContext& context) {
    if (context.lesson.what_if.empty()) return;
    Rect& rest = text.rest;
    rest.take_top(12);
    ui.paint().text_in(rest.take_top(22, 4), {Face::Bold, type::title}, ui.theme().ink,
                       context.tr("What if?"));
    const TextStyle style{Face::Sans, type::title};
    rest.take_top(ui.paint().text_wrapped(rest, style, ui.theme().ink2, context.lesson.what_if, kSmallLine),
                  8);
    const std::string& label = context.tr("Ask the small model");
    const float width = ui.paint().text_width({Face::Bold, type::title}, label) + 40;
    if (button(ui, "lesson/what-if", {rest.x, rest.y, width, 30}, label,
               context.tr(
                   "Opens these runs in the Lab as a small model, which is trained whole at every change.")))
      context.requests.replacing = context.small_runs();
    rest.take_top(30, 8);
  }
  /// Draws two plain sentences, and behind a fold the rest: what the papers saw, the sources, and what was measured in
  /// other settings.
  void draw_reach(Ui& ui, TextColumn& text, const LessonContext& context) {
    if (reach_in_short_.blocks.empty()) return;
    Rect& rest = text.rest;
    FlowContext flow_context = text.flow;
    flow_context.px = type::title;
    flow_context.line = kSmallLine;
    flow_context.pale = true;
    rest.take_top(8);
    ui.paint().hairline({rest.x, rest.y}, {rest.right(), rest.y}, ui.theme().border);
    rest.take_top(12);
    ui.paint().text_in(rest.take_top(22, 4), {Face::Bold, type::title}, ui.theme().ink,
                       context.tr("How far does this reach?"));
    rest.take_top(flow(ui, rest, reach_in_short_, flow_context, true, nullptr), 6);
    ButtonOptions fold{.quiet = true,
                       .left = true,
                       .icon = reach_open_ ? Icon::ChevronDown : Icon::ChevronRight,
                       .style = {Face::Sans, type::body}};
    const std::string& label = context.tr(
        reach_open_ ? "Fold this" : "What the papers saw, and what was measured in other settings");
    const float width = ui.paint().text_width(fold.style, label) + 40;
    if (button(ui, "lesson/reach", {rest.x - 8, rest.y, width, 26}, label,
               context.tr("Shows or hides where the claim was checked again, and the sources."), fold))
      reach_open_ = !reach_open_;
    rest.take_top(26, 8);
    if (!reach_open_) return;
    rest.take_top(flow(ui, rest, reach_in_full_, flow_context, true, nullptr), 10);
    const TextStyle small{Face::Sans, type::body};
    for (const std::string& sentence : context.lesson.reach)
      rest.take_top(ui.paint().text_wrapped(rest, small, ui.theme().ink2, sentence, 18), 4);
    rest.take_top(8);
    for (const std::string& source : context.lesson.sources)
      rest.take_top(ui.paint().text_wrapped(rest, small, ui.theme().ink3, source, 18), 2);
  }

  Prose explained_;       ///< the text above its heading
  Prose reach_in_short_;  ///< and below it: the first paragraph
  Prose reach_in_full_;   ///< and the others
  bool reach_open_ = false;
};

}  // namespace

WayOn way_out(const LessonContext& context, const std::string& missing) {
  const Course& course = context.course;
  const bool more = context.index + 1 < course.lessons.size();
  if (!context.kept().committed)
    return {context.tr(more         ? "Next lesson"
                       : course.why ? "So why?"
                                    : "Review"),
            context.tr("The prediction was skipped, so this lesson is not marked as done."), missing.empty()};
  const std::string& text = context.tr(more         ? "Done: next lesson"
                                       : course.why ? "Done: so why?"
                                                    : "Done: review");
  if (!missing.empty()) return {text, missing + ".", false};
  return {text,
          context.tr(more ? "Marks this lesson as done." : "Marks this lesson as done; then the last page.")};
}

void finish_lesson(LessonContext& context, bool complete) {
  LessonProgress& kept = context.kept();
  kept.done = kept.done || (kept.committed && complete);
  context.progress.save();
  context.leave();
}

// ---- After Compare comes a task for the learner's own run, with hints, a score, and the ways found as a session.

namespace {

constexpr float kChoiceRow = 28, kChoiceGap = 8, kChoiceBox = 190, kTaskLine = 19;
constexpr size_t kMaxFound = 3;  // beside the start: a session has four runs
constexpr TextStyle kTaskText{Face::Sans, type::title};
constexpr TextStyle kTaskBold{Face::Bold, type::title};

Settings settings_in(const Challenge& task, const Changes& changes) {
  Settings settings;
  const auto it = changes.find(task.run);
  if (it != changes.end()) settings.assign(it->second.begin(), it->second.end());
  return settings;
}

/// Draws a text of the task with its terms marked, as in the prose; returns the height.
float draw_marked(Ui& ui, const Rect& rect, const std::string& text, float px, float line,
                  FlowContext& context) {
  Inline words{.text = text};
  Prose prose;
  prose.blocks.push_back({Block::Kind::Paragraph, {words}});
  context.px = px;
  context.line = line;
  return flow(ui, rect, prose, context, true, nullptr);
}

/// The start and the best of the ways found, for the Lab.
session::ReplaceRuns found_runs(const LessonContext& context) {
  const Challenge& task = *context.lesson.challenge;
  std::vector<Try> ways = ways_found(task, context.kept().tries);
  std::ranges::stable_sort(ways, {}, &Try::loss);
  if (ways.size() > kMaxFound) ways.resize(kMaxFound);
  session::ReplaceRuns out;
  out.known = true;
  const std::vector<Edit>& edits = context.lesson.run(task.run)->edits;
  const auto add = [&](const Settings& settings) {
    Changes changes;
    for (const auto& [field, value] : settings) changes[task.run][field] = value;
    try {
      out.runs.push_back(spec_of(context.lesson, task.run, 1, changes));
    } catch (const Error&) {
      return;  // kept by another version of the lesson
    }
    out.edits.push_back(edits);
    out.letters += static_cast<char>('A' + out.letters.size());
  };
  add({});
  for (const Try& way : ways) add(settings_of(way.set));
  return out;
}

void draw_choices(Ui& ui, TextColumn& text, LessonContext& context) {
  Rect& rest = text.rest;
  const bool running = context.state()->running;
  for (const Challenge::Choice& choice : context.lesson.challenge->choices) {
    Rect row = rest.take_top(kChoiceRow, kChoiceGap);
    std::vector<words::Label> labels;
    int selected = 0;
    for (size_t i = 0; i < choice.values.size(); ++i) {
      labels.push_back({choice.values[i].name, choice.values[i].text});
      if (choice.values[i].value == context.chosen_value(choice)) selected = static_cast<int>(i);
    }
    const std::string name = "lesson/challenge/" + choice.field;
    const Rect box = row.take_right(kChoiceBox, 12);
    draw_marked(ui, row, choice.label, kTaskText.px, row.h, text.flow);
    std::string help = context.tr("{setting}: choose one of these.", {{"setting", choice.label}});
    const std::string& now = labels[static_cast<size_t>(selected)].shown;
    if (const view::Term* term = term_of_text(now, *context.course.words))
      help += fmt::format(" {}: {}", now, term->text);
    const bool changed = ui::choice(ui, name, box, labels, selected, help);
    context.scroll.follow_focus(ui, name, box, text.seen);
    if (changed && !running)
      context.chosen[choice.field] = choice.values[static_cast<size_t>(selected)].value;
  }
}

class ChallengePage : public Page {
 public:
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    const Challenge& task = *context.lesson.challenge;
    TextColumn text(ui, rect, context, TextColumn::Of::Controls);
    text.head(TextColumn::Head::Challenge);
    Rect& rest = text.rest;
    ui.paint().text_in(
        rest.take_top(22, 6), {Face::Bold, type::run_name}, ui.theme().ink,
        context.tr("Below {line} after {steps} steps",
                   {{"line", shown(task.line, *context.lesson.measure(task.measure), *context.lesson.words)},
                    {"steps", task.budget}}));
    rest.take_top(draw_marked(ui, rest, task.text, type::run_name, 23, text.flow), 6);
    rest.take_top(ui.paint().text_wrapped(rest, {Face::Sans, type::body}, ui.theme().ink2,
                                          score_rule(task, *context.course.words), 17),
                  12);
    draw_choices(ui, text, context);
    rest.take_top(6);
    draw_training(ui, text, context);
    draw_outcome(ui, text, context);
    text.close();
    context.experiment->draw(ui, rect, context);
  }
  WayOn way_on(const LessonContext& context) const override {
    if (context.kept().tries.empty())
      return {context.tr("Skip the challenge"),
              context.tr("On without a run of your own; it can be made later.")};
    return {context.tr("Next: Explain"), context.tr("What is behind it.")};
  }
  void go_on(LessonContext& context) override { context.turn.page = PageKind::Explain; }
  /// Settings other than those trained last can be trained.
  bool work_left(LessonContext& context) const override {
    const auto state = context.state();
    const Changes changes = context.changes();
    return !state->running && !changes.empty() && !(context.measured && state->changes == changes);
  }
  /// Notes a finished training, once for each setting, whatever its result.
  void measured(LessonContext& context) override {
    if (!context.lesson.challenge) return;
    const Challenge& task = *context.lesson.challenge;
    const auto state = context.state();
    const std::string set = to_text(settings_in(task, state->changes));
    std::vector<Try>& tries = context.kept().tries;
    if (set.empty() || std::ranges::any_of(tries, [&](const Try& one) { return one.set == set; })) return;
    const double loss = context.number(task.measure);
    // A diverged run has no finite loss: it counts as infinitely far above the line.
    tries.push_back({set, std::isfinite(loss) ? loss : std::numeric_limits<double>::infinity()});
    context.progress.save();
    if (below_line(task, loss)) keep_found(context);
  }

 private:
  /// Saves the ways found beside the progress file, as a session that the Lab opens.
  void keep_found(const LessonContext& context) {
    if (context.folder.empty()) return;
    try {
      const session::ReplaceRuns found = found_runs(context);
      std::vector<ConfigRun> runs;
      for (size_t i = 0; i < found.runs.size(); ++i)
        runs.push_back({found.letters[i], found.runs[i], found.edits[i]});
      make_folder(context.folder, Access::Own, "lesson");
      save_config(fmt::format("{}/{}.toml", context.folder, context.lesson.id), runs);
      found_fault_.clear();
    } catch (const Error& error) {
      found_fault_ = error.message;
    }
  }
  /// Draws the button to train or stop, and the next hint.
  void draw_training(Ui& ui, TextColumn& text, LessonContext& context) const {
    Rect& rest = text.rest;
    const Challenge& task = *context.lesson.challenge;
    const auto state = context.state();
    LessonProgress& progress = context.kept();
    Rect row = rest.take_top(34, 10);
    ButtonOptions train, more;
    train.primary = work_left(context);
    train.enabled = state->running || !context.changes().empty();
    const Rect left = row.take_left(150, 8), right = row.take_left(170);
    const std::string name = state->running ? "lesson/challenge/stop" : "lesson/challenge/train";
    if (button(
            ui, name, left,
            state->running ? context.tr("Stop") : context.tr("Train {steps} steps", {{"steps", task.budget}}),
            state->running  ? context.tr("Stops the training; it is not counted.")
            : train.enabled ? context.tr("Trains your run from the beginning.")
                            : context.tr("Change one of the settings first."),
            train)) {
      if (state->running)
        context.measurer.stop();
      else
        context.measure();
    }
    context.scroll.follow_focus(ui, name, left, text.seen);
    const auto taken = static_cast<size_t>(progress.hints);
    more.enabled = taken < task.hints.size();
    if (button(ui, "lesson/challenge/hint", right,
               more.enabled ? context.tr("Hint, costs {cost}", {{"cost", task.hints[taken].costs}})
                            : context.tr("No more hints"),
               context.tr("Shows the next hint."), more)) {
      ++progress.hints;
      context.progress.save();
    }
    context.scroll.follow_focus(ui, "lesson/challenge/hint", right, text.seen);
    for (size_t i = 0; i < std::min(taken, task.hints.size()); ++i)
      rest.take_top(
          draw_marked(ui, rest,
                      context.tr("Hint {number}: {text}", {{"number", i + 1}, {"text", task.hints[i].text}}),
                      kTaskText.px, kTaskLine, text.flow),
          6);
  }
  /// Shows the run's result, the sum of points, and the button that opens the Lab.
  void draw_outcome(Ui& ui, TextColumn& text, LessonContext& context) {
    Rect& rest = text.rest;
    Painter& p = ui.paint();
    const Theme& t = ui.theme();
    const Challenge& task = *context.lesson.challenge;
    const auto state = context.state();
    const LessonProgress& progress = context.kept();
    const Measure& measure = *context.lesson.measure(task.measure);
    std::string words = state->running ? state->doing : words::spoken(state->error);
    if (context.measured) {
      const double loss = context.number(task.measure);
      const std::string where =
          below_line(task, loss) ? context.tr("below the line") : context.tr("not below the line");
      words = state->changes.empty()
                  ? context.tr("The start ends at {loss}: {where}.",
                               {{"loss", shown(loss, measure, *context.lesson.words)}, {"where", where}})
                  : context.tr("Your run ends at {loss}: {where}.",
                               {{"loss", shown(loss, measure, *context.lesson.words)}, {"where", where}});
    }
    const bool wrong = !state->error.empty() && !state->running;
    rest.take_top(p.text_wrapped(rest, kTaskBold, wrong ? t.error : t.ink, words, kTaskLine), 6);
    const std::string score = score_text(task, progress.tries, progress.hints, *context.course.words);
    const float high = p.text_wrapped(rest, kTaskText, t.ink, score, kTaskLine);
    ui.mark("lesson/challenge/score", {rest.x, rest.y, rest.w, high},
            std::to_string(score_of(task, progress.tries, progress.hints)), context.tr("Your points."));
    rest.take_top(high, 10);
    if (ways_found(task, progress.tries).empty()) return;
    const Rect box = rest.take_top(34, 6);
    if (button(ui, "lesson/challenge/lab", {box.x, box.y, 230, box.h}, context.tr("Open the ways in the Lab"),
               context.tr("The start and the best of the ways you found, one beside the other.")))
      context.requests.replacing = found_runs(context);
    context.scroll.follow_focus(ui, "lesson/challenge/lab", box, text.seen);
    const std::string kept = !found_fault_.empty() ? words::spoken(found_fault_)
                             : context.folder.empty()
                                 ? ""
                                 : context.tr("Kept as {folder}/{lesson}.toml",
                                              {{"folder", context.folder}, {"lesson", context.lesson.id}});
    rest.take_top(
        p.text_wrapped(rest, {Face::Sans, type::body}, found_fault_.empty() ? t.ink3 : t.error, kept, 16), 4);
  }

  Message found_fault_;  ///< why the session of the ways found could not be kept
};

}  // namespace

void add_lesson_pages(Pages& pages, const LessonContext& context) {
  pages.push_back(std::make_unique<RunPage>());
  pages.push_back(std::make_unique<ComparePage>(context));
  pages.push_back(std::make_unique<ChallengePage>());
  pages.push_back(std::make_unique<ExplainPage>(context));
  pages.push_back(make_case_page(context));
}

// The pages of the course. The last but one sums up what the course found.

using namespace ui;
using namespace course;

namespace {

constexpr float kWhyWidth = 680, kCausesWidth = 1080, kAroundCauses = 12;
constexpr float kBesideCauses =
    230;  // px free in a window of the least width, of which a large scale shows a part

class WhyPage : public CoursePage {
 public:
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    Rect seen = panel(ui, rect, {context.tr("So why?"), "", "", 0, false});
    seen = {rect.x + space::pad, seen.y, rect.w - 2 * space::pad, rect.bottom() - seen.y - 8};
    const float width = std::min(kWhyWidth, seen.w - 16), left = seen.x + (seen.w - width) / 2;
    read_this_frame_ = false;
    FlowContext words;
    words.words = context.course.words;
    words.ring = [&](const std::string& control, const Rect& place, const std::string& id, bool clicked) {
      context.scroll.follow_focus(ui, control, place, seen);
      if (clicked)
        context.turn.lesson = static_cast<size_t>(context.course.find(id) - context.course.lessons.data());
    };
    words.text = [&](const Inline& piece) {
      return piece.kind == Inline::Kind::Lesson ? std::to_string(context.course.find(piece.text)->number)
                                                : range_of(piece.text, context);
    };
    if (read_ != &*context.course.why) read(*context.course.why);
    std::set<const view::Term*> used;
    words.used = &used;
    draw_scrolled(ui, rect, seen, context, [&](float top) {
      words.seen = context.scroll.readable;  // no word is a term where the way on below is drawn
      float y = top + 10;
      y += flow(ui, {left, y, width, 0}, above_, words, true, nullptr);
      y += draw_causes(ui, seen, y, words, context);
      words.rings = rings_;
      y += flow(ui, {left, y, width, 0}, below_, words, true, nullptr);
      return y - top + 20;
    });
  }

 private:
  /// Parts the page at its picture.
  void read(const Prose& page) {
    read_ = &page;
    const auto numbered = [](const Block& block) { return block.kind == Block::Kind::Numbered; };
    const auto first = std::ranges::find_if(page.blocks, numbered);
    above_ = {page.file, {page.blocks.begin(), first}};
    below_ = {page.file, {first, page.blocks.end()}};
    std::erase_if(below_.blocks, numbered);
  }
  /// Draws the picture with the hands on it: rings open lessons, switches the Lab. Returns its height.
  float draw_causes(Ui& ui, const Rect& seen, float y, const FlowContext& words, LessonContext& context) {
    const Causes causes =
        causes_of(context.course, [&](const std::string& measure) { return range_of(measure, context); });
    rings_ = 0;
    if (causes.links.empty()) return kAroundCauses;
    const float width = std::min(kCausesWidth, seen.w - kBesideCauses);
    const CausesPlaces places =
        places_of(ui.paint(), causes, {seen.x + (seen.w - width) / 2, y + kAroundCauses}, width);
    for (size_t i = 0; i < causes.links.size(); ++i)
      draw_switch(ui, fmt::format("lesson/cut/{}", i + 1), places.cuts[i], causes.links[i], seen, context);
    paint_causes(ui.paint(), ui.theme(), causes, places, *context.course.words);
    for (size_t i = 0; i < causes.links.size(); ++i) {
      const Causes::Link& link = causes.links[i];
      ui.mark(fmt::format("lesson/cause/{}", i + 1), places.boxes[i], link.cause,
              link.as_text(*context.course.words));
      for (size_t k = 0; k < link.lessons.size(); ++k)
        draw_ring(ui, places.rings[i][k], *link.lessons[k], words);
    }
    return places.height + 2 * kAroundCauses;
  }
  void draw_ring(Ui& ui, const Rect& place, const Lesson& lesson, const FlowContext& words) {
    const std::string name = fmt::format("lesson/ring/{}/{}", ++rings_, lesson.id);
    const std::string number = std::to_string(lesson.number);
    const Hit h = ui.hit(name, place, number, words.words->tr("Open lesson {lesson}", {{"lesson", number}}));
    if (h.hovered) ui.paint().ring(place.centre(), place.h / 2 - 1, ui.theme().ink, 2.4f);
    words.ring(name, place, lesson.id, h.clicked);
  }
  /// A switch opens two small models in the Lab: Post-LN as it is, and with the switch's settings.
  static void draw_switch(Ui& ui, const std::string& name, const Rect& place, const Causes::Link& link,
                          const Rect& seen, LessonContext& context) {
    const std::string settings = fmt::format("{}", fmt::join(link.settings, ", "));
    const Hit h = ui.hit(name, place.inset(-6, -4), settings,
                         context.tr("Opens two small models in the Lab, Post-LN without this switch and "
                                    "with it: {settings}.",
                                    {{"settings", settings}}));
    context.scroll.follow_focus(ui, name, place, seen);
    if (h.hovered) ui.paint().fill(place.inset(-6, -4), ui.theme().accent_soft, radius::button);
    if (h.clicked) context.requests.replacing = with_and_without(link);
  }
  static session::ReplaceRuns with_and_without(const Causes::Link& link) {
    return {.runs = {at_small_size({}), at_small_size(run_with(link.settings))},
            .letters = "AD",
            .instant = true};
  }
  std::string range_of(const std::string& name, LessonContext& context) {
    const auto [lesson, measure] = measure_named(context.course, name);
    const Results* const results = results_of(*lesson, context);
    if (!results || !results->measures.contains(measure->id)) return "–";
    return range_text(results->measures.at(measure->id).spread, *measure, *context.course.words);
  }
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

  const Prose* read_ = nullptr;  ///< the page that the next two are parts of
  Prose above_, below_;
  int rings_ = 0;                                          ///< of the picture, in this frame
  bool read_this_frame_ = false;                           ///< one more lesson into results_
  std::map<std::string, std::optional<Results>> results_;  ///< by lesson
};

// ---- The last page of the course: all predictions beside what was measured, and a way to make them again.

constexpr float kReviewLine = 18, kReviewPad = 10, kAgain = 112, kReviewHead = 24;
constexpr TextStyle kReviewSmall{Face::Sans, type::body};
constexpr TextStyle kReviewWords{Face::Sans, type::title};

/// The columns lesson, said, measured and score; the button is right of them.
std::array<Rect, 4> columns(Rect row) {
  row.take_right(kAgain, 12);
  const float w = row.w;
  return {row.take_left(w * 0.40f, 12), row.take_left(w * 0.21f - 12, 12), row.take_left(w * 0.22f - 12, 12),
          row};
}

bool answered(const LessonProgress& p) { return p.committed || p.skipped; }

/// A question about the first wrong answer; without one, a sentence about the predictions so far.
std::string sentence_of(const LessonContext& context) {
  size_t made = 0;
  for (const course::Lesson& l : context.course.lessons) made += context.progress.of(l.id).committed;
  for (const course::Lesson& l : context.course.lessons) {
    const LessonProgress& p = context.progress.of(l.id);
    if (p.committed && !p.score.empty() && !is_right(p.grade))
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
  if (l.closing && !progress.answer.empty())
    asked += " " + context.tr(course::answers_right(*l.closing, progress.answer) ? "The case: right."
                                                                                 : "The case: wrong.");
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

}  // namespace normscope::lesson_player

// Behind Compare is a task for the learner's own run, with hints, a score, and the ways found as a session.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/course/exercises.h"
#include "app/lesson-player/experiment.h"
#include "app/lesson-player/flow.h"
#include "app/lesson-player/text_column.h"
#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "engine/core/error.h"
#include "training/files/config_file.h"
#include "training/io/output_file.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kChoiceRow = 28, kChoiceGap = 8, kChoiceBox = 190, kTaskLine = 19;
constexpr size_t kMostFound = 3;  // beside the start: a session has four runs
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
  Inline words;
  words.text = text;
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
  if (ways.size() > kMostFound) ways.resize(kMostFound);
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
    // One that diverged has no number: it is as far above the line as can be.
    tries.push_back({set, std::isfinite(loss) ? loss : std::numeric_limits<double>::infinity()});
    context.progress.save();
    if (below_line(task, loss)) keep_found(context);
  }

 private:
  /// Saves them beside the progress, as a session that the Lab opens.
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
  /// Shows what the run came to, the sum of points, and the way to the Lab.
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

std::unique_ptr<Page> make_challenge_page() { return std::make_unique<ChallengePage>(); }

}  // namespace normscope::lessons

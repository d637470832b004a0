// The challenge after Compare is a task for the learner's own run, with hints, a score and the ways found as a session.
// See player.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/course/terms.h"
#include "app/lessons/player.h"
#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/files/config_file.h"
#include "training/io/output_path.h"

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

}  // namespace

/// The present value of a choice.
std::string Player::chosen(const Challenge::Choice& choice) const {
  const auto it = chosen_.find(choice.field);
  return it != chosen_.end() ? it->second
                             : get_field(lesson()->run(lesson()->challenge->run)->spec, choice.field);
}

/// Notes a finished training, once for each setting, whatever its result.
void Player::note_try(const MeasureState& state) {
  const Challenge& task = *lesson()->challenge;
  const std::string set = to_text(settings_in(task, state.changes));
  std::vector<Try>& tries = progress_.of(lesson()->id).tries;
  if (set.empty() || std::any_of(tries.begin(), tries.end(), [&](const Try& one) { return one.set == set; }))
    return;
  const double loss = evaluate(*lesson(), *lesson()->measure(task.measure), state.curves);
  // One that diverged has no number: it is as far above the line as can be.
  tries.push_back({set, std::isfinite(loss) ? loss : std::numeric_limits<double>::infinity()});
  progress_.save();
  if (below_line(task, loss)) keep_found();
}

/// The start and the best of the ways found, for the Lab.
session::ReplaceRuns Player::found_runs() {
  const Challenge& task = *lesson()->challenge;
  std::vector<Try> ways = ways_found(task, progress_.of(lesson()->id).tries);
  std::stable_sort(ways.begin(), ways.end(), [](const Try& a, const Try& b) { return a.loss < b.loss; });
  if (ways.size() > kMostFound) ways.resize(kMostFound);
  session::ReplaceRuns out;
  out.known = true;
  const std::vector<Edit>& edits = lesson()->run(task.run)->edits;
  const auto add = [&](const Settings& settings) {
    Changes changes;
    for (const auto& [field, value] : settings) changes[task.run][field] = value;
    try {
      out.runs.push_back(spec_of(*lesson(), task.run, 1, changes));
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

/// Saves them beside the progress, as a session that the Lab opens.
void Player::keep_found() {
  if (folder_.empty()) return;
  try {
    const session::ReplaceRuns found = found_runs();
    std::vector<ConfigRun> runs;
    for (size_t i = 0; i < found.runs.size(); ++i)
      runs.push_back({found.letters[i], found.runs[i], found.edits[i]});
    make_folder(folder_, Access::Own, "lesson");
    save_config(fmt::format("{}/{}.toml", folder_, lesson()->id), runs);
    found_fault_.clear();
  } catch (const Error& error) {
    found_fault_ = error.message;
  }
}

void Player::draw_choices(Ui& ui, Rect& rest, FlowContext& words) {
  const bool running = measurer_->state()->running;
  for (const Challenge::Choice& choice : lesson()->challenge->choices) {
    Rect row = rest.take_top(kChoiceRow, kChoiceGap);
    std::vector<words::Label> labels;
    int selected = 0;
    for (size_t i = 0; i < choice.values.size(); ++i) {
      labels.push_back({choice.values[i].name, choice.values[i].text});
      if (choice.values[i].value == chosen(choice)) selected = static_cast<int>(i);
    }
    const std::string name = "lesson/challenge/" + choice.field;
    const Rect box = row.take_right(kChoiceBox, 12);
    draw_marked(ui, row, choice.label, kTaskText.px, row.h, words);
    std::string help = tr("{setting}: choose one of these.", {{"setting", choice.label}});
    const std::string& now = labels[static_cast<size_t>(selected)].shown;
    if (const view::Term* term = term_of_text(now, *course_.words))
      help += fmt::format(" {}: {}", now, term->text);
    const bool changed = ui::choice(ui, name, box, labels, selected, help);
    follow_focus(ui, name, box, words.seen);
    if (changed && !running) chosen_[choice.field] = choice.values[static_cast<size_t>(selected)].value;
  }
}

/// Draws the button to train or stop, and the next hint.
void Player::draw_training(Ui& ui, Rect& rest, FlowContext& words) {
  const Challenge& task = *lesson()->challenge;
  const auto state = measurer_->state();
  LessonProgress& progress = progress_.of(lesson()->id);
  Rect row = rest.take_top(34, 10);
  ButtonOptions train, more;
  train.primary = work_left();
  train.enabled = state->running || !changes().empty();
  const Rect left = row.take_left(150, 8), right = row.take_left(170);
  const std::string name = state->running ? "lesson/challenge/stop" : "lesson/challenge/train";
  if (button(ui, name, left,
             state->running ? tr("Stop") : tr("Train {steps} steps", {{"steps", task.budget}}),
             state->running  ? tr("Stops the training; it is not counted.")
             : train.enabled ? tr("Trains your run from the beginning.")
                             : tr("Change one of the settings first."),
             train)) {
    if (state->running)
      measurer_->stop();
    else
      measure();
  }
  follow_focus(ui, name, left, words.seen);
  const auto taken = static_cast<size_t>(progress.hints);
  more.enabled = taken < task.hints.size();
  if (button(
          ui, "lesson/challenge/hint", right,
          more.enabled ? tr("Hint, costs {cost}", {{"cost", task.hints[taken].costs}}) : tr("No more hints"),
          tr("Shows the next hint."), more)) {
    ++progress.hints;
    progress_.save();
  }
  follow_focus(ui, "lesson/challenge/hint", right, words.seen);
  for (size_t i = 0; i < std::min(taken, task.hints.size()); ++i)
    rest.take_top(
        draw_marked(ui, rest, tr("Hint {number}: {text}", {{"number", i + 1}, {"text", task.hints[i].text}}),
                    kTaskText.px, kTaskLine, words),
        6);
}

/// Shows what the run came to, the sum of points, and the way to the Lab.
void Player::draw_outcome(Ui& ui, Rect& rest, const Rect& seen) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Challenge& task = *lesson()->challenge;
  const auto state = measurer_->state();
  const LessonProgress& progress = progress_.of(lesson()->id);
  const Measure& measure = *lesson()->measure(task.measure);
  std::string words = state->running ? state->doing : words::spoken(state->error);
  if (measured_ && state->lesson == lesson()->id) {
    const double loss = evaluate(*lesson(), measure, state->curves);
    const std::string where = below_line(task, loss) ? tr("below the line") : tr("not below the line");
    words = state->changes.empty() ? tr("The start ends at {loss}: {where}.",
                                        {{"loss", shown(loss, measure, *lesson()->words)}, {"where", where}})
                                   : tr("Your run ends at {loss}: {where}.",
                                        {{"loss", shown(loss, measure, *lesson()->words)}, {"where", where}});
  }
  const bool wrong = !state->error.empty() && !state->running;
  rest.take_top(p.text_wrapped(rest, kTaskBold, wrong ? t.error : t.ink, words, kTaskLine), 6);
  const std::string score = score_text(task, progress.tries, progress.hints, *course_.words);
  const float high = p.text_wrapped(rest, kTaskText, t.ink, score, kTaskLine);
  ui.mark("lesson/challenge/score", {rest.x, rest.y, rest.w, high},
          std::to_string(score_of(task, progress.tries, progress.hints)), tr("Your points."));
  rest.take_top(high, 10);
  if (ways_found(task, progress.tries).empty()) return;
  const Rect box = rest.take_top(34, 6);
  if (button(ui, "lesson/challenge/lab", {box.x, box.y, 230, box.h}, tr("Open the ways in the Lab"),
             tr("The start and the best of the ways you found, one beside the other.")))
    found_asked_ = found_runs();
  follow_focus(ui, "lesson/challenge/lab", box, seen);
  const std::string kept = !found_fault_.empty() ? words::spoken(found_fault_)
                           : folder_.empty()     ? ""
                                                 : tr("Kept as {folder}/{lesson}.toml",
                                                      {{"folder", folder_}, {"lesson", lesson()->id}});
  rest.take_top(
      p.text_wrapped(rest, {Face::Sans, type::body}, found_fault_.empty() ? t.ink3 : t.error, kept, 16), 4);
}

/// Its height.
float Player::draw_challenge(Ui& ui, Rect rest, const Rect& seen) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Challenge& task = *lesson()->challenge;
  const float top = rest.y;
  p.text_in(rest.take_top(22, 6), {Face::Bold, type::run_name}, t.ink,
            tr("Below {line} after {steps} steps",
               {{"line", shown(task.line, *lesson()->measure(task.measure), *lesson()->words)},
                {"steps", task.budget}}));
  std::set<const view::Term*> marked;
  FlowContext words = flow_context(ui);
  words.seen = seen;
  words.used = &marked;
  rest.take_top(draw_marked(ui, rest, task.text, type::run_name, 23, words), 6);
  rest.take_top(p.text_wrapped(rest, {Face::Sans, type::body}, t.ink2, score_rule(task, *course_.words), 17),
                12);
  draw_choices(ui, rest, words);
  rest.take_top(6);
  draw_training(ui, rest, words);
  draw_outcome(ui, rest, seen);
  return rest.y - top;
}

}  // namespace normscope::lessons

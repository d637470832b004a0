// The bottom bar of the Sweep screen shows time, run by run.
#include <algorithm>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/screen/words.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::sweep {

using namespace ui;

namespace {

constexpr size_t kMostFields = 200;  ///< more runs than this are shown as one bar
constexpr float kLeastRuns = 240;    ///< the width that the runs keep

}  // namespace

/// Draws one field per run in the order of training: dark where there is a result, half filled while it
/// trains.
void SweepScreen::draw_runs(Ui& ui, const Rect& rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const int64_t known = grid_->known;
  const auto runs = static_cast<int64_t>(runs_.size());
  ui.mark("sweep/runs", rect, tr("{done} of {all}", {{"done", known}, {"all", runs}}),
          tr("One field for each run, seed by seed."));
  if (runs_.size() > kMostFields) {
    p.fill(rect, t.trough, 3);
    p.fill({rect.x, rect.y, rect.w * static_cast<float>(known) / static_cast<float>(runs), rect.h}, t.ink2,
           3);
    return;
  }
  const float each = rect.w / static_cast<float>(std::max<int64_t>(1, runs));
  for (size_t i = 0; i < runs_.size(); ++i) {
    const CellRun& one = runs_[i];
    const uint64_t seed = one.run.spec.seed;
    const Rect field{rect.x + static_cast<float>(i) * each, rect.y, std::max(1.f, each - 2), rect.h};
    const Cell& cell = grid_->at(one.column, one.row);
    const bool there = cell.runs[seed - 1].has_value();
    p.fill(field, there ? t.ink2 : t.trough, 2);
    for (const UnderWay& run : state_->under_way)
      if (!there && run.column == one.column && run.row == one.row && run.seed == seed)
        p.fill({field.x, field.y, field.w * run.share, field.h}, t.ink2, 2);
  }
}

/// What was refused, why the sweep ended, or how far it is. The first two are cut where they are
/// long, and whole under the mouse.
void SweepScreen::draw_status(Ui& ui, const Rect& words, const Rect& line, bool clock) {
  const TextStyle body{Face::Sans, type::body};
  const bool trouble = !message_.empty() || !state_->error.empty();
  const bool told = trouble || busy() || state_->grid->plan == plan_;
  const std::string status = !message_.empty() ? message_
                             : told            ? progress_words(*state_, clock, seconds_)
                                               : "";
  const std::string fitted = ui.paint().fit(body, status, line.w);
  ui.tell("sweep/status", words, status,
          fitted == status ? tr("How far the sweep has come, or what stops it.") : status);
  if (trouble || fitted == status)
    ui.paint().text_in(line, body, trouble ? ui.theme().ink : ui.theme().ink2, fitted);
}

void SweepScreen::draw_bar(Ui& ui, const Rect& bar, bool clock) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill(bar, t.panel);
  p.hairline({bar.x, bar.y}, {bar.right(), bar.y}, t.border);
  Rect rest = bar.inset(14, 0);
  const float cy = bar.centre().y;
  const bool running = busy() && wants_training_, done = grid_->complete;
  ButtonOptions play;
  play.primary = true;
  play.enabled = running || !done;
  const Rect place = centred({rest.x + 23, cy}, 46, 34);
  if (icon_button(ui, "sweep/play", place, running ? Icon::Pause : Icon::Play,
                  running ? tr("Pause; runs under way are saved and go on from their step (Space).")
                          : tr("Train what is missing, several runs side by side (Space)."),
                  play, running ? tr("running") : tr("resting")))
    play_or_pause();
  rest.take_left(46, 6);
  ButtonOptions stops;
  stops.enabled = running || state_->phase == Phase::Paused;
  const Rect square = centred({rest.x + 17, cy}, 34, 34);
  if (icon_button(ui, "sweep/stop", square, Icon::None, tr("Stop; what ran is kept (S)."), stops)) stop();
  p.fill(centred(square.centre(), 11, 11), stops.enabled ? t.ink : t.ink3, 1);
  rest.take_left(34, 12);

  const int32_t all = trainer_->all_cores();
  const float words_w = size_ == Size::Compact ? 240 : 300;
  const std::vector<words::Label> labels{words::label("{count} core | {count} cores", {{"count", 1}}),
                                         words::label("{count} core | {count} cores", {{"count", all}})};
  const float width = segmented_width(ui, labels);
  const bool room = rest.w > width + words_w + kLeastRuns;
  if (room && all > 1 && clock) {
    int shown = trainer_->cores() > 1 ? 1 : 0;
    if (segmented(
            ui, "sweep/cores", centred({rest.x + width / 2, cy}, width, 28), labels, shown,
            tr("How many runs train side by side, each on a core of its own. Runs that train in the Lab "
               "keep at least a quarter of the cores.")))
      trainer_->use_cores(shown == 0 ? 1 : all);
    rest.take_left(width, 16);
  }
  Rect words = rest.take_left(words_w, 16);
  const Rect upper{words.x, cy - 24, words.w, 24}, lower{words.x, cy + 2, words.w, 18};
  const float number = p.text_in(upper, {Face::Mono, type::counter}, t.ink, grouped(grid_->known));
  p.text_in({upper.x + number + 8, upper.y + 2, upper.w, upper.h}, {Face::Sans, type::body}, t.ink3,
            tr("of {all} runs", {{"all", runs_.size()}}));
  draw_status(ui, words, lower, clock);
  const Rect runs = centred(rest.centre(), rest.w, 8);
  draw_runs(ui, runs);
  const TextStyle mono{Face::Mono, type::tick};
  p.text({runs.x, runs.bottom() + 18}, mono, t.ink3, tr("run {run}", {{"run", 1}}));
  p.text({runs.right(), runs.bottom() + 18}, mono, t.ink3, tr("run {run}", {{"run", runs_.size()}}),
         Align::Right);
}

}  // namespace normscope::sweep

// The bottom bar of the Sweep screen shows time, run by run. Beside it: how the sweep is exported and run elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/screen/words.h"
#include "addons/sweep/app/sweep_plan.h"
#include "addons/sweep/app/sweep_writers.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/experiments/study.h"

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
    const StudyRun& one = runs_[i];
    const uint64_t seed = one.spec.seed;
    const Rect field{rect.x + static_cast<float>(i) * each, rect.y, std::max(1.f, each - 2), rect.h};
    const Cell& cell = grid_->at(one.column, one.row);
    const bool there = cell.runs[seed - 1].has_value();
    p.fill(field, there ? t.ink2 : t.trough, 2);
    for (const UnderWay& run : state_->under_way)
      if (!there && run.column == one.column && run.row == one.row && run.seed == seed)
        p.fill({field.x, field.y, field.w * run.share, field.h}, t.ink2, 2);
  }
}

/// How many runs are known, and below what was refused, why the sweep ended, or how far it is. What was refused takes
/// the room of both where it is long.
void SweepScreen::draw_status(Ui& ui, const Rect& words, bool clock) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const TextStyle body{Face::Sans, type::body};
  const float middle = words.centre().y;
  const Rect upper{words.x, middle - 24, words.w, 24}, line{words.x, middle + 2, words.w, 18};
  const bool trouble = !message_.empty() || !state_->error.empty();
  const bool told = trouble || busy() || state_->grid->plan == plan_;
  const std::string status = !message_.empty() ? message_
                             : told            ? progress_words(*state_, clock, seconds_)
                                               : "";
  const std::string fitted = p.fit(body, status, line.w);
  ui.tell("sweep/status", words, status,
          fitted == status ? tr("How far the sweep has come, or what stops it.") : status);
  const Rect both{words.x, upper.y, words.w, line.bottom() - upper.y};
  if (trouble && fitted != status && p.wrapped_height(both.w, body, status, 15) <= both.h) {
    p.text_wrapped(both, body, t.ink, status, 15);
    return;
  }
  const float number = p.text_in(upper, {Face::Mono, type::counter}, t.ink, grouped(grid_->known));
  p.text_in({upper.x + number + 8, upper.y + 2, upper.w, upper.h}, body, t.ink3,
            tr("of {all} runs", {{"all", runs_.size()}}));
  if (trouble || fitted == status) p.text_in(line, body, trouble ? t.ink : t.ink2, fitted);
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
  draw_status(ui, rest.take_left(words_w, 16), clock);
  const Rect runs = centred(rest.centre(), rest.w, 8);
  draw_runs(ui, runs);
  const TextStyle mono{Face::Mono, type::tick};
  p.text({runs.x, runs.bottom() + 18}, mono, t.ink3, tr("run {run}", {{"run", 1}}));
  p.text({runs.right(), runs.bottom() + 18}, mono, t.ink3, tr("run {run}", {{"run", runs_.size()}}),
         Align::Right);
}

void SweepScreen::save(const std::string& ending) {
  const std::string text = ending == "csv"   ? to_csv(*grid_)
                           : ending == "svg" ? to_svg(*grid_, metric_)
                                             : to_json(*grid_).dump(1) + "\n";
  asked_.files.push_back({"sweep." + ending, text});
}

namespace {

/// Cuts each line of a script into pieces that fit the width. It drops what exceeds the height, because
/// Copy takes the whole script anyway.
void draw_script(Painter& p, const Theme& t, const Rect& rect, std::string_view text) {
  const TextStyle mono{Face::Mono, type::tick};
  const float line = 15, letter = p.text_width(mono, "0");
  const auto most = static_cast<size_t>(std::max(8.f, rect.w / letter));
  float y = rect.y;
  while (!text.empty() && y + line <= rect.bottom()) {
    std::string_view piece = text.substr(0, text.find('\n'));
    size_t gap = 1;  // skips the end of the line, or the blank at which it is cut
    if (piece.size() > most) {
      const size_t blank = piece.rfind(' ', most);
      gap = blank == piece.npos || blank == 0 ? 0 : 1;
      piece = piece.substr(0, gap == 0 ? most : blank);
    }
    p.text({rect.x, y + 11}, mono, t.ink, piece);
    text.remove_prefix(std::min(text.size(), piece.size() + gap));
    y += line;
  }
}

}  // namespace

void SweepScreen::draw_elsewhere(Ui& ui, const Rect& rect) {
  Rect rest = panel(ui, rect, {tr("Run it elsewhere"), tr("one run for each task"), "", 0, false});
  const std::vector<words::Label> labels{words::label("command"), words::label("Slurm array"),
                                         words::label("GNU parallel")};
  Rect row = rest.take_top(28, 8);
  segmented(ui, "sweep/form", {row.x, row.y, std::min(row.w, segmented_width(ui, labels)), 26}, labels, form_,
            tr("The sweep as text: one command, a job array for Slurm, or lines for GNU parallel."));
  Rect buttons = rest.take_bottom(28, 8);
  const std::string text = text_for(experiments::kForms[form_], plan_, info(metric_).name);
  ui.mark("sweep/text", rest, text, tr("What is copied: it trains this very plan."));
  ui.paint().fill(rest, ui.theme().dark ? ui.theme().field : ui.theme().sunk, radius::field);
  draw_script(ui.paint(), ui.theme(), rest.inset(8, 6), text);
  const std::string& copy = tr("Copy");
  const float wide = std::max(70.f, ui.paint().text_width({Face::Bold, type::title}, copy) + 20);
  if (button(ui, "sweep/copy", buttons.take_left(wide, 10), copy, tr("Copies the text (C).")))
    asked_.copied = text;
  for (const char* ending : {"csv", "svg", "json"}) {
    std::string label(ending);
    std::transform(label.begin(), label.end(), label.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    if (button(ui, fmt::format("sweep/export/{}", ending), buttons.take_left(62, 6), label,
               tr("Saves what is known so far as {kind} in the pictures folder.", {{"kind", label}})))
      save(ending);
  }
}

}  // namespace normscope::sweep

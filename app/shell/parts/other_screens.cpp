#include "app/shell/parts/other_screens.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/compare_screen/compare_screen.h"
#include "app/lessons/player.h"
#include "app/panels/plot_files.h"
#include "app/shell/app_state.h"
#include "app/sweep/screen/sweep_screen.h"
#include "app/tape_screen/tape_screen.h"
#include "app/ui/widgets.h"
#include "engine/core/boundary.h"
#include "engine/io/atomic_file.h"
#include "training/files/file_kind.h"

namespace normscope {

using namespace ui;

namespace {

constexpr const char *kOpenLesson = "lesson/replace", *kOtherModel = "settings/replace";

void replace_runs(Screens& screens, std::vector<lab::Command>& commands) {
  screens.lessons.player->stop_measuring();  // the Lab trains them; what it finishes is found there
  screens.shown = Screen::Lab;
  commands.emplace_back(*std::exchange(screens.lessons.to_lab, std::nullopt));
}

// Runs wait for an answer where those in the Lab could not come back: in a popup beside the control that asked for them.
// True: they may come.
bool ask_replacing(Ui& ui, const std::string& popup, const Rect& control, std::string_view whose,
                   std::optional<lab::ReplaceRuns>& runs) {
  const std::string words = fmt::format("{} take the place of all in the Lab. This cannot be undone.", whose);
  constexpr float kWidth = 300, kLine = 18;
  const TextStyle body{Face::Sans, type::body};
  const float height = ui.paint().wrapped_height(kWidth - 32, body, words, kLine) + 62;
  Rect box{0, 0, kWidth, height};
  box.x = std::clamp(control.right() - box.w, 4.f, ui.size().x - box.w - 4);
  box.y = std::max(4.f, control.y - box.h - 8);
  if (!ui.begin_popup(popup, box)) {
    runs.reset();
    return false;
  }
  Rect rest = box.inset(16, 12);
  ui.mark(popup + "/words", rest, words, "What would happen.");
  ui.paint().text_wrapped(rest.take_top(height - 62, 10), body, ui.theme().ink, words, kLine);
  const bool yes =
      button(ui, popup + "/yes", rest.take_right(120, 8), "Replace them", "Opens the other runs.");
  const bool no = button(ui, popup + "/no", rest.take_right(80), "Cancel", "Leaves the Lab as it is.");
  if (yes || no) ui.close_popup();
  ui.end_popup();
  return yes;
}

}  // namespace

void draw_lessons(Ui& ui, const Rect& area, Screens& screens, ShownSession& session) {
  Lab* const lab = session.lab;
  lessons::Player& player = player_of(screens.lessons, lab);
  const std::optional<lessons::ToLab> to_lab = player.draw(ui, area);
  // Two trainings at once would only slow each other down.
  if (lab && player.measuring() && session.view->playing) lab->post(lab::Pause{});
  if (to_lab && !lab) screens.shown = Screen::Lab;
  if (to_lab && lab) {
    screens.lessons.to_lab = lab::ReplaceRuns{
        to_lab->runs, to_lab->edits, to_lab->open, to_lab->open, session.undo.next_slot(), to_lab->letters};
    if (!session.undo.keeps_sessions() && !session.view->runs.empty())
      ui.open_popup(kOpenLesson);
    else
      replace_runs(screens, session.commands);
  }
  if (screens.lessons.to_lab)
    if (const Control* way = ui.registry().find("lesson/lab"))
      if (ask_replacing(ui, kOpenLesson, way->rect, "The lesson's runs", screens.lessons.to_lab))
        replace_runs(screens, session.commands);
}

void draw_lab(Ui& ui, const Rect& area, Screens& screens, ShownSession& session, bool clock) {
  std::vector<lab::Command> made;
  screens.lab.draw(ui, *session.view, area, clock, made);
  for (lab::Command& command : made) {
    auto* const others = std::get_if<lab::ReplaceRuns>(&command);
    if (others && !session.undo.keeps_sessions()) {
      screens.other_model = std::move(*others);
      ui.open_popup(kOtherModel);
    } else {
      session.commands.push_back(std::move(command));
    }
  }
  if (!screens.other_model) return;
  const Control* const row = ui.registry().find("settings/model.architecture");
  if (ask_replacing(ui, kOtherModel, row ? row->rect : area, "Runs of the other model", screens.other_model))
    session.commands.emplace_back(*std::exchange(screens.other_model, std::nullopt));
}

void draw_compare(AppState& state, Ui& ui, const Rect& area) {
  comparison::CompareScreen& screen = screen_of(state.screens.compare);
  screen.draw(ui, *state.session.view, state.screens.lab.transport(), area, state.switches.clock,
              state.session.commands);
  if (screen.take_wish()) shell::run_act(state, ui, shell::Act::OpenFile);
}

// What was recognised as a log or a saved run is shown where it can be compared.
// The places of the live runs are known once these are there.
void open_recorded(Screens& screens, shell::Files& files, const LabView& view) {
  if (view.runs.empty()) return;
  for (const std::string& path : std::exchange(files.recorded, {})) {
    screen_of(screens.compare).open(path, view);
    screens.shown = Screen::Compare;
  }
}

namespace {

// A cell becomes run D, from step 0, beside the others; undo takes it away again.
void open_cell(const RunSpec& spec, Screens& screens, ShownSession& session, std::string& notice) {
  const LabView& view = *session.view;
  if (view.runs.empty()) {
    session.commands.emplace_back(lab::ReplaceRuns{.runs = {spec}, .play = true});
  } else if (!(view.runs[0].spec->data == spec.data)) {
    notice = "the cell's data differ from those of the Lab's runs: copy its command instead";
    return;
  } else {
    session.commands.emplace_back(lab::ForkRequest{
        .source = 0, .spec = spec, .from_start = true, .note = "a cell of the sweep", .train = true});
  }
  screens.shown = Screen::Lab;
}

// What a screen wrote, under a free name in the pictures folder.
void save_file(const std::pair<std::string, std::string>& file, const char* what, std::string& notice) {
  try {
    const std::string free = free_name(lab::pictures_folder() + "/normscope-" + file.first);
    write_file(free, file.second, what);
    notice = "saved " + free;
  } catch (...) {
    notice = describe_exception(what);
  }
}

}  // namespace

void draw_sweep(AppState& state, Ui& ui, const Rect& area) {
  std::vector<sweep::OpenRun> open;
  for (const RunView& run : state.session.view->runs) open.push_back({run.letter, run.name, run.spec});
  const sweep::Asked asked = sweep_of(state.screens.sweep).draw(ui, area, open, state.switches.clock);
  if (asked.open) open_cell(*asked.open, state.screens, state.session, state.notice);
  if (!asked.copied.empty()) shell::copy_text(asked.copied, "the sweep", state.shell, state.notice);
  if (asked.file) save_file(*asked.file, "saving the sweep", state.notice);
}

void draw_tape(AppState& state, Ui& ui, const Rect& area) {
  const tape_screen::TapeAsked asked = tape_of(state.screens.tape, state.switches.clock)
                                           .draw(ui, area, *state.session.view, state.switches.clock);
  for (const lab::Command& command : asked.commands) state.session.commands.push_back(command);
  if (!asked.copied.empty()) shell::copy_text(asked.copied, "the step", state.shell, state.notice);
  if (asked.file) save_file(*asked.file, "saving from the Tape", state.notice);
}

}  // namespace normscope

#include "app/shell/parts/carry_out.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "app/lesson-player/player.h"
#include "app/panels/plot_files.h"
#include "app/shell/app_state.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "training/files/file_kind.h"
#include "training/io/output_file.h"

namespace normscope::shell {

using namespace ui;

namespace {

// Saves what a screen wrote under a free name in the pictures folder.
void save_file(const Desk::File& file, const std::string& what, Message& notice) {
  try {
    const std::string free = free_name(panels::pictures_folder() + "/normscope-" + file.name);
    write_file(free, file.text, what);
    notice = tr("saved {path}", {{"path", free}});
  } catch (...) {
    notice = describe_exception(what.c_str());
  }
}

void replace_runs(session::ReplaceRuns runs, AppState& state) {
  const bool in_lessons = std::exchange(state.screens.shown, Screen::Lab) == Screen::Lessons;
  if (in_lessons && !state.session.lab) return;  // nobody to train them
  // The Lab then trains the lesson's runs, and what it finishes is found there.
  if (in_lessons && state.screens.lessons.player) state.screens.lessons.player->stop_measuring();
  state.session.commands.emplace_back(std::move(runs));
}

}  // namespace

const std::string& subject_of(Screen screen) {
  return words::say(fmt::format("shell.tab.{}.subject", name_of(screen)));
}

void carry_out(Desk desk, AppState& state, Ui& ui) {
  for (session::Command& command : desk.commands) state.session.commands.push_back(std::move(command));
  for (view::SavePlot& save : desk.saves) state.session.saves.push_back(std::move(save));
  for (const Desk::File& file : desk.files)
    save_file(file, tr("saving {what}", {{"what", subject_of(state.screens.shown)}}), state.notice);
  if (!desk.copied.empty())
    copy_text(desk.copied, subject_of(state.screens.shown).c_str(), state.shell, state.notice);
  if (!desk.notice.empty()) state.notice = std::move(desk.notice);
  if (desk.opens_file) run_act(state, ui, view::Act::OpenFile);
  if (desk.replacing) replace_runs(std::move(*desk.replacing), state);
  if (desk.shown) state.screens.shown = *desk.shown;
}

void open_recorded(Screens& screens, Files& files, const LabView& view, Message& notice) {
  if (std::exchange(files.looked_into, false))
    screens.shown = screen_for(FileKind::Model).value_or(Screen::Lab);
  const std::optional<Screen> recorded = screen_for(FileKind::Recorded);
  for (const std::string& path : std::exchange(files.recorded, {})) {
    if (!recorded) {
      notice = tr("no screen of this program shows {path}", {{"path", path}});
      continue;
    }
    screen_of(screens, *recorded).open(path, view);
    screens.shown = *recorded;
  }
}

}  // namespace normscope::shell

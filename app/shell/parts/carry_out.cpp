#include "app/shell/parts/carry_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "app/lessons/player.h"
#include "app/panels/plot_files.h"
#include "app/shell/app_state.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "training/files/file_kind.h"
#include "training/io/atomic_file.h"

namespace normscope::shell {

using namespace ui;

namespace {

// `ask_replacing` asks, beside the control that wants other runs, where those in the Lab could not come back. True:
// they may come.
bool ask_replacing(Ui& ui, std::optional<Desk::Replacing>& waiting) {
  const std::string popup = waiting->popup;
  const std::string words = words::say("shell.replace.question", {{"what", waiting->whose}});
  const Control* const asked_by = ui.registry().find(waiting->control);
  const Rect control = asked_by ? asked_by->rect : Rect{ui.size().x / 2, ui.size().y / 2, 0, 0};
  constexpr float kWidth = 300, kLine = 18;
  const TextStyle body{Face::Sans, type::body};
  const float height = ui.paint().wrapped_height(kWidth - 32, body, words, kLine) + 62;
  Rect box{0, 0, kWidth, height};
  box.x = std::clamp(control.right() - box.w, 4.f, ui.size().x - box.w - 4);
  box.y = std::max(4.f, control.y - box.h - 8);
  if (!ui.begin_popup(popup, box)) {
    waiting.reset();
    return false;
  }
  Rect rest = box.inset(16, 12);
  ui.mark(popup + "/words", rest, words, words::say("shell.replace.what"));
  ui.paint().text_wrapped(rest.take_top(height - 62, 10), body, ui.theme().ink, words, kLine);
  const bool yes = button(ui, popup + "/yes", rest.take_right(120, 8), words::say("shell.replace.do"),
                          words::say("shell.replace.help_do"));
  const bool no = button(ui, popup + "/no", rest.take_right(80), words::say("shell.replace.cancel"),
                         words::say("shell.replace.help_cancel"));
  if (yes || no) ui.close_popup();
  ui.end_popup();
  return yes;
}

// Saves what a screen wrote under a free name in the pictures folder.
void save_file(const Desk::File& file, const std::string& what, std::string& notice) {
  try {
    const std::string free = free_name(panels::pictures_folder() + "/normscope-" + file.name);
    write_file(free, file.text, what);
    notice = words::say("shell.notice.saved", {{"path", free}});
  } catch (...) {
    notice = describe_exception(what.c_str());
  }
}

void take_runs(session::ReplaceRuns runs, AppState& state) {
  // The Lab then trains the lesson's runs, and what it finishes is found there.
  if (state.screens.shown == Screen::Lessons && state.screens.lessons.player)
    state.screens.lessons.player->stop_measuring();
  state.screens.shown = Screen::Lab;
  state.session.commands.emplace_back(std::move(runs));
}

// Replaces them at once, or when the hand has agreed.
void replace_runs(std::optional<Desk::Replacing> asked, AppState& state, Ui& ui) {
  std::optional<Desk::Replacing>& waiting = state.screens.replacing;
  ShownSession& session = state.session;
  if (asked && !session.lab && state.screens.shown == Screen::Lessons) {  // nobody to train them
    state.screens.shown = Screen::Lab;
  } else if (asked && (session.undo.keeps_sessions() || session.view->runs.empty())) {
    take_runs(std::move(asked->runs), state);
  } else if (asked) {
    waiting = std::move(asked);
    ui.open_popup(waiting->popup);
  }
  if (waiting && ask_replacing(ui, waiting)) take_runs(std::exchange(waiting, std::nullopt)->runs, state);
}

}  // namespace

const std::string& subject_of(Screen screen) {
  return words::say(fmt::format("shell.tab.{}.subject", name_of(screen)));
}

void carry_out(Desk desk, AppState& state, Ui& ui) {
  for (session::Command& command : desk.commands) state.session.commands.push_back(std::move(command));
  for (view::SavePlot& save : desk.saves) state.session.saves.push_back(std::move(save));
  for (const Desk::File& file : desk.files)
    save_file(file, words::say("shell.subject.saving", {{"what", subject_of(state.screens.shown)}}),
              state.notice);
  if (!desk.copied.empty())
    copy_text(desk.copied, subject_of(state.screens.shown).c_str(), state.shell, state.notice);
  if (!desk.notice.empty()) state.notice = std::move(desk.notice);
  if (desk.opens_file) run_act(state, ui, view::Act::OpenFile);
  replace_runs(std::move(desk.replacing), state, ui);
  if (desk.shown) state.screens.shown = *desk.shown;
}

void open_recorded(Screens& screens, Files& files, const LabView& view, std::string& notice) {
  if (std::exchange(files.looked_into, false))
    screens.shown = screen_for(FileKind::Published).value_or(Screen::Lab);
  const std::optional<Screen> recorded = screen_for(FileKind::Recorded);
  for (const std::string& path : std::exchange(files.recorded, {})) {
    if (!recorded) {
      notice = words::say("shell.notice.no_screen", {{"path", path}});
      continue;
    }
    screen_of(screens, *recorded).open(path, view);
    screens.shown = *recorded;
  }
}

}  // namespace normscope::shell

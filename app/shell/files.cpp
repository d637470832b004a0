#include "app/shell/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/files/session_file.h"
#include "app/shell/app_state.h"
#include "engine/core/error.h"
#include "engine/data/vocabulary.h"

namespace normscope::shell {
namespace {

namespace fs = std::filesystem;
using ui::Ui;

constexpr const char* kFirstName = "normscope.toml";

std::string absolute(const std::string& path) {
  std::error_code none;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, none), none);
  return whole.empty() ? path : whole.string();
}

bool prompting(const Ui& ui) { return ui.popup_open("app/file"); }

FilePurpose open_purpose(const AppState& state) {
  return state.stash.empty() ? FilePurpose::OpenForGood : FilePurpose::Open;
}

// In the prompt where it stands open, else in the top bar.
void say_no(AppState& state, Ui& ui, const std::string& path, const std::string& why) {
  if (prompting(ui))
    refuse(state.shell.file, why, path, false);
  else
    state.notice = why;
}

// The prompt says what would happen; Enter does it.
void ask_first(AppState& state, Ui& ui, const std::string& path, const std::string& why) {
  if (!prompting(ui)) ask_for_file(ui, state.shell.file, open_purpose(state), path);
  refuse(state.shell.file, why, path, true);
}

void done(AppState& state, Ui& ui, const std::string& path, std::string notice) {
  state.notice = std::move(notice);
  remember(state.shell.files.recent, absolute(path));
  if (prompting(ui)) state.shell.file.done = true;
}

void take_runs(AppState& state, const std::vector<ConfigRun>& runs, const std::string& path) {
  state.asked.emplace_back(lab::ReplaceRuns{session_runs(runs), session_edits(runs), true, false,
                                            state.shell.undo.next_slot(state.stash), session_letters(runs)});
  state.shell.files.replacing = path;
}

void save_to(AppState& state, Ui& ui, const std::string& path) {
  try {
    save_config(path, session_of(*state.view));
  } catch (const Error& error) {
    return say_no(state, ui, path, error.what());
  }
  state.shell.files.own = own_file(path);
  done(state, ui, path, "saved " + path);
}

// A name in the prompt: without an ending it gets ours, a folder is entered.
void choose_name(AppState& state, Ui& ui, const FileChoice& choice) {
  std::error_code none;
  if (fs::is_directory(choice.path, none)) return enter_folder(ui, state.shell.file, choice.path);
  const std::string path = fs::path(choice.path).has_extension() ? choice.path : choice.path + ".toml";
  const bool there = fs::exists(fs::symlink_status(path, none));
  const bool agreed = state.shell.file.again == path;
  if (!there || agreed || is_own(state.shell.files.own, path)) return save_to(state, ui, path);
  refuse(state.shell.file,
         fmt::format(
             "{} exists and is not from this session. Press Enter again to replace it, or type another name.",
             fs::path(path).filename().string()),
         path, true);
}

}  // namespace

OwnFile own_file(const std::string& path) {
  std::error_code none;
  return {absolute(path), fs::last_write_time(path, none), fs::file_size(path, none)};
}

bool is_own(const OwnFile& own, const std::string& path) {
  if (own.path.empty() || own.path != absolute(path)) return false;
  const OwnFile now = own_file(path);
  return now.time == own.time && now.size == own.size;
}

// A name that is no UTF-8 cannot be kept in the settings.
void remember(std::vector<std::string>& recent, const std::string& path) {
  for (size_t at = 0; at < path.size();) {
    const int bytes = read_code_point(path, at).bytes;
    if (bytes == 0) return;
    at += static_cast<size_t>(bytes);
  }
  std::erase(recent, path);
  recent.insert(recent.begin(), path);
  if (recent.size() > kMostRecent) recent.resize(kMostRecent);
}

void begin_opening(AppState& state, const std::string& path, Sure sure) {
  state.notice.clear();
  if (!state.lab) return;
  Files& files = state.shell.files;
  files.opening = path;
  files.sure = sure;
  files.opened.forget();  // the same file may hold something else now
  files.opened.ask(
      path, [path] { return read_opened(path); }, state.wake);
}

void finish_opening(AppState& state, Ui& ui) {
  Files& files = state.shell.files;
  if (files.opening.empty()) return;
  const OpenedFile* file = files.opened.find(files.opening);
  if (!file) return;
  const std::string path = std::exchange(files.opening, {});
  const Sure sure = files.sure;
  switch (file->look.kind) {
    case FileKind::Unusable:
      return say_no(state, ui, path, file->look.words);
    case FileKind::Folder:
      if (!prompting(ui)) ask_open(state, ui);
      return enter_folder(ui, state.shell.file, path);
    case FileKind::Numbers:
      if (sure != Sure::Again)
        return ask_first(state, ui, path,
                         file->look.words + " Press Enter again to learn from it as text all the same.");
      [[fallthrough]];
    case FileKind::Text:
      state.asked.emplace_back(lab::LoadText{path});
      return done(state, ui, path, "");
    case FileKind::Config:
      if (sure == Sure::Dropped && state.stash.empty()) return ask_first(state, ui, path, file->look.words);
      take_runs(state, file->runs, path);
      return done(state, ui, path, "opened " + path);
    case FileKind::Session:
      if (sure == Sure::Dropped && state.stash.empty()) return ask_first(state, ui, path, file->look.words);
      restore_session(state, path, true);
      return done(state, ui, path, "opened " + path);
  }
}

void save(AppState& state, Ui& ui) {
  if (state.view->runs.empty()) return;
  const OwnFile& own = state.shell.files.own;
  std::error_code none;
  if (is_own(own, own.path)) return save_to(state, ui, own.path);
  const bool changed = !own.path.empty() && fs::exists(own.path, none);
  ask_for_file(ui, state.shell.file, FilePurpose::Save, changed ? own.path : free_name(kFirstName));
  if (changed)
    refuse(state.shell.file, "Another program has changed this file since. Press Enter to replace it.",
           own.path, true);
}

void save_as(AppState& state, Ui& ui) {
  if (state.view->runs.empty()) return;
  const std::string& own = state.shell.files.own.path;
  ask_for_file(ui, state.shell.file, FilePurpose::Save, free_name(own.empty() ? kFirstName : own));
}

void ask_open(AppState& state, Ui& ui, const std::string& path) {
  ask_for_file(ui, state.shell.file, open_purpose(state), path);
}

void draw_files(AppState& state, Ui& ui) {
  Shell& shell = state.shell;
  const FileSurroundings around{shell.files.recent, state.wake, !shell.files.opening.empty()};
  const std::optional<FileChoice> choice = draw_file_prompt(ui, shell.file, around);
  if (!choice) return;
  if (shell.file.purpose == FilePurpose::Save)
    choose_name(state, ui, *choice);
  else
    begin_opening(state, choice->path, choice->again ? Sure::Again : Sure::Asked);
}

void runs_were_replaced(Files& files) {
  const std::string path = std::exchange(files.replacing, {});
  files.own = path.empty() ? OwnFile{} : own_file(path);
}

void restore_session(AppState& state, const std::string& folder, bool chosen) {
  Shell& shell = state.shell;
  if (!chosen) {
    shell.restoring = folder;
    shell.restore_asked = state.view->version;
  }
  // What was done in this window is kept and can come back; in a new one the session's own undo does.
  const bool worked = (shell.undo.can_undo() || state.view->restored > 0) && !state.stash.empty();
  shell.swapping = worked;
  if (worked) {
    const std::string slot = shell.undo.next_slot(state.stash);
    const char selected = state.lab_screen.diagram().selected;
    state.lab->post(lab::SaveSession{slot});
    shell.undo.replaced(*state.view, slot, selected, selected);
  } else {
    shell.undo.clear();
  }
  state.lab->post(lab::RestoreSession{folder});
  runs_were_replaced(shell.files);
}

}  // namespace normscope::shell

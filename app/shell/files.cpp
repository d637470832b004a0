#include "app/shell/files.h"

#include <utility>

#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/data/text_source.h"
#include "training/files/placement_file.h"
#include "training/io/output_file.h"
#include "training/session/session_file.h"

namespace normscope::shell {
namespace {

namespace fs = std::filesystem;
using ui::Ui;

constexpr const char *kFirstName = "normscope.toml", *kFirstPlacement = "my-placement.toml";

std::string absolute(const std::string& path) {
  std::error_code none;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, none), none);
  return whole.empty() ? path : whole.string();
}

bool prompting(const Ui& ui) { return ui.popup_open("app/file"); }

// Refuses in the prompt where it stands open, else in the top bar.
void say_no(Ui& ui, FilePrompt& prompt, Message& notice, const std::string& path, const Message& why) {
  if (prompting(ui))
    refuse(prompt, why, path, false);
  else
    notice = why;
}

// Makes the prompt say what would happen, so that Enter does it.
void ask_first(Ui& ui, FilePrompt& prompt, const std::string& path, const Message& why) {
  if (!prompting(ui)) ask_for_file(ui, prompt, FilePurpose::Open, path);
  refuse(prompt, why, path, true);
}

void done(Ui& ui, Files& files, const std::string& path) {
  remember(files.recent, absolute(path));
  if (prompting(ui)) files.prompt.done = true;
}

void take_runs(ShownSession& session, Files& files, const std::vector<ConfigRun>& runs,
               const std::string& path, bool play = true) {
  session.asked.emplace_back(replacing(runs, play));
  files.replacing = path;
}

void save_to(Ui& ui, Files& files, const LabView& view, const std::string& path, Message& notice) {
  try {
    save_config(path, session_of(view));
  } catch (const Error& error) {
    return say_no(ui, files.prompt, notice, path, error.message);
  }
  files.own = own_file(path);
  notice = tr("saved {path}", {{"path", path}});
  done(ui, files, path);
}

// Names the placement after the file. It is offered first, because that says whether the name is
// free.
void save_placement_to(Ui& ui, Files& files, const std::string& path, Message& notice) {
  const diagram::ShownStack& shown = *files.placement;
  const fs::path file(path);
  try {
    const std::string text = placement_text(file.stem().string(), "", shown.stack, shown.norm, shown.context);
    offer(parse_placement(text, file.filename().string()));
    std::error_code none;
    if (file.parent_path() == placements_folder()) fs::create_directories(file.parent_path(), none);
    write_file(path, text, "placement");
  } catch (const Error& error) {
    return say_no(ui, files.prompt, notice, path, error.message);
  }
  notice =
      tr("{name} stands among the placements now: {path}", {{"name", file.stem().string()}, {"path", path}});
  files.prompt.done = true;
}

// Gives a name without an ending ours, and enters a folder.
void choose_name(Ui& ui, Files& files, const LabView& view, const FileChoice& choice, Message& notice) {
  std::error_code none;
  if (fs::is_directory(choice.path, none)) return enter_folder(ui, files.prompt, choice.path);
  const std::string path = fs::path(choice.path).has_extension() ? choice.path : choice.path + ".toml";
  const bool there = fs::exists(fs::symlink_status(path, none));
  const bool agreed = files.prompt.again == path;
  const bool runs = files.prompt.purpose == FilePurpose::Save;
  if (!there || agreed || (runs && is_own(files.own, path)))
    return runs ? save_to(ui, files, view, path, notice) : save_placement_to(ui, files, path, notice);
  refuse(files.prompt,
         tr("{file} exists and is not from this session. Press Enter again to replace it, or type "
            "another name.",
            {{"file", fs::path(path).filename().string()}}),
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

// Leaves out a name that is not UTF-8, because the settings cannot keep it.
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

void begin_opening(Files& files, const ShownSession& session, const std::string& path, bool again,
                   Message& notice) {
  notice.clear();
  if (!session.lab) return;
  files.opening = path;
  files.again = again;
  files.opened.forget();  // the same file may hold something else now
  files.opened.ask(
      path, [path] { return read_opened(path); }, files.wake);
}

void finish_opening(Ui& ui, Files& files, ShownSession& session, Message& notice) {
  if (files.opening.empty()) return;
  const OpenedFile* file = files.opened.find(files.opening);
  if (!file) return;
  const std::string path = std::exchange(files.opening, {});
  if (ui.held("command/open")) return void(notice = ui.locked_help());
  switch (file->look.kind) {
    case FileKind::Unusable:
      return say_no(ui, files.prompt, notice, path, file->look.words);
    case FileKind::Folder:
      if (!prompting(ui)) ask_open(ui, files.prompt);
      return enter_folder(ui, files.prompt, path);
    case FileKind::Recorded:  // it replaces nothing; Compare shows it, or asks where it shall stand
      files.recorded.push_back(path);
      notice.clear();
      return done(ui, files, path);
    case FileKind::Numbers:
      if (!files.again)
        return ask_first(ui, files.prompt, path,
                         tr("{look} Press Enter again to learn from it as text all the same.",
                            {{"look", words::spoken(file->look.words)}}));
      [[fallthrough]];
    case FileKind::Text:
      session.asked.emplace_back(session::LoadText{path});
      notice.clear();
      return done(ui, files, path);
    case FileKind::Config:
      take_runs(session, files, file->runs, path);
      break;
    case FileKind::Model:
      take_runs(session, files, file->runs, path, false);
      files.looked_into = true;
      break;
    case FileKind::Session:
      session.asked.emplace_back(session::RestoreSession{path});
      break;
  }
  notice = tr("opened {path}", {{"path", path}});
  done(ui, files, path);
}

void save(Ui& ui, Files& files, const LabView& view, Message& notice) {
  if (view.runs.empty()) return;
  const OwnFile& own = files.own;
  std::error_code none;
  if (is_own(own, own.path)) return save_to(ui, files, view, own.path, notice);
  const bool changed = !own.path.empty() && fs::exists(own.path, none);
  ask_for_file(ui, files.prompt, FilePurpose::Save, changed ? own.path : free_name(kFirstName));
  if (changed)
    refuse(files.prompt, tr("Another program has changed this file since. Press Enter to replace it."),
           own.path, true);
}

void save_as(Ui& ui, Files& files, const LabView& view) {
  if (view.runs.empty()) return;
  const std::string& own = files.own.path;
  ask_for_file(ui, files.prompt, FilePurpose::Save, free_name(own.empty() ? kFirstName : own));
}

void save_placement(Ui& ui, Files& files, const diagram::DiagramState& state, const LabView& view) {
  files.placement = diagram::shown_stack(state, view);
  if (!files.placement) return;
  const std::string path = (fs::path(placements_folder()) / kFirstPlacement).string();
  ask_for_file(ui, files.prompt, FilePurpose::SavePlacement, free_name(path));
}

void ask_open(Ui& ui, FilePrompt& prompt) { ask_for_file(ui, prompt, FilePurpose::Open, ""); }

void draw_files(Ui& ui, Files& files, const ShownSession& session, Message& notice) {
  const FileSurroundings around{files.recent, files.wake, !files.opening.empty()};
  const std::optional<FileChoice> choice = draw_file_prompt(ui, files.prompt, around);
  if (!choice) return;
  if (saves(files.prompt.purpose))
    choose_name(ui, files, *session.view, *choice, notice);
  else
    begin_opening(files, session, choice->path, choice->again, notice);
}

void runs_were_replaced(Files& files) {
  const std::string path = std::exchange(files.replacing, {});
  files.own = path.empty() ? OwnFile{} : own_file(path);
}

}  // namespace normscope::shell

#include "app/shell/files.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "app/settings/settings_rows.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/core/utf8.h"
#include "engine/io/output_file.h"
#include "training/files/placement_file.h"
#include "training/files/places.h"
#include "training/io/text.h"
#include "training/session/session_file.h"
#include "training/spec/spec.h"

namespace normscope::shell {
namespace {

namespace fs = std::filesystem;
using namespace ui;

constexpr const char *kFirstName = "normscope.toml", *kFirstPlacement = "my-placement.toml";

std::string absolute(const std::string& path) {
  std::error_code none;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, none), none);
  return whole.empty() ? path : whole.string();
}

constexpr const char* kFilePopup = "app/file";
constexpr const char* kPathField = "app/file/path";
constexpr int kRows = 8;  // rows that are seen at a time
constexpr float kRow = 24;
constexpr double kTwice = 0.4;  // seconds between the clicks of a double click

/// The prompt's words for its purpose; `first` and `second` stand below the list.
struct PurposeWords {
  const char *title, *go, *first, *second;
};
constexpr PurposeWords kPurposes[] = {
    {"Save the runs", "Save",
     "Weights are not saved: opened again, the runs train anew from step 0, bit for bit.",
     "Saves settings, edits and forks as .toml."},
    {"Save as a placement", "Save",
     "What stands in the diagram, as a file that you can change and pass on; it is named "
     "after the file.",
     "It stands in the list of placements from now on, here and on the command line."},
    {"Open a file", "Open",
     "Runs saved as .toml take the place of all that are shown; Ctrl+Z brings those back.",
     "A UTF-8 text is what all runs learn from then."}};

const PurposeWords& words_for(FilePurpose purpose) { return kPurposes[static_cast<size_t>(purpose)]; }

struct Row {
  std::string label, detail, path;
  bool folder = false;
};

// Of "~/texts/al": "~/texts/" and "al".
std::string folder_part(const std::string& path) { return path.substr(0, last_separator(path) + 1); }
std::string name_part(const std::string& path) { return path.substr(last_separator(path) + 1); }

std::string above(const std::string& folder) {
  const fs::path here(with_home(folder));
  std::string up = here.is_absolute()
                       ? (here / "..").lexically_normal().generic_string()
                       : (here.empty() ? fs::path("..") : here / "..").lexically_normal().generic_string();
  if (!up.ends_with('/')) up += '/';
  return up == "./" ? "" : up;
}

bool offered(const FilePrompt& prompt, const FolderContent::Entry& entry) {
  return entry.folder || !saves(prompt.purpose) || entry.name.ends_with(".toml");
}

// Lists recent files while nothing is typed, then the folder's names that contain the typed text.
std::vector<Row> rows_of(Files& files) {
  FilePrompt& prompt = files.prompt;
  std::vector<Row> rows;
  if (prompt.path.empty() && !saves(prompt.purpose))
    for (const std::string& path : files.recent)
      rows.push_back({name_part(path), folder_part(path), path, false});
  const std::string folder = folder_part(prompt.path), name = small_letters(name_part(prompt.path));
  const std::string place = folder.empty() ? "." : with_home(folder);
  prompt.folder.ask(
      place, [place] { return read_folder(place); }, files.wake);
  const FolderContent* content = prompt.folder.find(place);
  if (!content) return rows;
  // A complete name leaves nothing to choose, so the whole folder is shown around it.
  const bool complete = std::ranges::any_of(
      content->entries, [&](const auto& entry) { return small_letters(entry.name) == name; });
  const bool saving = saves(prompt.purpose);
  if (name.empty() || complete || saving) rows.push_back({"..", "", above(folder), true});
  for (const FolderContent::Entry& entry : content->entries)
    if (offered(prompt, entry) &&
        (complete || saving || small_letters(entry.name).find(name) != std::string::npos))
      rows.push_back({entry.name + (entry.folder ? "/" : ""), "",
                      folder + entry.name + (entry.folder ? "/" : ""), entry.folder});
  return rows;
}

void unsay(FilePrompt& prompt) {
  prompt.says.clear();
  prompt.again.clear();
}

void set_path(Ui& ui, FilePrompt& prompt, std::string path) {
  prompt.path = std::move(path);
  unsay(prompt);
  const bool typing = ui.edit().name == kPathField;
  ui.edit() = {kPathField, prompt.path, !typing, true, true};
}

void enter_folder(Ui& ui, FilePrompt& prompt, std::string folder) {
  if (!folder.empty() && last_separator(folder) + 1 != folder.size()) folder += '/';
  // A name that is to be saved comes along into the folder.
  const std::string name = saves(prompt.purpose) ? name_part(prompt.path) : "";
  set_path(ui, prompt, folder + name);
  prompt.selected = -1;
  prompt.first = 0;
}

// Completes the typed text as far as all names that begin with it agree; a marked name is taken whole.
std::string completed(const FilePrompt& prompt, const std::vector<Row>& rows) {
  if (prompt.selected >= 0 && prompt.selected < static_cast<int>(rows.size()))
    return rows[static_cast<size_t>(prompt.selected)].path;
  std::string longest;
  bool found = false;
  for (const Row& row : rows) {
    if (row.label == ".." || !row.path.starts_with(prompt.path)) continue;
    if (!found) {
      longest = row.path;
      found = true;
      continue;
    }
    const auto end = std::mismatch(longest.begin(), longest.end(), row.path.begin(), row.path.end()).first;
    longest.erase(end, longest.end());
  }
  if (found) return longest;
  return rows.size() == 1 ? rows.front().path : prompt.path;
}

// Follows Enter, the button or a double click: it enters a folder, and a file is the choice.
std::optional<std::string> go(Ui& ui, FilePrompt& prompt, const std::vector<Row>& rows) {
  if (prompt.selected >= 0 && prompt.selected < static_cast<int>(rows.size())) {
    const Row row = rows[static_cast<size_t>(prompt.selected)];
    if (row.folder) {
      enter_folder(ui, prompt, row.path);
      return std::nullopt;
    }
    set_path(ui, prompt, row.path);
    prompt.selected = -1;
  }
  if (prompt.path.empty()) return {};
  return with_home(prompt.path);
}

void keys(Ui& ui, FilePrompt& prompt, const std::vector<Row>& rows) {
  const int count = static_cast<int>(rows.size());
  const int before = prompt.selected;
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) prompt.selected = std::min(prompt.selected + 1, count - 1);
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) prompt.selected = std::max(prompt.selected - 1, -1);
  if (ImGui::IsKeyPressed(ImGuiKey_Tab, false) && ui.edit().name == kPathField) {
    const std::string path = completed(prompt, rows);
    if (path != prompt.path) {
      set_path(ui, prompt, path);
      prompt.selected = -1;
    }
  }
  if (prompt.selected == before) return;
  unsay(prompt);
  if (prompt.selected >= 0)
    prompt.first = std::clamp(prompt.first, prompt.selected - kRows + 1, prompt.selected);
}

// True when a file was clicked twice.
bool list(Ui& ui, FilePrompt& prompt, const Rect& area, const std::vector<Row>& rows) {
  Painter& p = ui.paint();
  const int count = static_cast<int>(rows.size());
  if (area.contains(ui.mouse())) prompt.first -= static_cast<int>(std::lround(ImGui::GetIO().MouseWheel * 3));
  prompt.first = std::clamp(prompt.first, 0, std::max(0, count - kRows));
  Rect rest = area;
  bool twice = false;
  for (int i = prompt.first; i < std::min(count, prompt.first + kRows); ++i) {
    const Row& row = rows[static_cast<size_t>(i)];
    const Rect place = rest.take_top(kRow);
    const Hit hit = ui.hit(fmt::format("app/file/row/{}", i - prompt.first), place, row.path,
                           tr("A click enters a folder and marks a file; a second one opens it."),
                           {.focusable = false, .tooltip = false});
    const bool marked = i == prompt.selected;
    if (marked || hit.hovered) p.fill(place, ui.theme().sunk, radius::field);
    Rect text = place.inset(10, 0);
    const TextStyle name{marked ? Face::Bold : Face::Sans, type::body}, small{Face::Sans, type::tick};
    const float w = p.text_in(text, name, ui.theme().ink, p.fit(name, row.label, text.w - 30));
    text.take_left(w + 16);
    if (!row.detail.empty())
      p.text_in(text, small, ui.theme().ink3, p.fit(small, row.detail, text.w), Align::Right);
    if (row.folder)
      draw_icon(p, Icon::ChevronRight, {place.right() - 14, place.centre().y}, 12, ui.theme().ink3);
    if (!hit.clicked) continue;
    const bool soon = ui.time() - prompt.clicked < kTwice;
    prompt.clicked = ui.time();
    // The second half of a double click on a folder must not hit the row that came in its place.
    if (std::exchange(prompt.entered, row.folder) && soon) {
      prompt.entered = false;
      continue;
    }
    if (row.folder) {
      enter_folder(ui, prompt, row.path);
      break;
    }
    if (marked && soon) twice = true;
    prompt.selected = i;
    if (!marked) {
      unsay(prompt);
    }
  }
  return twice;
}

// Writes what kind of file is named, or why Enter did not open it.
void tell(Ui& ui, Files& files, const Rect& room, const std::vector<Row>& rows) {
  FilePrompt& prompt = files.prompt;
  std::string said = prompt.says;
  const bool marked = prompt.selected >= 0 && prompt.selected < static_cast<int>(rows.size());
  const std::string path = with_home(marked ? rows[static_cast<size_t>(prompt.selected)].path : prompt.path);
  if (!files.opening.empty()) said = tr("reading …");
  if (said.empty() && !saves(prompt.purpose) && !path.empty() && !path.ends_with('/')) {
    prompt.look.ask(
        path, [path] { return look_at(path); }, files.wake);
    const FileLook* look = prompt.look.find(path);
    if (look && look->kind != FileKind::Unusable) said = words::spoken(look->words);
    if (look && look->kind == FileKind::Unusable && marked) said = words::spoken(look->words);
  }
  if (said.empty() && prompt.purpose != FilePurpose::SavePlacement) {  // that makes its folder
    const std::string folder = folder_part(prompt.path), place = folder.empty() ? "." : with_home(folder);
    if (const FolderContent* content = prompt.folder.find(place); content && !content->error.empty())
      said = fmt::format("{}: {}.", place, words::spoken(content->error));
  }
  ui.mark("app/file/says", room, said, tr("What the named file is, or why it was not opened or saved."));
  ui.paint().text_wrapped(room, {prompt.says.empty() ? Face::Sans : Face::Bold, type::tick}, ui.theme().ink,
                          said, 16);
}

void ask_for_file(Ui& ui, FilePrompt& prompt, FilePurpose purpose, const std::string& path) {
  prompt.purpose = purpose;
  prompt.path = path;
  unsay(prompt);
  prompt.done = false;
  prompt.selected = -1;
  prompt.first = 0;
  prompt.folder.forget();
  prompt.look.forget();  // the disk may hold something else now
  ui.open_popup(kFilePopup);
  ui.edit() = {kPathField, path, true, true};
}

void refuse(FilePrompt& prompt, const Message& why, const std::string& path, bool again) {
  prompt.says = plain_message(why);
  prompt.again = again ? path : "";
}

/// The path that was chosen, with "~" as the home folder.
std::optional<std::string> draw_file_prompt(Ui& ui, Files& files) {
  FilePrompt& prompt = files.prompt;
  if (!ui.popup_open(kFilePopup)) return {};
  const float width = 560;
  const Rect box{(ui.size().x - width) / 2, 60, width, 130 + kRow * kRows + 34};
  if (!ui.begin_popup(kFilePopup, box)) return {};
  Rect rest = box.inset(16, 12);
  Painter& p = ui.paint();
  const std::string &first = tr(words_for(prompt.purpose).first),
                    &second = tr(words_for(prompt.purpose).second);
  p.text_in(rest.take_top(20, 6), {Face::Bold, type::title}, ui.theme().ink,
            tr(words_for(prompt.purpose).title));
  Rect line = rest.take_top(28, 8);
  const bool pressed = button(ui, "app/file/go", line.take_right(72, 8), tr(words_for(prompt.purpose).go),
                              tr("Does what Enter does."), {.style = {Face::Bold, type::body}});
  const std::string before = prompt.path;
  text_field(ui, kPathField, line, tr("a name or a path; Tab completes it"), prompt.path,
             tr("A path, absolute or from the folder that the program was started in."));
  if (ui.edit().name == kPathField) ui.edit().tab = true;
  if (prompt.path != before) {
    prompt.selected = -1;
    prompt.first = 0;
    unsay(prompt);
  }
  const std::vector<Row> rows = rows_of(files);
  prompt.selected = std::min(prompt.selected, static_cast<int>(rows.size()) - 1);
  keys(ui, prompt, rows);
  const bool twice = list(ui, prompt, rest.take_top(kRow * kRows, 4), rows);
  tell(ui, files, rest.take_top(32), rows);
  ui.mark("app/file/note", rest, first, second);
  p.text_in(rest.take_top(16), {Face::Sans, type::tick}, ui.theme().ink2, first);
  p.text_in(rest.take_top(16), {Face::Sans, type::tick}, ui.theme().ink3, second);

  const bool enter =
      ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false);
  std::optional<std::string> chosen;
  if ((enter || pressed || twice) && files.opening.empty()) chosen = go(ui, prompt, rows);
  if (prompt.done || ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
    ui.edit() = {};
    ui.close_popup();
  } else if (ui.edit().name.empty() && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    ui.edit() = {kPathField, prompt.path, true, true, true};  // Enter, a click on a row: go on typing
  }
  ui.end_popup();
  return chosen;
}

OwnFile own_file(const std::string& path) {
  std::error_code none;
  return {absolute(path), fs::last_write_time(path, none), fs::file_size(path, none)};
}

bool prompting(const Ui& ui) { return ui.popup_open("app/file"); }

// Shows a refusal in the open prompt, or without one in the top bar.
void say_no(Ui& ui, FilePrompt& prompt, Message& notice, const std::string& path, const Message& why) {
  if (prompting(ui))
    refuse(prompt, why, path, false);
  else
    notice = why;
}

// Makes the prompt announce an effect and ask for Enter once more.
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

// Names the placement after the file. It is offered first, because that says whether the name is free.
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

// Saves under the chosen name, with .toml added to a name without an ending. A folder is entered instead.
void choose_name(Ui& ui, Files& files, const LabView& view, const std::string& chosen, Message& notice) {
  std::error_code none;
  if (fs::is_directory(chosen, none)) return enter_folder(ui, files.prompt, chosen);
  const std::string path = fs::path(chosen).has_extension() ? chosen : chosen + ".toml";
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
  if (recent.size() > kMaxRecent) recent.resize(kMaxRecent);
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
  const std::optional<std::string> chosen = draw_file_prompt(ui, files);
  if (!chosen) return;
  if (saves(files.prompt.purpose))
    choose_name(ui, files, *session.view, *chosen, notice);
  else
    begin_opening(files, session, *chosen, files.prompt.again == *chosen, notice);
}

void runs_were_replaced(Files& files) {
  const std::string path = std::exchange(files.replacing, {});
  files.own = path.empty() ? OwnFile{} : own_file(path);
}

std::string plain_message(const Message& message) {
  const Message& tag = where_of(message);
  const std::string rest = words::spoken(without_where(message));
  if (tag.empty()) return rest;
  if (const Field* field = find_field(tag)) return fmt::format("{}: {}", settings::field_label(*field), rest);
  const bool part = std::ranges::all_of(tag, [](char c) {
    return std::islower(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == ' ';
  });
  return part ? rest : words::spoken(tag) + ": " + rest;
}

}  // namespace normscope::shell

#include "app/shell/file_prompt.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/shell/plain_message.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/files/places.h"
#include "training/io/text.h"

namespace normscope::shell {
namespace {

using namespace ui;
namespace fs = std::filesystem;

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

// `folder_part` and `name_part` split "~/texts/al" into "~/texts/" and "al".
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

// Lists recent files while nothing is typed, then names of the folder that hold what is typed.
std::vector<Row> rows_of(FilePrompt& prompt, const FileSurroundings& around) {
  std::vector<Row> rows;
  if (prompt.path.empty() && !saves(prompt.purpose))
    for (const std::string& path : around.recent)
      rows.push_back({name_part(path), folder_part(path), path, false});
  const std::string folder = folder_part(prompt.path), name = small_letters(name_part(prompt.path));
  const std::string place = folder.empty() ? "." : with_home(folder);
  prompt.folder.ask(
      place, [place] { return read_folder(place); }, around.wake);
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

void set_path(Ui& ui, FilePrompt& prompt, std::string path) {
  prompt.path = std::move(path);
  prompt.says.clear();
  prompt.again.clear();
  const bool typing = ui.edit().name == kPathField;
  ui.edit() = {kPathField, prompt.path, !typing, true, true};
}

// Goes as far as all names that begin with the typed text agree; a marked name is taken whole.
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
std::optional<FileChoice> go(Ui& ui, FilePrompt& prompt, const std::vector<Row>& rows) {
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
  const std::string path = with_home(prompt.path);
  return FileChoice{path, prompt.again == path};
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
  prompt.says.clear();
  prompt.again.clear();
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
    HitOptions options;
    options.tooltip = options.focusable = false;
    const Hit hit = ui.hit(fmt::format("app/file/row/{}", i - prompt.first), place, row.path,
                           tr("A click enters a folder and marks a file; a second one opens it."), options);
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
      prompt.says.clear();
      prompt.again.clear();
    }
  }
  return twice;
}

// What the named file is, or why Enter did not do it.
void tell(Ui& ui, FilePrompt& prompt, const Rect& room, const std::vector<Row>& rows,
          const FileSurroundings& around) {
  std::string said = prompt.says;
  const bool marked = prompt.selected >= 0 && prompt.selected < static_cast<int>(rows.size());
  const std::string path = with_home(marked ? rows[static_cast<size_t>(prompt.selected)].path : prompt.path);
  if (around.reading) said = tr("reading …");
  if (said.empty() && !saves(prompt.purpose) && !path.empty() && !path.ends_with('/')) {
    prompt.look.ask(
        path, [path] { return look_at(path); }, around.wake);
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

}  // namespace

void ask_for_file(Ui& ui, FilePrompt& prompt, FilePurpose purpose, const std::string& path) {
  prompt.purpose = purpose;
  prompt.path = path;
  prompt.says.clear();
  prompt.again.clear();
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

void enter_folder(Ui& ui, FilePrompt& prompt, std::string folder) {
  if (!folder.empty() && last_separator(folder) + 1 != folder.size()) folder += '/';
  // A name that is to be saved comes along into the folder.
  const std::string name = saves(prompt.purpose) ? name_part(prompt.path) : "";
  set_path(ui, prompt, folder + name);
  prompt.selected = -1;
  prompt.first = 0;
}

std::optional<FileChoice> draw_file_prompt(Ui& ui, FilePrompt& prompt, const FileSurroundings& around) {
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
  ButtonOptions look;
  look.style = {Face::Bold, type::body};
  const bool pressed = button(ui, "app/file/go", line.take_right(72, 8), tr(words_for(prompt.purpose).go),
                              tr("Does what Enter does."), look);
  const std::string before = prompt.path;
  text_field(ui, kPathField, line, tr("a name or a path; Tab completes it"), prompt.path,
             tr("A path, absolute or from the folder that the program was started in."));
  if (ui.edit().name == kPathField) ui.edit().tab = true;
  if (prompt.path != before) {
    prompt.selected = -1;
    prompt.first = 0;
    prompt.says.clear();
    prompt.again.clear();
  }
  const std::vector<Row> rows = rows_of(prompt, around);
  prompt.selected = std::min(prompt.selected, static_cast<int>(rows.size()) - 1);
  keys(ui, prompt, rows);
  const bool twice = list(ui, prompt, rest.take_top(kRow * kRows, 4), rows);
  tell(ui, prompt, rest.take_top(32), rows, around);
  ui.mark("app/file/note", rest, first, second);
  p.text_in(rest.take_top(16), {Face::Sans, type::tick}, ui.theme().ink2, first);
  p.text_in(rest.take_top(16), {Face::Sans, type::tick}, ui.theme().ink3, second);

  const bool enter =
      ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false);
  std::optional<FileChoice> chosen;
  if ((enter || pressed || twice) && !around.reading) chosen = go(ui, prompt, rows);
  if (prompt.done || ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
    ui.edit() = {};
    ui.close_popup();
  } else if (ui.edit().name.empty() && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    ui.edit() = {kPathField, prompt.path, true, true, true};  // Enter, a click on a row: go on typing
  }
  ui.end_popup();
  return chosen;
}

}  // namespace normscope::shell

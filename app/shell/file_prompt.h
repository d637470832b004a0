// The file prompt is the one place where a file is named: save the runs under a name (Ctrl+Shift+S), open a session, a
// configuration or a text (Ctrl+O). It has a field to type a path into (Tab completes it), below it the recent files
// and the folder's files, for arrows and mouse; what the marked file is, read from its content; what saving will leave
// out. The shell draws it after the screens. Controls: app/file/path, app/file/row/N,
// app/file/go, app/file/says.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "app/ui/ui.h"
#include "engine/core/error.h"
#include "training/files/background.h"
#include "training/files/file_kind.h"

namespace normscope::shell {

enum class FilePurpose : uint8_t { Save, SavePlacement, Open };
inline bool saves(FilePurpose purpose) { return purpose <= FilePurpose::SavePlacement; }

struct FilePrompt {
  FilePurpose purpose = FilePurpose::Open;
  std::string path{};            // as typed
  std::string says{};            // why Enter did not do it
  std::string again{};           // the path that Enter accepts when pressed once more
  bool done = false;             // the request was carried out: the prompt closes
  int selected = -1, first = 0;  // rows of the list
  double clicked = -1;           // time of the last click on a row, s; a second one soon after opens it
  bool entered = false;          // that click entered a folder
  Background<FolderContent> folder{};
  Background<FileLook> look{};
};

// What the prompt needs from outside: the recent files, newest first, and how the window is
// woken.
struct FileSurroundings {
  std::span<const std::string> recent;
  std::function<void()> wake;
  bool reading = false;  // the chosen file is being read
};

// A path that Enter was pressed on, with "~" as the home folder; `again`: although the prompt said why
// not.
struct FileChoice {
  std::string path;
  bool again = false;
};

void ask_for_file(ui::Ui&, FilePrompt&, FilePurpose, const std::string& path);
std::optional<FileChoice> draw_file_prompt(ui::Ui&, FilePrompt&, const FileSurroundings&);
// Why it was not done; with `again`, a second Enter does it.
void refuse(FilePrompt&, const Message& why, const std::string& path, bool again);
// Goes on in this folder.
void enter_folder(ui::Ui&, FilePrompt&, std::string folder);

}  // namespace normscope::shell

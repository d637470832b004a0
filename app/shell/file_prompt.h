// The one place where a file is named: save the runs under a name (Ctrl+Shift+S), open a session, a
// configuration or a text (Ctrl+O). A field to type a path into (Tab completes it), below it the files that
// were open lately and those of the folder, for arrows and mouse; what the marked file is, read from its
// content; what saving will not hold, and what cannot be undone. Drawn by the shell after the screens.
// Controls: app/file/path, app/file/row/N, app/file/go, app/file/says.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/ui/ui.h"
#include "training/files/background.h"
#include "training/files/file_kind.h"

namespace normscope::shell {

enum class FilePurpose : uint8_t { Save, Open, OpenForGood };  // the last: it cannot be undone

struct FilePrompt {
  FilePurpose purpose = FilePurpose::Open;
  std::string path{};            // as typed
  std::string says{};            // why Enter did not do it
  std::string again{};           // the path that Enter does it for when it is pressed once more
  bool done = false;             // the request was carried out: it closes
  int selected = -1, first = 0;  // rows of the list
  double clicked = -1;           // when a row was, in seconds; a second click soon after opens it
  bool entered = false;          // that click entered a folder
  Background<FolderContent> folder{};
  Background<FileLook> look{};
};

// What is drawn around it: the files that were open lately, newest first, and how the window is woken.
struct FileSurroundings {
  std::span<const std::string> recent;
  std::function<void()> wake;
  bool reading = false;  // what was chosen is being read
};

// A path that Enter was pressed on, "~" as the home folder; `again`: though the prompt said why not.
struct FileChoice {
  std::string path;
  bool again = false;
};

void ask_for_file(ui::Ui&, FilePrompt&, FilePurpose, const std::string& path);
std::optional<FileChoice> draw_file_prompt(ui::Ui&, FilePrompt&, const FileSurroundings&);
// Says why it was not done; Enter does it where `again`.
void refuse(FilePrompt&, const std::string& why, const std::string& path, bool again);
// Goes on in this folder.
void enter_folder(ui::Ui&, FilePrompt&, std::string folder);

}  // namespace normscope::shell

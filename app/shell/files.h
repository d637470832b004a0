// Opening and saving files: a dropped or named file is recognised by its content in the background and then taken,
// asked about or refused. A file that is not this session's own is never replaced unasked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/lab_screen.h"

#include "app/shell/screens.h"
#include "app/ui/ui.h"
#include "engine/core/error.h"
#include "training/files/background.h"
#include "training/files/file_kind.h"

namespace normscope::shell {

// ---- the prompt is the one place where a file is named: save the runs under a name (Ctrl+Shift+S), open a session,
// a configuration or a text (Ctrl+O). It has a field to type a path into (Tab completes it), below it the recent
// files and the folder's files, for arrows and mouse; a line on the content of the marked file, and a note on what
// saving leaves out. The shell draws it after the screens. Controls: app/file/path, app/file/row/N, app/file/go,
// app/file/says.

enum class FilePurpose : uint8_t { Save, SavePlacement, Open };
inline bool saves(FilePurpose purpose) { return purpose <= FilePurpose::SavePlacement; }

struct FilePrompt {
  FilePurpose purpose = FilePurpose::Open;
  std::string path{};            // as typed
  std::string says{};            // why Enter did not open or save the file
  std::string again{};           // the path that Enter accepts when pressed once more
  bool done = false;             // the request was carried out: the prompt closes
  int selected = -1, first = 0;  // rows of the list
  double clicked = -1;           // time of the last click on a row, s; a second one soon after opens it
  bool entered = false;          // that click entered a folder
  Background<FolderContent> folder{};
  Background<FileLook> look{};
};

// ---- the files of a session

// The file to which the runs were saved or from which they were opened, with its time and size at that moment.
struct OwnFile {
  std::string path{};
  std::filesystem::file_time_type time{};
  std::uintmax_t size = 0;
};
// Whether `path` is the own file and no other program has written to it since.
bool is_own(const OwnFile&, const std::string& path);

struct Files {
  FilePrompt prompt{};
  OwnFile own{};
  std::vector<std::string> recent{};  // opened and saved lately, newest first
  std::string opening{};              // path of the file being read; empty: none
  bool again = false;                 // Enter was pressed again after the prompt's warning
  Background<OpenedFile> opened{};
  std::string replacing{};              // the runs of this file replace all that are shown
  bool looked_into = false;             // a model of another program was opened, which Inside is to show
  std::vector<std::string> recorded{};  // logs and saved runs that Compare is to open
  // The placement to save, as it stood when the prompt opened.
  std::optional<diagram::ShownStack> placement{};
  std::function<void()> wake{};  // called from another thread when a file was read; empty: no window sleeps
};
inline constexpr size_t kMaxRecent = 8;
void remember(std::vector<std::string>& recent, const std::string& path);

// Recognises a file by its content in one of the next frames: a text to learn, a configuration whose runs replace the
// present ones, a kept session, a log or a saved run for Compare. `notice`, or the prompt while it is open, reports
// what was done or why not. Everything can be undone. Without a Lab nothing is opened.
void begin_opening(Files&, const ShownSession&, const std::string& path, bool again, Message& notice);
// Takes in the file that was read, at the beginning of a frame.
void finish_opening(ui::Ui&, Files&, ShownSession&, Message& notice);
// Ctrl+S: saves into the session's own file, or asks for a name.
void save(ui::Ui&, Files&, const LabView&, Message& notice);
void save_as(ui::Ui&, Files&, const LabView&);
// Asks for the name of a new placement with the wiring of the diagram.
void save_placement(ui::Ui&, Files&, const diagram::DiagramState&, const LabView&);
void ask_open(ui::Ui&, FilePrompt&);
// Draws the prompt and carries out the user's choice.
void draw_files(ui::Ui&, Files&, const ShownSession&, Message& notice);
// Called when other runs replaced the shown ones: the own file becomes the file from which they were opened, or none.
void runs_were_replaced(Files&);

// A message of the trainer or the engine, in words for a reader: "[train.lr] 5: expected ..." becomes
// "learning rate: 5: expected ...", and the tag of a part of the program is removed. It is in the window's language.
std::string plain_message(const Message& message);

}  // namespace normscope::shell

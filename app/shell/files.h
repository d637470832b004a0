// Opening and saving files: what was dropped or named is recognised by its content in the background and then
// taken, asked about or refused; a file that is not this session's own is never replaced unasked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/shell/file_prompt.h"
#include "app/shell/parts/shown_session.h"

namespace normscope::shell {

// The file that the runs were saved to or opened from here, as it was then.
struct OwnFile {
  std::string path{};
  std::filesystem::file_time_type time{};
  std::uintmax_t size = 0;
};
OwnFile own_file(const std::string& path);
// It is the same file and nobody else has written to it.
bool is_own(const OwnFile&, const std::string& path);

// How sure the person is: dropped, chosen where the prompt said what it does, chosen once more.
enum class Sure : uint8_t { Dropped, Asked, Again };

struct Files {
  FilePrompt prompt{};
  OwnFile own{};
  std::vector<std::string> recent{};  // opened and saved lately, newest first
  std::string opening{};              // being read
  Sure sure = Sure::Dropped;
  Background<OpenedFile> opened{};
  std::string replacing{};              // runs of this file take the place of all that are shown
  std::vector<std::string> recorded{};  // logs and saved runs that Compare is to open
  std::function<void()> wake{};  // rung from another thread when something was read; empty: no window sleeps
};
inline constexpr size_t kMostRecent = 8;
void remember(std::vector<std::string>& recent, const std::string& path);

// What was done, or why not, is said in `notice`, or in the prompt while it stands open.
//
// A text to learn, a configuration whose runs replace those shown, a kept session, a log or a saved run for Compare:
// recognised by its content in one of the next frames. All can be undone; where the session cannot be stashed for it, the prompt asks first
// when the file was only dropped. Without a Lab nothing is opened.
void begin_opening(Files&, const ShownSession&, const std::string& path, Sure, std::string& notice);
// Takes what was read; called at the beginning of a frame. `selected` as for restore_session.
void finish_opening(ui::Ui&, Files&, ShownSession&, char selected, std::string& notice);
// Ctrl+S: into the session's own file, or asks for a name.
void save(ui::Ui&, Files&, const LabView&, std::string& notice);
void save_as(ui::Ui&, Files&, const LabView&);
// The undo log says whether what is opened can be taken back.
void ask_open(ui::Ui&, FilePrompt&, const UndoLog&);
// The prompt, and what was chosen in it.
void draw_files(ui::Ui&, Files&, const ShownSession&, std::string& notice);
// Other runs stand there now: their file is the one that they were opened from, or none.
void runs_were_replaced(Files&);

// Brings back the session that is kept in `folder`; `selected`: the run shown in the diagram. Its ticket is returned.
session::Ticket restore_session(ShownSession&, Files&, const std::string& folder, char selected);

}  // namespace normscope::shell

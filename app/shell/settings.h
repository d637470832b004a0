// The window's memory between starts: looks in the XDG configuration folder, sessions in the XDG state folder.
// Files are replaced whole and readable by their owner alone (0600). A file that cannot be read is stashed under
// another name and reported in one line, never overwritten.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/lab/lab_screen.h"
#include "engine/core/error.h"
#include "training/spec/backend_choice.h"

namespace normscope::shell {

struct Settings {
  bool dark = false;
  double scale = 1;                      // relative to the display's scale
  std::optional<bool> reduced_motion{};  // as chosen; otherwise the desktop's
  int width = 1600, height = 1000;
  BackendChoice backend{};            // where runs train
  bool welcomed = false;              // the welcome of the first start was answered
  bool more_measurements = false;     // the Lab shows all plots
  bool lesson_offered = false;        // the first lesson was offered, and the offer answered
  std::string language{};             // of window and course, "de"; empty: English
  lab::Splits splits{};               // where the gaps between the Lab's panels stand
  std::vector<std::string> recent{};  // files that were opened or saved, newest first
  friend bool operator==(const Settings&, const Settings&) = default;
};

struct ReadSettings {
  Settings settings;
  Message notice;  // one line, when a file was stashed
  bool existed = false;
};
// Stashes (stash) a file that cannot be read, or that holds an impossible value. Missing and wrong
// values get their defaults.
ReadSettings read_settings(const std::string& path);
// Does the same from memory; `complaint` is the first fault, as "NAME:LINE: ...", or empty.
Settings parse_settings(std::string_view text, const std::string& name, Message& complaint);
// Throws Error with the path.
void write_settings(const std::string& path, const Settings& settings);

// The folder of one window's autosave, STATE/sessions/NAME. A lock holds it as long as the window
// lives: the lock goes with the process, however it ends, and so tells a crashed session from a running one.
class AutosaveFolder {
 public:
  // Makes a new folder. Throws Error.
  explicit AutosaveFolder(const std::string& state_folder);
  ~AutosaveFolder();
  AutosaveFolder(const AutosaveFolder&) = delete;
  AutosaveFolder& operator=(const AutosaveFolder&) = delete;
  const std::string& path() const { return path_; }
  // Marks the window as closed by the user: its session is kept as the last one, and not offered as a lost one.
  void close_cleanly();

 private:
  std::string path_;
  int lock_ = -1;
};

struct EndedSession {
  std::string path;
  bool crashed = false;  // its window was not closed
};
// The sessions of windows that are gone, the latest first: all crashed ones and the last few closed ones. Older
// closed ones are removed.
std::vector<EndedSession> ended_sessions(const std::string& state_folder);
// Marks the offer as answered: it is not made again, though the last session can still be opened.
void decline(const EndedSession& session);

}  // namespace normscope::shell

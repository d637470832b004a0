// What the window remembers: looks in the XDG configuration folder, sessions in the XDG state folder. Files are
// replaced whole and readable by their owner alone (0600); one that cannot be read is stashed under another name
// and reported in one line, never overwritten.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/lab/split.h"
#include "training/spec/backend_choice.h"

namespace normscope {

struct Settings {
  bool dark = false;
  double scale = 1;                      // of what the display asks for
  std::optional<bool> reduced_motion{};  // as chosen; otherwise as the desktop has it
  int width = 1600, height = 1000;
  BackendChoice backend{};            // where runs train
  bool game_offered = false;          // the invitation was answered
  std::string language{};             // of the lessons, "de"; empty: English
  lab::Splits splits{};               // where the gaps between the Lab's panels stand
  std::vector<std::string> recent{};  // files that were opened or saved, newest first
  friend bool operator==(const Settings&, const Settings&) = default;
};

struct ReadSettings {
  Settings settings;
  std::string notice;  // one line, when a file was stashed
  bool existed = false;
};
// A file that cannot be read, or holds a value that cannot be, is stashed (stash); what it lacks or has
// wrong is as the defaults have it.
ReadSettings read_settings(const std::string& path);
// The same from memory; `complaint`: the first thing that is wrong, as "NAME:LINE: ...", else empty.
Settings parse_settings(std::string_view text, const std::string& name, std::string& complaint);
// Throws Error with the path.
void write_settings(const std::string& path, const Settings& settings);

// The folder of one window's autosave, STATE/sessions/NAME, held by a lock as long as the window lives: the
// lock goes with the process, however it ends, and tells a crashed session from a running one.
class AutosaveFolder {
 public:
  // Makes a new one. Throws Error.
  explicit AutosaveFolder(const std::string& state_folder);
  ~AutosaveFolder();
  AutosaveFolder(const AutosaveFolder&) = delete;
  AutosaveFolder& operator=(const AutosaveFolder&) = delete;
  const std::string& path() const { return path_; }
  // Below it: sessions that an opened file replaced, for undo. They go with the window.
  std::string replaced() const;
  // The window was closed by hand: the session is kept as the last one, and not offered as a lost one.
  void close_cleanly();

 private:
  std::string path_;
  int lock_ = -1;
};

struct EndedSession {
  std::string path;
  bool crashed = false;  // its window did not close
};
// The sessions of windows that are gone, the one that began last first: all that crashed, and the last few of
// those that were closed; older ones are removed.
std::vector<EndedSession> ended_sessions(const std::string& state_folder);
// The offer was answered: not offered again, though the last session can still be opened.
void decline(const EndedSession& session);

}  // namespace normscope

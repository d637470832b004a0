// What one window remembers from start to end: settings, its autosave folder, the session before. Called by the
// window; --safe-mode makes one that reads nothing and leaves nothing behind.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "app/shell/app_state.h"
#include "app/shell/settings.h"

namespace normscope {

// A folder among the system's temporary ones, readable by its user alone and gone with this object. Without a place
// for it the path is empty.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class WindowMemory {
 public:
  explicit WindowMemory(bool safe_mode);

  const Settings& settings() const { return settings_; }
  std::string autosave() const { return folder_ ? folder_->path() : ""; }  // empty: none
  // Looks, offers and notices into the state of a new window.
  void put(AppState& state) const;
  // Writes what changed; called after frames. Window size in logical px; now in seconds.
  void keep(AppState& state, int width, int height, double now);
  // The window was closed and its Lab is gone. `by_hand`: not by a signal, after which the session is offered
  // at the next start.
  void close(std::string& notice, bool by_hand = true);

 private:
  void write(std::string& notice);
  void follow_desktop(Appearance& look);

  bool safe_mode_;
  bool system_motion_ = false;              // reduced, as the desktop said at the start
  std::future<std::optional<bool>> gnome_;  // invalid: not asked, or answered
  std::string file_;                        // empty: nothing is remembered
  Settings settings_, written_;
  std::string notice_;
  std::optional<AutosaveFolder> folder_;
  std::optional<TemporaryFolder>
      temporary_;  // without the other: what undo needs of sessions that were replaced
  std::vector<EndedSession> ended_;
  double changed_at_ = -1;
};

}  // namespace normscope

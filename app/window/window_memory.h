// The memory of one window from start to end: settings, its autosave folder, the sessions before. The window calls
// it; with --safe-mode it reads neither settings nor sessions and writes nothing.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "app/shell/app_state.h"
#include "app/shell/settings.h"
#include "engine/core/error.h"

namespace normscope::window {

class WindowMemory {
 public:
  explicit WindowMemory(bool safe_mode);

  const shell::Settings& settings() const { return settings_; }
  std::string autosave() const { return folder_ ? folder_->path() : ""; }  // empty: none
  // Sets looks, offers and notices in the state of a new window.
  void put(shell::AppState& state) const;
  // Writes what changed; it is called after frames. Window size in logical px; now in seconds.
  void keep(shell::AppState& state, int width, int height, double now);
  // Called when the window was closed, by hand or by a signal, and its Lab is gone.
  void close(Message& notice);

 private:
  void write(Message& notice);
  void follow_desktop(shell::Appearance& look);

  bool safe_mode_;
  bool system_motion_ = false;              // of the desktop, at the start
  std::future<std::optional<bool>> gnome_;  // invalid: not asked, or already answered
  std::string file_;                        // empty: nothing is remembered
  shell::Settings settings_, written_;
  Message notice_;
  std::optional<shell::AutosaveFolder> folder_;
  std::vector<shell::EndedSession> ended_;
  double changed_at_ = -1;
};

}  // namespace normscope::window

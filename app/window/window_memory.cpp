#include "app/window/window_memory.h"

#include <algorithm>

#include "app/window/desktop.h"
#include "engine/core/boundary.h"

namespace normscope {
namespace {

constexpr double kSettled = 1;  // seconds: a window that is being resized is not written at every step

}  // namespace

WindowMemory::WindowMemory(bool safe_mode) : safe_mode_(safe_mode) {
  const std::optional<bool> said = system_reduced_motion();
  system_motion_ = said.value_or(false);
  if (!said) gnome_ = ask_gnome_reduced_motion();
  if (safe_mode) return;
  if (const std::string folder = config_folder(); !folder.empty()) {
    file_ = folder + "/settings.toml";
    ReadSettings read = read_settings(file_);
    settings_ = written_ = read.settings;
    notice_ = std::move(read.notice);
  }
  if (const std::string folder = state_folder(); !folder.empty()) {
    ended_ = ended_sessions(folder);
    try {
      folder_.emplace(folder);
    } catch (...) {
      notice_ = describe_exception("autosave");
    }
  }
}

void WindowMemory::put(AppState& state) const {
  state.dark = settings_.dark;
  state.scale = static_cast<float>(settings_.scale);
  state.backend = settings_.backend;
  state.reduced_motion = settings_.reduced_motion.value_or(system_motion_);
  state.lab_screen.splits() = settings_.splits;
  state.shell.files.recent = settings_.recent;
  state.notice = notice_;
  state.remembers = !safe_mode_;
  if (folder_) state.stash = folder_->replaced();
  if (!ended_.empty()) state.shell.last_session = ended_.front().path;
  for (const EndedSession& session : ended_)
    if (session.crashed) state.shell.lost.push_back(session.path);
  state.shell.offer_restore = !state.shell.lost.empty();
  state.shell.offer_game = !file_.empty() && !settings_.game_offered;
}

// An answer that came after the window opened; what the person chose stays.
void WindowMemory::follow_desktop(AppState& state) {
  if (!gnome_.valid() || gnome_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  const bool reduced = gnome_.get().value_or(system_motion_);
  const bool untouched = !settings_.reduced_motion && state.reduced_motion == system_motion_;
  system_motion_ = reduced;
  if (untouched) state.reduced_motion = reduced;
}

void WindowMemory::keep(AppState& state, int width, int height, double now) {
  follow_desktop(state);
  if (file_.empty()) return;
  settings_.dark = state.dark;
  settings_.scale = state.scale;
  settings_.backend = state.backend;
  settings_.splits = state.lab_screen.splits();
  settings_.recent = state.shell.files.recent;
  if (state.reduced_motion != settings_.reduced_motion.value_or(system_motion_))
    settings_.reduced_motion = state.reduced_motion;
  settings_.game_offered =
      settings_.game_offered || (state.shell.offers_answered && !state.shell.offer_game);
  const std::vector<std::string>& lost = state.shell.lost;
  for (EndedSession& session : ended_)
    if (session.crashed && std::find(lost.begin(), lost.end(), session.path) == lost.end()) {
      decline(session);
      session.crashed = false;
    }
  if (width > 0 && height > 0) {
    settings_.width = width;
    settings_.height = height;
  }
  if (settings_ == written_) {
    changed_at_ = -1;
  } else if (changed_at_ < 0) {
    changed_at_ = now;
  } else if (now - changed_at_ >= kSettled) {
    write(state);
  }
}

void WindowMemory::write(AppState& state) {
  changed_at_ = -1;
  written_ = settings_;
  try {
    write_settings(file_, settings_);
  } catch (...) {
    state.notice = describe_exception("settings");
  }
}

void WindowMemory::close(AppState& state, bool by_hand) {
  if (!file_.empty() && !(settings_ == written_)) write(state);
  if (folder_ && by_hand) folder_->close_cleanly();
}

}  // namespace normscope

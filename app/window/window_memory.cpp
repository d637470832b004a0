#include "app/window/window_memory.h"

#include <algorithm>

#include "app/window/desktop.h"
#include "engine/core/boundary.h"
#include "training/files/placement_file.h"
#include "training/files/places.h"

namespace normscope::window {
using namespace shell;
namespace {

constexpr double kSettled = 1;  // seconds: a window that is being resized is not written at every step

}  // namespace

WindowMemory::WindowMemory(bool safe_mode) : safe_mode_(safe_mode) {
  const std::optional<bool> said = system_reduced_motion();
  system_motion_ = said.value_or(false);
  if (!said) gnome_ = ask_gnome_reduced_motion();
  if (std::vector<Message> refused = load_placements(placements_folder()); !refused.empty())
    notice_ = std::move(refused.front());
  settings_.dark = written_.dark = system_dark().value_or(false);
  settings_.language = written_.language = first_language(system_language());
  if (safe_mode) return;
  if (const std::string folder = config_folder(); !folder.empty()) {
    file_ = folder + "/settings.toml";
    ReadSettings read = read_settings(file_);
    if (read.existed) settings_ = written_ = read.settings;
    if (!read.notice.empty()) notice_ = std::move(read.notice);
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
  state.look.dark = settings_.dark;
  state.look.scale = static_cast<float>(settings_.scale);
  state.look.reduced_motion = settings_.reduced_motion.value_or(system_motion_);
  state.backend.chosen = settings_.backend;
  state.screens.lab.splits() = settings_.splits;
  state.screens.lab.few() = !file_.empty() && !settings_.more_measurements;
  state.screens.lessons.remembers = !safe_mode_;
  state.screens.lessons.language = settings_.language;
  state.screens.keeps = !safe_mode_;
  state.files.recent = settings_.recent;
  state.notice = notice_;
  shell::Offers& offers = state.shell.offers;
  if (!ended_.empty()) offers.last_session = ended_.front().path;
  for (const EndedSession& session : ended_)
    if (session.crashed) offers.lost.push_back(session.path);
  offers.restore = !offers.lost.empty();
  offers.welcome = !file_.empty() && !settings_.welcomed;
  offers.lesson = !file_.empty() && !settings_.lesson_offered;
}

// Takes an answer that came after the window opened, unless the person chose something meanwhile.
void WindowMemory::follow_desktop(Appearance& look) {
  if (!gnome_.valid() || gnome_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  const bool reduced = gnome_.get().value_or(system_motion_);
  const bool untouched = !settings_.reduced_motion && look.reduced_motion == system_motion_;
  system_motion_ = reduced;
  if (untouched) look.reduced_motion = reduced;
}

void WindowMemory::keep(AppState& state, int width, int height, double now) {
  follow_desktop(state.look);
  if (file_.empty()) return;
  settings_.dark = state.look.dark;
  settings_.scale = state.look.scale;
  if (state.look.reduced_motion != settings_.reduced_motion.value_or(system_motion_))
    settings_.reduced_motion = state.look.reduced_motion;
  settings_.backend = state.backend.chosen;
  settings_.splits = state.screens.lab.splits();
  settings_.more_measurements = !state.screens.lab.few();
  settings_.recent = state.files.recent;
  settings_.language = state.screens.lessons.language;
  const shell::Offers& offers = state.shell.offers;
  settings_.welcomed = !offers.welcome;
  settings_.lesson_offered = settings_.lesson_offered || (offers.answered && !offers.lesson);
  for (EndedSession& session : ended_) {
    const bool waits = std::ranges::find(offers.lost, session.path) != offers.lost.end();
    if (!session.crashed || waits) continue;
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
    write(state.notice);
  }
}

void WindowMemory::write(Message& notice) {
  changed_at_ = -1;
  written_ = settings_;
  try {
    write_settings(file_, settings_);
  } catch (...) {
    notice = describe_exception("settings");
  }
}

void WindowMemory::close(Message& notice) {
  if (!file_.empty() && !(settings_ == written_)) write(notice);
  if (folder_) folder_->close_cleanly();
}

}  // namespace normscope::window

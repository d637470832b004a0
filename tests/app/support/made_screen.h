// The screen of an add-on in a window, as its own class.
#pragma once

#include "app/shell/app_state.h"

namespace normscope::fixture {

/// Makes it where it is not yet.
template <class T>
T& made_screen(shell::AppState& state, Screen screen) {
  return dynamic_cast<T&>(shell::screen_of(state.screens, screen));
}

/// The screen's own place, for a test that makes it otherwise.
inline shell::OtherScreen& place_of(shell::AppState& state, Screen screen) {
  return state.screens.others[static_cast<size_t>(screen)];
}

/// The value of a key that stands there once; empty: it does not.
inline std::string setting(const ScreenSettings& settings, std::string_view key) {
  for (const auto& [name, value] : settings)
    if (name == key) return value;
  return "";
}

}  // namespace normscope::fixture

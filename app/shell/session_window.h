// The window's rows of a session's table [window]: bookmarks, which run and which screen is shown, how the screens of
// add-ons are set, what parts of the window keep. They travel with the runs (Lab::keep) and come back with them.
// draw_app calls keep_window once a frame.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/shell/parts/screens.h"
#include "app/shell/shown_session.h"
#include "app/shell/window_part.h"

namespace normscope::shell {

struct WindowState {
  std::vector<int> bookmarks;                      // of the Lab
  char selected = 'A';                             // the Lab's run
  std::array<ScreenSettings, kScreens> screens{};  // empty: the screen was never opened
  Screen shown = Screen::Lab;
  std::vector<std::string> parts;  // a text each of WindowParts, in their order
  bool operator==(const WindowState&) const = default;
};

// What was handed over last, and the LabView::restored that was taken in last.
struct SavedWindow {
  std::optional<WindowState> state;
  uint64_t restored = 0;
};

std::string window_rows(const Screens&, const WindowParts& = {});
// Leaves out what is damaged, because the runs matter more. By undo, what is shown stays.
void show_window(Screens&, ShownSession&, const WindowParts&, const std::string& rows, bool by_undo = false);
// Takes in what a session brought that came back, and hands over what changed.
void keep_window(SavedWindow&, Screens&, ShownSession&, const WindowParts&);

}  // namespace normscope::shell

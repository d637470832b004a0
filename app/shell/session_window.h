// The window's rows of a session's table [window]: bookmarks, which run and which screen is shown, how the screens of
// add-ons are set, what parts of the window keep. They travel with the runs (Lab::keep) and come back with them.
// draw_app calls keep_window once a frame.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/shell/screens.h"
#include "app/ui/ui.h"
#include "app/view/screen.h"
#include "app/view/shortcuts.h"
#include "training/io/input_value.h"

namespace normscope::shell {

// An add-on's part of the window around the screens: options of a frame, controls in the top bar, drawings above
// everything, and settings that travel with a session. Its row of window_parts.def names the function that makes it.

class WindowPart {
 public:
  WindowPart() = default;
  WindowPart(const WindowPart&) = delete;
  WindowPart& operator=(const WindowPart&) = delete;
  virtual ~WindowPart() = default;

  virtual void begin(ui::FrameOptions&) const {}
  /// Answers keys at the beginning of a frame.
  virtual void keys(ui::Ui&) {}
  /// Carries out an act of its own shortcuts.def; false: the act is not its own.
  virtual bool run(view::Act, ui::Ui&) { return false; }
  /// Whether the window hides the top bar, the welcome and the tour.
  virtual bool bare() const { return false; }
  /// Draws at the right of `room` in the top bar and returns the left end of its drawing.
  virtual float draw_in_bar(ui::Ui&, const ui::Rect& room) { return room.right(); }
  /// Draws above everything, at the end of a frame.
  virtual void draw(ui::Ui&, ShownSession&, Screen /*shown*/, Message& /*notice*/) {}

  /// The key of its part in a session, and the part as JSON; empty: nothing to keep.
  virtual std::string_view key() const { return {}; }
  virtual std::string kept() const { return {}; }
  /// Takes in its own part of a session; null: the session has none. Throws Error.
  virtual void restore(const InputValue* /*kept*/) {}
  /// Whether another session leaves the tabs and the list of undo steps as they are.
  virtual bool holds_tabs() const { return false; }
};

using WindowParts = std::vector<std::shared_ptr<WindowPart>>;  // shared by the copies of a window's state

#define WINDOW_PART(make) std::unique_ptr<WindowPart> make();
#include "chosen/window_parts.def"
#undef WINDOW_PART

/// Makes one part per row of window_parts.def.
WindowParts make_window_parts();

struct WindowState {
  std::vector<int> bookmarks;                      // of the Lab
  char selected = 'A';                             // the Lab's run
  std::array<ScreenSettings, kScreens> screens{};  // empty: the screen was never opened
  Screen shown = Screen::Lab;
  std::vector<std::string> parts;  // kept() of each of the WindowParts, in their order
  bool operator==(const WindowState&) const = default;
};

// The state that the trainer got last, and the LabView::restored that the window shows.
struct SavedWindow {
  std::optional<WindowState> state;
  uint64_t restored = 0;
};

std::string window_rows(const Screens&, const WindowParts& = {});
// Leaves out damaged rows, because the runs matter more. An undo changes no shown screen.
void show_window(Screens&, ShownSession&, const WindowParts&, const std::string& rows, bool by_undo = false);
// Shows the window of a session that was restored, and gives the trainer the window's state where it changed.
void keep_window(SavedWindow&, Screens&, ShownSession&, const WindowParts&);

}  // namespace normscope::shell

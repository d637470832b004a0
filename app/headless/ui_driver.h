// A synthetic mouse and keyboard for tests and for `screenshot --script`. It finds controls by name in
// the registry, sends mouse and key events, and runs frames in between, as a person would (move, wait, press, wait,
// release).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/headless/frame.h"
#include "app/ui/ui.h"

namespace normscope::headless {

class UiDriver {
 public:
  // Draws one whole frame: ui.begin_frame, screen, ui.end_frame.
  UiDriver(Frame& loop, ui::Ui& ui, std::function<void()> frame);

  void frames(int n = 1);
  // A control by name and waits up to 30 frames for it. It throws Error with the control's name and
  // the nearest names.
  ui::Control control(std::string_view name);
  std::string value(std::string_view name) { return control(name).value; }

  // Goes to a place in the rectangle, given as fractions; the middle by default.
  void move_to(std::string_view name, ui::Vec fraction = {0.5f, 0.5f});
  void move_to(ui::Vec point);  // logical px
  void press(int button = 0);
  void release(int button = 0);
  void click(std::string_view name, ui::Vec fraction = {0.5f, 0.5f}, int button = 0);
  // Opens a menu or a list and takes an entry of it.
  void choose(const std::string& menu, const std::string& entry);
  void double_click(std::string_view name, ui::Vec fraction = {0.5f, 0.5f});
  // Goes from one control to another, `drag_by` by an offset, in `steps` frames. `modifiers`: "Alt", "Shift",
  // "Ctrl+Shift", "".
  void drag(std::string_view from, std::string_view to, std::string_view modifiers = "", int steps = 6);
  void drag_by(std::string_view from, ui::Vec offset, std::string_view modifiers = "", int steps = 6,
               ui::Vec fraction = {0.5f, 0.5f});
  void wheel(float dy);
  void type(std::string_view utf8);
  // Presses a chord: "Enter", "Tab", "Shift+Tab", "Ctrl+Z", "Space", "Left", "?" ...
  void key(std::string_view chord);
  void hold(std::string_view modifiers, bool down);

  // Obeys lines: hover NAME | click NAME | double NAME | right NAME | drag FROM TO [MODIFIERS] | grab FROM TO
  // [MODIFIERS] (drag without letting go) | drop | at NAME X Y (hover at these fractions of it) | press | wheel N |
  // hold MODIFIERS | leave (the mouse is nowhere) | type TEXT | key CHORD | frames N. It skips blank lines and #
  // comments, and throws Error "script line N: ..." for anything else.
  void script(std::string_view text);

 private:
  struct Line;
  void obey(const Line& line);
  void grab(const Line& line);
  // The name of a control that answers: a script that presses a greyed control has a mistake.
  const std::string& usable(const std::string& name);

  Frame& loop_;
  ui::Ui& ui_;
  std::function<void()> frame_;
};

}  // namespace normscope::headless

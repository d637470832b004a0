// The app without a window: its frames, and a hand that moves in them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/ui/geometry.h"
#include "app/ui/ui.h"

struct ImGuiContext;
struct ImDrawData;

namespace normscope::headless {

// An ImGui context without window, GL or backend. Time advances by a fixed step, textures are served in
// memory, and no ini file is read or written: the same input gives the same draw data and, through the rasteriser, the
// same pixels. Tests, the screenshot command and the text dump use it.

class Frame {
 public:
  explicit Frame(ui::Vec size_px, float delta_time = 1.f / 60);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  void resize(ui::Vec size_px);
  // Calls NewFrame, draw() and Render, and serves textures. The draw data is valid until the next step.
  ImDrawData* step(const std::function<void()>& draw);
  ImDrawData* draw_data() const { return data_; }
  int frames() const { return frames_; }
  void make_current() const;

 private:
  ImGuiContext* context_;
  ImDrawData* data_ = nullptr;
  int frames_ = 0;
};

// Marks every pending texture request as done, for rendering in memory; ImGui holds the pixels.
void serve_textures();
// Undoes serve_textures() before the context goes.
void release_textures();

// A synthetic mouse and keyboard for tests and for `screenshot --script`. It finds controls by name in the registry,
// sends mouse and key events, and runs frames in between, as a person would (move, wait, press, wait, release).

class UiDriver {
 public:
  // Draws one whole frame: ui.begin_frame, screen, ui.end_frame.
  UiDriver(Frame& loop, ui::Ui& ui, std::function<void()> frame);

  void frames(int n = 1);
  // A control by name and waits up to 30 frames for it. It throws Error with the control's name and the nearest names.
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

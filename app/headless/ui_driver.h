// The app without a window: Frame runs its frames, and UiDriver is a synthetic user.
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

// Marks every texture request of ImGui as done, for the rasteriser, which reads the pixels from ImGui's memory.
void serve_textures();
// Marks all textures as destroyed; must be called before the context is.
void release_textures();

// A synthetic mouse and keyboard for tests and for `screenshot --script`. It finds controls by name in the registry,
// sends mouse and key events, and runs frames in between, as a person would (move, wait, press, wait, release).

class UiDriver {
 public:
  // Draws one whole frame: ui.begin_frame, screen, ui.end_frame.
  UiDriver(Frame& loop, ui::Ui& ui, std::function<void()> frame);

  void frames(int n = 1);
  // Finds a control by name, within 30 frames. Throws Error with the name, and names that begin like it.
  ui::Control control(std::string_view name);
  std::string value(std::string_view name) { return control(name).value; }

  // Moves the mouse to a point of the control's rectangle, given as fractions; by default its middle.
  void move_to(std::string_view name, ui::Vec fraction = {0.5f, 0.5f});
  void move_to(ui::Vec point);  // logical px
  void press(int button = 0);
  void release(int button = 0);
  void click(std::string_view name, ui::Vec fraction = {0.5f, 0.5f}, int button = 0);
  // Opens a menu or a list and clicks its entry MENU/ENTRY.
  void choose(const std::string& menu, const std::string& entry);
  void double_click(std::string_view name, ui::Vec fraction = {0.5f, 0.5f});
  // Drags from one control to another, `drag_by` by an offset, in `steps` moves of two frames. `modifiers` are held
  // meanwhile: "Alt", "Shift", "Ctrl+Shift", "".
  void drag(std::string_view from, std::string_view to, std::string_view modifiers = "", int steps = 6);
  void drag_by(std::string_view from, ui::Vec offset, std::string_view modifiers = "", int steps = 6,
               ui::Vec fraction = {0.5f, 0.5f});
  void wheel(float dy);
  void type(std::string_view utf8);
  // Presses a chord: "Enter", "Tab", "Shift+Tab", "Ctrl+Z", "Space", "Left", "?" ...
  void key(std::string_view chord);
  void hold(std::string_view modifiers, bool down);

  // Runs lines: hover NAME | click NAME | double NAME | right NAME | drag FROM TO [MODIFIERS] | grab FROM TO
  // [MODIFIERS] (drag without letting go) | drop | at NAME X Y (hover at these fractions of it) | press | wheel N |
  // hold MODIFIERS | leave (the mouse is nowhere) | type TEXT | key CHORD | frames N. It skips blank lines and #
  // comments, and throws Error "script line N: ..." for anything else.
  void script(std::string_view text);

 private:
  struct Line;
  void obey(const Line& line);
  void grab(const Line& line);
  // Returns `name`. Throws Error if the control is disabled, as a script that clicks it has a mistake.
  const std::string& usable(const std::string& name);

  Frame& loop_;
  ui::Ui& ui_;
  std::function<void()> frame_;
};

}  // namespace normscope::headless

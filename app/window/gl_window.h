// The tools with which the window is drawn: GLFW's window, an OpenGL context, Dear ImGui and its back ends for both. In
// a browser the window is the page's canvas and OpenGL is WebGL 2. run_window opens it, and WindowSession draws in it.
#pragma once

#include <string>

struct GLFWwindow;

namespace normscope::window {

// The destructor undoes in reverse whatever open() has done, however far it came.
class GlWindow {
 public:
  GlWindow() = default;
  ~GlWindow();
  GlWindow(const GlWindow&) = delete;
  GlWindow& operator=(const GlWindow&) = delete;

  // Takes logical pixels, limited by the monitor. It returns kWindowClosed when the window is open, else
  // kWindowNoDisplay or kWindowNoOpenGl.
  int open(const std::string& title, int width, int height);

  GLFWwindow* handle() const { return handle_; }

  // Width of the monitor under the window's middle, looked up again once a second at most. 0: not known.
  int monitor_width_px();
  int monitor_width_mm();

  // Whether the processor draws: then every frame takes time from the training.
  bool software_gl() const;
  // Ends a wait for events; any thread may call it.
  void wake();

 private:
  void look_for_monitor();

  int monitor_px_ = 0, monitor_mm_ = 0;
  double next_look_ = -1;
  GLFWwindow* handle_ = nullptr;
  bool glfw_ = false, contexts_ = false, backends_ = false;
};

}  // namespace normscope::window

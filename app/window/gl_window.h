// What the window is drawn with: GLFW's window, an OpenGL context, Dear ImGui and its back ends for both. In a browser
// the window is the page's canvas and OpenGL is WebGL 2. Called by the session that draws in it.
#pragma once

#include <string>

struct GLFWwindow;

namespace normscope {

// Undone in reverse, however far it came.
class GlWindow {
 public:
  GlWindow() = default;
  ~GlWindow();
  GlWindow(const GlWindow&) = delete;
  GlWindow& operator=(const GlWindow&) = delete;

  // Logical pixels; the monitor limits them. kWindowClosed (it is open), kWindowNoDisplay or kWindowNoOpenGl.
  int open(const std::string& title, int width, int height);

  GLFWwindow* handle() const { return handle_; }

  // Of the monitor that the window's middle is on; asked again when it has moved there. 0: not known.
  int monitor_width_px();
  int monitor_width_mm();

  // Drawn by the processor: every frame takes time from the training.
  bool software_gl() const;
  // Ends a wait for events; from any thread.
  void wake();

 private:
  void look_for_monitor();

  int monitor_px_ = 0, monitor_mm_ = 0;
  double next_look_ = -1;
  GLFWwindow* handle_ = nullptr;
  bool glfw_ = false, contexts_ = false, backends_ = false;
};

}  // namespace normscope

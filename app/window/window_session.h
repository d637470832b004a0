// One window with its Lab: the work between the events of a window and draw_app. The event loop calls turn() after
// each wait: run_window here, the browser's frames in platforms/web.
#pragma once

#include <imgui.h>

#include <atomic>
#include <memory>

#include "app/shell/app_state.h"
#include "app/window/gl_window.h"
#include "app/window/main_window.h"
#include "app/window/window_memory.h"
#include "engine/core/error.h"

namespace normscope {
namespace headless {
class SoftwareScreen;
}
}  // namespace normscope

namespace normscope::window {

// The trainer's callback only sets a flag and wakes the event loop; everything else happens on the calling thread.
class WindowSession {
 public:
  WindowSession(GlWindow& window, const WindowOptions& options, WindowMemory& memory);
  ~WindowSession();
  WindowSession(const WindowSession&) = delete;
  WindowSession& operator=(const WindowSession&) = delete;

  // Waits for an event, a new view or the time of the next frame. While a frame is due, a new view wakes nothing.
  void sleep();
  // Takes in events and views since the last turn, and draws a frame if one is due within `soon` seconds.
  void turn(double soon = 1e-3);
  // Returns when the last autosave is complete. It throws Error where the frame log could not be written.
  void close();

  // Opens a file that was dropped on the window, or chosen outside of it.
  void open_file(const std::string& path);
  // Replaces the requested runs with the session that the last window left, where there is one.
  void restore_last();
  shell::AppState& state() { return state_; }
  const ui::Ui& ui() const { return ui_; }
  int frames_drawn() const { return drawn_; }
  const FrameCost& frame_cost() const { return cost_; }

 private:
  void draw();
  // Shows in the top bar an error from outside of the parts of a frame.
  void say(const Message& error);
  void show(ImDrawData* data);
  void remember(float content_scale, double now);
  void follow_window();
  void open_linked(const link::LinkedView& link, session::Ticket runs);

  GlWindow& window_;
  WindowMemory& memory_;
  shell::AppState state_;
  ui::Ui ui_;
  FramePacer pacer_;
  FrameLog frames_;
  FrameCost cost_;
  int drawn_ = 0;
  bool scale_asked_ = false;                            // the command line set the scale
  std::unique_ptr<headless::SoftwareScreen> software_;  // where OpenGL has no hardware
  std::atomic<bool> news_{true}, asleep_{false};
  std::unique_ptr<Lab> lab_;
};

}  // namespace normscope::window

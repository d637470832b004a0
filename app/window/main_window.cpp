#include "app/window/main_window.h"

#include <GLFW/glfw3.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "app/window/gl_window.h"
#include "app/window/window_memory.h"
#include "app/window/window_session.h"

namespace normscope::window {
namespace {

// Both are read at exit, because the window library calls exit(1) when the display server
// goes away. The autosave of the last seconds, if there is one, is on the disk by then.
std::atomic<bool> window_open{false}, session_kept{false};

void end_without_display() {
  if (!window_open) return;
  std::fputs(
      session_kept
          ? "normscope: the display went away; the session is kept, the next start offers to restore it\n"
          : "normscope: the display went away; the session was not kept\n",
      stderr);
  std::_Exit(kDisplayLost);
}

// Returns freed memory (keyframes, frames, images for the autosave) to the system, because a window
// is open for hours. Otherwise glibc keeps a heap for each thread, and large blocks in it once one was freed.
void give_memory_back() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

}  // namespace

int run_window(const WindowOptions& options) {
  give_memory_back();
  WindowMemory memory(options.safe_mode);
  GlWindow window;
  const shell::Settings& settings = memory.settings();
  if (const int result = window.open(options.title, settings.width, settings.height); result != kWindowClosed)
    return result;
  static const int registered = std::atexit(end_without_display);
  (void)registered;
  session_kept = !memory.autosave().empty();
  struct Open {
    Open() { window_open = true; }
    ~Open() { window_open = false; }  // also when the session could not begin: that ends with its own error
  } const open;
  WindowSession session(window, options, memory);
  const auto interrupted = [&] { return options.interrupted && options.interrupted(); };
  while (!glfwWindowShouldClose(window.handle()) && !interrupted()) {
    session.sleep();
    session.turn();
  }
  const bool by_signal = interrupted();
  session.close();
  return by_signal ? kWindowInterrupted : kWindowClosed;
}

}  // namespace normscope::window

#include "app/window/main_window.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>

#ifdef __linux__
#include <sys/resource.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <thread>

#include "app/headless/software_screen.h"
#include "app/shell/app_state.h"
#include "app/shell/parts/linked.h"
#include "app/ui/keys.h"
#include "app/window/desktop.h"
#include "app/window/frame_log.h"
#include "app/window/window_icon.h"
#include "app/window/window_memory.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/cuda/loader.h"

namespace normscope {
namespace {

// glfwInit, window, contexts and back ends, undone in reverse however far they came.
class Window {
 public:
  ~Window() {
    if (backends_) {
      ImGui_ImplOpenGL3_Shutdown();
      ImGui_ImplGlfw_Shutdown();
    }
    if (contexts_) ImGui::DestroyContext();
    if (handle_) glfwDestroyWindow(handle_);
    if (glfw_) glfwTerminate();
  }

  int open(const WindowOptions& options, const Settings& settings) {
    glfwSetErrorCallback([](int, const char*) {});  // the result says what the caller needs to know
    glfw_ = glfwInit() == GLFW_TRUE;
    if (!glfw_) return kWindowNoDisplay;
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    int width = settings.width, height = settings.height;
    fit_monitor(width, height);
    handle_ = glfwCreateWindow(width, height, options.title.c_str(), nullptr, nullptr);
    if (!handle_) return kWindowNoOpenGl;
    set_window_icon(handle_);
    glfwMakeContextCurrent(handle_);
    glfwSwapInterval(1);
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    contexts_ = true;
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().ConfigInputTextCursorBlink = false;  // a blinking cursor would cost frames
    if (!ImGui_ImplGlfw_InitForOpenGL(handle_, true) || !ImGui_ImplOpenGL3_Init("#version 330"))
      return kWindowNoOpenGl;
    backends_ = true;
    return kWindowClosed;
  }

  GLFWwindow* handle() const { return handle_; }

  // Of the monitor that the window's middle is on; asked again when it has moved there.
  int monitor_width_px() {
    look_for_monitor();
    return monitor_px_;
  }
  int monitor_width_mm() {
    look_for_monitor();
    return monitor_mm_;
  }

  // Drawn by the processor: every frame takes time from the training.
  bool software_gl() const {
    const auto* name = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
    if (!name) return true;
    for (const char* soft : {"llvmpipe", "softpipe", "SwiftShader", "Software"})
      if (std::strstr(name, soft)) return true;
    return false;
  }

 private:
  static void fit_monitor(int& width, int& height) {
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    if (!monitor) return;
    int x = 0, y = 0, w = 0, h = 0;
    glfwGetMonitorWorkarea(monitor, &x, &y, &w, &h);
    if (w > 0) width = std::min(width, w);
    if (h > 0) height = std::min(height, h);
  }

  void look_for_monitor() {
    if (glfwGetTime() < next_look_) return;
    next_look_ = glfwGetTime() + 1;
    int x = 0, y = 0, w = 0, h = 0, count = 0;
    glfwGetWindowPos(handle_, &x, &y);
    glfwGetWindowSize(handle_, &w, &h);
    GLFWmonitor** monitors = glfwGetMonitors(&count);
    for (int i = 0; i < count; ++i) {
      int mx = 0, my = 0, mm_w = 0, mm_h = 0;
      glfwGetMonitorPos(monitors[i], &mx, &my);
      glfwGetMonitorPhysicalSize(monitors[i], &mm_w, &mm_h);
      const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
      if (!mode) continue;
      const int cx = x + w / 2 - mx, cy = y + h / 2 - my;
      if (cx >= 0 && cy >= 0 && cx < mode->width && cy < mode->height) {
        monitor_px_ = mode->width;
        monitor_mm_ = mm_w;
      }
    }
  }

  int monitor_px_ = 0, monitor_mm_ = 0;
  double next_look_ = -1;
  GLFWwindow* handle_ = nullptr;
  bool glfw_ = false, contexts_ = false, backends_ = false;
};

// The trainer's threads run a little lower than the window's: under the hand the training yields, untouched
// it loses nothing. On Linux a thread hands its priority on to those it starts, so the Lab is made on a
// thread of its own.
std::unique_ptr<Lab> make_lab(const LabOptions& options) {
  std::unique_ptr<Lab> lab;
  std::exception_ptr failure;
  start_thread("window", [&] {
#ifdef __linux__
    constexpr int kLower = 5;
    (void)setpriority(PRIO_PROCESS, 0, kLower);  // of this thread alone; as good without
#endif
    try {
      lab = std::make_unique<Lab>(options);
    } catch (...) {
      failure = exception_for_others("lab");
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
  return lab;
}

LabOptions lab_options(const WindowOptions& window, const WindowMemory& memory) {
  LabOptions options = window.lab;
  if (options.autosave.empty()) options.autosave = memory.autosave();
  options.backend = window.backend.value_or(memory.settings().backend);
  return options;
}

// A display server that goes away ends the process in the window library's hands: it calls exit(1). What is left
// to do is to say so, with a code of its own; the autosave of the last seconds, if there is one, is on the disk.
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

// One window with its Lab. The trainer's callback only rings the bell; everything else happens on this thread.
class Session {
 public:
  Session(Window& window, const WindowOptions& options, WindowMemory& memory)
      : window_(window),
        memory_(memory),
        ui_(ui::load_fonts()),
        pacer_(window.software_gl()),
        frames_(options.frame_log),
        interrupted_(options.interrupted),
        lab_(make_lab(lab_options(options, memory))) {
    if (window.software_gl()) software_ = std::make_unique<SoftwareScreen>();
    memory.put(state_);
    state_.session.lab = lab_.get();
    if (options.scale) state_.look.scale = *options.scale;
    if (options.dark) state_.look.dark = *options.dark;
    if (!options.language.empty())
      state_.screens.lessons.language = options.language == "en" ? "" : options.language;
    if (options.backend) state_.backend.chosen = *options.backend;
    const std::function<void()> wake = [this] {
      news_.store(true, std::memory_order_relaxed);
      if (asleep_.exchange(false)) glfwPostEmptyEvent();
    };
    lab_->on_change(wake);
    state_.files.wake = wake;
    state_.screens.lessons.wake = wake;
    state_.screens.compare.wake = wake;
    state_.files.recorded = options.files;
    state_.screens.sweep.wake = wake;
    state_.screens.tape.wake = wake;
    // Making a context on a GPU takes a while.
    state_.backend.cuda = start_task("window", [wake] {
                            std::string reason;
                            const std::string error = guarded("cuda", [&] { reason = cuda_unavailable(); });
                            wake();
                            return error.empty() ? reason : error;
                          }).share();
    lab_->post(lab::ReplaceRuns{.runs = options.runs.empty() ? default_comparison() : options.runs,
                                .edits = options.edits,
                                .play = options.play && !options.link,
                                .letters = options.letters});
    if (options.link) open_linked(*options.link);
    glfwSetWindowUserPointer(window_.handle(), this);
    glfwSetDropCallback(window_.handle(), [](GLFWwindow* w, int count, const char** paths) {
      auto* self = static_cast<Session*>(glfwGetWindowUserPointer(w));
      if (count > 0) self->say(guarded("opening a file", [&] { self->drop(paths[0]); }));
    });
    glfwSetWindowRefreshCallback(window_.handle(), [](GLFWwindow* w) {
      static_cast<Session*>(glfwGetWindowUserPointer(w))->pacer_.hand(glfwGetTime());
    });
  }

  ~Session() {
    if (lab_) lab_->on_change({});
    state_.files = {};  // what still reads rings a bell of ours
    state_.screens.compare = {};
    state_.screens.sweep = {};
    state_.screens.tape = {};
  }

  // False: a signal ended it.
  bool run() {
    while (!glfwWindowShouldClose(window_.handle()) && !interrupted()) {
      sleep();
      const double now = glfwGetTime();
      if (ImGui::GetCurrentContext()->InputEventsQueue.Size > 0) pacer_.hand(now);
      if (news_.exchange(false, std::memory_order_relaxed)) pacer_.changed(now);
      if (glfwGetWindowAttrib(window_.handle(), GLFW_ICONIFIED)) continue;
      const double wait = pacer_.wait(now);
      if (wait >= 0 && wait < 1e-3) draw();
    }
    state_.session.lab = nullptr;
    lab_->on_change({});
    lab_.reset();  // the last autosave is complete
    memory_.close(state_.notice, !interrupted());
    if (!frames_.error().empty()) throw Error(frames_.error());
    return !interrupted();
  }

 private:
  bool interrupted() const { return interrupted_ && interrupted_(); }

  // Until an event, a new view or the time of the next frame. While a frame is due anyway, new views ring no bell.
  void sleep() {
    const bool hidden = glfwGetWindowAttrib(window_.handle(), GLFW_ICONIFIED);
    const double wait = hidden ? -1 : pacer_.wait(glfwGetTime());  // a signal is seen within a second
    if (wait >= 0) {
      if (wait > 0)
        glfwWaitEventsTimeout(wait);
      else
        glfwPollEvents();
      return;
    }
    asleep_.store(!hidden);
    if (!hidden && news_.load())
      asleep_.store(false);  // rang between the last frame and now
    else
      glfwWaitEventsTimeout(1.0);
    asleep_.store(false);
  }

  void draw() {
    // A frame's period runs from begin to begin: what the frame itself costs is part of it.
    const double begin = glfwGetTime();
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_.handle(), &width, &height);
    if (width <= 0 || height <= 0) return;
    float sx = 1, sy = 1;
    glfwGetWindowContentScale(window_.handle(), &sx, &sy);
    sx = display_scale(sx, window_.monitor_width_px(), window_.monitor_width_mm());
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    // Where the window system scales by itself (framebuffer larger than the window), its factor is already in.
    const float inner = ImGui::GetIO().DisplayFramebufferScale.x;
    state_.look.monitor_scale = inner > 1.01f ? 1 : std::max(sx, 0.5f);
    ui::new_frame();
    say(guarded("drawing", [&] { draw_app(state_, ui_); }));
    ImGui::Render();
    const double built = glfwGetTime();
    glViewport(0, 0, width, height);
    show(ImGui::GetDrawData());
    glfwSwapBuffers(window_.handle());
    const double now = glfwGetTime();
    frames_.write({(built - begin) * 1e3, (now - built) * 1e3, ImGui::GetDrawData()->TotalVtxCount,
                   state_.session.view ? state_.session.view->step : 0});
    say(guarded("settings", [&] { remember(sx, now); }));
    pacer_.drawn(begin);
    if (ui_.animating()) pacer_.animating(now);
  }

  void open_linked(const LinkedView& link) {
    say(guarded("opening a link",
                [&] { show_linked(link, LabView{}, state_.screens, state_.look, lab_.get()); }));
    if (link.step > 0) lab_->post(lab::PlayTo{link.step});
  }

  void drop(const char* path) {
    shell::begin_opening(state_.files, state_.session, path, shell::Sure::Dropped, state_.notice);
  }

  // What failed outside of the parts of a frame, in the title bar.
  void say(const std::string& error) {
    if (!error.empty()) state_.notice = error;
  }

  void show(ImDrawData* data) {
    const ui::Colour bg = ui_.theme().bg;
    if (software_ && software_->show(*data, bg.packed())) return;
    software_.reset();
    glClearColor(bg.r / 255.f, bg.g / 255.f, bg.b / 255.f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(data);
  }

  void remember(float content_scale, double now) {
    int width = 0, height = 0;
    glfwGetWindowSize(window_.handle(), &width, &height);
    // A new window is made larger by the display's factor again.
    const float factor = state_.look.monitor_scale > 1 ? std::max(content_scale, 1.f) : 1.f;
    if (glfwGetWindowAttrib(window_.handle(), GLFW_MAXIMIZED)) width = height = 0;
    memory_.keep(state_, static_cast<int>(static_cast<float>(width) / factor),
                 static_cast<int>(static_cast<float>(height) / factor), now);
  }

  Window& window_;
  WindowMemory& memory_;
  AppState state_;
  ui::Ui ui_;
  FramePacer pacer_;
  FrameLog frames_;
  std::function<bool()> interrupted_;
  std::unique_ptr<SoftwareScreen> software_;  // where OpenGL has no hardware
  std::atomic<bool> news_{true}, asleep_{false};
  std::unique_ptr<Lab> lab_;
};

// A window is open for hours: what is let go (keyframes, frames, images for the autosave) goes back to the
// system. Left alone, glibc keeps a heap a thread and, once a large block was freed, large blocks in it.
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
  Window window;
  if (const int result = window.open(options, memory.settings()); result != kWindowClosed) return result;
  static const int registered = std::atexit(end_without_display);
  (void)registered;
  session_kept = !memory.autosave().empty();
  struct Open {
    Open() { window_open = true; }
    ~Open() { window_open = false; }  // also when the session could not begin: that ends with its own error
  } const open;
  return Session(window, options, memory).run() ? kWindowClosed : kWindowInterrupted;
}

}  // namespace normscope

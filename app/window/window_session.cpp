#include "app/window/window_session.h"

#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "app/headless/software_screen.h"
#include "app/headless/system_fonts.h"
#include "app/shell/screens.h"
#include "app/ui/ui.h"
#include "app/window/desktop.h"
#include "engine/core/boundary.h"
#include "engine/core/machine.h"
#include "engine/cuda/loader.h"
#include "training/session/session_file.h"

namespace normscope::window {
namespace {

LabOptions lab_options(const WindowOptions& window, const WindowMemory& memory) {
  LabOptions options = window.lab;
  if (options.autosave.empty()) options.autosave = memory.autosave();
  options.backend = window.backend.value_or(memory.settings().backend);
  return options;
}

// Monotonic, so that another process can count from the moment when it started this one.
double clock_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A user counts as present for so long after the last event (tooltips, motion).
constexpr double kTouched = 0.6;
constexpr double kScreen = 1 / 60.0;
constexpr double kGpuTraining = 1 / 30.0;
constexpr double kSoftHand = 1 / 20.0, kSoftTraining = 1 / 4.0;

}  // namespace

WindowSession::WindowSession(GlWindow& window, const WindowOptions& options, WindowMemory& memory)
    : window_(window),
      memory_(memory),
      ui_(ui::load_fonts()),
      pacer_(window.software_gl()),
      frames_(options.frame_log),
      lab_(std::make_unique<Lab>(lab_options(options, memory))) {
  // Beside training and other programs a frame then begins soon after what it answers. A lower priority of the trainer
  // would do that too, but made training beside other work of the session up to three times slower.
  take_short_slices();
  if (window.software_gl()) software_ = std::make_unique<headless::SoftwareScreen>();
  memory.put(state_);
  state_.session.lab = lab_.get();
  state_.screens.trainer = lab_->trainer();
  if (options.scale) state_.look.scale = *options.scale;
  scale_asked_ = options.scale.has_value();
  if (options.dark) state_.look.dark = *options.dark;
  if (!options.language.empty()) state_.screens.lessons.language = options.language;
  shell::speak(state_.screens.lessons);
  if (options.backend) state_.backend.chosen = *options.backend;
  const std::function<void()> wake = [this] {
    news_.store(true, std::memory_order_relaxed);
    if (asleep_.exchange(false)) window_.wake();
  };
  lab_->on_change(wake);
  state_.files.wake = wake;
  state_.screens.wake = wake;
  state_.files.recorded = options.files;
  state_.screens.shown = options.shown;
  // The task is needed because making a context on a GPU takes a while.
  state_.backend.cuda = start_task("window", [wake] {
                          std::string reason;
                          const Message error = guarded("cuda", [&] { reason = cuda_unavailable(); });
                          wake();
                          return error.empty() ? reason : std::string(error);
                        }).share();
  const bool play = options.play && !options.link;
  state_.screens.lab.without_runs() = !options.files.empty();
  if (options.files.empty()) {  // whoever opens recorded runs asked for these alone
    session::ReplaceRuns command = options.runs.empty()
                                       ? session::ReplaceRuns{.runs = default_comparison(), .play = play}
                                       : replacing(options.runs, play);
    if (options.link)
      command.instant = options.link->instant;
    else if (options.instant)
      command = instant(std::move(command));
    const session::Ticket runs = lab_->post(std::move(command));
    if (options.link) open_linked(*options.link, runs);
  }
  follow_window();
}

void WindowSession::open_linked(const link::LinkedView& link, session::Ticket runs) {
  const Message fault =
      guarded("opening a link", [&] { say(shell::show_linked(link, runs, state_.screens, state_.look)); });
  if (!fault.empty()) say(fault);
  if (link.step > 0) lab_->post(session::PlayTo{link.step});
}

void WindowSession::follow_window() {
  glfwSetWindowUserPointer(window_.handle(), this);
  glfwSetDropCallback(window_.handle(), [](GLFWwindow* w, int count, const char** paths) {
    auto* self = static_cast<WindowSession*>(glfwGetWindowUserPointer(w));
    if (count > 0) self->open_file(paths[0]);
  });
  glfwSetWindowRefreshCallback(window_.handle(), [](GLFWwindow* w) {
    static_cast<WindowSession*>(glfwGetWindowUserPointer(w))->pacer_.hand(glfwGetTime());
  });
}

WindowSession::~WindowSession() {
  if (lab_) lab_->on_change({});
  state_.files = {};  // tasks that still read would wake this window
  state_.about = {};
  state_.screens.lessons.player.reset();
  state_.screens.others = {};
}

void WindowSession::turn(double soon) {
  const double now = glfwGetTime();
  if (ImGui::GetCurrentContext()->InputEventsQueue.Size > 0) pacer_.hand(now);
  if (news_.exchange(false, std::memory_order_relaxed)) pacer_.changed(now);
  if (glfwGetWindowAttrib(window_.handle(), GLFW_ICONIFIED)) return;
  const double wait = pacer_.wait(now);
  if (wait >= 0 && wait < soon) draw();
}

void WindowSession::close() {
  lab_->on_change({});
  lab_.reset();
  state_.session.lab = nullptr;
  memory_.close(state_.notice);
  if (!frames_.error().empty()) throw Error(frames_.error());
}

void WindowSession::sleep() {
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
    asleep_.store(false);  // news came between the last frame and now
  else
    glfwWaitEventsTimeout(0.5);  // an interrupt rings no bell
  asleep_.store(false);
}

void WindowSession::draw() {
  // A frame's period runs from begin to begin, so that it includes what the frame itself costs.
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
  headless::add_system_fonts(/*wait=*/false);
  ui::new_frame(ui_.pan(), ui_.panned());
  say(guarded("drawing", [&] { shell::draw_app(state_, ui_); }));
  ImGui::Render();
  const double built = glfwGetTime();
  headless::gl().viewport(0, 0, width, height);
  show(ImGui::GetDrawData());
  glfwSwapBuffers(window_.handle());
  const double now = glfwGetTime();
  const LabView* view = state_.session.view.get();
  cost_ = {(built - begin) * 1e3, (now - built) * 1e3, ImGui::GetDrawData()->TotalVtxCount,
           view ? view->step : 0, view && view->answered == lab_->posted() ? seeds_there(*view) : 0};
  frames_.write(cost_);
  // A person who asked for a scale on the command line reads there why it is smaller.
  if (++drawn_ == 1 && scale_asked_)
    if (const std::string note = shell::scale_note(state_.look, ui_); !note.empty())
      fmt::print(stderr, "normscope: --scale {:g}: {}\n", state_.look.scale, note);
  say(guarded("settings", [&] { remember(sx, now); }));
  pacer_.drawn(begin);
  if (ui_.animating() || headless::looks_for_fonts()) pacer_.animating(now);
}

void WindowSession::open_file(const std::string& path) {
  say(guarded("opening a file",
              [&] { shell::begin_opening(state_.files, state_.session, path, false, state_.notice); }));
}

void WindowSession::restore_last() {
  if (state_.shell.offers.last_session.empty()) return;
  state_.session.view = state_.session.lab->view();
  shell::run_act(state_, ui_, view::Act::Restore);
}

void WindowSession::say(const Message& error) {
  if (!error.empty()) state_.notice = error;
}

void WindowSession::show(ImDrawData* data) {
  const ui::Colour bg = ui_.theme().bg;
  if (software_ && software_->show(*data, bg.packed())) return;
  software_.reset();
  headless::gl().clear_colour(bg.r / 255.f, bg.g / 255.f, bg.b / 255.f, 1);
  headless::gl().clear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(data);
}

void WindowSession::remember(float content_scale, double now) {
  int width = 0, height = 0;
  glfwGetWindowSize(window_.handle(), &width, &height);
  // The size is kept without the display's factor, by which a new window is made larger again.
  const float factor = state_.look.monitor_scale > 1 ? std::max(content_scale, 1.f) : 1.f;
  if (glfwGetWindowAttrib(window_.handle(), GLFW_MAXIMIZED)) width = height = 0;
  memory_.keep(state_, static_cast<int>(static_cast<float>(width) / factor),
               static_cast<int>(static_cast<float>(height) / factor), now);
}
FrameLog::FrameLog(const std::string& path) : file_(path.empty() ? LineFile() : LineFile(path, "frame log")) {
  file_.line("clock_s,process_cpu_s,step,build_ms,draw_ms,vertices,seeds");
}

void FrameLog::write(const FrameCost& cost) {
  if (!file_) return;
  const double cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  file_.line(fmt::format("{:.6f},{:.6f},{},{:.3f},{:.3f},{},{}", clock_now(), cpu, cost.step, cost.build_ms,
                         cost.draw_ms, cost.vertices, cost.seeds));
}

// Chooses the frame rates of the window, see main_window.h. With a GPU 30 frames a second are plenty for
// curves. In software every frame takes processor time from the training, so an untouched window draws four times a
// second. A user is answered at once: an event that no frame has shown yet waits only for the screen's refresh.

double FramePacer::period(double now) const {
  if (hand_ > last_ || echo_) return kScreen;
  const bool touched = now - hand_ < kTouched;
  if (touched || animating_) return software_ ? kSoftHand : kScreen;
  return software_ ? kSoftTraining : kGpuTraining;
}

void FramePacer::drawn(double now) {
  // One more frame follows the last event, because hover delays and focus settle in it.
  settled_ = now - hand_ >= kTouched;
  echo_ = hand_ > last_;
  changed_ = animating_ = false;
  last_ = now;
}

double FramePacer::wait(double now) const {
  const bool touched = now - hand_ < kTouched || hand_ > last_;
  if (!changed_ && !animating_ && !touched && settled_) return -1;
  return std::max(0.0, last_ + period(now) - now);
}

}  // namespace normscope::window

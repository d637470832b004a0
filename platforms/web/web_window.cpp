// The window in a browser: the same session, window and memory as on the desktop, and a turn for every frame that
// the browser asks for. run_window() returns at once; all that it made lives as long as the page.
#include <GLFW/glfw3.h>
#include <emscripten.h>
#include <emscripten/heap.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "app/lesson-player/player.h"
#include "app/link/link.h"
#include "app/shell/settings.h"
#include "app/view/screen.h"
#include "app/window/gl_window.h"
#include "app/window/main_window.h"
#include "app/window/window_memory.h"
#include "app/window/window_session.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "engine/io/output_file.h"
#include "platforms/web/page.h"
#include "training/io/codec.h"

namespace normscope::web {

// These functions tell the page and the tests about the running program, as JSON. They run on the browser's main
// thread.

/// Returns {"step", "training", "runs": [{"letter", "name", "loss", "step"}], "screen", "lesson",
/// "checksum", "threads", "heap", "frames", "frame_ms", "tokens_per_second", "theme", "message", "storage"};
/// docs/web.md explains each. The checksum is empty until the sheet of keys has found it (shell/app_state.h).
std::string status_of(window::WindowSession&);

/// Returns [{"name", "value", "enabled", "x", "y", "w", "h"}] of the controls in the last frame whose
/// names begin with `prefix`, in CSS pixels.
std::string places_of(const window::WindowSession&, const std::string& prefix);

}  // namespace normscope::web

namespace normscope::window {
namespace {

constexpr const char* kCanvas = "#canvas";

struct Page {
  explicit Page(bool safe_mode) : memory(safe_mode) {}

  WindowMemory memory;
  GlWindow window;
  std::unique_ptr<WindowSession> session;
};

std::unique_ptr<Page>& page() {
  static std::unique_ptr<Page> one;
  return one;
}

void frame() {
  constexpr double kSoon = 6e-3;  // the next chance comes 16 ms later
  const Message error = guarded("drawing", [] { page()->session->turn(kSoon); });
  if (error.empty()) return;
  emscripten_cancel_main_loop();
  web::fatal(error);
}

/// Downloads files outside of the home folder, because those were asked for by name.
void hand_over_exports() {
  const char* home = std::getenv("HOME");
  const std::string own = home ? std::string(home) + "/" : "/home/";
  listen_to_written_files([own](const std::string& path) {
    if (!path.starts_with(own)) web::hand_over(path);
  });
}

/// Opens the session of a link in the page's address, of the last visit, or of the options. It says
/// why a link cannot be opened.
std::unique_ptr<WindowSession> session_of_page(Page& own, WindowOptions options) {
  const std::string fragment = web::fragment();
  const Message refused = fragment.empty() ? Message() : guarded("opening a link", [&] {
    link::LinkedView view = link::read_link(fragment);
    link::require_needed(view, view.runs);
    options.runs = view.runs;
    options.link = std::move(view);
  });
  auto session = std::make_unique<WindowSession>(own.window, options, own.memory);
  if (fragment.empty() && !options.safe_mode) session->restore_last();
  session->state().shell.page = web::address();
  if (!refused.empty()) session->state().notice = refused;
  return session;
}

}  // namespace

int run_window(const WindowOptions& options) {
  if (!web::in_page()) return kWindowNoDisplay;
  page() = std::make_unique<Page>(options.safe_mode);
  Page& own = *page();
  const shell::Settings& settings = own.memory.settings();
  if (own.window.open(options.title, settings.width, settings.height) != kWindowClosed) {
    web::fatal(tr("This browser gives the page no WebGL 2."));
    return kWindowClosed;
  }
  ImGui_ImplGlfw_InstallEmscriptenCallbacks(own.window.handle(), kCanvas);
  web::join_keys();
  web::join_clipboard();
  hand_over_exports();
  own.session = session_of_page(own, options);
  emscripten_set_main_loop(frame, 0, false);
  return kWindowClosed;
}

}  // namespace normscope::window

// The page calls these functions (docs/web.md). A returned pointer holds until the next call of the same function.
extern "C" {

using normscope::window::page;

EMSCRIPTEN_KEEPALIVE void ns_open_file(const char* path) {
  if (page() && page()->session) page()->session->open_file(path);
}

EMSCRIPTEN_KEEPALIVE const char* ns_status() {
  static std::string text;
  text = page() && page()->session ? normscope::web::status_of(*page()->session) : "null";
  return text.c_str();
}

EMSCRIPTEN_KEEPALIVE const char* ns_places(const char* prefix) {
  static std::string text;
  text = page() && page()->session ? normscope::web::places_of(*page()->session, prefix) : "[]";
  return text.c_str();
}

EMSCRIPTEN_KEEPALIVE void ns_resize(int width, int height) {
  if (page()) glfwSetWindowSize(page()->window.handle(), width, height);
}

/// Stores what the page has now, because a hidden page may be ended without a word.
EMSCRIPTEN_KEEPALIVE void ns_hidden(int hidden) {
  if (hidden != 0) normscope::web::store_now();
}

}  // extern "C"

namespace normscope::web {

using Json = nlohmann::json;

std::string status_of(window::WindowSession& session) {
  shell::AppState& state = session.state();
  const std::shared_ptr<const LabView> view = state.session.lab->view();
  const window::FrameCost& frame = session.frame_cost();
  Json runs = Json::array();
  for (const RunView& run : view->runs)
    runs.push_back({{"letter", std::string(1, run.letter)},
                    {"name", run.name},
                    {"loss", number_json(run.loss)},
                    {"step", run.step}});
  const lesson_player::Player* player = state.screens.lessons.player.get();
  const course::Lesson* lesson = player ? player->lesson() : nullptr;
  const std::string refusal = storage_refusal();
  const Json status = {{"step", view->step},
                       {"training", view->playing},
                       {"runs", std::move(runs)},
                       {"screen", name_of(state.screens.shown)},
                       {"lesson", lesson ? lesson->id : ""},
                       {"checksum", state.about.checksum()},
                       {"threads", view->threads},
                       {"heap", emscripten_get_heap_size()},
                       {"frames", session.frames_drawn()},
                       {"seeds", frame.seeds},
                       {"frame_ms", frame.build_ms + frame.draw_ms},
                       {"tokens_per_second", view->tokens_per_second},
                       {"theme", state.look.dark ? "dark" : "light"},
                       {"message", view->message.empty() ? state.notice : view->message},
                       {"storage", refusal.empty() ? "kept" : refusal}};
  return status.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string places_of(const window::WindowSession& session, const std::string& prefix) {
  const ui::Ui& ui = session.ui();
  // Logical pixels are the window's pixels divided by the scale; the window's pixels are the page's.
  const float scale = ui.scale();
  Json places = Json::array();
  for (const ui::Control& control : ui.registry().all())
    if (control.name.starts_with(prefix))
      places.push_back({{"name", control.name},
                        {"value", control.value},
                        {"enabled", control.enabled},
                        {"x", control.rect.x * scale - ui.pan().x},
                        {"y", control.rect.y * scale - ui.pan().y},
                        {"w", control.rect.w * scale},
                        {"h", control.rect.h * scale}});
  return places.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace normscope::web

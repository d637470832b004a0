#include "app/web/status.h"

#include <emscripten/heap.h>
#include <imgui.h>

#include <nlohmann/json.hpp>

#include "app/lesson-player/player.h"
#include "app/view/screen.h"
#include "app/web/page.h"
#include "training/io/codec.h"

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
  const lessons::Player* player = state.screens.lessons.player.get();
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

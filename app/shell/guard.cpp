#include "app/shell/guard.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <utility>

#include "engine/core/boundary.h"

namespace normscope::shell {
namespace {

void pop_clips(ImDrawList* list, int size) {
  while (list->_ClipRectStack.Size > size) list->PopClipRect();
}

}  // namespace

Message draw_guarded(ui::Ui& ui, std::string_view doing, const std::function<void()>& draw) {
  const ui::Painter* const layer = &ui.paint();
  ImDrawList *const window = ImGui::GetWindowDrawList(), *const top = ImGui::GetForegroundDrawList();
  const int window_clips = window->_ClipRectStack.Size, top_clips = top->_ClipRectStack.Size;
  ImGuiErrorRecoveryState state;
  ImGui::ErrorRecoveryStoreState(&state);
  Message error = guarded(doing, draw);
  if (error.empty()) return error;
  // What is left open is not a misuse of Dear ImGui here, so it makes no assertion, log or tooltip.
  ImGuiIO& io = ImGui::GetIO();
  const bool asserts = std::exchange(io.ConfigErrorRecoveryEnableAssert, false),
             log = std::exchange(io.ConfigErrorRecoveryEnableDebugLog, false),
             tooltip = std::exchange(io.ConfigErrorRecoveryEnableTooltip, false);
  if (&ui.paint() != layer) ui.end_popup();
  ImGui::ErrorRecoveryTryToRecoverState(&state);
  io.ConfigErrorRecoveryEnableAssert = asserts;
  io.ConfigErrorRecoveryEnableDebugLog = log;
  io.ConfigErrorRecoveryEnableTooltip = tooltip;
  pop_clips(window, window_clips);
  pop_clips(top, top_clips);
  ui.close_popup();
  return error;
}

}  // namespace normscope::shell

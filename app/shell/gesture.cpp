#include "app/shell/gesture.h"

#include <imgui.h>

namespace normscope::shell {
namespace {

bool is_modifier(int key) { return key >= ImGuiKey_LeftCtrl && key <= ImGuiKey_RightSuper; }

struct Keys {
  bool stroke = false, held = false;
};
Keys keys_now() {
  Keys found;
  for (int key = ImGuiKey_Tab; key <= ImGuiKey_KeypadEqual; ++key) {
    if (is_modifier(key)) continue;
    found.stroke |= ImGui::IsKeyPressed(static_cast<ImGuiKey>(key), false);
    found.held |= ImGui::IsKeyDown(static_cast<ImGuiKey>(key));
  }
  return found;
}

}  // namespace

uint64_t Gestures::now() {
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) ++last_;
  if (ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsMouseReleased(ImGuiMouseButton_Left))
    return last_;
  const Keys keys = keys_now();
  if (keys.stroke) ++last_;
  return keys.stroke || keys.held ? last_ : 0;
}

}  // namespace normscope::shell

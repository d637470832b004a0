// See theme.h, apply_style().
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/ui/theme.h"

namespace normscope::ui {
namespace {

ImVec4 vec(Colour c) { return ImGui::ColorConvertU32ToFloat4(c.packed()); }

}  // namespace

void apply_style(const Theme& t, float scale) {
  auto px = [scale](float v) { return v * scale; };
  const float border = std::max(1.f, std::round(scale));
  ImGuiStyle s;
  s.FontSizeBase = type::body;
  s.FontScaleMain = scale;
  s.WindowPadding = {px(14), px(12)};
  s.WindowRounding = 0;
  s.WindowBorderSize = 0;
  s.ChildRounding = px(radius::panel);
  s.ChildBorderSize = border;
  s.PopupRounding = px(radius::panel);
  s.PopupBorderSize = border;
  s.FramePadding = {px(9), px(5)};
  s.FrameRounding = px(radius::field);
  s.FrameBorderSize = border;
  s.ItemSpacing = {px(8), px(4)};
  s.ItemInnerSpacing = {px(6), px(4)};
  s.CellPadding = {px(8), px(4)};
  s.ScrollbarSize = px(10);
  s.ScrollbarRounding = px(5);
  s.GrabMinSize = px(10);
  s.GrabRounding = px(5);
  s.TabRounding = 0;
  s.TabBarBorderSize = 0;
  s.TabBarOverlineSize = 0;
  s.SeparatorSize = border;
  s.DisabledAlpha = 0.5f;
  s.HoverDelayNormal = 0.45f;
  // Curves stay within a quarter of a pixel of the true arc at any scale.
  s.CircleTessellationMaxError = 0.2f;
  ImVec4* c = s.Colors;
  c[ImGuiCol_Text] = vec(t.ink);
  c[ImGuiCol_TextDisabled] = vec(t.ink3);
  c[ImGuiCol_WindowBg] = vec(t.bg);
  c[ImGuiCol_ChildBg] = c[ImGuiCol_PopupBg] = vec(t.panel);
  c[ImGuiCol_FrameBg] = c[ImGuiCol_FrameBgHovered] = c[ImGuiCol_FrameBgActive] = vec(t.field);
  c[ImGuiCol_Border] = vec(t.border);
  c[ImGuiCol_BorderShadow] = {};
  c[ImGuiCol_Header] = c[ImGuiCol_HeaderHovered] = c[ImGuiCol_HeaderActive] = vec(t.sunk);
  c[ImGuiCol_Button] = vec(t.panel);
  c[ImGuiCol_ButtonHovered] = c[ImGuiCol_ButtonActive] = vec(t.sunk);
  c[ImGuiCol_ScrollbarBg] = {};
  c[ImGuiCol_ScrollbarGrab] = c[ImGuiCol_ScrollbarGrabHovered] = c[ImGuiCol_ScrollbarGrabActive] =
      vec(t.strong);
  c[ImGuiCol_Separator] = vec(t.border);
  c[ImGuiCol_TextSelectedBg] = vec(t.accent.alpha(t.dark ? 0.35f : 0.6f));
  c[ImGuiCol_InputTextCursor] = vec(t.ink);
  c[ImGuiCol_NavCursor] = vec(t.ink);
  c[ImGuiCol_DragDropTarget] = c[ImGuiCol_DragDropTargetBg] = {};  // our own halo instead
  ImGui::GetStyle() = s;
}

}  // namespace normscope::ui

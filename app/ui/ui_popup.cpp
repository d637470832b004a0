// Popups, shortcuts and tooltips of Ui.
#include <imgui.h>

#include <algorithm>

#include "app/ui/keys.h"
#include "app/ui/ui.h"

namespace normscope::ui {

void Ui::open_popup(std::string_view name) { popup_request_ = name; }

void Ui::close_popup() {
  popup_request_.clear();
  if (!inside_popup_.empty()) ImGui::CloseCurrentPopup();
  popup_.clear();
}

bool Ui::popup_open(std::string_view name) const { return popup_ == name || popup_request_ == name; }

bool Ui::begin_popup(std::string_view name_view, const Rect& rect) {
  const std::string name(name_view);
  const std::string id = "##popup " + name;
  if (popup_request_ == name) {
    ImGui::OpenPopup(id.c_str());
    popup_ = name;
    popup_request_.clear();
  }
  if (popup_ != name) return false;
  ImGui::SetNextWindowPos({rect.x * scale_, rect.y * scale_});
  ImGui::SetNextWindowSize({rect.w * scale_, rect.h * scale_});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleColor(ImGuiCol_Border, theme_->strong.packed());
  bool open = ImGui::BeginPopup(id.c_str(), ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                                ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  if (!open) {
    popup_.clear();
    return false;
  }
  popup_seen_ = true;
  inside_popup_ = name;
  paint_popup_.emplace(fonts_, ImGui::GetWindowDrawList(), scale_, 1,
                       options_.record_text ? &texts_ : nullptr);
  paint_ = &*paint_popup_;
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false) && edit_.name.empty()) close_popup();
  return true;
}

void Ui::end_popup() {
  ImGui::EndPopup();
  inside_popup_.clear();
  paint_ = &*paint_window_;
}

void Ui::begin_layer(std::string_view name, const Rect& rect) {
  ImGui::SetNextWindowPos({rect.x * scale_, rect.y * scale_});
  ImGui::SetNextWindowSize({rect.w * scale_, rect.h * scale_});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::Begin(("##layer " + std::string(name)).c_str(), nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleVar();
  paint_layer_.emplace(fonts_, ImGui::GetWindowDrawList(), scale_, 1,
                       options_.record_text ? &texts_ : nullptr);
  paint_ = &*paint_layer_;
}

void Ui::end_layer() {
  ImGui::End();
  paint_ = &*paint_window_;
}

bool Ui::shortcut(std::string_view text, std::string_view control) {
  if (!control.empty() && held(control)) {
    refused_ = refused_ || shortcut(text);
    return false;
  }
  if (typing()) return false;
  Chord chord = parse_chord(text);
  if (chord.key == ImGuiKey_None) {  // a character such as "?", wherever the keyboard has it
    const auto& typed = ImGui::GetIO().InputQueueCharacters;
    return std::ranges::find(typed, ImWchar(chord.character)) != typed.end();
  }
  bool is_arrow = chord.key >= ImGuiKey_LeftArrow && chord.key <= ImGuiKey_DownArrow;
  if (is_arrow && !last_arrow_owner_.empty() && last_arrow_owner_ == focus_) return false;
  if (chord.ctrl != ctrl() || chord.shift != shift() || chord.alt != alt()) return false;
  return ImGui::IsKeyPressed(ImGuiKey(chord.key), is_arrow);
}

void Ui::tooltip(std::string_view text) { tooltip_ = text; }

Rect beside(const Rect& asked, Vec mouse, Vec size, Vec window) {
  constexpr float edge = 6, pointer = 18;
  const auto within = [&](float at, float room, float all) {
    return std::clamp(at, edge, std::max(edge, all - edge - room));
  };
  const bool surface = std::min(asked.w, asked.h) > 120;  // of which the mouse asks about one place
  const Rect around = asked.empty() || surface ? Rect{mouse.x, mouse.y, 0, 0} : asked;
  const float x = within(mouse.x + 12, size.x, window.x), y = within(mouse.y, size.y, window.y);
  const float below = std::max(around.bottom() + edge, mouse.y + pointer), above = around.y - edge - size.y;
  if (below + size.y <= window.y - edge) return {x, below, size.x, size.y};
  if (above >= edge) return {x, above, size.x, size.y};
  if (around.right() + edge + size.x <= window.x - edge) return {around.right() + edge, y, size.x, size.y};
  if (around.x - edge - size.x >= edge) return {around.x - edge - size.x, y, size.x, size.y};
  return {x, y, size.x, size.y};
}

void Ui::draw_tooltip() {
  if (tooltip_.empty()) return;
  constexpr float widest = 280, line_height = 17, small_height = 15, pad = 9;
  const TextStyle style{Face::Sans, type::body}, small{Face::Sans, type::tick};
  ScreenPainter layer(fonts_, ImGui::GetForegroundDrawList(), scale_, 3,
                      options_.record_text ? &texts_ : nullptr);
  Painter& paint = layer;
  // Text after a line break is small print, such as a source.
  const size_t end = std::min(tooltip_.find('\n'), tooltip_.size());
  const std::string text = tooltip_.substr(0, end),
                    print = tooltip_.substr(std::min(end + 1, tooltip_.size()));
  float width = std::min(widest, std::max(paint.text_width(style, text), paint.text_width(small, print)) + 1);
  const float upper = paint.wrapped_height(width, style, text, line_height);
  float height = upper + (print.empty() ? 0 : 3 + paint.wrapped_height(width, small, print, small_height));
  const Rect box = beside(beside_, mouse(), {width + 2 * pad, height + pad + 3}, size_);
  paint.fill(box, theme_->inverse, radius::button);
  const Rect inside{box.x + pad, box.y + pad / 2 + 1.5f, width, height};
  paint.text_wrapped(inside, style, theme_->on_inverse, text, line_height);
  if (!print.empty())
    paint.text_wrapped(inside.moved(0, upper + 3), small, mix(theme_->on_inverse, theme_->inverse, 0.3f),
                       print, small_height);
}

}  // namespace normscope::ui

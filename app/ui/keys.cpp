#include "app/ui/keys.h"

#include <imgui.h>
#include <imgui_internal.h>  // the queue of input events

#include <array>
#include <cfloat>
#include <utility>
#include <vector>

#include "app/words/words.h"
#include "engine/core/error.h"

namespace normscope::ui {
namespace {

constexpr std::array<std::pair<std::string_view, ImGuiKey>, 19> names{{
    {"Space", ImGuiKey_Space},       {"Enter", ImGuiKey_Enter},    {"Tab", ImGuiKey_Tab},
    {"Escape", ImGuiKey_Escape},     {"Esc", ImGuiKey_Escape},     {"Left", ImGuiKey_LeftArrow},
    {"Right", ImGuiKey_RightArrow},  {"Up", ImGuiKey_UpArrow},     {"Down", ImGuiKey_DownArrow},
    {"Home", ImGuiKey_Home},         {"End", ImGuiKey_End},        {"PageUp", ImGuiKey_PageUp},
    {"PageDown", ImGuiKey_PageDown}, {"Delete", ImGuiKey_Delete},  {"Backspace", ImGuiKey_Backspace},
    {"[", ImGuiKey_LeftBracket},     {"]", ImGuiKey_RightBracket}, {"-", ImGuiKey_Minus},
    {"=", ImGuiKey_Equal},
}};

void move_mouse(ImVector<ImGuiInputEvent>& queue, Vec by) {
  for (ImGuiInputEvent& event : queue) {
    if (event.Type != ImGuiInputEventType_MousePos || event.MousePos.PosX == -FLT_MAX) continue;
    event.MousePos.PosX += by.x;
    event.MousePos.PosY += by.y;
  }
}

}  // namespace

Chord parse_chord(std::string_view text) {
  Chord chord;
  std::string_view rest = text;
  auto modifier = [&](std::string_view name, bool& flag) {
    if (rest.size() > name.size() && rest.starts_with(name)) {
      rest.remove_prefix(name.size());
      return flag = true;
    }
    return false;
  };
  while (modifier("Ctrl+", chord.ctrl) || modifier("Shift+", chord.shift) || modifier("Alt+", chord.alt)) {
  }
  for (auto [name, key] : names)
    if (rest == name) {
      chord.key = key;
      if (key == ImGuiKey_Space) chord.character = ' ';
      return chord;
    }
  if (rest.size() == 2 && rest[0] == 'F' && rest[1] >= '1' && rest[1] <= '9') {
    chord.key = ImGuiKey_F1 + (rest[1] - '1');
    return chord;
  }
  if (rest.size() != 1) throw Error("unknown key '" + std::string(text) + "'");
  char c = rest[0];
  if (c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
  if (c >= 'A' && c <= 'Z') {
    chord.key = ImGuiKey_A + (c - 'A');
    chord.character = unsigned(chord.shift ? c : c - 'A' + 'a');
  } else if (c >= '0' && c <= '9') {
    chord.key = ImGuiKey_0 + (c - '0');
    chord.character = unsigned(c);
  } else {
    chord.character = unsigned(c);
  }
  return chord;
}

std::string shown_keys(std::string_view chord) {
  std::string out;
  while (!chord.empty()) {
    const size_t plus = chord.find('+', 1);  // a plus alone is a key
    const std::string_view key = chord.substr(0, plus);
    const std::string* said = words::of_window().find("shortcuts.key." + std::string(key));
    out += (out.empty() ? "" : " ") + (said ? *said : std::string(key));
    chord.remove_prefix(plus == chord.npos ? chord.size() : plus + 1);
  }
  return out;
}

void new_frame(Vec pan, Vec panned) {
  ImVector<ImGuiInputEvent>& queue = ImGui::GetCurrentContext()->InputEventsQueue;
  int now = 0;
  for (bool pressed = false; now < queue.Size; ++now) {
    const ImGuiInputEvent& event = queue[now];
    if (event.Type != ImGuiInputEventType_Key) continue;
    const bool modifier = (event.Key.Key & ImGuiMod_Mask_) != 0;
    if (modifier && pressed) break;
    pressed = pressed || (!modifier && event.Key.Down);
  }
  const std::vector<ImGuiInputEvent> later(queue.begin() + now, queue.end());
  queue.resize(now);
  ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsMousePosValid(&io.MousePos)) {  // the mouse itself has not moved
    io.MousePos.x += panned.x;
    io.MousePos.y += panned.y;
  }
  move_mouse(queue, pan);
  ImGui::NewFrame();
  move_mouse(queue, {-pan.x, -pan.y});  // ImGui leaves it for the next frame
  for (const ImGuiInputEvent& event : later) queue.push_back(event);
}

}  // namespace normscope::ui

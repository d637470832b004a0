// See keys.h.
#include "app/ui/keys.h"

#include <imgui.h>

#include <array>
#include <string>
#include <utility>

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

}  // namespace normscope::ui

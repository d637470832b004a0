// The appearance is how everything looks: chosen by the user, remembered by the window.
#pragma once

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "app/ui/ui.h"
#include "app/words/words.h"

namespace normscope::shell {

struct Appearance {
  bool dark = false;
  float scale = 1;          // asked for by the user; 1 = 100 %
  float monitor_scale = 1;  // of the display the window is on
  bool reduced_motion = false;
};

// What a window that is too small for the scale shows instead: everything smaller, or a part of it.
// It is empty where the window is large enough.
inline std::string scale_note(const Appearance& look, const ui::Ui& ui) {
  const long asked = std::lround(look.scale * 100), now = std::lround(ui.scale() / look.monitor_scale * 100);
  if (now < asked)
    return tr("{asked} % was asked for; a window of this size has room for {now} %",
              {{"asked", asked}, {"now", now}});
  const ImVec2 window = ImGui::GetIO().DisplaySize;
  const auto width = std::lround(ui.size().x * ui.scale()), height = std::lround(ui.size().y * ui.scale());
  if (width <= std::lround(window.x) && height <= std::lround(window.y)) return {};
  return tr(
      "everything at {percent} % takes {width} x {height} pixels; the window shows "
      "{shown_width} x {shown_height} of them, a part that follows the mouse",
      {{"percent", asked},
       {"width", width},
       {"height", height},
       {"shown_width", fmt::format("{:.0f}", window.x)},
       {"shown_height", fmt::format("{:.0f}", window.y)}});
}

// Rounds to whole percent, from 75 to 250.
inline void set_scale(Appearance& look, float scale) {
  look.scale = std::clamp(std::round(scale * 100) / 100, 0.75f, 2.5f);
}

}  // namespace normscope::shell

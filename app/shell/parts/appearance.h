// How everything looks: chosen by the person, remembered by the window.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace normscope {

struct Appearance {
  bool dark = false;
  float scale = 1;          // asked by the user; 1 = 100 %
  float monitor_scale = 1;  // of the display the window is on
  bool reduced_motion = false;
};

// Why everything is smaller than was asked for, `drawn` being the scale of the screen; empty where it is not.
inline std::string scale_note(const Appearance& look, float drawn) {
  const long asked = std::lround(look.scale * 100), now = std::lround(drawn / look.monitor_scale * 100);
  return now >= asked
             ? std::string()
             : fmt::format("{} % was asked for; a window of this size has room for {} %", asked, now);
}

// In whole percent, from 75 to 250.
inline void set_scale(Appearance& look, float scale) {
  look.scale = std::clamp(std::round(scale * 100) / 100, 0.75f, 2.5f);
}

}  // namespace normscope

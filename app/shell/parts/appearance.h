// How everything looks: chosen by the person, remembered by the window.
#pragma once

#include <algorithm>
#include <cmath>

namespace normscope {

struct Appearance {
  bool dark = false;
  float scale = 1;          // asked by the user; 1 = 100 %
  float monitor_scale = 1;  // of the display the window is on
  bool reduced_motion = false;
};

// In whole percent, from 75 to 250.
inline void set_scale(Appearance& look, float scale) {
  look.scale = std::clamp(std::round(scale * 100) / 100, 0.75f, 2.5f);
}

}  // namespace normscope

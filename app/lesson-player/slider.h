// A slider has a track, the numbers that it can stop at, and a knob that hand and arrow keys move.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/ui/ui.h"

namespace normscope::lessons {

struct SliderRange {
  double low = 0, high = 1, step = 1;
  std::vector<double> values{};  ///< the only values it can stop at; empty: every step
  std::string unit{};
  bool log = false;                  ///< the same way on it is the same factor
  double share(double value) const;  ///< where a value lies, 0 to 1
  double at(double share) const;
};

/// True when the user moved it.
bool slider(ui::Ui& ui, const ui::Rect& rect, std::string_view name, double& value, const SliderRange& range,
            std::string_view help, bool takes_focus = false);

}  // namespace normscope::lessons

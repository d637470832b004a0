// The gaps between the Lab's panels: a gap can be dragged, or moved with arrows, and a double click (or
// Enter) gives the layout's own place back. What is kept is a fraction of the room, so that it fits every
// window; where the layout leaves no room to move there is no gap to take. Used by LabScreen.
#pragma once

#include <array>
#include <string_view>

#include "app/ui/ui.h"

namespace normscope::lab {

enum class Gap : uint8_t { Left, Time, Settings, Loss, Rate, First, Second, Count };

// Of the room that the two sides of a gap share; 0: the layout's own place.
using Splits = std::array<float, static_cast<size_t>(Gap::Count)>;

// Logical px of the side before the gap, which reaches from `least` to `most`.
struct SplitRange {
  float own, least, most;
};

// Returns how much of `room` the side before the gap takes; `room` lies side by side for columns, else one
// over the other.
float split(ui::Ui&, Splits&, Gap, const ui::Rect& room, SplitRange);

}  // namespace normscope::lab

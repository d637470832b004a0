// Lets a user move a gap between the Lab's panels: by dragging or by arrows, while a double click (or Enter)
// gives the layout's own place back. It keeps a fraction of the room, so that the place fits every window. Where the
// layout leaves no room to move, there is no gap to take. LabScreen uses it.
#pragma once

#include <array>

#include "app/ui/ui.h"

namespace normscope::lab {

enum class Gap : uint8_t { Left, Time, Settings, Loss, Rate, First, Second, Count };

// Fractions of the room that the two sides of a gap share; 0: the layout's own place.
using Splits = std::array<float, static_cast<size_t>(Gap::Count)>;

// The size in logical px of the side before the gap, from `least` to `most`.
struct SplitRange {
  float own, least, most;
};

// How much of `room` the side before the gap takes. For columns the two sides stand side by side, else
// one over the other.
float split(ui::Ui&, Splits&, Gap, const ui::Rect& room, SplitRange);

}  // namespace normscope::lab

// Numbers what a hand does without letting go, so that undo can take it back as one: a press of the mouse button from
// down to up, a key that is held.
#pragma once

#include <cstdint>

namespace normscope::shell {

class Gestures {
 public:
  /// Runs once a frame. The number of the gesture that this frame belongs to; 0: the hand does nothing.
  uint64_t now();

 private:
  uint64_t last_ = 0;
};

}  // namespace normscope::shell

// The largest number of each channel under a window.
#pragma once

#include "addons/systems/engine/image_window.h"
#include "engine/tape/tape.h"

namespace normscope {

struct MaxPoolSpec {
  static constexpr OpKind kOp = OpKind::MaxPool;
  ImageWindow window;  ///< without padding
  friend bool operator==(const MaxPoolSpec&, const MaxPoolSpec&) = default;
};

/// Records the largest number under every window r, in every channel c:
///   y_{r,c}  =  max over the pixels p under window r of x_{p,c}
/// x (B, ..) has height x width x channels numbers an image, y (B, rows x columns x channels). Of equal numbers the
/// first, row by row, gets the gradient. Windows that do not fit wholly are left out. Throws Error where none fits, and
/// for a padding.
ValueId max_pool(Tape&, const std::string& name, ValueId x, const ImageWindow& window);

}  // namespace normscope

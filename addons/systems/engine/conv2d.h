// A convolution over images: one matrix product over the patches that a window reads.
#pragma once

#include "addons/systems/engine/image_window.h"
#include "engine/tape/tape.h"

namespace normscope {

struct Conv2dSpec {
  static constexpr OpKind kOp = OpKind::Conv2d;
  ImageWindow window;
  friend bool operator==(const Conv2dSpec&, const Conv2dSpec&) = default;
};

/// Records a cross-correlation, as networks have it, over every window r of each image of x:
///   y_r (O)  =  patch_r W + b
/// x (B, ..) has height x width x channels numbers an image, y (B, rows x columns x O). W (size x size x channels, O)
/// has its rows in the order of the image, as patch_r has its numbers; b (O) or kNone. Outside the image x counts as
/// zero. Throws Error where no window fits.
ValueId conv2d(Tape&, const std::string& name, ValueId x, ValueId weight, ValueId bias,
               const ImageWindow& window);

}  // namespace normscope

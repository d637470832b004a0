// A convolution over images: one matrix product over the patches that a window reads.
#pragma once

#include "engine/ops/image_window.h"
#include "engine/tape/tape.h"

namespace normscope {

struct Conv2dSpec {
  static constexpr OpKind kOp = OpKind::Conv2d;
  ImageWindow window;
  friend bool operator==(const Conv2dSpec&, const Conv2dSpec&) = default;
};

/// y (B, rows x columns x O) = W over every window of x, plus b; cross-correlation, as networks have it. x (B, ..) of
/// height x width x channels numbers an image; weight (size x size x channels, O), the patch in the order of the image;
/// bias (O) or kNone. Outside the image stand zeros. Throws Error where no window fits.
ValueId conv2d(Tape&, const std::string& name, ValueId x, ValueId weight, ValueId bias,
               const ImageWindow& window);

}  // namespace normscope

// Records the three-layer convolutional network of Xu et al. (2019, section 2.1): two
// convolutions and a linear layer, with a norm of any kind. What the paper leaves open follows LeCun et al. (1998):
// windows of 5 x 5, and after each convolution the largest of every 2 x 2 pixels.
//
//   pixels/255 -> conv C1 -> [norm] -> activation -> max 2x2 -> conv C2 -> [norm] -> activation -> max 2x2 -> linear
//
// Placement none: no norm. post: after each convolution, before its activation ("We apply LayerNorm before the
// activation"). pre: before the second and the third layer, on their inputs ("Normalization is applied before each
// layer"; the image itself is left as it is). A norm is over all numbers of an image in a layer, as in Ba et al.
// (2016), with a gain and bias for each number. Parameters: pixels.levels (constant), L01.conv.{w,b}, L02.conv.{w,b},
// norms L01.conv.{before,stream}.{gain,bias}, L03.class.before.{gain,bias}, class.{w,b}.
#pragma once

#include "addons/systems/engine/image_ops.h"
#include "engine/model/transformer.h"

namespace normscope {

struct ImageConfig {
  int32_t channels = 20, channels_2 = 50;  ///< outputs of the convolutions (Xu et al. 2019)
  int32_t window = 5;                      ///< height and width of their windows
  int32_t height = 0, width = 0;           ///< of the images, from the data
  bool operator==(const ImageConfig&) const = default;
};

inline constexpr int32_t kConvolutions = 2;
inline constexpr int32_t kPooled = 2;  ///< pixels of an image's side that become one

/// The windows of convolution 1 or 2, and of the pooling after it.
ImageWindow convolution_window(const ModelConfig& config, int32_t layer);
ImageWindow pooling_window(const ModelConfig& config, int32_t layer);

}  // namespace normscope

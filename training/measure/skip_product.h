// The factor by which the skip path multiplies a gradient on its way down.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/model/wiring.h"
#include "training/measure/history.h"

namespace normscope {

/// The factor by which the skip path alone multiplies a gradient between the sum that W2 of the last layer writes to and
/// the sum that W2 of layer 1 writes to. Each norm on the path divides by sigma, the root of the mean square of what it
/// reads, and each skip multiplies by its scale; in a layer whose input joins the sum once more (bottom), that way counts
/// as well:
///   product over the sub-layers between of  skip / sigma
/// A learned scale counts as the root of its mean square. What goes through the branches is left out, and so are a norm's
/// projection and its gain. Values at all steps whose sums the history has; none where there are several streams or a norm
/// without statistics. `prefix`: "", "enc." or "dec.".
Series skip_product(const History& history, const StackWiring& stack, int64_t width, std::string_view prefix);

}  // namespace normscope

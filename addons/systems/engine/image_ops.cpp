// conv2d checks its inputs and records one node. It saves nothing; its backward pass reads x and W.
#include "addons/systems/engine/image_ops.h"

#include "engine/ops/rules.h"

namespace normscope {

ValueId conv2d(Tape& tape, const std::string& name, ValueId x, ValueId weight, ValueId bias,
               const ImageWindow& window) {
  Node node = tape.node(OpKind::Conv2d, name, {x, weight, bias}, Conv2dSpec{window});
  const Shape &in = tape.shape(x), &w = tape.shape(weight);
  const std::string where = "conv2d " + tape.named(name);
  if (!window.fits())
    fail(where, "a window of {} with stride {} and padding {} on images of {} x {}: expected one that fits",
         window.size, window.stride, window.padding, window.height, window.width);
  if (in.rank < 2 || in.size() != in[0] * window.numbers())
    fail(where, "x {} must have {} x {} x {} numbers an image", to_string(in), window.height, window.width,
         window.channels);
  if (w.rank != 2 || w[0] != window.patch())
    fail(where, "weight {} does not match the window: expected ({},O)", to_string(w), window.patch());
  if (bias != kNone && tape.shape(bias).size() != w[1])
    fail(where, "bias {} does not match weight {}: expected {} numbers", to_string(tape.shape(bias)),
         to_string(w), w[1]);
  return tape.add_node(std::move(node), {in[0], window.windows() * w[1]});
}

OpRules conv2d_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Convolution",
       .formula = R"(Y = P W + b, \quad P_r \text{ the numbers of } x \text{ under window } r)",
       .shapes =
           "x (B,..) of H W C numbers an image, W (KKC,O), b (O) or none, y (B,..) of O numbers a window; window K, stride and padding constant",
       .rule =
           R"(dW = P^T dY, \quad dP = dY W^T, \quad dx = \sum dP \text{ over the windows that read it}, \quad db = \sum_r dY_r)",
       .source = "LeCun et al. 1998",
       .reads = {2, 1}}};
  return {.rules = kRows,
          .flop =
              [](const ProgramData& program, const Instruction& i) {
                return product_flop(program, i, input_shape(program.values, i, 1).rows());  // of a patch
              },
          .too_large = [](std::span<const ValueInfo> values, const Node& n) -> Message {
            const ImageWindow window = n.attributes.as<Conv2dSpec>().window;
            if (input_shape(values, n, 0)[0] * window.windows() * window.patch() <= kMaxNumbers) return "";
            return Message("the windows of {} read more than 2^31 numbers: expected a smaller batch", n.name);
          }};
}

// max_pool checks its inputs and records one node. It saves nothing; its backward pass finds the largest of x again.

ValueId max_pool(Tape& tape, const std::string& name, ValueId x, const ImageWindow& window) {
  Node node = tape.node(OpKind::MaxPool, name, {x}, MaxPoolSpec{window});
  const Shape& in = tape.shape(x);
  const std::string where = "max_pool " + tape.named(name);
  if (!window.fits() || window.padding != 0)
    fail(where,
         "a window of {} with stride {} and padding {} on images of {} x {}: expected one that fits, without "
         "padding",
         window.size, window.stride, window.padding, window.height, window.width);
  if (in.rank < 2 || in.size() != in[0] * window.numbers())
    fail(where, "x {} must have {} x {} x {} numbers an image", to_string(in), window.height, window.width,
         window.channels);
  return tape.add_node(std::move(node), {in[0], window.windows() * window.channels});
}

OpRules max_pool_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Largest under a window",
       .formula = R"(y_{r,c} = \max_{p} x_{p,c} \text{ under window } r)",
       .shapes =
           "x (B,..) of H W C numbers an image, y (B,..) of C numbers a window; window and stride constant",
       .rule =
           R"(dx_{p,c} = \sum dy_{r,c} \text{ over the windows where it is the largest, of equal ones the first})",
       .reads = {1}}};
  return {kRows};
}

}  // namespace normscope

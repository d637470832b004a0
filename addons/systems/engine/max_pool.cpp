// max_pool checks its inputs and records one node. It saves nothing; its backward pass finds the largest of x again.
#include "addons/systems/engine/max_pool.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId max_pool(Tape& tape, const std::string& name, ValueId x, const ImageWindow& window) {
  const Shape& in = tape.shape(x);
  const std::string where = "max_pool " + name;
  if (!window.fits() || window.padding != 0)
    fail(where,
         "a window of {} with stride {} and padding {} on images of {} x {}: expected one that fits, without "
         "padding",
         window.size, window.stride, window.padding, window.height, window.width);
  if (in.rank < 2 || in.size() != in[0] * window.numbers())
    fail(where, "x {} must have {} x {} x {} numbers an image", to_string(in), window.height, window.width,
         window.channels);
  Node node{.op = OpKind::MaxPool, .name = name, .in = {x}};
  node.attributes = MaxPoolSpec{window};
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

// mean_pool checks its inputs and records one node. It saves nothing.
#include "engine/ops/ops.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId mean_pool(Tape& tape, const std::string& name, ValueId x, ValueId lengths) {
  const Shape shape = tape.shape(x);
  const std::string where = "mean_pool " + name;
  if (shape.rank != 3) fail(where, "x {} must have shape (B,T,D)", to_string(shape));
  if (lengths != kNone && (tape.value(lengths).dtype != DType::I32 || tape.shape(lengths).size() != shape[0]))
    fail(where, "lengths {} must be {} integers, one a row", to_string(tape.shape(lengths)), shape[0]);
  return tape.add_node({.op = OpKind::MeanPool, .name = name, .in = {x, lengths}}, shape);
}

OpRules mean_pool_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Mean over positions",
       .formula = R"(y_{b,t} = \frac{1}{n_b} \sum_{s < n_b} x_{b,s})",
       .shapes = "x and y (B,T,D), lengths n (B) i32 or none: T",
       .rule = R"(dx_{b,s} = \frac{1}{n_b} \sum_t dy_{b,t} \text{ for } s < n_b, \text{ else } 0)",
       .reads = {2}}};
  return {kRows};
}

}  // namespace normscope

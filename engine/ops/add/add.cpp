// add checks its inputs and records one node. It saves nothing; the gradients of learned scales read x and f.
#include "engine/ops/ops.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId add(Tape& tape, const std::string& name, ValueId x, ValueId f, ResidualScale skip,
            ResidualScale branch) {
  const Shape shape = tape.shape(x);
  const std::string where = "add " + name;
  if (!(shape == tape.shape(f)))
    fail(where, "skip {} and branch {} differ: expected the same shape", to_string(shape),
         to_string(tape.shape(f)));
  for (ValueId scale : {skip.learned, branch.learned})
    if (scale != kNone && tape.shape(scale).size() != 1 && tape.shape(scale).size() != shape.cols())
      fail(where, "scale {} has {} numbers: expected 1 or {}", tape.value(scale).name,
           tape.shape(scale).size(), shape.cols());
  Node node{.op = OpKind::Add, .name = name, .in = {x, f, skip.learned, branch.learned}};
  node.attributes = AddSpec{skip.constant, branch.constant};
  return tape.add_node(std::move(node), shape);
}

OpRules add_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Residual sum",
       .formula = R"(y = a \odot x + b \odot f)",
       .shapes =
           "x, f and y (..,D); skip scale a and branch scale b: constant, or learned of shape (1) or (D)",
       .rule =
           R"(dx = a \odot dy, \quad df = b \odot dy, \quad da = \sum x \odot dy, \quad db = \sum f \odot dy)",
       .source = "He et al. 2016; learned scales: Liu et al. 2020",
       .reads = {4, 8, 1, 2}}};
  return {kRows};
}

}  // namespace normscope

// multiply checks its inputs and records one node. It saves nothing; its backward pass reads a and b.
#include "engine/ops/multiply/multiply.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId multiply(Tape& tape, const std::string& name, ValueId a, ValueId b) {
  const Shape shape = tape.shape(a);
  if (!(shape == tape.shape(b)))
    fail("multiply " + name, "factors {} and {} differ: expected the same shape", to_string(shape),
         to_string(tape.shape(b)));
  return tape.add_node({.op = OpKind::Multiply, .name = name, .in = {a, b}}, shape);
}

OpRules multiply_rules() {
  static constexpr OpRule kRows[] = {{.title = "Product, number by number",
                                      .formula = R"(y = a \odot b)",
                                      .shapes = "a, b and y of any one shape",
                                      .rule = R"(da = b \odot dy, \quad db = a \odot dy)",
                                      .source = "as a gate: Dauphin et al. 2017, Shazeer 2020; not checked",
                                      .reads = {2, 1}}};
  return {kRows};
}

}  // namespace normscope

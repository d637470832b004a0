// unit_vectors checks its input and records an instruction behind the update.
#include "addons/newer-placements/engine/unit_vectors.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

void unit_vectors(Tape& tape, const std::string& name, ValueId w, UnitVectorsSpec spec) {
  const Shape& shape = tape.shape(w);
  if (shape.rank != 2)
    fail("unit_vectors " + name, "{} is {}: expected a matrix", tape.value(w).name, to_string(shape));
  Node node{.op = OpKind::UnitVectors, .name = name, .in = {w}};
  node.attributes = spec;
  tape.after_update(std::move(node));
}

OpRules unit_vectors_rules() {
  static constexpr OpRule kRows[] = {{.title = "Unit vectors",
                                      .formula = R"(w_i = \frac{w_i}{|w_i|})",
                                      .shapes = "every row, or every column, w_i of a matrix w (n,k)",
                                      .source = "Loshchilov et al. 2024 (arXiv 2410.01131)"}};
  return {kRows};
}

}  // namespace normscope

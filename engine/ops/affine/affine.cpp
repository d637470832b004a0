// affine checks its inputs and records one node. It saves nothing; the gradient of the gain reads x.
#include "engine/ops/ops.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

namespace {

ValueId record_affine(Tape& tape, const std::string& name, ValueId x, ValueId gain, ValueId shift,
                      AffineSpec spec) {
  const Shape shape = tape.shape(x);
  const std::string where = "affine " + name;
  for (ValueId v : {gain, shift})
    if (v != kNone && shape.cols() % tape.shape(v).size() != 0)
      fail(where, "{} has {} numbers for rows of {}: expected a number that divides it", tape.value(v).name,
           tape.shape(v).size(), shape.cols());
  Node node{.op = OpKind::Affine, .name = name, .in = {x, gain, shift}};
  node.attributes = spec;
  return tape.add_node(std::move(node), shape);
}

}  // namespace

ValueId affine(Tape& tape, const std::string& name, ValueId x, float constant, ValueId gain, ValueId shift) {
  return record_affine(tape, name, x, gain, shift, {.constant = constant});
}

ValueId gradient_kept(Tape& tape, const std::string& name, ValueId x, ValueId gain) {
  return record_affine(tape, name, x, gain, kNone, {.keeps_gradient = true});
}

ValueId reshape(Tape& tape, const std::string& name, ValueId x, Shape shape) {
  if (shape.size() != tape.shape(x).size())
    fail("reshape " + name, "{} does not hold the {} numbers of {}: expected as many", to_string(shape),
         tape.shape(x).size(), to_string(tape.shape(x)));
  Node node{.op = OpKind::Affine, .name = name, .in = {x, kNone, kNone}};
  node.attributes = AffineSpec{};
  return tape.add_node(std::move(node), shape);
}

OpRules affine_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Scale and shift",
       .formula = R"(y = s g \odot x + h)",
       .shapes =
           "x and y (..,D), gain g and shift h: one number each for as many equal parts of a row, or none; s constant",
       .rule =
           R"(dx = s g \odot dy, \quad dg = s \sum x \odot dy, \quad dh = \sum dy; \quad \text{GPAS: } dx = dy)",
       .reads = {2, 1}}};
  return {kRows};
}

}  // namespace normscope

// amplify checks its inputs and records one node. It saves nothing: backward reads `of`.
#include "addons/interventions/engine/amplify.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId amplify(Tape& tape, const std::string& name, ValueId x, ValueId of, float eps) {
  const Shape shape = tape.shape(x);
  if (tape.shape(of) != shape)
    fail("amplify " + name, "{} has the shape {}: expected {}, as x has", tape.value(of).name,
         to_string(tape.shape(of)), to_string(shape));
  Node node{.op = OpKind::Amplify, .name = name, .in = {x, of}};
  node.attributes = AmplifySpec{eps};
  return tape.add_node(std::move(node), shape);
}

OpRules amplify_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Amplified gradient",
       .formula = R"(y = x)",
       .shapes = "x, z and y (..,D)",
       .rule = R"(dx = \sigma \, dy, \quad \sigma = \sqrt{\text{var}(z) + \varepsilon}, \quad dz = 0)",
       .reads = {2}}};
  return {kRows};
}

}  // namespace normscope

// amplify and centre check their inputs and record one node. They save nothing: backward of amplify reads `of`.
#include "addons/interventions/engine/rerouted.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId amplify(Tape& tape, const std::string& name, ValueId x, ValueId of, AmplifySpec spec) {
  const Shape shape = tape.shape(x);
  if (tape.shape(of) != shape)
    fail("amplify " + name, "{} has the shape {}: expected {}, as x has", tape.value(of).name,
         to_string(tape.shape(of)), to_string(shape));
  Node node{.op = OpKind::Amplify, .name = name, .in = {x, of}};
  node.attributes = spec;
  return tape.add_node(std::move(node), shape);
}

OpRules amplify_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Amplified gradient",
       .formula = R"(y = x)",
       .shapes = "x, z and y (..,D); c above 0",
       .rule =
           R"(dx = \frac{\sigma}{c} \, dy, \quad \sigma = \sqrt{\text{var}(z) + \varepsilon}, \quad dz = 0)",
       .reads = {2}}};
  return {kRows};
}

ValueId centre(Tape& tape, const std::string& name, ValueId x, CentreSpec spec) {
  const Shape shape = tape.shape(x);
  if (shape.rank != 3) fail("centre " + name, "x {} must have shape (B,T,D)", to_string(shape));
  Node node{.op = OpKind::Centre, .name = name, .in = {x}};
  node.attributes = spec;
  return tape.add_node(std::move(node), shape);
}

OpRules centre_rules() {
  static constexpr OpRule kRows[] = {{.title = "Less what the batch has in common",
                                      .formula = R"(y_{b,t} = x_{b,t} - \frac{u}{B} \sum_c x_{c,t})",
                                      .shapes = "x and y (B,T,D); u and v are 0 or 1",
                                      .rule = R"(dx_{b,t} = dy_{b,t} - \frac{v}{B} \sum_c dy_{c,t})",
                                      .reads = {1}}};
  return {kRows};
}

}  // namespace normscope

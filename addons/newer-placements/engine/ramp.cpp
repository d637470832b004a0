// ramp checks its number of steps and records an instruction behind the update.
#include "addons/newer-placements/engine/ramp.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

void ramp(Tape& tape, const std::string& name, ValueId w, RampSpec spec) {
  if (spec.steps < 1) fail("ramp " + name, "{} steps: expected one or more", spec.steps);
  Node node{.op = OpKind::Ramp, .name = name, .in = {w}};
  node.attributes = spec;
  tape.after_update(std::move(node));
}

OpRules ramp_rules() {
  static constexpr OpRule kRows[] = {{.title = "Ramp",
                                      .formula = R"(w = \min\left(1, \frac{t}{n}\right))",
                                      .shapes = "a parameter w, the number t of the update, n steps",
                                      .source = "Chen et al. 2026 (arXiv 2603.05369)"}};
  return {kRows};
}

}  // namespace normscope

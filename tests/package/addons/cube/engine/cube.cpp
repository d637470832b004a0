// How the activation of ../formulas.def describes itself.
#include "engine/ops/rules.h"

namespace normscope {

OpRules cube_rules() {
  static constexpr OpRule kRows[] = {{.title = "Cube",
                                      .formula = "y = x^3",
                                      .shapes = "x and y of any one shape",
                                      .rule = R"(dx = 3 dy \odot x^2)",
                                      .source = "Chen and Manning 2014",
                                      .reads = {1}}};
  return {kRows};
}

}  // namespace normscope

// A probe is placed by seal and recorded by no function of its own: this file says in words what it computes.
#include "engine/ops/rules.h"

namespace normscope {

OpRules probe_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Probe",
       .formula =
           R"(\operatorname{mean} x, \quad \operatorname{mean} x^2 \quad \text{or} \quad \operatorname{var} x)",
       .shapes = "x of any shape, lengths (B) i32 or none; one number of the stats block"}};
  return {kRows};
}

}  // namespace normscope

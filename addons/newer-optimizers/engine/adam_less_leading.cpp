// What Adam less its leading direction computes and what it costs.
#include "addons/newer-optimizers/engine/adam_less_leading.h"

#include "engine/ops/rules.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

double adam_less_leading_flop(const ProgramData& program, const Instruction&) {
  double sum = 0;
  for (const ParameterInfo& info : program.store->parameters())
    if (info.hidden) sum += 4.0 * (kLeadingPasses + 1) * static_cast<double>(info.shape.size());
  return sum;
}

}  // namespace

OpRules adam_less_leading_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Adam less its leading direction",
       .formula = R"(U = \sum_i s_i u_i v_i^T, \quad w = w - (U - s_1 u_1 v_1^T) - \eta \lambda w)",
       .shapes =
           "matrices w (n,k) of the hidden layers; U: Adam's step, s its singular values, s_1 the largest, by "
           "twelve passes of the power method; all other parameters: Adam",
       .source = "ours"}};
  return {.rules = kRows, .flop = adam_less_leading_flop, .passes = 9, .matrix_room = 3};
}

}  // namespace normscope

// The optimizers by name and their per-step numbers: the values of a rule at step t are in StepInputs, so that
// one program (and one captured graph) serves all steps. Called by Run once a step, and by tests.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/tape/step_inputs.h"
#include "engine/tape/tape.h"

namespace normscope {

struct TrainConfig;

/// What a step does with the gradients: two kernels serve them all, what differs from rule to rule stands in
/// StepInputs (set_update_rule).
enum class Optimizer : uint8_t { None, Adam, Sgd, Momentum, AdamW, RAdam, RAdamCode };
constexpr bool is_adaptive(Optimizer o) {
  return o == Optimizer::Adam || o == Optimizer::AdamW || o == Optimizer::RAdam || o == Optimizer::RAdamCode;
}
/// Whether the moments of one go on to mean the same under the other.
constexpr bool shares_moments(Optimizer a, Optimizer b) { return is_adaptive(a) == is_adaptive(b); }
/// The op that it ends a step with; kNoOp for None.
OpKind update_op(Optimizer optimizer);

/// sgd: w -= lr g. momentum: m = mu m + g, w -= lr m. adam: Kingma and Ba 2015; weight decay joins the gradient.
/// adamw: Loshchilov and Hutter 2019, weight decay apart from the gradient (so too for sgd, momentum, radam).
/// radam: Liu et al. 2020, algorithm 2: with rho_t > 4 an Adam step times r_t, below it momentum without
/// adaptation. radam-code: the authors' program: rho_t >= 5, below it no update and no weight decay at all, and
/// epsilon added before the second moment's correction: (sqrt(v) + eps) / sqrt(1 - beta2^t).
inline constexpr Optimizer kOptimizers[] = {Optimizer::Adam,      Optimizer::AdamW, Optimizer::RAdam,
                                            Optimizer::RAdamCode, Optimizer::Sgd,   Optimizer::Momentum};
const char* to_string(Optimizer optimizer);       ///< "adam", "radam-code"
Optimizer optimizer_from(std::string_view name);  ///< throws Error listing the names

/// RAdam's length of the approximated average: rho_t = rho_inf - 2 t b^t / (1 - b^t), rho_inf = 2/(1-b) - 1.
double radam_length(double beta2, int64_t t);
/// r_t = sqrt((rho_t-4)(rho_t-2) rho_inf / ((rho_inf-4)(rho_inf-2) rho_t)); needs rho_t > 4.
double radam_rectification(double beta2, int64_t t);

/// Fills in what the optimizer reads at its t-th step, t = 1, 2, ... since its moments began; inputs.lr is not
/// touched.
void set_update_rule(StepInputs& inputs, const TrainConfig& train, int64_t t);

}  // namespace normscope

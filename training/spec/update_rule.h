// The optimizers by name and the numbers of a step. StepInputs holds a rule's numbers at step t, so that one program
// (and one captured graph) serves all steps. Called by Run once a step, and by tests.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/tape/step_inputs.h"
#include "engine/tape/tape.h"

namespace normscope {

struct ModelConfig;
struct TrainConfig;

/// The use of the gradients in a step: the rules of spec/optimizers.def. Two kernels serve these;
/// StepInputs holds what differs from rule to rule (set_update_rule).
/// sgd: w -= lr g.
/// momentum: m = mu m + g, w -= lr m.
/// adam: Kingma and Ba 2015; weight decay joins the gradient.
/// adamw: Loshchilov and Hutter 2019; weight decay apart from the gradient, as for sgd, momentum and radam.
/// radam: Liu et al. 2020, algorithm 2. With rho_t > 4 an Adam step times r_t, below it momentum without adaptation.
/// radam-code: the authors' program. With rho_t >= 5 as radam, but epsilon is added before the second moment's
/// correction: (sqrt(v) + eps) / sqrt(1 - beta2^t). Below it neither update nor weight decay.
enum class Optimizer : uint8_t {
  None,
#define OPTIMIZER(Name, ...) Name,
#include "training/spec/optimizers.def"
#undef OPTIMIZER
};
inline constexpr Optimizer kOptimizers[] = {
#define OPTIMIZER(Name, ...) Optimizer::Name,
#include "training/spec/optimizers.def"
#undef OPTIMIZER
};

/// Chooses RAdam's factor and its warm-up: by the paper or by its authors' program.
enum class Rectified : uint8_t { No, ByPaper, ByCode };

/// A row of optimizers.def.
struct UpdateRule {
  const char* name = "";            ///< "radam-code": on the command line and in files
  const char* label = "";           ///< "RAdam (code)": in the Lab
  OpKind op = kNoOp;                ///< ends the step
  bool decays_in_gradient = false;  ///< weight decay joins the gradient; otherwise it is apart
  bool reads_momentum = false;
  bool reads_bound = false;
  bool orthogonal = false;  ///< a matrix's step has one spectral norm, whatever the gradient
  Rectified rectified = Rectified::No;
};
const UpdateRule& rule_of(Optimizer optimizer);
/// The op that ends the optimizer's step; kNoOp for None.
OpKind update_op(Optimizer optimizer);
/// Whether the update of some or all parameters is divided by the root of a mean of squared gradients, Adam's v.
bool keeps_second_moment(Optimizer optimizer);
/// Throws Error where a model's transfer has no rule for an optimizer: the rules of Transfer are for updates whose size
/// does not depend on the gradient's.
void check_transfer(const ModelConfig& model, Optimizer optimizer);
/// Whether two optimizers give their moments the same meaning, so that a change of optimizer keeps them.
bool shares_moments(Optimizer a, Optimizer b);
const char* to_string(Optimizer optimizer);       ///< "adam", "radam-code"
Optimizer optimizer_from(std::string_view name);  ///< throws Error listing the names

/// RAdam's length of the approximated average:
///   rho_t   = rho_inf - 2 t b^t / (1 - b^t)
///   rho_inf = 2 / (1 - b) - 1
double radam_length(double beta2, int64_t t);
/// Needs rho_t > 4:
///   r_t = sqrt((rho_t - 4) (rho_t - 2) rho_inf / ((rho_inf - 4) (rho_inf - 2) rho_t))
double radam_rectification(double beta2, int64_t t);

/// Fills in the numbers that the optimizer reads at its t-th step, t = 1, 2, ... since its moments began. It leaves
/// inputs.lr alone.
void set_update_rule(StepInputs& inputs, const TrainConfig& train, int64_t t);

/// Fills in the model's three probabilities of dropout.
void set_dropout(StepInputs& inputs, const ModelConfig& model);

}  // namespace normscope

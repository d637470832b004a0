// The formulas and the costs of Muon, Adam less its leading direction, and AdamW^2.
#include "addons/newer-optimizers/engine/matrix_updates.h"

#include "engine/ops/rules.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

/// The three products of each of the five iterations of each matrix.
double muon_flop(const ProgramData& program, const Instruction&) {
  double sum = 0;
  for (int32_t p : program.parameter_order) {
    const ParameterInfo& info = program.store->parameters()[static_cast<size_t>(p)];
    if (!info.hidden) continue;
    const double side = static_cast<double>(std::min(info.shape[0], info.shape[1]));
    sum += kMuonIterations * (4 * side * static_cast<double>(info.shape.size()) + 2 * side * side * side);
  }
  return sum;
}

/// The passes of the power method over `matrices` as large as each matrix.
double passes_flop(const ProgramData& program, int matrices) {
  double sum = 0;
  for (const ParameterInfo& info : program.store->parameters())
    if (info.hidden) sum += 4.0 * matrices * (kLeadingPasses + 1) * static_cast<double>(info.shape.size());
  return sum;
}
double adam_less_leading_flop(const ProgramData& program, const Instruction&) {
  return passes_flop(program, 1);
}
double adamw2_flop(const ProgramData& program, const Instruction&) { return passes_flop(program, 2); }

}  // namespace

OpRules muon_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Muon",
       .formula = R"(m = \mu m + g, \quad w = w - 0.2 \eta \sqrt{\max(n, k)} O(g + \mu m) - \eta \lambda w)",
       .shapes = "matrices w (n,k) of the hidden layers with gradient g = f dw and momentum m; O: five times "
                 "X = a X + b XX'X + c (XX')(XX')X from X of norm one; all other parameters: Adam",
       .source = "Jordan et al. 2024; Liu et al. 2025 (arXiv 2502.16982)"}};
  // A matrix has no second moment, but its direction is written and read twice.
  return {.rules = kRows, .flop = muon_flop, .passes = 9, .matrix_room = 4};
}

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

OpRules adamw2_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "AdamW, bounded",
       .formula =
           R"(c = \min\left(1, \frac{\tau s_1(w)}{s_1(U)}\right), \quad w = w - c U - c \eta \lambda w)",
       .shapes =
           "matrices w (n,k) of the hidden layers; U: Adam's step, s_1 the largest singular value, by twelve "
           "passes of the power method; all other parameters: Adam",
       .source = "Qi et al. 2025 (arXiv 2505.21910), AdamW^2"}};
  return {.rules = kRows, .flop = adamw2_flop, .passes = 9, .matrix_room = 3};
}

}  // namespace normscope

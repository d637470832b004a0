// What Muon computes and what it costs.
#include "addons/newer-optimizers/engine/muon.h"

#include <algorithm>

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

}  // namespace

OpRules muon_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Muon",
       .formula = R"(m = \mu m + g, \quad w = w - 0.2 \eta \sqrt{\max(n, k)} O(g + \mu m) - \eta \lambda w)",
       .shapes = "matrices w (n,k) of the hidden layers with gradient g = f dw and momentum m; O: five times "
                 "X = a X + b XX'X + c (XX')(XX')X from X of norm one; all other parameters: Adam",
       .source = "Jordan et al. 2024; Liu et al. 2025 (arXiv 2502.16982)"}};
  // A matrix has no second moment, but its direction goes twice there and back.
  return {.rules = kRows, .flop = muon_flop, .passes = 9, .matrix_room = 4};
}

}  // namespace normscope

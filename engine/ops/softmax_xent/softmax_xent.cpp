// softmax_xent checks its inputs and records one node. It saves log-sum-exp and the normalised weight of every row.
#include "engine/ops/ops.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId softmax_xent(Tape& tape, const std::string& name, ValueId logits, ValueId targets, ValueId weights) {
  const int64_t rows = tape.shape(logits).rows();
  const std::string where = "softmax_xent " + name;
  if (tape.value(targets).dtype != DType::I32 || tape.shape(targets).size() != rows)
    fail(where, "targets {} must be {} integers, one a row of the logits {}", to_string(tape.shape(targets)),
         rows, to_string(tape.shape(logits)));
  if (weights != kNone && (tape.value(weights).dtype != DType::F32 || tape.shape(weights).size() != rows))
    fail(where, "weights {} must be {} numbers, one a row", to_string(tape.shape(weights)), rows);
  return tape.add_node({.op = OpKind::SoftmaxXent, .name = name, .in = {logits, targets, weights}}, {1},
                       {{"log_sum_exp", {rows}}, {"row_weight", {rows}}});
}

OpRules softmax_xent_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Cross-entropy",
       .formula =
           R"(L = \sum_r \bar w_r \left((1 - e)(\ell_r - z_{r,t}) + e (\ell_r - \operatorname{mean} z_r)\right), \quad \ell_r = \log \sum_v \exp z_{r,v})",
       .shapes =
           "logits z (..,V), targets t (R) i32, weights w (R) or none, L (1); saved: log-sum-exp (R), w over its sum (R); e: label smoothing",
       .rule =
           R"(dz_r = \bar w_r \left(\operatorname{softmax} z_r - (1 - e) \mathbf{1}_t - \frac{e}{V}\right) dL)",
       .source = "label smoothing: Szegedy et al. 2016",
       .reads = {3},
       .saved = 1}};
  return {kRows};
}

}  // namespace normscope

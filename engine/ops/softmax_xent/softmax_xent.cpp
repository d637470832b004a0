// softmax_xent checks its inputs and records one node. It saves log-sum-exp and the normalised weight of every row.
#include "engine/ops/softmax_xent/softmax_xent.h"

#include "engine/core/error.h"

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

}  // namespace normscope

// QK-clip checks its inputs and records a node that measures and an instruction behind the update.
#include "engine/ops/qk_clip/qk_clip.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId largest_logit(Tape& tape, const std::string& name, ValueId q, ValueId k, ValueId key_lengths,
                      LargestLogitSpec spec) {
  const Shape &sq = tape.shape(q), &sk = tape.shape(k);
  const std::string where = "largest_logit " + name;
  if (sq.rank != 3 || sk.rank != 3 || sq[0] != sk[0] || sk[2] > sq[2])
    fail(where, "queries {} and keys {} do not match: expected (B,Tq,D), (B,Tk,K)", to_string(sq),
         to_string(sk));
  if (spec.heads < 1 || sq[2] % spec.heads != 0)
    fail(where, "width {} is not a multiple of {} heads", sq[2], spec.heads);
  Node node{.op = OpKind::LargestLogit, .name = name, .in = {q, k, key_lengths}};
  node.attributes = spec;
  return tape.add_node(std::move(node), {spec.heads});
}

void qk_clip(Tape& tape, const std::string& name, ValueId largest, const ClippedMatrices& of,
             QkClipSpec spec) {
  const std::string where = "qk_clip " + name;
  if (spec.heads < 1 || tape.shape(largest).size() != spec.heads)
    fail(where, "{} largest logits: expected one for each of {} heads", tape.shape(largest).size(),
         spec.heads);
  for (const ValueId matrix : {of.wq, spec.shared ? of.wq : of.wk, of.bq, spec.shared ? kNone : of.bk})
    if (matrix != kNone && tape.shape(matrix).cols() % spec.heads != 0)
      fail(where, "{} has {} columns: expected a multiple of {} heads", tape.value(matrix).name,
           tape.shape(matrix).cols(), spec.heads);
  Node node{.op = OpKind::QkClip, .name = name, .in = {largest, of.wq, of.wk, of.bq, of.bk}};
  node.attributes = spec;
  tape.after_update(std::move(node));
}

OpRules largest_logit_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Largest logit",
       .formula = R"(y_h = \max_{b, t, s} \frac{q_h k_h^T}{\sqrt{D/H}})",
       .shapes =
           "q (B,Tq,D), k (B,Tk,D), key lengths (B) i32 or none, y (H); over the pairs that attention sees",
       .source = "Kimi Team 2025 (arXiv 2507.20534)"}};
  return {.rules = kRows, .flop = [](const ProgramData& program, const Instruction& i) {
            return 2 * static_cast<double>(input_shape(program.values, i, 0).size()) *
                   static_cast<double>(input_shape(program.values, i, 1)[1]);
          }};
}

OpRules qk_clip_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "QK-clip",
       .formula = R"(W_h = \sqrt{\gamma_h} W_h, \quad \gamma_h = \min\left(1, \frac{\tau}{S_h}\right))",
       .shapes =
           "queries' and keys' matrices and biases of each head h with largest logit S_h; where heads share "
           "keys, those stay and the queries' are multiplied by gamma itself",
       .source = "Kimi Team 2025 (arXiv 2507.20534)"}};
  return {kRows};
}

}  // namespace normscope

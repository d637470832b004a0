// attention checks its inputs and records one node. It saves the probabilities, which backward and users read.
#include "engine/ops/attention/attention.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId attention(Tape& tape, const std::string& name, ValueId q, ValueId k, ValueId v, ValueId key_lengths,
                  AttentionSpec spec) {
  const Shape &sq = tape.shape(q), &sk = tape.shape(k), &sv = tape.shape(v);
  const std::string where = "attention " + name;
  if (sq.rank != 3 || sk.rank != 3 || !(sk == sv) || sq[0] != sk[0] || sq[2] != sk[2])
    fail(where, "queries {}, keys {} and values {} do not match: expected (B,Tq,D), (B,Tk,D), (B,Tk,D)",
         to_string(sq), to_string(sk), to_string(sv));
  if (spec.heads < 1 || sq[2] % spec.heads != 0)
    fail(where, "width {} is not a multiple of {} heads", sq[2], spec.heads);
  if (spec.causal && sq[1] > sk[1])
    fail(where, "causal attention needs as many keys as queries, not {} and {}", sk[1], sq[1]);
  if (key_lengths != kNone &&
      (tape.value(key_lengths).dtype != DType::I32 || tape.shape(key_lengths).size() != sq[0]))
    fail(where, "key lengths {} must be {} integers, one a row", to_string(tape.shape(key_lengths)), sq[0]);
  Node node{.op = OpKind::Attention, .name = name, .in = {q, k, v, key_lengths}};
  node.attributes = spec;
  node.site = spec.dropout_site;
  return tape.add_node(std::move(node), sq, {{"probabilities", {sq[0], spec.heads, sq[1], sk[1]}}});
}

OpRules attention_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Multi-head attention",
       .formula =
           R"(y = P v, \quad P = \operatorname{softmax}\left(\frac{q k^T}{\sqrt{D/H}}\right) \text{ in each head})",
       .shapes =
           "q (B,Tq,D), k and v (B,Tk,D), key lengths (B) i32 or none, y (B,Tq,D); saved: P (B,H,Tq,Tk)",
       .rule =
           R"(dv = P^T dy, \quad dS = P \odot \left(c - \sum_s P_s c_s\right), \quad c = dy v^T, \quad dq = \frac{dS k}{\sqrt{D/H}}, \quad dk = \frac{dS^T q}{\sqrt{D/H}})",
       .source = "Vaswani et al. 2017, equation 1",
       .reads = {15, 15, 15},
       .saved = 7}};
  return {kRows};
}

}  // namespace normscope

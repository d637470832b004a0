// relative_attention checks its inputs and records one node. It saves the probabilities, which backward and users read.
#include "addons/systems/engine/relative_attention.h"

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {
namespace {

void check_shapes(const Tape& tape, const std::string& where, const RelativeAttentionInputs& in) {
  const Shape &q = tape.shape(in.content), &k = tape.shape(in.keys), &r = tape.shape(in.distances);
  if (q.rank != 3 || !(q == tape.shape(in.position)))
    fail(where, "queries {} and {} do not match: expected (B,T,D) both", to_string(q),
         to_string(tape.shape(in.position)));
  if (k.rank != 3 || !(k == tape.shape(in.values)) || k[0] != q[0] || k[2] != q[2] || k[1] < q[1])
    fail(where, "keys {} and values {} do not match queries {}: expected (B,M+T,D) for (B,T,D)", to_string(k),
         to_string(tape.shape(in.values)), to_string(q));
  if (r.rank != 2 || r[0] < k[1] || r[1] != q[2])
    fail(where, "distances {} are too few or of another width: expected at least ({},{})", to_string(r), k[1],
         q[2]);
  const ValueId lengths = in.memory_lengths;
  if (lengths != kNone && (tape.value(lengths).dtype != DType::I32 || tape.shape(lengths).size() != q[0]))
    fail(where, "memory lengths {} must be {} integers, one a row", to_string(tape.shape(lengths)), q[0]);
  // Queries are worked on in blocks, each of which writes gradients of queries, keys and values. What a block assigns
  // to one of them would wipe out what an earlier block left in the other, so no two can be one tensor.
  for (const ValueId query : {in.content, in.position})
    if (query == in.keys || query == in.values)
      fail(where, "{} serves as queries and as keys: expected two values", tape.value(query).name);
  if (in.keys == in.values)
    fail(where, "{} serves as keys and as values: expected two values", tape.value(in.keys).name);
}

}  // namespace

ValueId relative_attention(Tape& tape, const std::string& name, const RelativeAttentionInputs& in,
                           RelativeAttentionSpec spec) {
  const std::string where = "relative_attention " + name;
  check_shapes(tape, where, in);
  const Shape q = tape.shape(in.content);
  if (spec.heads < 1 || q[2] % spec.heads != 0)
    fail(where, "width {} is not a multiple of {} heads", q[2], spec.heads);
  Node node{.op = OpKind::RelativeAttention,
            .name = name,
            .in = {in.content, in.keys, in.values, in.position, in.distances, in.memory_lengths}};
  node.attributes = spec;
  node.site = spec.dropout_site;
  return tape.add_node(std::move(node), q,
                       {{"probabilities", {q[0], spec.heads, q[1], tape.shape(in.keys)[1]}}});
}

OpRules relative_attention_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Relative attention over a memory",
       .formula =
           R"(y = P v, \quad P = \operatorname{softmax}(S), \quad S_{t,s} = \frac{c_t k_s^T + e_t r_{t+M-s}^T}{\sqrt{D/H}} \text{ for } s \le t + M \text{ in each head})",
       .shapes =
           "c = q + u and e = q + v (B,T,D), k and v (B,M+T,D), distances r (P,D), memory lengths (B) i32 or none, y (B,T,D); saved: P (B,H,T,M+T)",
       .rule =
           R"(dv = P^T dy, \quad dS = P \odot \left(g - \sum_s P_s g_s\right), \quad g = dy v^T, \quad dc = \frac{dS k}{\sqrt{D/H}}, \quad dk = \frac{dS^T c}{\sqrt{D/H}}, \quad de_t = \sum_s \frac{dS_{t,s} r_{t+M-s}}{\sqrt{D/H}}, \quad dr_i = \sum_t \frac{dS_{t,t+M-i} e_t}{\sqrt{D/H}})",
       .source = "Dai et al. 2019 (Transformer-XL), section 3.3 and appendix B; not checked",
       .reads = {38, 37, 36, 52, 44},
       .saved = 31}};
  return {.rules = kRows,
          .flop =
              [](const ProgramData& program, const Instruction& i) {  // scores are sums of two products
                return (i.phase == Phase::Backward ? 12 : 6) *
                       static_cast<double>(program.values[static_cast<size_t>(i.out)].shape.size()) *
                       static_cast<double>(input_shape(program.values, i, 1)[1]);
              },
          .scores = [](const Node& n) -> AttentionScores {
            return {.queries = n.in[0],
                    .keys = n.in[1],
                    .position = n.in[3],
                    .distances = n.in[4],
                    .heads = n.attributes.as<RelativeAttentionSpec>().heads};
          },
          .too_large =
              [](std::span<const ValueInfo> values, const Node& n) {
                return too_many_heads(values, n, n.attributes.as<RelativeAttentionSpec>().heads);
              }};
}

}  // namespace normscope

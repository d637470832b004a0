// attention checks its inputs and records one node. It saves the probabilities, which backward and users read.
#include "engine/ops/ops.h"

#include <algorithm>

#include "engine/core/error.h"
#include "engine/ops/rules.h"

namespace normscope {
namespace {

/// Refuses a window, a cap or a scale that means nothing. Kernels divide the cap by the scale, and scores by
/// that: where one of them is infinite, all scores would be NaN.
void check_scores(const std::string& where, const AttentionSpec& spec, int64_t width) {
  if (spec.window < 0) fail(where, "a window of {} keys: expected at least 1, or 0 for all", spec.window);
  if (spec.window > 0 && !spec.causal)
    fail(where, "a window of {} keys without a causal mask: expected one that is causal", spec.window);
  if (!(spec.scale >= 0 && std::isfinite(spec.scale)))
    fail(where, "scale {}: expected a positive number, or 0 for 1/sqrt(D/H)", spec.scale);
  const double cap = static_cast<double>(spec.cap);
  if (cap != 0 && !(cap > 0 && std::isnormal(static_cast<float>(cap / spec.scale_of(width)))))
    fail(where, "cap {}: expected a positive number, or 0 for none", spec.cap);
}

/// Two products forward and four backward, dense, the masked half too; within a window, as many keys as it has.
double attention_flop(const ProgramData& program, const Instruction& i) {
  const auto spec = i.attributes.as<AttentionSpec>();
  int64_t keys = input_shape(program.values, i, 1)[1];  // (B,T,D)
  if (spec.window > 0) keys = std::min<int64_t>(keys, spec.window);
  const int backward = spec.cap > 0 ? 5 : 4;  // a cap has the scores computed again
  return 2 * (i.phase == Phase::Backward ? backward : 2) *
         static_cast<double>(program.values[static_cast<size_t>(i.out)].shape.size()) *
         static_cast<double>(keys);
}

}  // namespace

ValueId attention(Tape& tape, const std::string& name, ValueId q, ValueId k, ValueId v, ValueId key_lengths,
                  AttentionSpec spec) {
  const Shape &sq = tape.shape(q), &sk = tape.shape(k), &sv = tape.shape(v);
  const std::string where = "attention " + name;
  if (sq.rank != 3 || sk.rank != 3 || !(sk == sv) || sq[0] != sk[0] || sk[2] > sq[2])
    fail(where, "queries {}, keys {} and values {} do not match: expected (B,Tq,D), (B,Tk,K), (B,Tk,K)",
         to_string(sq), to_string(sk), to_string(sv));
  if (spec.heads < 1 || sq[2] % spec.heads != 0)
    fail(where, "width {} is not a multiple of {} heads", sq[2], spec.heads);
  if (const int64_t width = sq[2] / spec.heads; sk[2] % width != 0 || spec.heads % (sk[2] / width) != 0)
    fail(where, "{} heads of queries {} cannot share keys {} evenly: expected as many heads, or a divisor",
         spec.heads, to_string(sq), to_string(sk));
  if (spec.causal && sq[1] > sk[1])
    fail(where, "causal attention needs as many keys as queries, not {} and {}", sk[1], sq[1]);
  check_scores(where, spec, sq[2] / spec.heads);
  if (key_lengths != kNone &&
      (tape.value(key_lengths).dtype != DType::I32 || tape.shape(key_lengths).size() != sq[0]))
    fail(where, "key lengths {} must be {} integers, one a row", to_string(tape.shape(key_lengths)), sq[0]);
  Node node{.op = OpKind::Attention, .name = name, .in = {q, k, v, key_lengths}};
  node.attributes = spec;
  node.site = spec.dropout_site;
  return tape.add_node(std::move(node), sq, {{"probabilities", {sq[0], spec.heads, sq[1], sk[1]}}});
}

OpRules attention_rules() {
  static constexpr const char* kShapes =
      "q (B,Tq,D), k and v (B,Tk,D), or of fewer heads, which groups of q's share, key lengths (B) i32 or none, y (B,Tq,D); saved: P (B,H,Tq,Tk). Where it is "
      "causal, query t sees keys s with s <= t, and with a window w those with t - w < s <= t";
  static constexpr OpRule kRows[] = {
      {.title = "Multi-head attention",
       .formula =
           R"(y = P v, \quad P = \operatorname{softmax}\left(\frac{q k^T}{\sqrt{D/H}}\right) \text{ in each head})",
       .shapes = kShapes,
       .rule =
           R"(dv = P^T dy, \quad dS = P \odot \left(c - \sum_s P_s c_s\right), \quad c = dy v^T, \quad dq = \frac{dS k}{\sqrt{D/H}}, \quad dk = \frac{dS^T q}{\sqrt{D/H}})",
       .source = "Vaswani et al. 2017, equation 1",
       .reads = {15, 15, 15},
       .saved = 7},
      {.variant = "scaled",
       .title = "Multi-head attention with a scale of its own",
       .formula = R"(y = P v, \quad P = \operatorname{softmax}(a q k^T) \text{ in each head})",
       .shapes = kShapes,
       .rule =
           R"(dv = P^T dy, \quad dS = P \odot \left(c - \sum_s P_s c_s\right), \quad c = dy v^T, \quad dq = a dS k, \quad dk = a dS^T q)",
       .source = "Vaswani et al. 2017, equation 1, with another factor than 1/√(D/H)",
       .reads = {15, 15, 15},
       .saved = 7},
      {.variant = "capped",
       .title = "Multi-head attention with capped scores",
       .formula =
           R"(y = P v, \quad P = \operatorname{softmax}(u t), \quad t = \operatorname{tanh}\left(\frac{a q k^T}{u}\right) \text{ in each head})",
       .shapes = kShapes,
       .rule =
           R"(dv = P^T dy, \quad dS = P \odot \left(c - \sum_s P_s c_s\right) \odot (1 - t^2), \quad c = dy v^T, \quad dq = a dS k, \quad dk = a dS^T q)",
       .source =
           "Gemma Team 2024 (Gemma 2), section 2; u is the cap, a the scale, 1/√(D/H) unless another is given; not checked",
       .reads = {15, 15, 15},
       .saved = 7}};
  return {.rules = kRows,
          .variant =
              [](const Attributes& attributes) {
                const auto spec = attributes.as<AttentionSpec>();
                return spec.cap > 0 ? "capped" : spec.scale > 0 ? "scaled" : "";
              },
          .flop = attention_flop,
          .scores = [](const Node& n) -> AttentionScores {
            const auto spec = n.attributes.as<AttentionSpec>();
            return {.queries = n.in[0],
                    .keys = n.in[1],
                    .key_lengths = n.in[3],
                    .heads = spec.heads,
                    .window = spec.window,
                    .causal = spec.causal,
                    .scale = spec.scale,
                    .cap = spec.cap};
          },
          .too_large =
              [](std::span<const ValueInfo> values, const Node& n) {
                return too_many_heads(values, n, n.attributes.as<AttentionSpec>().heads);
              }};
}

}  // namespace normscope

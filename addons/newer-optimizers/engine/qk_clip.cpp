// Records QK-clip: a node that measures, and an instruction after the update.
#include "addons/newer-optimizers/engine/qk_clip.h"

#include "engine/model/recorder.h"
#include "engine/ops/rules.h"

namespace normscope {

ValueId largest_logit(Tape& tape, const std::string& name, ValueId q, ValueId k, ValueId key_lengths,
                      LargestLogitSpec spec) {
  Node node = tape.node(OpKind::LargestLogit, name, {q, k, key_lengths}, spec);
  const Shape &sq = tape.shape(q), &sk = tape.shape(k);
  const std::string where = "largest_logit " + tape.named(name);
  if (sq.rank != 3 || sk.rank != 3 || sq[0] != sk[0] || sk[2] > sq[2])
    fail(where, "queries {} and keys {} do not match: expected (B,Tq,D), (B,Tk,K)", to_string(sq),
         to_string(sk));
  if (spec.heads < 1 || sq[2] % spec.heads != 0)
    fail(where, "width {} is not a multiple of {} heads", sq[2], spec.heads);
  return tape.add_node(std::move(node), {spec.heads});
}

void qk_clip(Tape& tape, const std::string& name, ValueId largest, const ClippedMatrices& of,
             QkClipSpec spec) {
  const std::string where = "qk_clip " + tape.named(name);
  Node node = tape.node(OpKind::QkClip, name, {largest, of.wq, of.wk, of.bq, of.bk}, spec);
  if (spec.heads < 1 || tape.shape(largest).size() != spec.heads)
    fail(where, "{} largest logits: expected one for each of {} heads", tape.shape(largest).size(),
         spec.heads);
  for (const ValueId matrix : {of.wq, spec.shared ? of.wq : of.wk, of.bq, spec.shared ? kNone : of.bk})
    if (matrix != kNone && tape.shape(matrix).cols() % spec.heads != 0)
      fail(where, "{} has {} columns: expected a multiple of {} heads", tape.value(matrix).name,
           tape.shape(matrix).cols(), spec.heads);
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

namespace {

/// Measures the largest logit of each head, and scales its matrices after the update.
class ClipHeads : public Part {
 public:
  explicit ClipHeads(Recorder& recorder) : r_(recorder) {}

  void prepare(AttentionInputs& in) override {
    if (!clips(r_.config, in.wiring)) return;
    const std::string& n = in.name;
    const AttentionSpec read = attention_spec(r_, in.causal);
    const ValueId largest = largest_logit(
        r_.tape, n + ".batch_logit", in.queries, in.keys, in.key_lengths,
        {.heads = read.heads, .causal = read.causal, .window = read.window, .scale = read.scale});
    const auto bias = [&](const char* suffix) {
      return !in.wiring.inner.shifts && r_.has_bias_of(suffix) ? r_.tape.parameter(n + ".b" + suffix) : kNone;
    };
    qk_clip(r_.tape, n + ".qk_clip", largest,
            {.wq = r_.tape.parameter(n + ".wq"),
             .wk = r_.tape.parameter(n + ".wk"),
             .bq = bias("q"),
             .bk = bias("k")},
            {.tau = r_.options.added.of<QkClipConfig>().largest,
             .heads = read.heads,
             .shared = kv_heads(r_.config) < read.heads});
  }

 private:
  Recorder& r_;
};

std::unique_ptr<Part> record_clip(Recorder& recorder) {
  if (!(recorder.options.added.of<QkClipConfig>().largest > 0)) return nullptr;
  return std::make_unique<ClipHeads>(recorder);
}

}  // namespace

bool clips(const ModelConfig& config, const Wiring& attention) {
  return !has_unit_vectors(attention) && !row_of(config.positions).own_scores &&
         attention.inner.query == NormKind::None && attention.inner.key == NormKind::None;
}

constinit const PartRow qk_clip_part{.record = record_clip};

}  // namespace normscope

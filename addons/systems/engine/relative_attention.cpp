// relative_attention checks its inputs and records one node. It saves the probabilities, which backward and users read.
#include "addons/systems/engine/relative_attention.h"

#include "engine/model/recorder.h"
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
  if (lengths != kNone && tape.shape(lengths).size() != q[0])
    fail(where, "memory lengths {} must be {} integers, one a row", to_string(tape.shape(lengths)), q[0]);
  // Queries are processed in blocks, each of which writes gradients of queries, keys and values. If two of these were
  // one tensor, what a block assigns would overwrite what an earlier block wrote.
  for (const ValueId query : {in.content, in.position})
    if (query == in.keys || query == in.values)
      fail(where, "{} serves as queries and as keys: expected two values", tape.value(query).name);
  if (in.keys == in.values)
    fail(where, "{} serves as keys and as values: expected two values", tape.value(in.keys).name);
}

class RelativePositions : public Part {
 public:
  explicit RelativePositions(Recorder& recorder) : r_(recorder) {}

  void begin() override {
    const ModelConfig& c = r_.config;
    if (r_.options.memory > 0)
      memory_lengths_ = r_.tape.input("memory_lengths", {r_.options.batch}, DType::I32);
    distances_ =
        r_.parameter("distances", {c.sequence + c.memory, c.d_model}, {Init::Kind::Sinusoid, 0.0}, false);
  }

  /// Applies to the memory the norms that precede attention on the stream.
  void begin_layer(const std::string& layer, const Wiring& wiring, ValueId x) override {
    const std::string name = layer + ".attn", memory = layer + ".memory";
    past_ = kNone;
    if (r_.options.memory == 0 || r_.left_out(name)) return;
    past_ = r_.tape.input(memory, {r_.options.batch, r_.options.memory, r_.config.d_model}, DType::F32);
    r_.values.memories.push_back({memory, past_, x});
    r_.twin = kOfMemory;
    past_ = branch_input(r_, name, wiring, r_.norm(name + ".enter", wiring.enter, past_));
    r_.twin.clear();
  }

  void prepare(AttentionInputs& in) override {
    if (past_ == kNone) return;
    const std::string& n = in.name;
    r_.twin = kOfMemory;
    const ValueId past = r_.shift(n + ".shift_in", in.wiring.inner, past_),
                  keys = keys_of(r_, n, in.wiring, past), values = values_of(r_, n, in.wiring, past);
    r_.twin.clear();
    in.keys = concat(r_.tape, n + ".keys", keys, in.keys);
    in.values = concat(r_.tape, n + ".values", values, in.values);
  }

  /// Scores (q + u) k + (q + v) W_R R of the distance (section 3.3). u and v are each layer's own and start at zero.
  ValueId heads(const AttentionInputs& in, uint32_t dropout_site) override {
    const std::string& n = in.name;
    const int64_t D = r_.config.d_model;
    const auto plus = [&](const char* which, const char* bias) {
      return affine(r_.tape, n + which, in.queries, 1.0f, kNone,
                    r_.parameter(n + bias, {D}, {Init::Kind::Zeros, 0.0}));
    };
    const ValueId w = r_.matrix(n + ".wr", {D, D}, r_.matrix_init(D, D, r_.gains.key));
    const RelativeAttentionInputs inputs{.content = plus(".content", ".content_bias"),
                                         .position = plus(".position", ".position_bias"),
                                         .keys = in.keys,
                                         .values = in.values,
                                         .distances = linear(r_.tape, n + ".r", distances_, w, kNone),
                                         .memory_lengths = memory_lengths_};
    return relative_attention(r_.tape, n + ".heads", inputs, {r_.config.heads, dropout_site});
  }

 private:
  static constexpr const char* kOfMemory = ".memory";
  Recorder& r_;
  ValueId memory_lengths_ = kNone;  ///< how much of the memory counts
  ValueId distances_ = kNone;
  ValueId past_ = kNone;  ///< of this layer
};

std::unique_ptr<Part> record_relative(Recorder& recorder) {
  if (recorder.config.positions != Positions::Relative) return nullptr;
  return std::make_unique<RelativePositions>(recorder);
}

void check_relative(const ModelConfig& c) {
  const bool relative = c.positions == Positions::Relative;
  if (relative && c.architecture != Architecture::Decoder)
    fail("model.positions", "relative looks back from each symbol: expected architecture decoder");
  if (c.memory < 0 || c.memory > kMaxMemory)
    fail("model.memory", "{} positions: expected 0 to {}", c.memory, kMaxMemory);
  if (c.memory > 0 && !relative)
    fail("model.memory",
         "places of another segment have no number of their own: expected positions relative");
  if (relative && !(c.attention == AttentionConfig{}))
    fail(
        "model.positions",
        "relative has heads of d_model / heads, one of keys and values each, without window, scale or cap: expected "
        "other positions, or those settings as they are by default");
}

PartCost cost_of_relative(const ModelConfig& c, int32_t batch) {
  if (c.positions != Positions::Relative) return {};
  const int64_t d = c.d_model, rows = int64_t{batch} * c.sequence, memory = int64_t{batch} * c.memory,
                keys = c.sequence + c.memory;
  const double l = c.layers, t = c.sequence, past = c.memory;
  // both queries, keys and values of the memory and of all; the memory itself, its norm
  return {.parameters = c.layers * (d * d + 2 * d) + keys * d,
          .activations =
              c.layers * (2 * rows * 4 * d + 2 * memory * 5 * d + rows * c.heads * c.memory + 2 * keys * d),
          .flop = l * (batch * t * c.d_model * (18 * (t + past) - 12 * t) +
                       8 * batch * past * c.d_model * c.d_model)};
}

}  // namespace

ValueId relative_attention(Tape& tape, const std::string& name, const RelativeAttentionInputs& in,
                           RelativeAttentionSpec spec) {
  const std::string where = "relative_attention " + tape.named(name);
  Node node = tape.node(OpKind::RelativeAttention, name,
                        {in.content, in.keys, in.values, in.position, in.distances, in.memory_lengths}, spec);
  check_shapes(tape, where, in);
  const Shape q = tape.shape(in.content);
  if (spec.heads < 1 || q[2] % spec.heads != 0)
    fail(where, "width {} is not a multiple of {} heads", q[2], spec.heads);
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

// Relative positions over a memory (Transformer-XL, Dai et al. 2019): attention reads the states that each layer had
// for the previous segment, and compares queries with the distance of each key. No gradient goes into the memory.

constinit const PartRow relative_part{
    .record = record_relative, .check = check_relative, .cost = cost_of_relative};

}  // namespace normscope

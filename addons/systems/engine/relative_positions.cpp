// Relative positions over a memory (Transformer-XL, Dai et al. 2019): attention looks back at the states that each layer
// had for the segment before, and compares queries with the distance of each key. No gradient goes into the memory.
#include "addons/systems/engine/relative_attention.h"
#include "engine/core/error.h"
#include "engine/model/recorder.h"
#include "engine/ops/ops.h"

namespace normscope {
namespace {

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

  /// Takes the memory through the norms that make attention's own input of the stream.
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
  if (c.memory < 0 || c.memory > kMostMemory)
    fail("model.memory", "{} positions: expected 0 to {}", c.memory, kMostMemory);
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

constinit const PartRow relative_part{
    .record = record_relative, .check = check_relative, .cost = cost_of_relative};

}  // namespace normscope

// Parts of a transformer that add-ons define as rows PART(name) of parts.def: rotary positions, relative positions,
// gated heads, unit vectors, measurements of attention. A row has the functions that record a part, if the model has
// it. Parts of residual streams are forms (residual.h).
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include "engine/core/initial_values.h"
#include "engine/model/transformer.h"

namespace normscope {

struct AttentionSpec;
struct Recorder;

/// An attention to be recorded, and the inputs of its heads.
struct AttentionInputs {
  const std::string& name;  ///< "L03.attn"
  const Wiring& wiring;
  bool causal = false;
  ValueId key_lengths = kNone;
  ValueId queries = kNone, keys = kNone, values = kNone;
};

/// The output layer: a state, its matrix, and a bias or kNone.
struct OutputInputs {
  ValueId hidden, matrix, bias;
  bool transposed;
};

/// The hooks of a part while a model is recorded, in the order of a step. In this base class they do nothing.
class Part {
 public:
  virtual ~Part() = default;
  /// Changes the initial values of a matrix of a sub-layer, whose rows or columns (`along`) are as wide as the model.
  /// The token table and the output matrix come with the wiring of the last feed-forward network.
  virtual void start(const std::string& /*matrix*/, const Wiring&, Init::Unit /*along*/, Init&) {}
  virtual void begin() {}  ///< with the embedding: declares tables
  virtual void begin_layer(const std::string& /*layer*/, const Wiring& /*of its attention*/, ValueId /*x*/) {}
  /// The queries or keys of self-attention after their norm. Not called for cross-attention (two texts).
  virtual ValueId placed(const std::string& /*name*/, ValueId x, int32_t /*heads*/) { return x; }
  /// Changes the inputs of the heads, or measures them.
  virtual void prepare(AttentionInputs&) {}
  /// Records the heads instead of the op `attention`; kNone: not with this part.
  virtual ValueId heads(const AttentionInputs&, uint32_t /*dropout site*/) { return kNone; }
  /// The output of the heads, before W_O; x is the attention's input.
  virtual ValueId attended(const AttentionInputs&, ValueId /*x*/, ValueId heads) { return heads; }
  /// The hidden layer of a feed-forward network before its activation.
  virtual ValueId hidden(const std::string& /*name*/, const Wiring&, ValueId h) { return h; }
  /// Records the logits instead of a product; kNone: not with this part.
  virtual ValueId outputs(const std::string& /*name*/, const OutputInputs&) { return kNone; }
  virtual void end() {}  ///< after the loss
};

/// The cost of a part in a step: floats of its parameters, and of its activations with their gradients; arithmetic.
struct PartCost {
  int64_t parameters = 0, activations = 0;
  double flop = 0;
};

struct PartRow {
  std::unique_ptr<Part> (*record)(Recorder&);   ///< returns null where the model lacks the part
  void (*check)(const ModelConfig&) = nullptr;  ///< throws Error
  PartCost (*cost)(const ModelConfig&, int32_t batch) = nullptr;
};
#define PART(name) extern const PartRow name##_part;
#include "chosen/parts.def"
#undef PART

inline constexpr std::initializer_list<const PartRow*> kParts = {
#define PART(name) &name##_part,
#include "chosen/parts.def"
#undef PART
};

/// The queries, keys and values of an attention, each after its norm, from its input.
ValueId queries_of(Recorder&, const std::string& attention, const Wiring&, ValueId x);
ValueId keys_of(Recorder&, const std::string& attention, const Wiring&, ValueId x);
ValueId values_of(Recorder&, const std::string& attention, const Wiring&, ValueId x);
/// The spec of the heads, without dropout.
AttentionSpec attention_spec(const Recorder&, bool causal);
/// The beginning of a branch: N_before, and its factor.
ValueId branch_input(Recorder&, const std::string& sublayer, const Wiring&, ValueId entered);

}  // namespace normscope

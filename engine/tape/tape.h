// Phase one: recording. A Tape is plain data: values (name, shape, role) and nodes (op, inputs, output,
// saved) in the order of recording, which is topological order because a node can only name values that exist
// already. Nothing is computed here. ops/ops.h records nodes; tape/seal.h turns a Tape into a Program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/shape.h"
#include "engine/tape/step_inputs.h"

namespace normscope {

enum class OpKind : uint8_t {
#define OP(Kind, name, inputs) Kind,
#include "engine/ops/ops.def"
#undef OP
  Count
};
const char* to_string(OpKind op);

using ValueId = int32_t;
inline constexpr ValueId kNone = -1;

enum class Role : uint8_t {
  Input,  ///< part of the batch, filled by the caller before each replay (tokens, targets, weights, lengths)
  Parameter,   ///< lives in the Store
  Activation,  ///< output of a node
  Saved,       ///< second output of a node that its backward reads (statistics, probabilities)
};

struct ValueInfo {
  std::string name;
  Shape shape;
  DType dtype = DType::F32;
  Role role = Role::Activation;
  int32_t parameter = -1;  ///< index in the Store when role == Parameter
  int32_t node = -1;       ///< the node that writes it, or -1
};

/// The kinds of the layer_norm family, with y = (x - mean) / sigma, sigma = sqrt(biased variance + eps):
/// LayerNorm g*y+b; Simple y; Rms g*x/sqrt(mean x^2 + eps). Xu et al. 2019: Detach, DetachMean and
/// DetachVariance compute y and hold mean and sigma, the mean only, or sigma only constant in the backward
/// pass; AdaNorm C(1 - k y)*y with the first factor held constant in the backward pass (section 4). DyT (Zhu
/// et al. 2025) knows no statistics: g*tanh(alpha x)+b with one learned alpha.
enum class NormKind : uint8_t {
  None,
  LayerNorm,
  Simple,
  Rms,
  Detach,
  DetachMean,
  DetachVariance,
  AdaNorm,
  DyT
};
inline constexpr NormKind kNormKinds[] = {
    NormKind::None,       NormKind::LayerNorm,      NormKind::Simple,  NormKind::Rms, NormKind::Detach,
    NormKind::DetachMean, NormKind::DetachVariance, NormKind::AdaNorm, NormKind::DyT};
const char* to_string(NormKind kind);

/// What a kind has and what its backward pass differentiates: read by recorder, kernels and references alike.
constexpr bool has_gain(NormKind k) {
  return k == NormKind::LayerNorm || k == NormKind::Rms || k == NormKind::DyT;
}
constexpr bool has_bias(NormKind k) { return k == NormKind::LayerNorm || k == NormKind::DyT; }
constexpr bool has_alpha(NormKind k) { return k == NormKind::DyT; }
constexpr bool is_centred(NormKind k) { return k != NormKind::Rms && k != NormKind::DyT; }
constexpr bool mean_has_gradient(NormKind k) {
  return is_centred(k) && k != NormKind::Detach && k != NormKind::DetachMean;
}
constexpr bool sigma_has_gradient(NormKind k) {
  return k != NormKind::Detach && k != NormKind::DetachVariance && k != NormKind::DyT;
}

enum class ProbeKind : uint8_t { MeanSquare, Variance };

/// Structural constants of a node: frozen by seal. Each op documents in ops/ops.h which it reads.
struct Attributes {
  int32_t heads = 1;               // attention; layer_norm: parts of a row, each a row of its own
  bool causal = false;             // attention
  bool transposed = false;         // linear: weight is (N,K) and used as x W^T (tied output)
  bool has_dropout = false;        // attention: probabilities are dropped out at `site`
  NormKind norm = NormKind::None;  // layer_norm
  DropoutKind dropout = DropoutKind::Residual;
  ProbeKind probe = ProbeKind::MeanSquare;
  float eps = 1e-5f;                 // layer_norm
  float norm_scale = 1.0f;           // layer_norm: AdaNorm's C (Xu et al. 2019, section 4.2)
  float norm_slope = 0.1f;           // layer_norm: AdaNorm's k
  float scale = 1.0f;                // embedding: token rows are multiplied by it; affine: the constant c
  float skip = 1.0f, branch = 1.0f;  // add: constant scales (learned ones are inputs)
  uint32_t site = 0;                 // dropout, attention: site_of(name)
};

struct Node {
  OpKind op = OpKind::Count;
  std::string name = {};
  int32_t layer = 0;             ///< 1-based layer, 0 outside the layers: lets a UI group nodes
  std::vector<ValueId> in = {};  ///< positional; an absent optional input is kNone
  ValueId out = kNone;
  std::vector<ValueId> saved = {};
  Attributes attributes = {};
};

/// A measurement asked for: its number appears in the stats block after every replay.
struct ProbeRequest {
  std::string name;  ///< "L03.attn.out.mean_square"
  ProbeKind kind = ProbeKind::MeanSquare;
  ValueId value = kNone;
  bool of_gradient = false;
  int32_t layer = 0;
  ValueId lengths = kNone;  ///< i32 (B): of value (B,T,..) only the first lengths[b] positions of row b count
};

class Store;

class Tape {
 public:
  explicit Tape(Store& store) : store_(&store) {}

  ValueId input(std::string name, Shape shape, DType dtype);
  /// The Store's parameter of that name (declared there before); the same name gives the same value.
  ValueId parameter(const std::string& name);
  ValueId add_value(ValueInfo info);
  /// Appends the node and creates its output (`shape`) and saved values; returns the output.
  ValueId add_node(Node node, Shape out, std::vector<std::pair<std::string, Shape>> saved = {});
  void probe(ProbeRequest request) { probes_.push_back(std::move(request)); }
  void set_layer(int32_t layer) { layer_ = layer; }

  const ValueInfo& value(ValueId v) const { return values_[static_cast<size_t>(v)]; }
  const Shape& shape(ValueId v) const { return value(v).shape; }
  const std::vector<ValueInfo>& values() const { return values_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<ProbeRequest>& probes() const { return probes_; }
  /// The value with that name, or kNone.
  ValueId find(std::string_view name) const;
  Store& store() const { return *store_; }

 private:
  Store* store_;
  std::vector<ValueInfo> values_;
  std::vector<Node> nodes_;
  std::vector<ProbeRequest> probes_;
  int32_t layer_ = 0;
};

/// One line per node: "12 L01.attn.out  linear  (1024,64) <- L01.attn.heads, L01.attn.wo, L01.attn.bo".
std::string to_string(const Tape& tape);

}  // namespace normscope

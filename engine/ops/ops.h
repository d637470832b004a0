// All ops of the core, each as the function that records it on a tape, with its formula. Gradients and kernels are in
// the folder of each op.
#pragma once

#include <cmath>

#include "engine/tape/step_inputs.h"
#include "engine/tape/tape.h"

namespace normscope {

// A matrix product with an optional bias.

struct LinearSpec {
  static constexpr OpKind kOp = OpKind::Linear;
  bool transposed = false;  ///< the weight is (N,K) and used as x W^T (tied output)
  friend bool operator==(const LinearSpec&, const LinearSpec&) = default;
};

/// Records a matrix product, x (..,K), W (K,N), out (..,N); b (N) may be kNone:
///   out  =  x W + b
///   out  =  x W^T + b          // transposed: W is (N,K)
ValueId linear(Tape&, const std::string& name, ValueId x, ValueId weight, ValueId bias,
               bool transposed = false);

/// Declares its parameters too, NAME.w (K,N) normal of variance 1/K and NAME.b (N) of zeros.
ValueId linear(Tape&, const std::string& name, ValueId x, int64_t outputs);

// Multi-head attention.

struct AttentionSpec {
  static constexpr OpKind kOp = OpKind::Attention;
  int32_t heads = 1;
  bool causal = false;
  bool alibi = false;         ///< causal: scores fall with the distance, by each head's alibi_slope()
  uint32_t dropout_site = 0;  ///< site of the dropout of probabilities; 0 = no dropout
  int32_t window = 0;         ///< keys that a query sees on each side, with its own; 0 = all
  float cap = 0;              ///< scores stay between -cap and cap; 0 = no cap
  float scale = 0;            ///< factor of the scores; 0 = 1/sqrt(D/H)
  friend bool operator==(const AttentionSpec&, const AttentionSpec&) = default;

  /// The factor of the scores in a head of `width` numbers.
  double scale_of(int64_t width) const {
    return scale > 0 ? static_cast<double>(scale) : 1.0 / std::sqrt(static_cast<double>(width));
  }
};

/// The decrease of a head's scores per position between query and key (Press et al. 2022), with P the largest power of
/// 2 up to H: 2^(-8 (h+1) / P) for head h < P, and 2^(-8 (h-P+1/2) / P), values in between, for the other heads.
double alibi_slope(int64_t head, int64_t heads);

/// Records multi-head attention (Vaswani et al. 2017, eq. 1). q (B,Tq,D), k and v (B,Tk,K), out (B,Tq,D); heads are
/// contiguous slices of D. Head h of H reads the head g = floor(h K/D) of keys and values: g = h where there are as
/// many of them, otherwise a group of heads shares one (Ainslie et al. 2023):
///   S_h    =  scale q_h k_g^T                // scale: the spec's, or 1/sqrt(D/H); with alibi, + slope_h (s - t)
///   P_h    =  softmax(S_h)                   // with a cap, of cap * tanh(S_h / cap) (Gemma Team 2024, Gemma 2)
///   out_h  =  (P_h * keep) v_g               // keep: the factors of dropout, 1 without it
/// Keys at or beyond key_lengths (B), i32 or kNone, are masked; where the spec is causal, query t sees keys s <= t,
/// and with a window w only keys with t - w < s < t + w. A row with no visible key gives zero output. saved[0] = P
/// (B,H,Tq,Tk), before dropout.
ValueId attention(Tape&, const std::string& name, ValueId q, ValueId k, ValueId v, ValueId key_lengths,
                  AttentionSpec);

// The norm family: its kinds, and the function that records a norm.

/// The kinds of the layer_norm family. With mean and variance taken over a row x (D), and with
///   sigma  =  sqrt(biased variance + eps)
///   y      =  (x - mean) / sigma
/// the kinds compute
///   LayerNorm       gain * y + bias
///   Simple          y
///   Rms             gain * x / sqrt(mean(x^2) + eps)
///   RmsSimple       x / sqrt(mean(x^2) + eps)
///   Detach          y                      // the backward pass holds mean and sigma constant
///   DetachMean      y                      // the backward pass holds the mean constant
///   DetachVariance  y                      // the backward pass holds sigma constant
///   Undivided       gain * y + bias        // the backward pass is LayerNorm's times sigma: dx is not divided by it
///   AdaNorm         C (1 - k y) * y        // the backward pass holds the first factor constant
///   DyT             gain * tanh(alpha x) + bias
///   Derf            gain * erf(alpha x + shift) + bias
/// The detached kinds and AdaNorm (section 4) are from Xu et al. 2019; Undivided is our own, to show the effect of the
/// division. DyT (Zhu et al. 2025, arXiv 2503.10622) uses no statistics and learns one alpha; Derf (Chen et al. 2025,
/// arXiv 2512.10938) also learns one shift.
enum class NormKind : uint8_t {
#define NORM_KIND(Name, ...) Name,
#include "engine/ops/layer_norm/norm_kinds.def"
#undef NORM_KIND
};
inline constexpr NormKind kNormKinds[] = {
#define NORM_KIND(Name, ...) NormKind::Name,
#include "engine/ops/layer_norm/norm_kinds.def"
#undef NORM_KIND
};

/// The parameters of a kind, and the parts that its backward pass differentiates: a row of norm_kinds.def, which
/// recorder, kernels, references and files read alike.
struct NormTraits {
  const char* name = "";        ///< "layer norm, simple": in errors and tables
  const char* short_name = "";  ///< "simple": on the command line and in files
  bool has_gain = false, has_bias = false;
  bool has_alpha = false;      ///< one learned slope within tanh or erf
  bool has_shift = false;      ///< one learned number, added within erf
  bool has_factor = false;     ///< C (1 - k y), which the backward pass holds constant
  bool has_statistics = true;  ///< of a row; the kind then has epsilon
  bool is_centred = true;
  bool mean_has_gradient = true, sigma_has_gradient = true;
  bool gradient_divided = true;  ///< dx is divided by sigma, as the derivative is
};
inline constexpr NormTraits kNormTraits[] = {
#define NORM_KIND(Name, ...) {__VA_ARGS__},
#include "engine/ops/layer_norm/norm_kinds.def"
#undef NORM_KIND
};
constexpr const NormTraits& traits_of(NormKind kind) { return kNormTraits[static_cast<size_t>(kind)]; }
constexpr const char* to_string(NormKind kind) { return traits_of(kind).name; }
constexpr const char* short_name(NormKind kind) { return traits_of(kind).short_name; }
constexpr bool has_gain(NormKind k) { return traits_of(k).has_gain; }
constexpr bool has_bias(NormKind k) { return traits_of(k).has_bias; }
constexpr bool has_alpha(NormKind k) { return traits_of(k).has_alpha; }
constexpr bool has_shift(NormKind k) { return traits_of(k).has_shift; }
constexpr bool is_centred(NormKind k) { return traits_of(k).is_centred; }
constexpr bool mean_has_gradient(NormKind k) { return is_centred(k) && traits_of(k).mean_has_gradient; }
constexpr bool sigma_has_gradient(NormKind k) { return traits_of(k).sigma_has_gradient; }
/// Whether the backward pass is not the derivative: it holds something constant that the forward pass computes from x,
/// or does not divide.
constexpr bool holds_constant(NormKind k) {
  const NormTraits& traits = traits_of(k);
  return traits.has_factor || !traits.gradient_divided ||
         (traits.has_statistics && !(traits.mean_has_gradient && traits.sigma_has_gradient));
}
/// Whether y is x over its standard deviation, with or without the mean subtracted, and backward differentiates all of
/// it. A row then has mean square one, before gain and bias.
constexpr bool is_plain(NormKind k) {
  return k != NormKind::None && traits_of(k).has_statistics && !holds_constant(k);
}

struct NormSpec {
  static constexpr OpKind kOp = OpKind::LayerNorm;
  NormKind kind = NormKind::None;
  int32_t heads = 1;  ///< parts of a row, each a row of its own
  float eps = 1e-5f;
  float scale = 1.0f, slope = 0.1f;  ///< AdaNorm's C and k (Xu et al. 2019, section 4.2)
  float gain_offset = 0.0f;          ///< 0, or 1 where the parameter is gain - 1
  friend bool operator==(const NormSpec&, const NormSpec&) = default;
};

/// The inputs and constants that only some kinds read.
struct NormExtras {
  ValueId alpha = kNone;             ///< DyT and Derf
  ValueId shift = kNone;             ///< Derf
  float scale = 1.0f, slope = 0.1f;  ///< AdaNorm's C and k
  float gain_offset = 0.0f;          ///< 0, or 1 where the parameter is gain - 1 (Gemma)
};
/// Records a norm over the last dimension of x (..,D); see NormKind. gain (D), bias (D), alpha (1) and
/// shift (1) are given where the kind has them, else they are kNone. Of each of the R rows it saves
///   saved[0]  =  mean            // 0 for Rms, RmsSimple, DyT and Derf
///   saved[1]  =  1 / sigma       // DyT: sqrt(sum of tanh(alpha x)^2 / sum of x^2), its scale of the row as a whole;
///                                // Derf: the same of its erf
/// The variance takes a second pass over the row. With heads > 1 a row is cut into as many equal parts, each a row of
/// its own: R is heads times as large, and the parts share a gain and a bias of D / heads numbers. With
/// extras.gain_offset 1 the gain of NormKind is 1 + the input `gain`.
ValueId layer_norm(Tape&, const std::string& name, NormKind kind, ValueId x, ValueId gain, ValueId bias,
                   float eps, int32_t heads = 1, const NormExtras& extras = {});

/// Layer norm with gain and bias, NAME.gain of ones and NAME.bias of zeros, which it declares.
ValueId layer_norm(Tape&, const std::string& name, ValueId x);

// Ops on one number, or one pair of numbers, at a time: out has the shape of x. The formulas are in formulas.h.

/// The activations, by their rows of ops.def.
enum class Activation : uint8_t {
#define ACTIVATION(Kind, op, label) Kind,
#include "engine/ops/ops.def"
};
inline constexpr std::string_view kActivations[] = {
#define ACTIVATION(Kind, op, label) #op,
#include "engine/ops/ops.def"
};
inline constexpr const char* kActivationLabels[] = {
#define ACTIVATION(Kind, op, label) label,
#include "engine/ops/ops.def"
};
ValueId activated(Tape&, Activation, const std::string& name, ValueId x);

/// One function for each activation: relu(tape, name, x).
#define ACTIVATION(Kind, op, label) ValueId op(Tape&, const std::string& name, ValueId x);
#include "engine/ops/ops.def"

struct SoftCapSpec {
  static constexpr OpKind kOp = OpKind::SoftCap;
  float cap = 1.0f;
  friend bool operator==(const SoftCapSpec&, const SoftCapSpec&) = default;
};

/// Bends x smoothly into (-cap, cap), as Gemma 2 does with logits. Throws Error unless the cap is above zero and
/// finite.
ValueId soft_cap(Tape&, const std::string& name, ValueId x, float cap);

/// Records a b, the gate of a feed-forward network for instance: act(x W_g) times x W_1. Throws Error for different
/// shapes. Both inputs may be the same value.
ValueId multiply(Tape&, const std::string& name, ValueId a, ValueId b);

// The residual sum of a sub-layer.

struct AddSpec {
  static constexpr OpKind kOp = OpKind::Add;
  float skip = 1.0f, branch = 1.0f;  ///< constant scales (learned ones are inputs)
  friend bool operator==(const AddSpec&, const AddSpec&) = default;
};

/// A constant, or a learned parameter of shape (1) or (D); then the constant is ignored.
struct ResidualScale {
  float constant = 1.0f;
  ValueId learned = kNone;
};
/// Records the residual sum of a sub-layer; x, f and out (..,D):
///   out  =  skip * x + branch * f
ValueId add(Tape&, const std::string& name, ValueId x, ValueId f, ResidualScale skip = {},
            ResidualScale branch = {});

// Gain and shift of the parts of a row.

struct AffineSpec {
  static constexpr OpKind kOp = OpKind::Affine;
  float constant = 1.0f;
  bool keeps_gradient = false;  ///< dx = dout, whatever the gain
  friend bool operator==(const AffineSpec&, const AffineSpec&) = default;
};

/// Records a scale and a shift of rows x (D), with the constant c:
///   out  =  c * gain * x + shift
/// A gain or shift of n numbers has one for each of n equal parts of a row (n = 1: the whole row; n = H: the heads).
/// kNone means a gain of 1, a shift of 0.
ValueId affine(Tape&, const std::string& name, ValueId x, float constant, ValueId gain, ValueId shift);

/// Records a gain that leaves the gradient of x unscaled (GPAS, Chen et al. 2025, arXiv 2506.22049):
///   out  =  gain * x,  dx  =  dout,  dgain  =  sum of dout * x
ValueId gradient_kept(Tape&, const std::string& name, ValueId x, ValueId gain);

/// Records the numbers of x in another shape of the same size, as an affine that changes no number.
ValueId reshape(Tape&, const std::string& name, ValueId x, Shape shape);

// Dropout with a mask that is a function of site, step and element.

struct DropoutSpec {
  static constexpr OpKind kOp = OpKind::Dropout;
  DropoutKind kind = DropoutKind::Residual;
  uint32_t site = 0;  ///< site_of(name)
  friend bool operator==(const DropoutSpec&, const DropoutSpec&) = default;
};

/// Records, with keep (1 or 0 for each number) drawn by Philox at site_of(name), the same in both passes:
///   out  =  x * keep * StepInputs.dropout[kind].scale
ValueId dropout(Tape&, const std::string& name, ValueId x, DropoutKind kind);

// The sum of a token row and a position row, or the token rows of a state joined into one.

struct EmbeddingSpec {
  static constexpr OpKind kOp = OpKind::Embedding;
  float scale = 1.0f;   ///< token rows are multiplied by it
  bool joined = false;  ///< the rows of a sequence form one row: out (B,T*D), the same numbers
  friend bool operator==(const EmbeddingSpec&, const EmbeddingSpec&) = default;
};

/// Records a look-up: tokens (B,T) i32, table (V,D), positions (>=T,D) or kNone, out (B,T,D):
///   out[b,t]  =  scale * table[tokens[b,t]] + positions[t]
/// Joined, out is (B,T*D), which an op that works on rows sees as one row.
ValueId embedding(Tape&, const std::string& name, ValueId tokens, ValueId table, ValueId positions,
                  float scale, bool joined = false);

// The cross-entropy of a softmax.

/// Records the mean cross-entropy of the rows of logits (..,V) whose target is in [0,V). targets (R) are
/// i32; weights w (R) are f32, or kNone for all one. With p_r = softmax(logits_r) and the label smoothing e:
///   CE_r     =  (1 - e) (-log p_{r,target}) + e mean over v of (-log p_{r,v})
///   out (1)  =  (sum over r of w_r CE_r) / (sum over r of w_r)
/// saved[0] = log-sum-exp (R), saved[1] = w_r / sum of w (R), which is 0 for rows without a target.
ValueId softmax_xent(Tape&, const std::string& name, ValueId logits, ValueId targets,
                     ValueId weights = kNone);

// The mean squared error.

/// Records the mean squared error of the rows of prediction (..,D). target has the same shape; weights w (R) are f32, or
/// kNone for all one:
///   E_r      =  mean over j of (prediction_{r,j} - target_{r,j})^2
///   out (1)  =  (sum over r of w_r E_r) / (sum over r of w_r)
/// saved[0] = w_r / sum of w (R). A row of weight 0 does not count, whatever it holds.
ValueId mean_squared_error(Tape&, const std::string& name, ValueId prediction, ValueId target,
                           ValueId weights = kNone);

// Concatenation of positions, and of the parts of each position.

struct ConcatSpec {
  static constexpr OpKind kOp = OpKind::Concat;
  bool parts = false;  ///< joins parts of each position instead of positions
  friend bool operator==(const ConcatSpec&, const ConcatSpec&) = default;
};

/// Records the positions of a (B,Ta,D) followed by the positions of b (B,Tb,D), as out (B,Ta+Tb,D):
///   out[n,t]  =  a[n,t] for t < Ta, else b[n,t-Ta]
/// Throws Error for other shapes, and where a and b are the same value.
ValueId concat(Tape&, const std::string& name, ValueId a, ValueId b);

/// Records, at every position, the n parts of `parts` (B,T,n,D), or (B,T,D) for n = 1, followed by `part` (B,T,D), as
/// out (B,T,n+1,D). Throws Error for other shapes, and where both are the same value.
ValueId append(Tape&, const std::string& name, ValueId parts, ValueId part);

// The mean over the positions of a row.

/// Records at every position the mean over the positions of the row that count, x and out (B,T,D):
///   out[b,t]  =  1/n_b * sum over s < n_b of x[b,s]
/// n_b is lengths[b], of lengths (B) i32, or T without lengths (kNone). A row of length 0 gives zeros.
ValueId mean_pool(Tape&, const std::string& name, ValueId x, ValueId lengths);

// A measurement that is not a node: seal places it (Tape::probe). It writes one number of a tensor to the stats block.

enum class ProbeKind : uint8_t { MeanSquare, Variance, Mean };

struct ProbeSpec {
  static constexpr OpKind kOp = OpKind::Probe;
  ProbeKind kind = ProbeKind::Mean;
  int32_t part = 0, parts = 1;  ///< of (B,T,parts,D): only that part of every position, from 0
  friend bool operator==(const ProbeSpec&, const ProbeSpec&) = default;
};

/// Asks for the mean square of a value after every replay.
inline void probe_mean_square(Tape& tape, std::string name, ValueId value) {
  tape.probe({std::move(name), ProbeSpec{ProbeKind::MeanSquare}, value});
}

// The inputs of an optimizer's step, for training with the engine alone.

/// Adam (Kingma and Ba 2015), with decoupled weight decay (Loshchilov and Hutter 2019).
struct Adam {
  float lr = 1e-3f, beta1 = 0.9f, beta2 = 0.98f, eps = 1e-9f, weight_decay = 0.0f;
  /// The inputs of its t-th step, t = 1, 2, ..., bias corrections included.
  StepInputs step(uint32_t t) const;
};

}  // namespace normscope

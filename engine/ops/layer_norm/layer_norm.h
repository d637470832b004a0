// The norm family: its kinds, and the function that records a norm.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

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
/// The detached kinds and AdaNorm (section 4) are from Xu et al. 2019; Undivided is our own, to ask what the division does.
/// DyT (Zhu et al. 2025, arXiv 2503.10622) knows no statistics and learns one alpha; Derf (Chen et al. 2025, arXiv
/// 2512.10938) learns one shift beside it.
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

/// What a kind has, and what its backward pass differentiates: a row of norm_kinds.def, which recorder,
/// kernels, references and files read alike.
struct NormTraits {
  const char* name = "";        ///< "layer norm, simple": in errors and tables
  const char* short_name = "";  ///< "simple": on the command line and in files
  bool has_gain = false, has_bias = false;
  bool has_alpha = false;      ///< one learned slope within tanh or erf
  bool has_shift = false;      ///< one learned number, added within erf
  bool has_factor = false;     ///< C (1 - k y), which the backward pass holds constant
  bool has_statistics = true;  ///< of a row; with them epsilon
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
/// Whether the backward pass is not the derivative: it holds something constant that the forward pass computes from x, or
/// does not divide.
constexpr bool holds_constant(NormKind k) {
  const NormTraits& traits = traits_of(k);
  return traits.has_factor || !traits.gradient_divided ||
         (traits.has_statistics && !(traits.mean_has_gradient && traits.sigma_has_gradient));
}
/// Whether y is x over its standard deviation, with or without the mean taken off, and backward
/// differentiates all of it. A row then has mean square one, before gain and bias.
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

/// What only some kinds read.
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
/// its own: R is heads times as large, and the parts share a gain and a bias of D / heads numbers. With extras.gain_offset 1
/// the gain of NormKind is 1 + the input `gain`.
ValueId layer_norm(Tape&, const std::string& name, NormKind kind, ValueId x, ValueId gain, ValueId bias,
                   float eps, int32_t heads = 1, const NormExtras& extras = {});

/// Layer norm with gain and bias, NAME.gain of ones and NAME.bias of zeros, which it declares.
ValueId layer_norm(Tape&, const std::string& name, ValueId x);

}  // namespace normscope

// QK-clip: an op measures each head's largest logit, another scales its matrices after the optimizer's update.
#pragma once

#include "engine/ops/ops.h"

namespace normscope {

struct ModelConfig;
struct Wiring;

struct LargestLogitSpec {
  static constexpr OpKind kOp = OpKind::LargestLogit;
  int32_t heads = 1;
  bool causal = false;
  int32_t window = 0;  ///< as attention's
  float scale = 0;     ///< as attention's
  friend bool operator==(const LargestLogitSpec&, const LargestLogitSpec&) = default;

  double scale_of(int64_t width) const { return AttentionSpec{.scale = scale}.scale_of(width); }
};

struct QkClipConfig {
  float largest = 0;  ///< tau: the largest logit that a head keeps; 0: off
  bool operator==(const QkClipConfig&) const = default;
};

struct QkClipSpec {
  static constexpr OpKind kOp = OpKind::QkClip;
  float tau = 1;
  int32_t heads = 1;    ///< of queries
  bool shared = false;  ///< several of them read one head of keys
  friend bool operator==(const QkClipSpec&, const QkClipSpec&) = default;
};

/// Records, of queries q (B,Tq,D) and keys k (B,Tk,K) as attention reads them, out (heads):
///   out_h  =  max over the batch and all pairs that attention sees of scale q_h k_h
/// before a cap. Minus infinity where no pair is seen. It has no gradient. The stats block gets the largest of all
/// heads.
ValueId largest_logit(Tape&, const std::string& name, ValueId q, ValueId k, ValueId key_lengths,
                      LargestLogitSpec);

/// W_Q (D,heads dh), W_K and, where there are any, their biases; all parameters.
struct ClippedMatrices {
  ValueId wq = kNone, wk = kNone, bq = kNone, bk = kNone;
};

/// Records the clip after the optimizer's update (Kimi Team 2025, Kimi K2, arXiv 2507.20534); where a head's largest
/// logit S is above tau,
///   W_Q and b_Q of the head  *=  sqrt(tau / S),  W_K and b_K of the head  *=  sqrt(tau / S)
/// Where several heads of queries share one of keys, keys stay, and W_Q and b_Q of the head *= tau / S: so the paper
/// treats the part of the keys that all heads share, and no head's clip changes another head. Heads at or below tau
/// keep their bits.
void qk_clip(Tape&, const std::string& name, ValueId largest, const ClippedMatrices&, QkClipSpec);

/// Whether QK-clip applies to an attention: a norm of queries or keys would undo the clip, unit vectors have lengths
/// of their own, and scores may be other than products of queries and keys.
bool clips(const ModelConfig& config, const Wiring& attention);

}  // namespace normscope

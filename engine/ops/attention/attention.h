// Multi-head attention.
#pragma once

#include <cmath>

#include "engine/tape/tape.h"

namespace normscope {

struct AttentionSpec {
  static constexpr OpKind kOp = OpKind::Attention;
  int32_t heads = 1;
  bool causal = false;
  uint32_t dropout_site = 0;  ///< probabilities are dropped out there; 0 = not at all
  int32_t window = 0;         ///< causal: keys that a query sees, its own the last of them; 0 = all before it
  float cap = 0;              ///< scores stay between -cap and cap; 0 = as they are
  float scale = 0;            ///< what scores are multiplied by; 0 = 1/sqrt(D/H)
  friend bool operator==(const AttentionSpec&, const AttentionSpec&) = default;

  /// What scores are multiplied by in a head of so many numbers.
  double scale_of(int64_t width) const {
    return scale > 0 ? static_cast<double>(scale) : 1.0 / std::sqrt(static_cast<double>(width));
  }
};

/// Records multi-head attention (Vaswani et al. 2017, eq. 1). q (B,Tq,D), k and v (B,Tk,K), out (B,Tq,D);
/// heads are contiguous slices of D. In each head h of H, with the head g = floor(h K/D) of keys and values, which is h
/// where there are as many of them, and otherwise shared by a group (Ainslie et al. 2023):
///   S_h    =  scale q_h k_g^T                // scale: the spec's, or 1/sqrt(D/H)
///   P_h    =  softmax(S_h)                   // with a cap, of cap * tanh(S_h / cap) (Gemma Team 2024, Gemma 2)
///   out_h  =  (P_h * keep) v_g               // keep: the factors of dropout, 1 without it
/// Keys at or beyond key_lengths (B), i32 or kNone, are masked; where the spec is causal, query t sees keys s <= t, and
/// with a window those with t - window < s <= t. A row with no visible key gives zero output. saved[0] = P
/// (B,H,Tq,Tk), before dropout.
ValueId attention(Tape&, const std::string& name, ValueId q, ValueId k, ValueId v, ValueId key_lengths,
                  AttentionSpec);

}  // namespace normscope

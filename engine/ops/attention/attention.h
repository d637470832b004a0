// Multi-head attention.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct AttentionSpec {
  static constexpr OpKind kOp = OpKind::Attention;
  int32_t heads = 1;
  bool causal = false;
  uint32_t dropout_site = 0;  ///< probabilities are dropped out there; 0 = not at all
  friend bool operator==(const AttentionSpec&, const AttentionSpec&) = default;
};

/// Multi-head attention (Vaswani et al. 2017, eq. 1): per head h, out_h = softmax(q_h k_h^T / sqrt(D/H)) v_h.
/// q (B,Tq,D), k and v (B,Tk,D), out (B,Tq,D); heads are contiguous slices of D. key_lengths (B) i32 or
/// kNone: keys at or beyond it are masked. causal: query t sees keys <= t. saved[0] = probabilities
/// (B,H,Tq,Tk), before dropout. A row with no visible key gives zero output.
ValueId attention(Tape&, const std::string& name, ValueId q, ValueId k, ValueId v, ValueId key_lengths,
                  AttentionSpec);

}  // namespace normscope

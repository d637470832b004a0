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

/// attention records multi-head attention (Vaswani et al. 2017, eq. 1). q (B,Tq,D), k and v (B,Tk,D), out (B,Tq,D);
/// heads are contiguous slices of D. In each head h:
///   P_h    =  softmax(q_h k_h^T / sqrt(D/H))
///   out_h  =  (P_h * keep) v_h               // keep: the factors of dropout, 1 without it
/// Keys at or beyond key_lengths (B), i32 or kNone, are masked; where the spec is causal, query t sees keys <= t. A row
/// with no visible key gives zero output. saved[0] = P (B,H,Tq,Tk), before dropout.
ValueId attention(Tape&, const std::string& name, ValueId q, ValueId k, ValueId v, ValueId key_lengths,
                  AttentionSpec);

}  // namespace normscope

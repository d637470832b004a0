// Multi-head attention with relative positions, over a memory of earlier segments (Transformer-XL).
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct RelativeAttentionSpec {
  static constexpr OpKind kOp = OpKind::RelativeAttention;
  int32_t heads = 1;
  uint32_t dropout_site = 0;  ///< probabilities are dropped out there; 0 = not at all
  friend bool operator==(const RelativeAttentionSpec&, const RelativeAttentionSpec&) = default;
};

/// The values that relative_attention reads.
struct RelativeAttentionInputs {
  ValueId content = kNone;               ///< q + u (B,T,D): is compared with the keys
  ValueId position = kNone;              ///< q + v (B,T,D): is compared with the distances
  ValueId keys = kNone, values = kNone;  ///< (B,M+T,D): the memory's, then the segment's own
  ValueId distances = kNone;             ///< W_R R (P,D), P >= M+T: row i is for a key i positions back
  ValueId memory_lengths = kNone;        ///< (B) i32: how many of the M memory keys count: the last ones
};

/// Records causal attention of a segment over itself and what went before it (Dai et al. 2019,
/// section 3.3 and appendix B). out (B,T,D); heads are contiguous slices of D. In each head, with r the distances:
///   S_{t,s}  =  content_t k_s + position_t r_{t+M-s}               // for s <= t + M
///   P_t      =  softmax over s of (S_{t,s} / sqrt(D/H))
///   out_t    =  sum over s of P_{t,s} keep_{t,s} v_s               // keep: the factors of dropout, 1 without it
/// Without memory_lengths (kNone) all M keys of the memory count. saved[0] = P (B,H,T,M+T), before dropout. Throws
/// Error for shapes that do not fit, for a value that serves as queries and as keys or values, and for one that serves
/// as keys and as values.
ValueId relative_attention(Tape&, const std::string& name, const RelativeAttentionInputs&,
                           RelativeAttentionSpec);

}  // namespace normscope

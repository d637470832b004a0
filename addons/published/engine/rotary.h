// Rotary position embedding: pairs of numbers of each head are turned by an angle that grows with the position.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// Says which two of the first 2n numbers of a head turn together, for i < n:
///   Halves      i and i + n        // Llama, GPT-NeoX
///   Neighbours  2i and 2i + 1      // Su et al. 2021, GPT-J
enum class RotaryPairing : uint8_t { Halves, Neighbours };

struct RotarySpec {
  static constexpr OpKind kOp = OpKind::Rotary;
  int32_t heads = 1;
  RotaryPairing pairing = RotaryPairing::Halves;
  friend bool operator==(const RotarySpec&, const RotarySpec&) = default;
};

/// Records the turn of queries or keys x (B,T,H*dh) of H heads. Row t of the table (P,2n), P >= T and 2n <= dh,
/// has n cosines, then n sines, for position t. With pair i = (a,b) of a head, cos = table[t,i] and
/// sin = table[t,n+i]:
///   out[a]  =  x[a] cos - x[b] sin
///   out[b]  =  x[b] cos + x[a] sin
/// The numbers of a head from 2n on stay what they are. The table may carry a factor: backward multiplies by the
/// transpose, which for a factor other than 1 is not the inverse. It has no gradient. Throws Error for other shapes,
/// and for a table that is trained or computed.
ValueId rotary(Tape&, const std::string& name, ValueId x, ValueId table, RotarySpec spec);

}  // namespace normscope

// Heads that several queries share, each written out as often as it is used.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct RepeatHeadsSpec {
  static constexpr OpKind kOp = OpKind::RepeatHeads;
  int32_t heads = 1;  ///< of x
  int32_t times = 1;
  friend bool operator==(const RepeatHeadsSpec&, const RepeatHeadsSpec&) = default;
};

/// Records keys or values x (B,T,H*dh) of H heads as out (B,T,H*times*dh), for queries in groups of
/// `times` (Ainslie et al. 2023):
///   head h of out  =  head h / times of x
/// Throws Error for other shapes and for fewer than one of either.
ValueId repeat_heads(Tape&, const std::string& name, ValueId x, int32_t heads, int32_t times);

}  // namespace normscope

// Gain and shift by parts of a row.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct AffineSpec {
  static constexpr OpKind kOp = OpKind::Affine;
  float constant = 1.0f;
  friend bool operator==(const AffineSpec&, const AffineSpec&) = default;
};

/// out = c gain x + shift over rows (D). gain and shift hold one number for each of as many equal parts of a
/// row (1: the same everywhere; H: one a head), or are kNone: 1 and 0.
ValueId affine(Tape&, const std::string& name, ValueId x, float constant, ValueId gain, ValueId shift);

}  // namespace normscope

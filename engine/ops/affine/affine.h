// Gain and shift by parts of a row.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct AffineSpec {
  static constexpr OpKind kOp = OpKind::Affine;
  float constant = 1.0f;
  bool keeps_gradient = false;  ///< x takes out's gradient as it is, whatever the gain
  friend bool operator==(const AffineSpec&, const AffineSpec&) = default;
};

/// Records a scale and a shift of rows x (D), with the constant c:
///   out  =  c * gain * x + shift
/// gain and shift hold one number for each of as many equal parts of a row (1: the same everywhere; H: one a head), or
/// are kNone, which stands for 1 and 0.
ValueId affine(Tape&, const std::string& name, ValueId x, float constant, ValueId gain, ValueId shift);

/// Records a gain that the gradient of x does not meet (GPAS, Chen et al. 2025, arXiv 2506.22049):
///   out  =  gain * x,  dx  =  dout,  dgain  =  sum of dout * x
ValueId gradient_kept(Tape&, const std::string& name, ValueId x, ValueId gain);

/// Records the numbers of x under another shape of as many, by an affine that changes none.
ValueId reshape(Tape&, const std::string& name, ValueId x, Shape shape);

}  // namespace normscope

// The registry of ops as types, what ops.def says of each: names and traits alone, no tape and no kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace normscope {

enum class OpKind : uint8_t {
#define OP(Kind, name, ...) Kind,
#include "engine/ops/ops.def"
  Count
};
inline constexpr OpKind kNoOp = OpKind::Count;

/// The parameters of which an op that ends a step keeps v, a running mean of squared gradients.
enum class SecondMoments : uint8_t { None, All, NotOfMatrices };

/// What seal places an op for: nobody records one with a duty. Update: it ends a step and moves all parameters.
enum class Duty : uint8_t { None, Probe, GradientNorms, Clip, Update };

/// A row of ops.def.
struct OpTraits {
  const char* name;
  size_t inputs = 0;           ///< forward inputs at most
  size_t optional = 0;         ///< how many of the last may be kNone
  bool measures = false;       ///< its forward writes a number to the stats block
  bool differentiable = true;  ///< has a backward
  /// Saved tensors are there to be looked at: a backend may compute them again.
  bool saves_for_inspection = false;
  Duty duty = Duty::None;
  SecondMoments second_moments = SecondMoments::None;
};
inline constexpr OpTraits kOpTraits[] = {
#define OP(Kind, op, ...) {.name = #op, __VA_ARGS__},
#include "engine/ops/ops.def"
    {.name = "?"}};

constexpr const OpTraits& traits_of(OpKind op) {
  return kOpTraits[std::min(static_cast<size_t>(op), static_cast<size_t>(OpKind::Count))];
}
constexpr const char* to_string(OpKind op) { return traits_of(op).name; }
/// The first op with a duty.
constexpr OpKind op_for(Duty duty) {
  return static_cast<OpKind>(std::ranges::find(kOpTraits, duty, &OpTraits::duty) - kOpTraits);
}

}  // namespace normscope

// The ops that look at one number, or one pair of numbers, at a time: out has the shape of x. What each computes stands
// in formulas.h.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// The activations, by their rows of ops.def.
enum class Activation : uint8_t {
#define ACTIVATION(Kind, op, label) Kind,
#include "engine/ops/ops.def"
};
inline constexpr std::string_view kActivations[] = {
#define ACTIVATION(Kind, op, label) #op,
#include "engine/ops/ops.def"
};
inline constexpr const char* kActivationLabels[] = {
#define ACTIVATION(Kind, op, label) label,
#include "engine/ops/ops.def"
};
ValueId activated(Tape&, Activation, const std::string& name, ValueId x);

/// The same, each by its name: relu(tape, name, x).
#define ACTIVATION(Kind, op, label) ValueId op(Tape&, const std::string& name, ValueId x);
#include "engine/ops/ops.def"

struct SoftCapSpec {
  static constexpr OpKind kOp = OpKind::SoftCap;
  float cap = 1.0f;
  friend bool operator==(const SoftCapSpec&, const SoftCapSpec&) = default;
};

/// Bends x smoothly into (-cap, cap), as Gemma 2 does with logits. Throws Error unless the cap is above zero and finite.
ValueId soft_cap(Tape&, const std::string& name, ValueId x, float cap);

/// The gate of a feed-forward network: act(x W_g) times x W_1, say. Throws Error for two shapes. One value may stand on
/// both sides.
ValueId multiply(Tape&, const std::string& name, ValueId a, ValueId b);

}  // namespace normscope

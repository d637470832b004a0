// The registry of ops as types, generated from ops.def: names and traits alone, no tape and no kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace normscope {

enum class OpKind : uint8_t {
#define OP(Kind, name, ...) Kind,
#include "engine/ops/ops.def"
  Count
};
inline constexpr OpKind kNoOp = OpKind::Count;

/// The parameters for which an update op keeps v, a running mean of squared gradients.
enum class SecondMoments : uint8_t { None, All, NotOfMatrices };

/// Why seal places an op that no function records. Update: the op moves all parameters and ends the step.
enum class Duty : uint8_t { None, Probe, GradientNorms, Clip, Update };

/// A row of ops.def.
struct OpTraits {
  const char* name;
  size_t inputs = 0;      ///< forward inputs at most
  size_t optional = 0;    ///< how many of the last inputs may be kNone
  uint8_t integers = 0;   ///< a bit for each input that is read as integers; the others are read as reals
  uint8_t constants = 0;  ///< a bit for each input of reals that has no gradient
  bool measures = false;  ///< its forward writes a number to the stats block
  /// A mean over rows: its last input has a weight for each, and the last tensor that it saves the row's share; 0: the
  /// row does not count.
  bool counts_rows = false;
  bool differentiable = true;  ///< has a backward
  /// The saved tensors exist for inspection: a backend may compute them again.
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

// The structural constants of a node, carried from recording to execution.

/// Holds a small plain struct of constants, whose kOp names its op. The core only carries it, and seal freezes it. For
/// a node without constants as() returns the defaults.
class Attributes {
 public:
  Attributes() = default;
  template <class Spec>
  Attributes(const Spec& spec)
      : op_(Spec::kOp), equal_(&Attributes::equal<Spec>) {  // NOLINT: implicit on purpose
    static_assert(sizeof(Spec) <= sizeof bytes_ && std::is_trivially_copyable_v<Spec>);
    std::memcpy(bytes_, &spec, sizeof spec);
  }
  friend bool operator==(const Attributes& a, const Attributes& b) {
    return a.op_ == b.op_ && (a.op_ == OpKind::Count || a.equal_(a, b));
  }
  template <class Spec>
  Spec as() const {
    if (op_ == OpKind::Count) return {};
    if (op_ != Spec::kOp) std::abort();  // an op read another op's constants
    Spec spec;
    std::memcpy(&spec, bytes_, sizeof spec);
    return spec;
  }

  OpKind op() const { return op_; }  ///< whose constants they are; kNoOp: none

 private:
  /// Compares by the struct's own operator==: padding bytes are arbitrary.
  template <class Spec>
  static bool equal(const Attributes& a, const Attributes& b) {
    return a.as<Spec>() == b.as<Spec>();
  }

  OpKind op_ = OpKind::Count;
  bool (*equal_)(const Attributes&, const Attributes&) = nullptr;
  alignas(8) unsigned char bytes_[24] = {};
};

}  // namespace normscope

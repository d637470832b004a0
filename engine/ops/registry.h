// The registry of ops as types, what ops.def says of each: names and traits alone, no tape and no kernel.
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

/// The parameters of which an op that ends a step keeps v, a running mean of squared gradients.
enum class SecondMoments : uint8_t { None, All, NotOfMatrices };

/// The reason for which seal places an op, which nobody records then. Update: it ends a step and moves all parameters.
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

// The structural constants of a node, carried from recording to execution.

/// A small plain struct that belongs to its op and names it as kOp. Seal freezes it, and the core only carries
/// it. A node without constants has the defaults.
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
    if (op_ != Spec::kOp) std::abort();  // an op read another's constants
    Spec spec;
    std::memcpy(&spec, bytes_, sizeof spec);
    return spec;
  }

 private:
  /// Compares the constants as they compare themselves: bytes of padding mean nothing.
  template <class Spec>
  static bool equal(const Attributes& a, const Attributes& b) {
    return a.as<Spec>() == b.as<Spec>();
  }

  OpKind op_ = OpKind::Count;
  bool (*equal_)(const Attributes&, const Attributes&) = nullptr;
  alignas(8) unsigned char bytes_[24] = {};
};

}  // namespace normscope

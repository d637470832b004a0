// The registry of ops as types: those of ops.def, and those of one's own, which a program adds while it runs
// (engine/own_op.h). Names and traits alone, no tape and no kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "engine/core/philox.h"

namespace normscope {

/// The number of an op: its row in ops.def, or op_kind() of its name.
enum class OpKind : uint32_t {
#define OP(Kind, name, ...) Kind,
#include "engine/ops/ops.def"
  Count
};
inline constexpr OpKind kNoOp = OpKind::Count;

/// The number of an op of one's own: the same in every program, whatever else it adds, and none of ops.def.
constexpr OpKind op_kind(std::string_view name) {
  return static_cast<OpKind>(uint32_t{1} << 31 | site_of(name));
}
constexpr bool is_own(OpKind op) { return static_cast<uint32_t>(op) >> 31 != 0; }

/// The parameters for which an update op keeps v, a running mean of squared gradients.
enum class SecondMoments : uint8_t { None, All, NotOfMatrices };

/// Why seal places an op that no function records. Update: the op moves all parameters and ends the step.
enum class Duty : uint8_t { None, Probe, GradientNorms, Clip, Update };

/// The parts in which an op of one's own is computed. Of numbers or rows of the result: each input of reals has as
/// many, so that no two parts give to the same number.
enum class Parts : uint8_t { Whole, Numbers, Rows };

/// A row of ops.def, or of an op of one's own.
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
  Parts parts = Parts::Whole;
};
inline constexpr OpTraits kOpTraits[] = {
#define OP(Kind, op, ...) {.name = #op, __VA_ARGS__},
#include "engine/ops/ops.def"
    {.name = "?"}};

namespace cpu {
struct Kernels;
}
/// An op of one's own.
struct OwnOp {
  OpTraits traits;
  cpu::Kernels (*kernels)() = nullptr;
};
/// Adds the op for the rest of the process and returns its number. The same op may be added again, as by several files
/// that include its header; of two with equal traits the first computes. Throws for another op of that name or number.
/// Any thread may add, while others record and replay.
OpKind add_op(const OwnOp& op);
/// The op that was added under that number; null: none.
const OwnOp* find_own_op(OpKind op);
/// Its traits; those of kNoOp where there is none.
const OpTraits& own_traits(OpKind op);

constexpr const OpTraits& traits_of(OpKind op) {
  if (is_own(op)) return own_traits(op);
  return kOpTraits[static_cast<size_t>(op < OpKind::Count ? op : OpKind::Count)];
}
constexpr const char* to_string(OpKind op) { return traits_of(op).name; }
/// The first op with a duty.
constexpr OpKind op_for(Duty duty) {
  size_t row = 0;  // without <algorithm>, which takes a tenth of the time to compile engine.h
  while (kOpTraits[row].duty != duty) ++row;
  return static_cast<OpKind>(row);
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
    static_assert(std::is_trivially_copyable_v<Spec>, "constants are plain numbers");
    static_assert(sizeof(Spec) <= sizeof bytes_, "put longer ones into a parameter that is not trainable");
    std::memcpy(bytes_, &spec, sizeof spec);
  }
  friend bool operator==(const Attributes& a, const Attributes& b) {
    return a.op_ == b.op_ && (a.op_ == OpKind::Count || a.equal_(a, b));
  }
  template <class Spec>
  Spec as() const {
    if (op_ == OpKind::Count) return {};
    // No Error, whose code the CUDA library has not. A kernel throws nothing: there the process ends with this line.
    if (op_ != Spec::kOp) throw std::logic_error("an op read the constants of another: expected a kOp of its own");
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

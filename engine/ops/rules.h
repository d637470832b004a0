// The computation of every op, and how it hands a gradient on, in words and formulas: each op says it in its own file
// (NAME_rules in ops/ops.cpp), and they are collected here. Called by normscope tape (--rules prints docs/ops.md),
// by the screens that show an instruction, and by measure/step, which asks what backward reads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "engine/core/error.h"
#include "engine/tape/program.h"

namespace normscope {

/// One variant of an op. Formulas are in the subset of TeX that app/tex draws; in them dx is
/// the gradient of the loss by x, and c a gradient on its way.
struct OpRule {
  OpKind op = OpKind::Count;  ///< the op whose NAME_rules gave it; op_rules fills it in
  const char* variant = "";   ///< by the op's constants: "RMS norm", "transposed"; empty: there is one
  const char* title = "";     ///< "Layer norm"
  const char* formula = "";
  const char* shapes = "";
  const char* rule = "";           ///< local derivative; empty where nothing has a gradient
  const char* source = "";         ///< where it was published; may be empty
  std::array<uint8_t, 6> reads{};  ///< inputs that the gradient of input k is computed from, a bit each
  uint8_t saved = 0;               ///< inputs whose gradient reads the saved tensors, a bit each
};

/// The scores of an attention: scale (q k + e r_d), with e r_d only where there are distances d, then
/// bent by the cap, or with alibi less each head's slope times the distance.
struct AttentionScores {
  ValueId queries = kNone, keys = kNone, position = kNone, distances = kNone, key_lengths = kNone;
  int32_t heads = 1, window = 0;
  bool causal = true;
  float scale = 0, cap = 0;  ///< 0: 1 / sqrt(head width); no cap
  bool alibi = false;
};

/// An op's account of itself: a rule for each of its variants, the variant that constants choose, and its cost.
struct OpRules {
  std::span<const OpRule> rules;
  const char* (*variant)(const Attributes&) = nullptr;  ///< null: the op has one rule
  /// Additions and multiplications, a product of matrices counted densely; null: too few to count.
  double (*flop)(const ProgramData&, const Instruction&) = nullptr;
  /// How often an op that ends a step reads or writes an array of the parameters' size.
  double passes = 0;
  /// Of such an op: its workspace, in arrays as large as all matrices between hidden states.
  double matrix_room = 0;
  AttentionScores (*scores)(const Node&) = nullptr;  ///< of an attention
  bool gathers = false;                              ///< reads only as much of an input as its output has
  /// Says what of a node is too large for a device's counters, 32 bits for numbers and 16 for heads; null: its tensors
  /// alone may be.
  Message (*too_large)(std::span<const ValueInfo>, const Node&) = nullptr;
};
inline constexpr int64_t kMaxNumbers = (int64_t{1} << 31) - 1, kMaxHeads = 65535;

/// The shape of input k.
inline const Shape& input_shape(std::span<const ValueInfo> values, const Node& node, size_t k) {
  return values[static_cast<size_t>(node.in[k])].shape;
}
/// The products of a forward instruction that multiplies each number of its output's rows by `inner` others; backward
/// as many for the input and for the weight, where they have gradients.
double product_flop(const ProgramData&, const Instruction&, int64_t inner);
/// The answer of OpRules::too_large for so many heads of so many sequences.
Message too_many_heads(std::span<const ValueInfo>, const Node&, int32_t heads);

// Defined in ops/ops.cpp and by add-ons.
#define OP(Kind, name, ...) OpRules name##_rules();
#include "engine/ops/ops.def"

OpRules rules_of(OpKind op);

/// Returns the rules of all ops, in the order of ops.def.
std::span<const OpRule> op_rules();

/// Returns the rule of this very node: the variant that its constants choose.
const OpRule& rule_of(const Node& node);

/// The inputs of a backward instruction beside the gradient of its output: the values that its kernels
/// look at, not all that they are given. No backward kernel reads its forward output.
struct BackwardReads {
  std::array<bool, 6> inputs{};
  bool saved = false;
};
BackwardReads backward_reads(const Instruction& instruction);

/// Returns docs/ops.md, a section for each op.
std::string rules_page();

}  // namespace normscope

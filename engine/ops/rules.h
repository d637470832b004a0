// Words and formulas for the computation of every op and for its gradients, from NAME_rules() of each op (ops/ops.cpp
// and add-ons). Called by normscope tape (--rules prints docs/ops.md), by the screens that show an instruction, and by
// measure/step, for the tensors that backward reads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "engine/core/error.h"
#include "engine/tape/program.h"

namespace normscope {

/// One variant of an op. Formulas are in the subset of TeX that app/tex draws; in them dx is the gradient of the loss
/// with respect to x, and c an intermediate gradient.
struct OpRule {
  OpKind op = OpKind::Count;  ///< the op whose NAME_rules gave it; op_rules fills it in
  const char* variant = "";   ///< by the op's constants: "RMS norm", "transposed"; empty: the only one
  const char* title = "";     ///< "Layer norm"
  const char* formula = "";
  const char* shapes = "";
  const char* rule = "";           ///< local derivative; empty where no input has a gradient
  const char* source = "";         ///< where it was published; may be empty
  std::array<uint8_t, 6> reads{};  ///< for input k a bit for each input that its gradient reads
  uint8_t saved = 0;               ///< a bit for each input whose gradient reads the saved tensors
};

/// The scores of an attention: scale (q k + e r_d), where e r_d is left out without distances d; then capped, or with
/// alibi reduced by each head's slope times the distance.
struct AttentionScores {
  ValueId queries = kNone, keys = kNone, position = kNone, distances = kNone, key_lengths = kNone;
  int32_t heads = 1, window = 0;
  bool causal = true;
  float scale = 0, cap = 0;  ///< 0: 1 / sqrt(head width); no cap
  bool alibi = false;
};

/// The rules of an op: one for each of its variants, the variant that constants choose, and the cost.
struct OpRules {
  std::span<const OpRule> rules;
  const char* (*variant)(const Attributes&) = nullptr;  ///< null: the op has one rule
  /// Additions and multiplications, a product of matrices counted densely; null: too few to count.
  double (*flop)(const ProgramData&, const Instruction&) = nullptr;
  /// How often an update op reads or writes an array of the parameters' size.
  double passes = 0;
  /// The workspace of an update op, in arrays as large as all matrices between hidden states.
  double matrix_room = 0;
  AttentionScores (*scores)(const Node&) = nullptr;  ///< of an attention
  bool gathers = false;                              ///< reads only as many numbers of an input as out has
  /// Names the size of a node that exceeds a device's counters, 32 bits for numbers and 16 for heads; null: only the
  /// sizes of its tensors can.
  Message (*too_large)(std::span<const ValueInfo>, const Node&) = nullptr;
};
inline constexpr int64_t kMaxNumbers = (int64_t{1} << 31) - 1, kMaxHeads = 65535;

/// The shape of input k.
inline const Shape& input_shape(std::span<const ValueInfo> values, const Node& node, size_t k) {
  return values[static_cast<size_t>(node.in[k])].shape;
}
/// The flop of a matrix product, in which each number of the output is a sum of `inner` products; backward as many for
/// the input and for the weight, where they have gradients.
double product_flop(const ProgramData&, const Instruction&, int64_t inner);
/// OpRules::too_large of an op with this many heads.
Message too_many_heads(std::span<const ValueInfo>, const Node&, int32_t heads);

// Defined in ops/ops.cpp and by add-ons.
#define OP(Kind, name, ...) OpRules name##_rules();
#include "engine/ops/ops.def"

OpRules rules_of(OpKind op);

/// Returns the rules of all ops, in the order of ops.def.
std::span<const OpRule> op_rules();

/// Returns the rule of a node: the variant that its constants choose.
const OpRule& rule_of(const Node& node);

/// The values that the kernels of a backward instruction read in addition to the gradient of its output; a Call has
/// more. No backward kernel reads its forward output.
struct BackwardReads {
  std::array<bool, 6> inputs{};
  bool saved = false;
};
BackwardReads backward_reads(const Instruction& instruction);

/// Returns docs/ops.md, a section for each op.
std::string rules_page();

}  // namespace normscope

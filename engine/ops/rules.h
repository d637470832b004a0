// What every op computes, as words and formulas: the table rules.def as values. Called by normscope tape (--rules
// prints docs/ops.md), by what shows an instruction, and by measure/step (step_player, memory_map), which asks what a
// backward instruction reads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "engine/tape/program.h"

namespace normscope {

/// A row of rules.def; formulas in the subset of TeX that app/tex draws.
struct OpRule {
  OpKind op = OpKind::Count;
  const char* variant = "";  ///< what the op's constants choose: "RMS norm", "transposed"; empty: nothing
  const char* title = "";    ///< "Layer norm"
  const char* formula = "";
  const char* shapes = "";
  const char* rule = "";           ///< local derivative; empty where nothing has a gradient
  const char* source = "";         ///< where it was published; may be empty
  std::array<uint8_t, 6> reads{};  ///< inputs that the gradient of input k is computed from, a bit each
  uint8_t saved = 0;               ///< inputs whose gradient reads the saved tensors, a bit each
};

std::span<const OpRule> op_rules();

/// rule_of returns the row of this very node: the variant that its constants choose.
const OpRule& rule_of(const Node& node);

/// What a backward instruction reads beside the gradient of its output: the values that its kernels look at, not all
/// that they are given. No backward kernel reads its forward output.
struct BackwardReads {
  std::array<bool, 6> inputs{};
  bool saved = false;
};
BackwardReads backward_reads(const Instruction& instruction);

/// rules_page returns docs/ops.md, a section for each op.
std::string rules_page();

}  // namespace normscope

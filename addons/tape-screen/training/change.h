// Says what becomes of a program when its wiring changes: which instructions came, which went, and which
// now work on other tensors. Called by normscope tape --against.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/tape/program.h"

namespace normscope {

enum class ChangeKind : uint8_t { Came, Went, Rewired };
const char* to_string(ChangeKind kind);  ///< "came", "went", "rewired"

/// An instruction that the other program lacks, or has in another form.
struct InstructionChange {
  ChangeKind kind = ChangeKind::Came;
  Phase phase = Phase::Forward;
  OpKind op = OpKind::Count;
  std::string name;
  int32_t layer = 0;
  int32_t before = -1, after = -1;  ///< indices in the two programs; -1: not there
  std::string
      words;  ///< of a rewired one: "reads L01.attn.stream for L01.attn.sum; adds to the gradient of x"
};

struct ProgramChange {
  std::vector<InstructionChange>
      all;  ///< in the order of the later program; an instruction that went follows the one before it
  size_t came = 0, went = 0, rewired = 0, same = 0;
};

/// Instructions are the same when these agree: phase, op, name, constants, names and shapes of what they read and
/// write, and how they write gradients. Their places in memory do not count.
ProgramChange change_of(const ProgramData& before, const ProgramData& after);

/// Writes a line for each change, then the counts.
std::string to_string(const ProgramChange& change);

}  // namespace normscope

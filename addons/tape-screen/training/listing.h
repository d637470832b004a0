// Lists the content of a tape and of the program sealed from it, as names and numbers that can be printed: no ids, no
// addresses. Called by normscope tape, which prints it as text (to_string) or as JSON.
#pragma once

#include "engine/tape/program.h"

namespace normscope {

/// Where a tensor lies: an offset in floats into a block of the memory plan.
struct Place {
  std::string block;  ///< batch, store, activations, gradients; empty: no memory of its own
  size_t offset = 0;
  bool reused = false;  ///< a later tensor lies there too
};
/// Writes "activations+4096", with "~" after it where reused, or "nowhere".
std::string to_string(const Place& place);

struct ListedParameter {
  std::string name;
  Shape shape;
  int32_t layer = 0;
  bool trainable = true;
  Place place;  ///< the same offset in the blocks of values and of both moments
};

struct ListedValue {
  std::string name, role, type;  ///< role: input, parameter, activation, saved; type: f32, i32
  Shape shape;
  Place place, gradient;
};

struct ListedNode {
  std::string op, name;
  int32_t layer = 0;
  std::vector<std::string> inputs, saved;  ///< names of values; "-" for an omitted input
  Shape shape;                             ///< of its output, which has the node's name
};

/// A tensor that a kernel reads or writes.
struct ListedOperand {
  std::string use;  ///< in, out, saved; of gradients: d_in, d_out
  std::string value;
  Place place;
  std::string write;  ///< of d_in: assign or add; empty elsewhere
};

struct ListedInstruction {
  std::string phase, op, name;   ///< phase: forward, backward, update
  int32_t layer = 0, node = -1;  ///< -1: it belongs to no node
  std::vector<ListedOperand> operands;
  size_t parameters = 0;  ///< of the update: parameters that it works on, with gradient and moments
  std::string stat;       ///< the number of the stats block that it writes; empty: none
};

struct Listing {
  std::vector<ListedParameter> parameters;
  std::vector<ListedValue> values;
  std::vector<ListedNode> nodes;
  std::vector<ListedInstruction> instructions;
  std::vector<std::string> stats;
  // Totals.
  size_t numbers = 0;                            ///< of all parameters
  size_t forward = 0, backward = 0, update = 0;  ///< instructions
  /// Blocks in floats; `store` counts once for the values and once for each moment.
  size_t batch = 0, store = 0, activations = 0, gradients = 0, workspace = 0;
};

Listing list(const ProgramData& program);

/// Writes a section each of parameters, values, nodes, instructions, stats and totals, one line for each.
std::string to_string(const Listing& listing);

// Lists the changes of a program when its wiring changes: instructions that came, that went, and that now work on
// other tensors. Called by normscope tape --against.

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
  std::string words;  ///< of a rewired one: "reads L01.attn.stream for L01.attn.sum; adds to the gradient"
};

struct ChangeCounts {
  size_t came = 0, went = 0, rewired = 0, same = 0;
};

struct ProgramChange : ChangeCounts {
  /// In the order of the later program; an instruction that went follows the one before it.
  std::vector<InstructionChange> all;
};

/// Instructions are the same when these agree: phase, op, name, constants, names and shapes of what they read and
/// write, and how they write gradients. Their places in memory do not count.
ProgramChange change_of(const ProgramData& before, const ProgramData& after);

/// Writes a line for each change, then the counts.
std::string to_string(const ProgramChange& change);

}  // namespace normscope

// The passes of seal(), each a small function from plain data to plain data. Order: mark_gradients, emit_forward,
// emit_backward, append_update, place_probes, plan_memory. seal.cpp calls them; tests call each alone.
#pragma once

#include <vector>

#include "engine/tape/program.h"
#include "engine/tape/seal.h"

namespace normscope::passes {

/// Which values need a gradient: those on a path from a trainable parameter to the loss.
std::vector<bool> mark_gradients(const Tape& tape, ValueId loss);

/// One forward instruction a node, in recording order. Nodes that neither the loss nor a probe needs are
/// kept: every intermediate stays readable.
std::vector<Instruction> emit_forward(const Tape& tape);

/// Backward instructions in reverse order for every node that a needed gradient passes through. Write modes
/// follow Note [assign or add] in program.h.
std::vector<Instruction> emit_backward(const Tape& tape, const std::vector<bool>& needs_gradient,
                                       ValueId loss);

/// grad_norm always; clip and the optimizer on request.
std::vector<Instruction> update_instructions(const SealOptions& options);

/// Puts each requested probe right after the instruction that completes its tensor: the writer of a value,
/// the last writer of a gradient. A loss whose op does not measure it gets a probe too.
std::vector<Instruction> place_probes(const Tape& tape, std::vector<Instruction> instructions,
                                      ValueId loss = kNone);

/// Names and numbers the stats block: loss, clip, norms of each parameter, probes; fills Instruction::stat.
void lay_out_stats(const Tape& tape, const std::vector<bool>& needs_gradient, ProgramData& program);

/// Offsets for batch inputs, activations and gradients: every tensor on its own 64-byte lines, nothing shared.
/// Without probabilities: attention's have no place (kNoOffset).
MemoryPlan plan_memory(const Tape& tape, const std::vector<bool>& needs_gradient,
                       bool keep_probabilities = true);

/// Lays the gradients out anew: what no later instruction reads makes room for what comes. Gradients of
/// parameters and of the loss keep a place of their own.
void share_gradient_memory(const Tape& tape, const std::vector<Instruction>& instructions, MemoryPlan& plan);
/// The same for the values of a program without backward.
void share_value_memory(const Tape& tape, const std::vector<Instruction>& instructions, MemoryPlan& plan);

/// Throws when two dropout sites of the tape hash alike.
void check_sites(const Tape& tape);

/// Throws naming every op that the backend lacks, all together.
void check_supported(const std::vector<Instruction>& instructions, const Backend& backend);

}  // namespace normscope::passes

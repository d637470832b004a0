// The passes of seal() are small functions from plain data to plain data. Order: mark_gradients, emit_forward,
// emit_backward, update_instructions, place_probes, plan_memory. `seal` calls them; tests call each alone.
#pragma once

#include <span>
#include <vector>

#include "engine/tape/program.h"
#include "engine/tape/seal.h"

namespace normscope::passes {

/// Marks the values that need a gradient: those on a path from a trainable parameter to the loss.
std::vector<bool> mark_gradients(const Tape& tape, ValueId loss);

/// Makes one forward instruction for each node, in recording order. It keeps nodes that neither the
/// loss nor a probe needs: every intermediate stays readable.
std::vector<Instruction> emit_forward(const Tape& tape);

/// Makes backward instructions in reverse order for every node that a needed gradient passes through.
/// Write modes follow Note [assign or add] in program.h.
std::vector<Instruction> emit_backward(const Tape& tape, const std::vector<bool>& needs_gradient,
                                       ValueId loss);

/// The norm of the gradient always, clip and the optimizer on request, and behind them what the tape asks for.
std::vector<Instruction> update_instructions(const SealOptions& options, std::span<const Node> after = {});

/// Puts each requested probe right after the instruction that completes its tensor: the writer of a
/// value, the last writer of a gradient. A loss whose op does not measure it gets a probe too.
std::vector<Instruction> place_probes(const Tape& tape, std::vector<Instruction> instructions,
                                      ValueId loss = kNone);

/// Names and numbers the stats block: loss, clip, norms of each parameter, probes. It fills
/// Instruction::stat.
void lay_out_stats(const Tape& tape, const std::vector<bool>& needs_gradient, ProgramData& program);

/// Gives offsets to batch inputs, activations and gradients: every tensor has its own 64-byte lines,
/// and nothing is shared. Unless `keep_probabilities`, attention's probabilities have no place (kNoOffset).
MemoryPlan plan_memory(const Tape& tape, const std::vector<bool>& needs_gradient,
                       bool keep_probabilities = true);

/// Moves the gradients so that places which no later instruction reads are used again.
/// Gradients of parameters, of the loss and of `kept` values keep places of their own.
void share_gradient_memory(const Tape& tape, const std::vector<Instruction>& instructions, MemoryPlan& plan,
                           std::span<const ValueId> kept = {});
/// Does the same for the values of a program without backward.
void share_value_memory(const Tape& tape, const std::vector<Instruction>& instructions, MemoryPlan& plan);

/// Throws when two dropout sites of the tape hash alike.
void check_sites(const Tape& tape);

/// Throws, naming all ops that the backend lacks.
void check_supported(const std::vector<Instruction>& instructions, const Backend& backend);

}  // namespace normscope::passes

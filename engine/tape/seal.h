// Compiles the tape: turns a recorded Tape into a Program that can be replayed. The compiler is a sequence of small
// passes (namespace passes), each tested on a tape of five nodes.
#pragma once

#include <span>
#include <vector>

#include "engine/tape/program.h"
#include "engine/tape/tape.h"

namespace normscope {

struct SealOptions {
  ValueId loss = kNone;                  ///< the scalar to differentiate; kNone: forward only
  bool backward = true;                  ///< false: evaluation, no gradients
  OpKind update = op_for(Duty::Update);  ///< the op that ends the step; kNoOp: gradients without an update
  bool clip = false;                     ///< global-norm clipping; the bound is StepInputs.clip
  /// Memory is used again once no later instruction reads it: the memory of values in a forward program, of
  /// activations' gradients in a program with backward. All such programs of a backend share this memory. The bits are
  /// the same. Until one of them is replayed next, the results of the last instruction and the gradients of parameters
  /// and inputs stay readable. Without effect unless Backend::in_order().
  bool reuse_bytes = false;
  std::span<const ValueId> kept_gradients{};  ///< values whose gradients keep their memory nonetheless
  /// False (only where nothing is updated): with reuse_bytes later gradients may overwrite the parameters' gradients
  /// too, so a probe has to measure them (Tape::probe), and the stats of their norms are not filled in.
  bool keep_parameter_gradients = true;
  /// Attention's probabilities stay readable. False: they are not stored where no backward pass reads them, or where
  /// backward computes them again (Backend::recomputes_probabilities).
  bool keep_probabilities = true;
};

/// Throws Error when nothing is recorded, when the Store's backend lacks used ops (names all of them), when two dropout
/// sites hash alike, when the Store has neither memory nor a seed (Store::materialize_at_seal), or lacks the moments of
/// an update, when the loss is not a scalar of this tape, and when `update` is no op that updates, or has nothing to
/// train.
Program seal(const Tape& tape, const SealOptions& options);

namespace passes {

// The passes of seal() are small functions from plain data to plain data. Order: mark_gradients, emit_forward,
// emit_backward, update_instructions, place_probes, plan_memory. `seal` calls them; tests call each alone.

/// Marks the values that need a gradient: those on a path to the loss from a trainable parameter, or from an input whose
/// gradient is asked for.
std::vector<bool> mark_gradients(const Tape& tape, ValueId loss);

/// Makes one forward instruction for each node, in recording order. It keeps nodes that neither the
/// loss nor a probe needs: every intermediate stays readable.
std::vector<Instruction> emit_forward(const Tape& tape);

/// Makes backward instructions in reverse order for every node that a needed gradient passes through.
/// Write modes follow Note [assign or add] in program.h.
std::vector<Instruction> emit_backward(const Tape& tape, const std::vector<bool>& needs_gradient,
                                       ValueId loss);

/// Gradient norms always, clip and the optimizer on request, and after an optimizer the nodes of Tape::after_update().
std::vector<Instruction> update_instructions(const SealOptions& options, std::span<const Node> after = {});

/// Puts each requested probe right after the instruction that completes its tensor: the writer of a
/// value, the last writer of a gradient. A loss whose op does not measure it gets a probe too.
std::vector<Instruction> place_probes(const Tape& tape, std::vector<Instruction> instructions,
                                      ValueId loss = kNone);

/// Names and numbers the stats block: loss, clip, norms of each parameter, probes. Fills in Instruction::stat.
void lay_out_stats(const Tape& tape, const std::vector<bool>& needs_gradient, ProgramData& program);

/// Gives offsets to batch inputs, activations and gradients: every tensor has its own 64-byte lines, and nothing is
/// shared. Unless `keep_probabilities`, attention's probabilities get no offset (kNoOffset).
MemoryPlan plan_memory(const Tape& tape, const std::vector<bool>& needs_gradient,
                       bool keep_probabilities = true);

/// Moves the gradients so that memory which no later instruction reads is used again. Gradients of the loss, of
/// inputs and of `kept` values keep memory of their own, and with `keep_parameters` gradients of parameters.
void share_gradient_memory(const Tape& tape, const std::vector<Instruction>& instructions, MemoryPlan& plan,
                           std::span<const ValueId> kept = {}, bool keep_parameters = true);
/// Does the same for the values of a program without backward.
void share_value_memory(const Tape& tape, const std::vector<Instruction>& instructions, MemoryPlan& plan);

/// Throws when two dropout sites of the tape hash alike.
void check_sites(const Tape& tape);

/// Throws, naming all ops that the backend lacks.
void check_supported(const std::vector<Instruction>& instructions, const Backend& backend);

}  // namespace passes
}  // namespace normscope

#include "engine/tape/seal.h"

#include "engine/core/error.h"
#include "engine/tape/seal_passes.h"
#include "engine/tape/store.h"

namespace normscope {

Program seal(const Tape& tape, const SealOptions& options) {
  if (!tape.store().materialized())
    fail("seal", "the Store has no memory yet: expected Store::materialize() first");
  const bool backward = options.backward && options.loss != kNone;
  if (backward && options.update != kNoOp && !tape.store().has_moments())
    fail("seal", "the Store has values alone: expected Store::materialize() for a step that updates them");
  const std::vector<bool> needs_gradient = passes::mark_gradients(tape, backward ? options.loss : kNone);
  passes::check_sites(tape);
  if (options.loss != kNone && tape.shape(options.loss).size() != 1)
    fail("seal", "the loss {} has {} numbers: expected one", tape.value(options.loss).name,
         tape.shape(options.loss).size());

  ProgramData program;
  program.store = &tape.store();
  program.values = tape.values();
  program.nodes = tape.nodes();
  program.loss = options.loss;
  program.instructions = passes::emit_forward(tape);
  if (backward) {
    for (Instruction& i : passes::emit_backward(tape, needs_gradient, options.loss))
      program.instructions.push_back(std::move(i));
    for (Instruction& i : passes::update_instructions(options, tape.after_update()))
      program.instructions.push_back(std::move(i));
  }
  program.instructions = passes::place_probes(tape, std::move(program.instructions), options.loss);
  passes::check_supported(program.instructions, tape.store().backend());
  passes::lay_out_stats(tape, needs_gradient, program);
  const bool read_again = backward && !tape.store().backend().recomputes_probabilities();
  const bool keeps = options.keep_probabilities || read_again;
  program.plan = passes::plan_memory(tape, needs_gradient, keeps);
  if (options.reuse_bytes && tape.store().backend().in_order()) {
    program.plan.shared = true;
    if (backward)
      passes::share_gradient_memory(tape, program.instructions, program.plan, options.kept_gradients);
    else
      passes::share_value_memory(tape, program.instructions, program.plan);
  }
  return Program(std::move(program), tape.store().backend());
}

}  // namespace normscope

#include "training/run/step_program.h"

#include "engine/model/record_model.h"
#include "engine/tape/seal.h"
#include "training/measure/look.h"
#include "training/spec/update_rule.h"

namespace normscope {

StepProgram::StepProgram(const RunSpec& spec, const BatchShape& shape, bool reuse_gradients, Backend& backend)
    : store_(backend) {
  Tape tape(store_);
  const ValueId loss = record_model(tape, spec.model, record_options(shape, true, spec.model.memory)).loss;
  store_.materialize(spec.seed);
  program_.emplace(seal(tape, {.loss = loss,
                               .backward = true,
                               .update = update_op(spec.train.optimizer),
                               .clip = true,
                               .reuse_memory = reuse_gradients,
                               .keep_probabilities = false}));
}

}  // namespace normscope

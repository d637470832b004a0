#include "training/run/step_program.h"

#include "training/run/network.h"

namespace normscope {

StepProgram::StepProgram(const RunSpec& spec, const BatchShape& shape, bool reuse_gradients, Backend& backend)
    : store_(backend) {
  RunSpec step = spec;
  step.train.reuse_gradients = reuse_gradients;
  program_.emplace(training_program(store_, step, shape));
}

}  // namespace normscope

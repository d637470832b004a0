// The program of a training step of a specification, sealed on a store of its own: for its memory plan, its times and
// what becomes of it when the wiring changes. Called by the Tape screen's worker.
#pragma once

#include <optional>

#include "engine/tape/backend.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/data/task.h"
#include "training/spec/spec.h"

namespace normscope {

class StepProgram {
 public:
  /// `spec` completed for its data. Throws Error as recording and sealing do.
  StepProgram(const RunSpec& spec, const BatchShape& shape, bool reuse_gradients, Backend& backend);
  StepProgram(const StepProgram&) = delete;
  StepProgram& operator=(const StepProgram&) = delete;

  Program& program() { return *program_; }
  const ProgramData& data() const { return program_->data(); }

 private:
  Store store_;
  std::optional<Program> program_;
};

}  // namespace normscope

// One step of a run of the Lab on a copy of its own: memory, kernels and thread are not those of the training, so that
// the run never notices and nobody waits. Made by session::PlayStep; played by the Tape screen's worker.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/tape/backend.h"
#include "training/data/task.h"
#include "training/measure/step/step_player.h"
#include "training/session/command.h"
#include "training/spec/spec.h"

namespace normscope {

struct PlayedStep {
  session::Ticket ticket = 0;  ///< of the PlayStep that asked for it
  uint64_t generation = 0;     ///< of the runs: grows with ReplaceRuns and RestoreSession
  char letter = 'A';           ///< of the run
  int32_t step = 1;  ///< which step of the run: the copy stands as the run stood after the one before
  std::shared_ptr<const RunSpec> spec;
  /// Of a fork, the run that it came from, as far as that is still there: its letter and specification.
  char source = '\0';
  std::shared_ptr<const RunSpec> source_spec;
  BatchShape shape;                    ///< of the step's batch
  std::unique_ptr<Backend> backend;    ///< the CPU, one thread: that of whoever plays
  std::unique_ptr<StepPlayer> player;  ///< of one user at a time
};

}  // namespace normscope

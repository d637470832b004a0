// One step of a run of the Lab, on a copy with its own memory, kernels and thread, so that the run does not change and
// no thread waits. Made by session::PlayStep; played by the Tape screen's worker.
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
  session::Ticket ticket = 0;  ///< the PlayStep that asked for it
  uint64_t generation = 0;     ///< grows with every session that replaces another
  char letter = 'A';           ///< the run's
  int32_t step = 1;            ///< the step that is played, which the copy has not made yet
  std::shared_ptr<const RunSpec> spec;
  /// `source` and its specification describe the run that a fork came from, while the Lab still has that run.
  char source = '\0';
  std::shared_ptr<const RunSpec> source_spec;
  BatchShape shape;                    ///< of the step's batch
  std::unique_ptr<Backend> backend;    ///< the CPU with one thread: the player's
  std::unique_ptr<StepPlayer> player;  ///< for one user at a time
};

}  // namespace normscope

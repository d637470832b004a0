// This part of LabTrainer copies a run before a step, so that the step can be played elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "training/run/finished_run.h"
#include "training/run/footprint.h"
#include "training/session/lab_trainer.h"
#include "training/session/played_step.h"
#include "training/spec/limits.h"

namespace normscope {
namespace {

constexpr auto kReplayed = std::chrono::milliseconds(20);  // how long a broken run is replayed at a time

/// Names what a broken run was before its last step, by its origin and edits.
std::string key_of(const Run& run) {
  return fmt::format("{} at {}", run_key(run.origin(), run.edits()), run.non_finite()->step);
}

}  // namespace

/// Trains a run that is not finite again up to the step before, since its present weights say nothing. It
/// does so in portions between which commands are served, and keeps the run for the next time.
void LabTrainer::play_step(int32_t run, session::Ticket ticket) {
  replayed_ = -1;  // a newer request replaces the older one
  step_ticket_ = ticket;
  LabEntry& played = entry(run);
  require_played(played);
  if (!played.broken() || !played.run->non_finite()) {
    hand_out(played, *played.run);
  } else if (earlier_ && earlier_key_ == key_of(*played.run)) {
    hand_out(played, *earlier_);
  } else {
    earlier_.reset();
    replayed_ = run;
  }
}

/// Drops the former copy, and refuses a copy for which there is no memory.
void LabTrainer::require_played(const LabEntry& played) {
  played_.reset();
  const Run& run = *played.run;
  if (memory() == 0) return;  // the size is unknown
  const auto need = static_cast<int64_t>(played_bytes(run.spec(), run.task(), *cpu_));
  require_bytes("copying a step", need, held_bytes(), memory());
}

/// Trains a broken run again by a portion, up to its last step. True: the copy is handed out.
bool LabTrainer::replay(Clock::time_point until) {
  LabEntry& played = entry(replayed_);
  if (!played.broken() || !played.run->non_finite()) {  // the run was exchanged meanwhile
    hand_out(played, *played.run);
    return true;
  }
  const int32_t step = std::max(0, played.run->non_finite()->step - 1);
  if (!earlier_ || earlier_key_ != key_of(*played.run)) {
    earlier_ = played.run->at(step);
    earlier_key_ = key_of(*played.run);
  }
  while (earlier_->steps_done() < step && earlier_->state() != RunState::NonFinite) {
    if (Clock::now() >= until) return false;
    earlier_->step();
  }
  hand_out(played, *earlier_);
  return true;
}

void LabTrainer::replay_some() {
  try {
    if (!replay(Clock::now() + kReplayed)) return;
  } catch (const DeviceError&) {  // the replay begins again on the CPU
    earlier_.reset();
    throw;
  } catch (...) {
    earlier_.reset();
    message = describe_exception(session::PlayStep::doing());
    refuse(step_ticket_, message);
  }
  replayed_ = -1;
}

void LabTrainer::hand_out(LabEntry& played, const Run& at) {
  auto made = std::make_shared<PlayedStep>();
  made->letter = played.letter;
  made->generation = generation_;
  made->step = at.steps_done() + 1;
  made->spec = std::make_shared<const RunSpec>(at.spec());
  const std::vector<LabEntry*> all = now_.entries();
  if (played.forked_from >= 0 && static_cast<size_t>(played.forked_from) < all.size()) {
    const LabEntry& source = *all[static_cast<size_t>(played.forked_from)];
    made->source = source.letter;
    made->source_spec = std::make_shared<const RunSpec>(source.run->spec());
  }
  made->shape = at.task().shape(made->spec->seed, static_cast<uint64_t>(made->step), Split::Train,
                                made->spec->train.batch, made->spec->model.sequence);
  made->backend = make_cpu_backend(1);
  made->player = at.play_next(*made->backend);
  made->ticket = step_ticket_;
  played_ = std::move(made);
}

}  // namespace normscope

// This part of LabTrainer makes the fork D from a run, now or at an earlier step, and undoes and redoes it.
#include <algorithm>

#include "engine/core/error.h"
#include "training/session/lab_trainer.h"

namespace normscope {

void LabTrainer::park(std::unique_ptr<LabEntry> entry, std::vector<std::unique_ptr<LabEntry>>& where) {
  if (entry) entry->looking.reset();  // a copy of an earlier state takes memory
  where.push_back(std::move(entry));
  if (where.size() > kMostParked) where.erase(where.begin());
}

void LabTrainer::fork(session::ForkRequest request) {
  const LabEntry& source = entry(request.source);
  if (request.step >= 0 && request.step < source.run->steps_done() && !request.from_start)
    return fork_at(std::move(request));
  RunSpec spec = std::move(request.spec);
  if (spec.name == source.run->spec().name) spec.name.clear();  // a new name says what it is
  make_room({spec});
  std::unique_ptr<LabEntry> made;
  if (request.from_start) {
    made = make_entry(std::move(spec), 'D', now_.budget);
  } else {
    spec.train.steps = end_of(source);
    made = std::make_unique<LabEntry>();
    made->run = source.run->fork(spec);
    made->run->set_budget(now_.budget);
    made->fork_step = made->run->steps_done();
    made->hold = source.hold;  // a change of a run that waits at an earlier step waits there too
    made->born = ++made_;
  }
  made->fork_note = std::move(request.note);
  adopt_fork(std::move(made), request.source, request.train);
}

// Replaces D when D itself is forked; the new D's source is then the run that the old D came from.
void LabTrainer::adopt_fork(std::unique_ptr<LabEntry> made, int32_t source, bool train) {
  const LabEntry& from = entry(source);
  made->letter = 'D';
  made->forked_from = &from == now_.fork.get() ? from.forked_from : source;
  park(std::move(now_.fork), now_.undo);
  now_.redo.clear();
  now_.fork = std::move(made);
  share_bytes();
  if (!train) return;
  bring_budget();
  release_holds();
  start_playing();
}

// Gives the fork steps of its own. The others end where they were to end: what a finished run came to
// stays what it was.
void LabTrainer::bring_budget() {
  if (!now_.fork) return;
  now_.fork->run->set_budget(std::max(now_.budget, portion_after(now_.fork->fork_step)));
  settle_budget();
}

// Ends the lockstep with the run that ends last.
void LabTrainer::settle_budget() {
  int32_t reached = 0;
  now_.budget = 1;
  for (const LabEntry* entry : now_.entries()) {
    now_.budget = std::max(now_.budget, end_of(*entry));
    reached = std::max(reached, std::min(std::max(now_.step, entry->run->steps_done()), end_of(*entry)));
  }
  now_.step = reached;
  if (now_.step >= now_.budget) pause();
}

// Replays from the nearest keyframe here and not as a part of catching up: no edit may come in between.
void LabTrainer::fork_from(int32_t run, int32_t step, const std::optional<RunSpec>& spec) {
  adopt_fork(entry_at(run, step, spec), run, false);
}

void LabTrainer::fork_at(session::ForkRequest request) {
  auto made = entry_at(request.source, request.step, request.spec);
  made->fork_note = std::move(request.note);
  adopt_fork(std::move(made), request.source, request.train);
}

// Trains a copy again, from the nearest keyframe up to the step.
std::unique_ptr<Run> LabTrainer::run_at(int32_t run, int32_t step) {
  std::unique_ptr<Run> made = entry(run).run->at(step);
  made->measure_live(false);
  while (made->steps_done() < step && made->state() != RunState::NonFinite) made->step();
  made->measure_live(true);
  return made;
}

std::unique_ptr<LabEntry> LabTrainer::entry_at(int32_t run, int32_t step,
                                               const std::optional<RunSpec>& spec) {
  make_room({spec ? *spec : entry(run).run->spec()});
  auto made = std::make_unique<LabEntry>();
  made->born = ++made_;
  made->run = run_at(run, step);
  made->run->set_budget(now_.budget);
  if (spec) {
    RunSpec wanted = *spec;
    wanted.train.steps = now_.budget;
    if (wanted.name == made->run->spec().name) wanted.name.clear();  // a new name says what it is
    made->run = made->run->fork(wanted);
  }
  made->fork_step = step;
  made->fork_note = fmt::format("from step {}", step);
  if (!now_.playing) made->hold = step;
  return made;
}

void LabTrainer::remove_fork() {
  if (!now_.fork && now_.undo.empty()) return;
  park(std::move(now_.fork), now_.redo);
  if (!now_.undo.empty()) {
    now_.fork = std::move(now_.undo.back());
    now_.undo.pop_back();
  }
  settle_budget();
  share_bytes();
}

void LabTrainer::restore_fork() {
  if (now_.redo.empty()) return;
  park(std::move(now_.fork), now_.undo);
  now_.fork = std::move(now_.redo.back());
  now_.redo.pop_back();
  settle_budget();
}

}  // namespace normscope

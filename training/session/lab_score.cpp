// This part of LabTrainer does what takes long in portions, between which commands are carried out: the scores at a
// validation, and the looks inside.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "engine/core/error.h"
#include "training/session/lab_trainer.h"

namespace normscope {
namespace {

/// Validates first where needed: a run that was opened at its end has no validation yet.
std::string accuracy_of(Run& run) {
  if (run.spec().model.classes > 0 && std::isnan(run.validation_accuracy())) run.validation_loss();
  const double accuracy = run.validation_accuracy();
  return std::isfinite(accuracy) ? fmt::format("accuracy {:.1f} %", 100 * accuracy) : "";
}

}  // namespace

LabEntry* LabTrainer::unscored() const {
  for (LabEntry* entry : entries())
    if (entry->unscored) return entry;
  return nullptr;
}

// `score` does at least one portion for a validated run, so that a stream of commands cannot keep it from its end.
void LabTrainer::score(LabEntry& entry) {
  Run& run = *entry.run;
  entry.unscored = false;  // a score that throws is not tried again
  if (!entry.scoring) entry.scoring = run.task().scoring();
  entry.unscored = entry.scoring && !entry.scoring->advance(run.store(), run.spec().model,
                                                            [this] { return !(called && called()); });
  if (entry.unscored) return;
  entry.score = entry.scoring ? to_string(entry.scoring->scores()) : accuracy_of(run);
  entry.scoring.reset();
}

void LabTrainer::inquire(const session::Inquire& asked) {
  LabEntry& seen = entry(asked.run);
  const bool past = asked.step >= 0 && asked.step < seen.run->steps_done();
  const size_t copies = size_t{past} + static_cast<size_t>(asked.copies);
  if (copies > 0) make_room(std::vector<RunSpec>(copies, seen.run->spec()));
  std::unique_ptr<Run> then = past ? run_at(asked.run, asked.step) : nullptr;
  Run& run = past ? *then : *seen.run;
  if (run.state() == RunState::NonFinite)
    fail("inside", "the weights are not finite: expected a run that is");
  seen.looking = asked.begin(run, std::move(then));
  look_some(seen);
}

LabEntry* LabTrainer::looking() const {
  LabEntry* least = nullptr;
  for (LabEntry* entry : entries())
    if (entry->looking && (!least || entry->looking->done() < least->looking->done())) least = entry;
  return least;
}

/// Measures at least one part, and as many more as take no time.
void LabTrainer::look_some(LabEntry& seen) {
  constexpr auto kAtOnce = std::chrono::milliseconds(20);
  const auto until = Clock::now() + kAtOnce;
  try {
    do {
      if (!seen.looking->holds() || !seen.looking->next()) return seen.looking.reset();
      if (seen.looking->worth_showing()) seen.inquiry = seen.looking->result();
    } while (Clock::now() < until);
  } catch (...) {
    seen.looking.reset();
    throw;
  }
}

}  // namespace normscope

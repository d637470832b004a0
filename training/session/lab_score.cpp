// This part of LabTrainer scores a classifier, or a parser's trees, at a validation. Trees take long, so a command
// interrupts the score, which then goes on from where it was.
#include <fmt/format.h>

#include <cmath>

#include "training/session/lab_trainer.h"
#include "training/text/dependency_parser.h"

namespace normscope {
namespace {

/// `accuracy_of` validates first where needed: a run that was opened at its end has no validation yet.
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
  if (!entry.parsing) entry.parsing.emplace();
  const auto trees = attachment_of(run.store(), run.spec().model, run.task(), *entry.parsing,
                                   [this](size_t) { return !(called && called()); });
  entry.unscored = !entry.parsing->complete();
  if (entry.unscored) return;
  entry.parsing.reset();
  entry.score = trees ? to_string(*trees) : accuracy_of(run);
}

}  // namespace normscope

// LabTrainer: what a validation says of a classifier, or of a parser's trees. Those take long: a command breaks them off,
// is carried out, and the score goes on after it from where it was.
#include <fmt/format.h>

#include <cmath>

#include "training/session/lab_trainer.h"
#include "training/text/dependency_parser.h"

namespace normscope {
namespace {

/// A run that was opened at its end has not been validated here.
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

// Of a run that was validated. At least one portion, so that commands that keep coming do not keep it from its end.
void LabTrainer::score(LabEntry& entry) {
  Run& run = *entry.run;
  entry.unscored = false;  // where this throws, it is not tried for ever
  if (!entry.parsing) entry.parsing.emplace();
  const auto trees = attachment_of(run.store(), run.spec().model, run.task(), *entry.parsing,
                                   [this](size_t) { return !(called && called()); });
  entry.unscored = !entry.parsing->complete();
  if (entry.unscored) return;
  entry.parsing.reset();
  entry.score = trees ? to_string(*trees) : accuracy_of(run);
}

}  // namespace normscope

// LabTrainer: what a validation says of a classifier, or of a parser's trees. Those take long: a command breaks them off,
// is carried out, and the score is done after it.
#include <fmt/format.h>

#include <cmath>

#include "engine/lab/lab_trainer.h"
#include "engine/text/dependency_parser.h"

namespace normscope {
namespace {

// Of a run that was validated.
std::string score_of(Run& run, const std::function<bool(size_t)>& progress) {
  if (const auto trees = attachment_of(run.store(), run.spec().model, run.task(), progress))
    return to_string(*trees);
  const double accuracy = run.validation_accuracy();
  return std::isfinite(accuracy) ? fmt::format("accuracy {:.1f} %", 100 * accuracy) : "";
}

}  // namespace

LabEntry* LabTrainer::unscored() const {
  for (LabEntry* entry : entries())
    if (entry->unscored) return entry;
  return nullptr;
}

void LabTrainer::score(LabEntry& entry) {
  entry.unscored = false;
  std::string score = score_of(*entry.run, [&](size_t) { return !(entry.unscored = called && called()); });
  if (!entry.unscored) entry.score = std::move(score);
}

}  // namespace normscope

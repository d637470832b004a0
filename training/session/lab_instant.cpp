// Instant runs of LabTrainer: every change trains the whole experiment anew, beside the Lab's thread (whole_runs.h).
// Until a run is there, its entry shows the run that it replaces.
#include "training/session/lab_trainer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace normscope {

WholeRuns::Wanted LabTrainer::whole_of(RunSpec spec, bool measured) {
  auto task = task_for(spec.data);
  return {std::move(spec), std::move(task), measured};
}

/// Gives the entry another specification, and asks for the whole run unless the entry has it.
void LabTrainer::want(LabEntry& entry, RunSpec spec) {
  spec.train.steps = now_.budget;
  validate(spec);
  task_for(spec.data);
  entry.wanted = std::make_shared<const RunSpec>(std::move(spec));
  want_anew();
}

/// Changes one field of all these entries, or of none.
void LabTrainer::want_edited(const std::vector<LabEntry*>& entries, const std::string& key,
                             const std::string& value) {
  std::vector<RunSpec> specs;
  for (const LabEntry* entry : entries) {
    RunSpec& spec = specs.emplace_back(entry->spec());
    set_field(spec, key, value);
    validate(spec);
    task_for(spec.data);
  }
  for (size_t i = 0; i < entries.size(); ++i)
    entries[i]->wanted = std::make_shared<const RunSpec>(std::move(specs[i]));
  want_anew();
}

void LabTrainer::suppose(const std::vector<RunSpec>& specs) {
  std::vector<LabView::Supposition> supposed;
  if (now_.instant)
    for (RunSpec spec : specs) {
      spec.train.steps = now_.budget;
      validate(spec);
      supposed.push_back({std::make_shared<const RunSpec>(std::move(spec)), nullptr});
    }
  supposed_ = std::move(supposed);
  if (now_.instant) want_anew();
}

/// Asks for what is missing, in the order in which it is looked at: the runs, what is supposed one by one, then the
/// other seeds of the runs, seed by seed.
void LabTrainer::want_anew() {
  if (!whole_)
    whole_ = std::make_unique<WholeRuns>(threads_, finished_, [this] {
      if (wake) wake();
    });
  std::vector<WholeRuns::Wanted> all;
  for (const LabEntry* entry : now_.entries())
    if (entry->wanted) all.push_back(whole_of(*entry->wanted));
  int32_t rank = 0;
  for (const LabView::Supposition& one : supposed_) {
    all.push_back(whole_of(*one.spec, supposed_.size() == 1));
    all.back().rank = ++rank;
  }
  for (uint64_t i = 1; i <= Reruns::kSeeds; ++i) {
    ++rank;
    for (const LabEntry* entry : now_.entries()) {
      all.push_back(whole_of(entry->spec(), false));
      all.back().spec.seed += i;
      all.back().rank = rank;
    }
  }
  take_whole();
  whole_->want(all);
}

/// Shows what is there.
void LabTrainer::take_whole() {
  seen_ = whole_->ended();
  if (!now_.instant) return;
  std::vector<Reruns::Card> cards;
  for (LabEntry* entry : now_.entries())
    if (take_whole(*entry)) cards.push_back({card_key(*entry), entry->run.get()});
  reruns_.unknown(cards);
  for (LabView::Supposition& one : supposed_)
    if (!one.run) one.run = whole_->find(whole_of(*one.spec, false));
}

/// Whether the entry is the run that it is wanted to be.
bool LabTrainer::take_whole(LabEntry& entry) {
  if (!entry.wanted) return true;
  const WholeRuns::Wanted wanted = whole_of(*entry.wanted);
  const auto record = whole_->find(wanted);
  if (!record) {
    if (Message why = whole_->failure(wanted); !why.empty()) message = std::move(why);
    return false;
  }
  LabEntry made;  // nothing of the former run stays but its place
  static_cast<SessionRun&>(made) = entry;
  made.run = Run::resume(*record, wanted.task, *backend_);
  made.run->set_name(wanted.spec.name);
  made.born = entry.born;
  made.from_start = true;
  made.unscored = true;
  made.fork_step = 0;
  entry = std::move(made);
  return true;
}

}  // namespace normscope

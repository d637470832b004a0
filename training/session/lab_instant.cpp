// Instant runs of LabTrainer: every change trains the whole experiment anew, beside the Lab's thread (whole_runs.h).
// Until a run is there, its entry shows the run that it replaces.
#include "training/session/lab_trainer.h"

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

void LabTrainer::suppose(const session::Suppose& asked) {
  std::vector<LabView::Supposition> supposed;
  std::vector<RunSpec> ahead;
  const auto checked = [this](RunSpec spec) {
    spec.train.steps = now_.budget;
    validate(spec);
    return spec;
  };
  if (now_.instant) {
    for (const RunSpec& spec : asked.specs)
      supposed.push_back({std::make_shared<const RunSpec>(checked(spec)), nullptr, nullptr});
    for (const RunSpec& spec : asked.ahead) ahead.push_back(checked(spec));
  }
  supposed_ = std::move(supposed);
  if (now_.instant) want_anew(ahead);
}

/// Asks for what is missing, in the order in which it is looked at: the runs, the question, two other seeds of the runs,
/// the map of a dial one by one, the last seeds, then what may be wanted next.
void LabTrainer::want_anew(const std::vector<RunSpec>& ahead) {
  if (!whole_)
    whole_ = std::make_unique<WholeRuns>(threads_, finished_, [this] {
      if (wake) wake();
    });
  std::vector<WholeRuns::Wanted> all;
  int32_t rank = 0;
  const auto want = [&](RunSpec spec, bool measured) {
    all.push_back(whole_of(std::move(spec), measured));
    all.back().rank = rank;
  };
  const auto want_seeds = [&](uint64_t first, uint64_t last) {
    for (uint64_t i = first; i <= last; ++i, ++rank)
      for (const LabEntry* entry : now_.entries()) {
        RunSpec spec = entry->spec();
        spec.seed += i;
        want(std::move(spec), false);
      }
  };
  const bool question = supposed_.size() == 1;
  const auto want_supposed = [&] {
    for (const LabView::Supposition& one : supposed_) want(*one.spec, question), ++rank;
  };
  for (const LabEntry* entry : now_.entries())
    if (entry->wanted) want(*entry->wanted, true);
  ++rank;
  if (question) want_supposed();
  want_seeds(1, 2);
  if (!question) want_supposed();
  want_seeds(3, Reruns::kSeeds);
  for (const RunSpec& spec : ahead) want(spec, true), ++rank;
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
  for (LabView::Supposition& one : supposed_) {
    const bool question = supposed_.size() == 1;
    if (question ? one.seen != nullptr : one.run != nullptr) continue;
    const WholeRuns::Wanted wanted = whole_of(*one.spec, false);
    one.run = whole_->find(wanted);
    if (!question || !one.run || !one.run->whole()) continue;
    LabEntry entry = entry_of(*one.run, wanted);
    entry.letter = 'D';
    one.seen = std::make_shared<const RunView>(view_of(entry));
  }
}

LabEntry LabTrainer::entry_of(const RunRecord& record, const WholeRuns::Wanted& wanted) const {
  LabEntry made;
  made.run = Run::resume(record, wanted.task, *backend_);
  made.run->set_name(wanted.spec.name);
  made.from_start = true;
  return made;
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
  LabEntry made = entry_of(*record, wanted);  // nothing of the former run stays but its place
  static_cast<SessionRun&>(made) = entry;
  made.born = entry.born;
  made.unscored = true;
  made.fork_step = 0;
  entry = std::move(made);
  return true;
}

}  // namespace normscope

// The commands of LabTrainer that change a run's specification: edits from the next step on, restarts, the fork D, and
// the training of an instant Lab. A run that is replaced or edited is kept as it was left, for undo.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "training/run/run_record.h"
#include "training/session/lab_trainer.h"
#include "training/spec/spec.h"

namespace normscope {
namespace {

// Whether all runs share the field: a comparison is about one set of data and one seed.
bool is_shared(std::string_view key) { return key.starts_with("data.") || key == "run.seed"; }

// Whether two schedules give every step after this one the same rate.
bool same_rates_after(const Schedule& a, const Schedule& b, int32_t step) {
  if (a.target > 0 || b.target > 0) return false;  // the losses to come decide
  int32_t last = step;                             // beyond it no number of a schedule lies
  for (const Schedule* s : {&a, &b}) {
    last = std::max({last, s->warmup, s->reference, s->end});
    for (const int32_t milestone : s->milestones) last = std::max(last, milestone);
  }
  for (int64_t t = int64_t{step} + 1; t <= int64_t{last} + 2; ++t)
    if (learning_rate(a, t) != learning_rate(b, t)) return false;
  return true;
}

// Whether a change after `step` concerns the schedule alone, and no rate of a later step.
bool comes_too_late(const RunSpec& now, RunSpec then, int32_t step) {
  const Schedule schedule = then.train.schedule;
  if (schedule == now.train.schedule) return false;
  then.train.schedule = now.train.schedule;
  return then == now && same_rates_after(schedule, now.train.schedule, step) &&
         !same_rates_after(schedule, now.train.schedule, 0);
}

}  // namespace

void LabTrainer::serve(const session::EditField& asked) {
  const auto& [run, key, value] = asked;
  if (now_.runs.empty()) fail("lab", "there is no run to edit");
  if (run >= 0) entry(run);  // throws for an unknown run
  if (key == "train.steps") {
    RunSpec trial = entry(0).run->spec();
    set_field(trial, key, value);
    return set_budget(trial.train.steps);
  }
  if (now_.instant)
    return want_edited(run < 0 || is_shared(key) ? now_.entries() : std::vector<LabEntry*>{&entry(run)}, key,
                       value);
  if (is_live(key)) return edit_live(run, key, value);
  edit_structure(is_shared(key) ? -1 : run, key, value);
}

// Restarts a run in which the change would come too late for any step, as the warm-up does once it is over.
void LabTrainer::edit_live(int32_t run, const std::string& key, const std::string& value) {
  std::vector<LabEntry*> edited = run < 0 ? now_.entries() : std::vector<LabEntry*>{&entry(run)};
  std::vector<RunSpec> trials;
  for (const LabEntry* one : edited) {  // all runs are edited, or none
    RunSpec& trial = trials.emplace_back(one->run->spec());
    set_field(trial, key, value);
    validate(trial);
  }
  std::string late;
  std::vector<LabEntry*> live;
  session::Session to = shown_session();
  for (size_t i = 0; i < edited.size(); ++i) {
    LabEntry& one = *edited[i];
    if (trials[i] == one.run->spec()) continue;
    if (!comes_too_late(one.run->spec(), trials[i], one.run->steps_done())) {
      live.push_back(&one);
      continue;
    }
    late += (late.empty() ? "" : "+") + std::string(1, one.letter);
    *std::ranges::find(to.runs, one.letter, &session::ShownRun::letter) = begun_anew(one, trials[i]);
  }
  if (!late.empty()) become(to);
  for (LabEntry* one : live) {
    keep_copy(*one);
    one->run->edit(key, value);
  }
  if (!late.empty()) message = Message("{} from step 0 again: no step to come would have changed", late);
}

/// The run of a card with this specification from step 0 on. Its take stays, so that it is found if it is kept.
session::ShownRun LabTrainer::begun_anew(const LabEntry& card, RunSpec spec) {
  const auto task = task_for(spec.data);
  spec.train.steps = now_.budget;
  fit_to_data(spec, *task);
  session::ShownRun run{{card.letter}, std::make_shared<const RunSpec>(std::move(spec))};
  run.data = identity_of(run.origin->data, *task).hash;
  run.take = card.take;
  run.end = now_.budget;
  return run;
}

/// Begins all runs anew with these specifications. Those that are the same run as before get a take of their own, and
/// so do all that are to be `watched` once more.
void LabTrainer::restart(const std::vector<RunSpec>& specs, bool watched) {
  session::Session to = shown_session();
  to.step = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    session::ShownRun run = begun_anew(entry(static_cast<int32_t>(i)), specs[i]);
    if (watched || run.is_run(to.runs[i])) run.take = ++made_;
    to.runs[i] = std::move(run);
  }
  become(to);
  began_anew_ = true;
}

void LabTrainer::edit_structure(int32_t run, const std::string& key, const std::string& value) {
  std::vector<RunSpec> all = specs();
  for (size_t i = 0; i < all.size(); ++i)
    if (run < 0 || static_cast<size_t>(run) == i) set_field(all[i], key, value);
  if (all == specs()) return;
  if (run < 0) return restart(all, false);
  session::Session to = shown_session();
  to.runs[static_cast<size_t>(run)] = begun_anew(entry(run), std::move(all[static_cast<size_t>(run)]));
  become(to);
}

// ---- run D

void LabTrainer::fork(session::ForkRequest request) {
  const LabEntry& source = entry(request.source);
  request.from_start |= now_.instant;
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
    made->take = ++made_;
  }
  made->fork_note = std::move(request.note);
  adopt_fork(std::move(made), request.source, request.train && !now_.instant);
  if (now_.instant) want(*now_.fork, now_.fork->run->spec());
}

// Replaces D when D itself is forked; the new D's source is then the run that the old D came from.
void LabTrainer::adopt_fork(std::unique_ptr<LabEntry> made, int32_t source, bool train) {
  const LabEntry& from = entry(source);
  made->letter = 'D';
  made->forked_from = &from == now_.fork.get() ? from.forked_from : source;
  if (now_.fork) keep(as_left(*now_.fork));
  now_.fork = std::move(made);
  if (!train) return;
  bring_budget();
  release_holds();
  start_playing();
}

// Gives the fork steps of its own. The others keep their end, so that the result of a finished run stays.
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
void LabTrainer::serve(const session::ForkFrom& asked) {
  const auto& [run, step, spec] = asked;
  if (now_.instant) {
    session::ForkRequest whole;
    whole.source = run;
    whole.spec = spec ? *spec : entry(run).spec();
    return fork(std::move(whole));
  }
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
  made->take = ++made_;
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

// Runs that the trainer makes beside the Lab's thread: those of an instant Lab, where every change trains the whole
// experiment anew, and runs with other seeds. Until an instant run is there, its entry shows the run that it replaces.

Trainer::Request LabTrainer::whole_of(RunSpec spec, bool measured) {
  auto task = task_for(spec.data);
  return {{identity_of(std::move(spec), {}, *task, *cpu_), measured ? Trainer::kMeasured : Wish::Numbers{}},
          task};
}

/// Gives the entry another specification, and asks for the whole run unless the entry has it.
void LabTrainer::want(LabEntry& entry, RunSpec spec) {
  spec.train.steps = now_.budget;
  validate(spec);
  task_for(spec.data);
  entry.wanted = std::make_shared<const RunSpec>(std::move(spec));
  passed_.clear();
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
  if (std::exchange(passed_key_, key) != key) passed_.clear();
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!(specs[i] == entries[i]->spec())) note_passed(*entries[i], key);
    entries[i]->wanted = std::make_shared<const RunSpec>(std::move(specs[i]));
  }
  want_anew();
}

/// Notes the specification that an edit of `key` is about to replace. Of each run some values are kept that are trained,
/// and some that may still be: a hand moves on many times while one run is finished.
void LabTrainer::note_passed(const LabEntry& entry, const std::string& key) {
  constexpr std::ptrdiff_t kTrained = 6, kMissing = 40;
  const RunSpec& spec = entry.spec();
  const auto is_same = [&](const PassedValue& one) {
    return one.seen.letter == entry.letter && *one.seen.spec == spec;
  };
  std::erase_if(passed_, is_same);
  for (const bool trained : {true, false}) {
    const auto is_one = [&](const PassedValue& one) {
      return one.seen.letter == entry.letter && (one.seen.run != nullptr) == trained;
    };
    if (std::ranges::count_if(passed_, is_one) >= (trained ? kTrained : kMissing))
      passed_.erase(std::ranges::find_if(passed_, is_one));
  }
  Wish wish = whole_of(spec, false).wish;
  auto run = wisher_.find(wish);
  passed_.push_back({{++passed_so_far_, entry.letter, get_field(spec, key),
                      std::make_shared<const RunSpec>(spec), std::move(run)},
                     std::move(wish)});
}

void LabTrainer::serve(const session::Suppose& asked) {
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

/// Tells the trainer what is wanted now.
void LabTrainer::want_anew(const std::vector<RunSpec>& ahead) {
  for (LabView::Supposition& one : supposed_)  // an answer goes with the text that it was trained on
    if (one.run && one.run->data.hash != identity_of(one.spec->data, *task_for(one.spec->data)).hash)
      one = {one.spec, nullptr, nullptr};
  take_whole();
  wisher_.limit(memory() > 0 ? std::max<int64_t>(memory() - held_bytes(), 1) : 0);
  wisher_.want(now_.instant ? instant_runs(ahead) : other_seeds());
}

/// What an instant Lab wants, in the order in which it is looked at: the runs, the question, two other seeds of the
/// runs, the map of a dial one by one, the last seeds, then what may be wanted next.
std::vector<Trainer::Request> LabTrainer::instant_runs(const std::vector<RunSpec>& ahead) {
  std::vector<Trainer::Request> all;
  int32_t rank = 0;
  const auto want = [&](RunSpec spec, bool measured) {
    all.push_back(whole_of(std::move(spec), measured));
    all.back().rank = rank;
  };
  const auto want_seeds = [&](uint64_t first, uint64_t last) {
    for (uint64_t i = first; i <= last; ++i, ++rank)
      for (const LabEntry* entry : now_.entries()) {
        Trainer::Request run = whole_of(entry->spec(), false);
        run.wish = with_other_seed(run.wish.run(), i, *cpu_);
        run.rank = rank;
        all.push_back(std::move(run));
      }
  };
  const bool question = supposed_.size() == 1;
  const auto want_supposed = [&] {
    for (const LabView::Supposition& one : supposed_) want(*one.spec, question), ++rank;
  };
  for (const LabEntry* entry : now_.entries())
    if (entry->wanted) {
      want(*entry->wanted, true);
      all.back().lingers = true;
    }
  ++rank;
  if (question) want_supposed();
  want_seeds(1, 2);
  if (!question) want_supposed();
  want_seeds(3, kOtherSeeds);
  for (const RunSpec& spec : ahead) want(spec, true), ++rank;
  return all;
}

/// Takes the runs of the trainer that have ended into their cards.
void LabTrainer::take_whole() {
  const uint64_t ended = wisher_.ended();
  const bool news = std::exchange(seen_, ended) != ended;
  settle_seed_checks();
  if (!now_.instant) return;
  for (LabEntry* entry : now_.entries()) take_whole(*entry);
  for (PassedValue& one : passed_)
    if (news && !one.seen.run) one.seen.run = wisher_.find(one.wish);
  for (LabView::Supposition& one : supposed_) {
    const bool question = supposed_.size() == 1;
    if (question ? one.seen != nullptr : one.run != nullptr) continue;
    const Trainer::Request wanted = whole_of(*one.spec, question);
    one.run = wisher_.find(wanted.wish);
    if (!question || !one.run) continue;
    LabEntry entry = entry_of(*one.run, wanted);
    entry.letter = 'D';
    one.seen = std::make_shared<const RunView>(view_of(entry));
  }
}

LabEntry LabTrainer::entry_of(const RunRecord& record, const Trainer::Request& wanted) const {
  LabEntry made;
  made.run = Run::resume(record, wanted.task, *backend_);
  made.from_start = true;
  return made;
}

/// Shows the wanted run of the entry if it has ended.
void LabTrainer::take_whole(LabEntry& entry) {
  if (!entry.wanted) return;
  const Trainer::Request wanted = whole_of(*entry.wanted);
  const auto record = wisher_.find(wanted.wish);
  if (!record) {
    if (Message why = wisher_.failure(wanted.wish); !why.empty()) message = std::move(why);
    return;
  }
  LabEntry made = entry_of(*record, wanted);  // nothing of the former run stays but its place
  static_cast<SessionRun&>(made) = entry;
  made.unscored = true;
  made.fork_step = 0;
  entry = std::move(made);
}

}  // namespace normscope

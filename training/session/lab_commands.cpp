// These commands of LabTrainer build what they need first and change the Lab last, so that an Error leaves everything
// as it was. lab_edits.cpp has those that change a run, lab_fork.cpp those about D.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/core/error.h"
#include "training/session/ablation.h"
#include "training/session/lab_trainer.h"
#include "training/spec/limits.h"

namespace normscope {

LabEntry& LabTrainer::entry(int32_t index) const {
  const auto all = entries();
  if (index < 0 || static_cast<size_t>(index) >= all.size())
    fail("lab", "there is no run {}: expected 0 to {}", index, static_cast<int64_t>(all.size()) - 1);
  return *all[static_cast<size_t>(index)];
}

std::shared_ptr<const Task> LabTrainer::task_for(const DataSpec& data) {
  for (const auto& [spec, task] : tasks_)
    if (spec == data) return task;
  auto task = make_task(data);
  if (tasks_.size() >= kMostRuns) tasks_.erase(tasks_.begin());
  tasks_.emplace_back(data, task);
  return task;
}

std::unique_ptr<LabEntry> LabTrainer::make_entry(RunSpec spec, char letter) {
  spec.train.steps = budget_;
  validate(spec);  // refuses the specification before reading its data
  auto made = std::make_unique<LabEntry>();
  auto task = task_for(spec.data);
  made->run = std::make_unique<Run>(std::move(spec), std::move(task), *backend_);
  made->letter = letter;
  made->from_start = true;
  made->born = ++made_;
  return made;
}

std::vector<RunSpec> LabTrainer::specs() const {
  std::vector<RunSpec> specs;
  for (const LabEntry* entry : entries()) specs.push_back(entry->run->spec());
  return specs;
}

std::string LabTrainer::letters() const {
  std::string letters;
  for (const LabEntry* entry : entries()) letters += entry->letter;
  return letters;
}

// Takes the newest stashed run with this letter and specification, one with so many edits before others;
// nullptr without one.
std::unique_ptr<LabEntry> LabTrainer::take_parked(RunSpec spec, char letter, int32_t edits) {
  size_t best = parked_.size();
  for (size_t i = parked_.size(); i-- > 0;) {
    const LabEntry& one = *parked_[i];
    spec.train.steps = end_of(one);
    if (one.letter != letter || !(one.run->spec() == spec)) continue;
    const bool as_many = static_cast<int32_t>(one.run->edits().size()) == edits;
    if (as_many || best == parked_.size()) best = i;
    if (as_many) break;
  }
  if (best == parked_.size()) return nullptr;
  auto found = std::move(parked_[best]);
  parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(best));
  return found;
}

// Makes the runs. When runs are exchanged, it takes stashed ones with the same letter and specification;
// if one cannot be made, these stay stashed.
std::vector<std::unique_ptr<LabEntry>> LabTrainer::make_entries(std::vector<RunSpec> specs,
                                                                const std::string& letters, Replaced old) {
  std::vector<std::unique_ptr<LabEntry>> all, made(specs.size());
  for (size_t i = 0; i < specs.size(); ++i)
    all.push_back(old == Replaced::Exchanged ? take_parked(specs[i], letters[i]) : nullptr);
  try {
    std::vector<RunSpec> missing;
    for (size_t i = 0; i < specs.size(); ++i)
      if (!all[i]) missing.push_back(specs[i]);
    make_room(missing);
    for (size_t i = 0; i < specs.size(); ++i)
      if (!all[i]) made[i] = make_entry(std::move(specs[i]), letters[i]);
  } catch (...) {
    for (auto& entry : all)
      if (entry) parked_.push_back(std::move(entry));
    throw;
  }
  for (size_t i = 0; i < all.size(); ++i)
    if (made[i]) all[i] = std::move(made[i]);
  return all;
}

// Makes these the Lab's runs; a D among them stays apart.
void LabTrainer::show(std::vector<std::unique_ptr<LabEntry>> all) {
  fork_.reset();
  runs_ = std::move(all);
  if (runs_.size() > 1 && runs_.back()->letter == 'D') {
    fork_ = std::move(runs_.back());
    runs_.pop_back();
  }
  writing_ = 0;
  text_credit_ = 0;
  next_step_ = {};
  seconds_per_step_ = tokens_per_second_ = 0;
  share_bytes();
}

// Replaces all runs; the present ones are shown until the new ones are built.
void LabTrainer::restart(std::vector<RunSpec> specs, const std::string& letters, Replaced old,
                         std::vector<std::vector<Edit>> edits) {
  std::vector<std::unique_ptr<LabEntry>> all = make_entries(std::move(specs), letters, old);
  int32_t step = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i < edits.size()) all[i]->run->schedule_edits(std::move(edits[i]));
    step = std::max(step, all[i]->run->steps_done());
  }
  step_ = step;
  if (old == Replaced::Forgotten) {
    undo_.clear();
    redo_.clear();
    parked_.clear();
  } else {
    for (auto& entry : runs_) park(std::move(entry), parked_);
    if (fork_) park(std::move(fork_), parked_);
  }
  show(std::move(all));
  rest_at_end();
}

void LabTrainer::start(std::vector<RunSpec> specs, bool play, std::vector<std::vector<Edit>> edits,
                       std::string letters) {
  if (specs.empty()) fail("lab", "no runs are given: expected 1 to {}", kMostRuns);
  if (specs.size() > kMostRuns) fail("lab", "{} runs: expected 1 to {}", specs.size(), kMostRuns);
  constexpr std::string_view kLetters = "ABCD";
  if (letters.empty()) letters = kLetters.substr(0, specs.size());
  const bool ascending =
      std::adjacent_find(letters.begin(), letters.end(), std::greater_equal<>()) == letters.end();
  const bool known = letters.find_first_not_of(kLetters) == letters.npos;
  if (letters.size() != specs.size() || !ascending || !known)
    fail("lab", "letters '{}' of {} runs: expected as many of A to D, ascending", letters, specs.size());
  const int32_t old_budget = budget_, old_portion = portion_;
  budget_ = portion_ = specs.front().train.steps;
  try {
    restart(std::move(specs), letters, Replaced::Forgotten, std::move(edits));
  } catch (...) {
    budget_ = old_budget;
    portion_ = old_portion;
    throw;
  }
  ++generation_;
  earlier_.reset();
  playing_ = play;
  target_ = play ? std::numeric_limits<int32_t>::max() : 0;
}

void LabTrainer::open(std::vector<RunSpec> specs, std::vector<std::vector<Edit>> edits, std::string letters) {
  start(std::move(specs), true, std::move(edits), std::move(letters));
  bool any = false;
  for (LabEntry* entry : entries()) {
    const auto known = finished_->find(run_key(entry->run->past()));
    if (!known || !known->whole()) continue;
    const std::string name = entry->run->spec().name;
    entry->run = Run::resume(*known, task_for(known->origin.data), *backend_);
    entry->run->set_name(name);
    entry->unscored = true;
    any = true;
  }
  if (!any) return;
  step_ = budget_;
  pause();
  share_bytes();
}

void LabTrainer::play_to(int32_t step) {
  if (runs_.empty()) return;
  const bool released = release_holds();
  if (released && (step_ >= budget_ || step <= step_)) return;  // D catches up, and no other run has to
  if (all_broken()) fail("lab", "no run is finite any more: reset or edit one");
  if (step <= step_) return;
  if (step_ >= budget_) change_budget(portion_after(step_));
  start_playing();
  target_ = step;
}

void LabTrainer::start_playing() {
  playing_ = true;
  target_ = std::numeric_limits<int32_t>::max();
  writing_ = 0;
  next_step_ = {};
}

void LabTrainer::rest_at_end() {
  if (playing_ && step_ >= budget_) pause();
}

void LabTrainer::pause() {
  playing_ = false;
  target_ = step_;
}

void LabTrainer::step_once() {
  if (release_holds()) return;
  play_to(step_ + 1);
  playing_ = false;
}

void LabTrainer::reset(bool new_seed) {
  std::vector<RunSpec> all = specs();
  if (all.empty()) return;
  const uint64_t seed = all.front().seed + (new_seed ? 1 : 0);
  for (RunSpec& spec : all) spec.seed = seed;
  restart(std::move(all), letters(), Replaced::Stashed);
  if (!playing_) target_ = 0;
}

// Puts in the place of each shown run the run with the same letter and specification that was made
// last before it (or first after it). It exchanges all runs or none.
void LabTrainer::exchange_reset(bool back) {
  std::vector<size_t> places;
  for (const LabEntry* now : entries()) {
    RunSpec wanted = now->run->spec();
    size_t best = parked_.size();
    for (size_t i = 0; i < parked_.size(); ++i) {
      const LabEntry& one = *parked_[i];
      if (one.letter != now->letter || (back ? one.born >= now->born : one.born <= now->born)) continue;
      if (best < parked_.size() && (one.born < parked_[best]->born) == back) continue;
      wanted.train.steps = end_of(one);
      if (one.run->spec() == wanted) best = i;
    }
    if (best == parked_.size())
      fail("lab", "the runs of {} the reset are not kept any more", back ? "before" : "after");
    places.push_back(best);
  }
  if (places.empty()) return;
  std::vector<std::unique_ptr<LabEntry>> all;
  for (size_t place : places) all.push_back(std::move(parked_[place]));
  std::erase(parked_, nullptr);
  for (auto& entry : runs_) park(std::move(entry), parked_);
  if (fork_) park(std::move(fork_), parked_);
  step_ = 0;
  for (const auto& entry : all) step_ = std::max(step_, entry->run->steps_done());
  show(std::move(all));
  rest_at_end();
  if (!playing_) target_ = step_;
}

void LabTrainer::set_budget(int32_t steps) {
  if (steps < 1 || steps > kMostSteps)
    fail("train.steps", "{} is out of range: expected 1 to {}", steps, kMostSteps);
  portion_ = steps;
  change_budget(steps);
}

int32_t LabTrainer::portion_after(int32_t step) const {
  return std::min(step + portion_, kMostSteps);  // both are at most kMostSteps
}

void LabTrainer::change_budget(int32_t steps) {
  budget_ = steps;
  for (LabEntry* entry : entries()) entry->run->set_budget(steps);
  for (const auto* parked : {&undo_, &redo_})
    for (const auto& entry : *parked)
      if (entry) entry->run->set_budget(steps);
  for (const auto& entry : parked_) entry->run->set_budget(steps);
  if (step_ >= budget_) pause();
}

void LabTrainer::set_steps_per_second(double limit) {
  limit_ = std::isfinite(limit) && limit > 0 ? limit : 0;
  next_step_ = {};
}

void LabTrainer::measure_batch() {
  if (runs_.empty()) fail("lab", "there is no run to measure");
  std::vector<LabEntry*> measured = entries();
  std::erase_if(measured,
                [](const LabEntry* entry) { return !is_transformer(entry->run->spec().model.architecture); });
  if (measured.empty()) fail("lab", "no run has sub-layers to measure: expected a transformer");
  for (LabEntry* entry : measured)
    if (!entry->broken()) entry->batch = entry->run->measure_batch();
}

void LabTrainer::ablate(int32_t run, std::vector<std::string> left_out) {
  LabEntry& measured = entry(run);
  if (measured.broken()) fail("ablation", "the weights are not finite: expected a run that is");
  measured.ablation = std::make_shared<const Ablation>(layer_ablation(*measured.run, std::move(left_out)));
}

void LabTrainer::load_text(const std::string& path) {
  std::vector<RunSpec> all = specs();
  if (all.empty()) fail("lab", "there is no run to read a text");
  // The file may have changed since it was last read.
  std::erase_if(tasks_, [&](const auto& known) { return known.first.text_path == path; });
  for (RunSpec& spec : all) set_field(spec, "data.text", path);
  restart(std::move(all), letters(), Replaced::Stashed);
  if (!playing_) target_ = 0;
}

}  // namespace normscope

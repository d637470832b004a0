// This part of LabTrainer has the lockstep, the text that runs write, and the views. lab_commands.cpp and lab_fork.cpp
// have the commands.
#include "training/session/lab_trainer.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "training/data/identity/data_identity.h"
#include "training/measure/plateau.h"
#include "training/measure/verdict.h"
#include "training/run/keyframes.h"
#include "training/spec/backend_choice.h"
#include "training/spec/limits.h"
#include "training/spec/loss_window.h"
#include "training/spec/told_apart.h"

namespace normscope {
namespace {

constexpr double kTextShare = 0.02;  // share of the training time
constexpr auto kRoundInterval = std::chrono::milliseconds(500);
constexpr double kSmoothing = 0.1;  // weight of the newest step in the shown figures

void smooth(double& figure, double newest) {
  figure = figure > 0 ? figure + kSmoothing * (newest - figure) : newest;
}

double seconds_between(LabTrainer::Clock::time_point from, LabTrainer::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// The loss that every card, plot and table shows for a run as it is.
double shown_loss(const Run& run) { return run.mean_loss(loss_window(run.steps_done(), run.edits())); }

std::string badge_of(const LabEntry& entry, bool playing) {
  const Run& run = *entry.run;
  switch (run.state()) {
    case RunState::NonFinite:
      return fmt::format("not finite at step {}", run.non_finite()->step);
    case RunState::Stuck:
      return stuck_words(run.mean_loss(Plateau::kWindow), run.plateau_level(), run.task().unit());
    case RunState::Learning:
      if (began_below(run.history()->events())) return "learning from the first step on";
      return fmt::format("learning since step {}", run.learning_since());
    case RunState::Finished:
      return "finished";
    case RunState::WarmingUp:
      return playing ? "warming up" : "paused";
    case RunState::Training:
      if (!playing) return "paused";
      if (entry.forked_from < 0) return "training";
      return fmt::format("{} of its own {} steps", run.steps_done() - entry.fork_step,
                         run.spec().train.steps - entry.fork_step);
  }
  return "";
}

// What a run began as: with the edits before its first own step. Later changes are events of it.
std::string name_of(const LabEntry& entry) {
  const Run& run = *entry.run;
  if (!run.spec().name.empty()) return run.spec().name;
  RunSpec born = run.origin();
  for (const Edit& edit : run.edits())
    if (edit.step <= entry.fork_step + 1) set_field(born, edit.key, edit.value);
  return default_name(born);
}

// Renames runs that have one name. It is seldom needed, and reading all settings takes a while.
void tell_apart(std::vector<RunView>& runs) {
  std::vector<NamedSettings> named;
  std::set<std::string> names;
  for (const RunView& run : runs) {
    named.push_back({run.name});
    names.insert(run.name);
  }
  if (names.size() == runs.size()) return;
  for (size_t i = 0; i < runs.size(); ++i) named[i].settings = field_values(*runs[i].spec);
  const std::vector<std::string> told = told_apart(named);
  for (size_t i = 0; i < runs.size(); ++i) runs[i].name = told[i];
}

// Keeps the newest samples, and of older ones every second.
void keep_sample(LabEntry& entry, int32_t step) {
  constexpr size_t kMost = 400;
  if (!entry.samples)
    entry.samples = std::make_shared<std::vector<Sample>>();
  else if (entry.samples.use_count() > 1)  // a view still has the samples
    entry.samples = std::make_shared<std::vector<Sample>>(*entry.samples);
  std::vector<Sample>& all = *entry.samples;
  std::erase_if(all, [step](const Sample& sample) { return sample.step >= step; });
  all.push_back({step, entry.text});
  if (all.size() <= kMost) return;
  size_t kept = 0;
  for (size_t i = 0; i < all.size(); ++i)
    if (i >= kMost / 2 || i % 2 == 0) std::swap(all[kept++], all[i]);
  all.resize(kept);
}

}  // namespace

LabTrainer::LabTrainer(LabOptions options)
    : options_(std::move(options)),
      threads_(options_.threads > 0 ? options_.threads : usable_cores()),
      cpu_(make_cpu_backend(options_.threads)),
      backend_(cpu_.get()),
      finished_(options_.finished ? options_.finished : std::make_shared<RunCache>()) {}

void LabTrainer::open_device() {
  if (options_.backend == BackendChoice{}) return;
  try {
    device_ = make_device(options_.backend);
    backend_ = device_.get();
    choice_ = options_.backend;
  } catch (...) {
    backend_note_ = "on the CPU: " + describe_exception("backend");
  }
}
LabTrainer::~LabTrainer() = default;

std::vector<LabEntry*> LabTrainer::entries() const {
  std::vector<LabEntry*> all;
  for (const auto& entry : runs_) all.push_back(entry.get());
  if (fork_) all.push_back(fork_.get());
  return all;
}

bool LabTrainer::lags(const LabEntry& entry) const {
  const int32_t to = std::min(step_, entry.hold >= 0 ? entry.hold : end_of(entry));
  return !entry.broken() && entry.run->steps_done() < to;
}

LabEntry* LabTrainer::lagging() const {
  for (const auto& entry : runs_)
    if (lags(*entry)) return entry.get();
  return fork_ && lags(*fork_) ? fork_.get() : nullptr;
}

bool LabTrainer::all_broken() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const auto& entry) { return entry->broken(); }) &&
         (!fork_ || fork_->broken());
}

bool LabTrainer::wants_step() const {
  const auto all = entries();
  return step_ < target_ && std::any_of(all.begin(), all.end(), [this](const LabEntry* entry) {
           return !entry->broken() && step_ < end_of(*entry);
         });
}

LabEntry* LabTrainer::without_text() const {
  if (!options_.sample_text) return nullptr;
  const auto stale = [](const LabEntry& e) { return !e.broken() && e.text_step != e.run->steps_done(); };
  for (const auto& entry : runs_)
    if (stale(*entry)) return entry.get();
  return fork_ && stale(*fork_) ? fork_.get() : nullptr;
}

bool LabTrainer::has_work() const {
  return only_looks() || unscored() || lagging() || wants_step() || without_text() || !reruns_.empty();
}

void LabTrainer::work() {
  try {
    do_work();
  } catch (const DeviceError& error) {
    if (!fall_back(error.what())) throw;
  }
}

void LabTrainer::do_work() {
  if (replays()) return replay_some();
  if (LabEntry* seen = looking()) return look_some(*seen);
  if (LabEntry* late = unscored()) return score(*late);
  if (LabEntry* late = lagging()) {
    step_entry(*late);
    return;
  }
  if (wants_step()) {
    step_all();
    if (!wants_step()) pause();  // at the end of the budget too, so that more steps wait for play
    return;
  }
  if (LabEntry* entry = without_text()) {
    entry->text_step = entry->run->steps_done();  // first, so that what cannot be written is tried once
    entry->text = entry->run->sample(options_.line_length);
    keep_sample(*entry, entry->text_step);
    return;
  }
  if (!reruns_.empty()) seed_check_step();
}

// Ends D's wait at an earlier step, during which the others stand still.
bool LabTrainer::release_holds() {
  bool any = false;
  for (LabEntry* entry : entries()) {
    any = any || entry->hold >= 0;
    entry->hold = -1;
  }
  return any;
}

std::vector<LabEntry*> LabTrainer::kept() const {
  std::vector<LabEntry*> kept = entries();
  for (const auto* stash : {&undo_, &redo_, &parked_})
    for (const auto& entry : *stash)
      if (entry) kept.push_back(entry.get());
  return kept;
}

// Its seconds without validation, which is rare and may take longer than many steps.
double LabTrainer::step_entry(LabEntry& entry) {
  Run& run = *entry.run;
  const auto begin = Clock::now();
  run.step();
  const double seconds = seconds_between(begin, Clock::now());
  smooth(entry.seconds_per_step, seconds);
  if (const std::string notice = run.take_notice(); !notice.empty())
    message = fmt::format("run {}: {}", entry.letter, notice);
  const int32_t every = options_.validation_every;
  const bool ended = run.steps_done() == end_of(entry);
  if (every > 0 && !entry.broken() && (run.steps_done() % every == 0 || ended)) {
    run.validation_loss();
    entry.scoring.reset();
    score(entry);
  }
  if (ended || entry.broken()) keep_finished(entry);
  return seconds;
}

// Skips a run that began in the middle of another, as its history has no beginning, and a run that is
// too large, as it would only push the others out.
void LabTrainer::keep_finished(const LabEntry& entry) {
  const Run& run = *entry.run;
  if (!entry.from_start || 3 * sizeof(float) * entry.run->store().size() > finished_->largest()) return;
  const auto known = finished_->find(run_key(run.past()));
  if (!known || !known->whole()) finished_->put(run.finished());
}

void LabTrainer::step_all() {
  const auto begin = Clock::now();
  double tokens = 0, seconds = 0;
  for (LabEntry* entry : entries()) {
    // A run that is ahead took this step before the device failed in another run.
    if (entry->broken() || entry->run->steps_done() > step_ || step_ >= end_of(*entry)) continue;
    seconds += step_entry(*entry);
    tokens += units_of_step(entry->run->spec());
  }
  ++step_;
  smooth(seconds_per_step_, seconds);
  if (seconds > 0) smooth(tokens_per_second_, tokens / seconds);
  if (limit_ > 0) {
    const auto interval =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1.0 / limit_));
    next_step_ = std::max(next_step_ + interval, begin);
  }
  if (options_.sample_text && options_.live_text && wants_step()) write_live(seconds);
  if (!reruns_.empty()) check_seeds_beside(seconds);
}

// Lets the lines grow symbol by symbol while training, in rounds: the runs take turns, and all lines are
// shown together when the last is complete. It charges its time against a share of the training time.
void LabTrainer::write_live(double trained_seconds) {
  text_credit_ = std::min(text_credit_ + kTextShare * trained_seconds, 0.05);
  std::vector<LabEntry*> writers = entries();
  std::erase_if(writers, [](const LabEntry* entry) { return entry->broken(); });
  while (text_credit_ > 0 && Clock::now() >= round_ && !writers.empty()) {
    if (writing_ >= writers.size()) writing_ = 0;
    const auto begin = Clock::now();
    if (writers[writing_]->run->write_some(1, options_.line_length) && ++writing_ == writers.size())
      finish_round(writers);
    text_credit_ -= seconds_between(begin, Clock::now());
  }
}

void LabTrainer::finish_round(const std::vector<LabEntry*>& writers) {
  for (LabEntry* entry : writers) {
    entry->text = entry->run->written();
    keep_sample(*entry, entry->run->steps_done());
  }
  writing_ = 0;
  round_ = Clock::now() + kRoundInterval;
}

const std::shared_ptr<const RunSpec>& LabTrainer::published_spec(LabEntry& entry) {
  const Run& run = *entry.run;
  if (!entry.published || entry.published_revision != run.revision()) {
    entry.published = std::make_shared<const RunSpec>(run.spec());
    entry.published_origin = std::make_shared<const RunSpec>(run.origin());
    entry.published_name = name_of(entry);
    entry.published_data = std::make_shared<const DataIdentity>(identity_of(run.spec().data, run.task()));
    entry.published_revision = run.revision();
  }
  return entry.published;
}

RunView LabTrainer::view_of(LabEntry& entry) const {
  const Run& run = *entry.run;
  RunView view;
  view.letter = entry.letter;
  view.spec = published_spec(entry);
  view.origin = entry.published_origin;
  view.name = entry.published_name;
  view.state = run.state();
  view.badge = lags(entry) ? "catching up" : badge_of(entry, playing_);
  if (run.non_finite()) view.note = "first in " + run.non_finite()->tensor;
  view.step = run.steps_done();
  view.seconds_per_step = entry.seconds_per_step;
  const bool own = entry.forked_from < 0 || view.step > entry.fork_step;
  view.loss = own ? shown_loss(run) : std::numeric_limits<double>::quiet_NaN();  // not its source's
  view.learning_since = run.learning_since();
  view.validation_loss = run.last_validation_loss();
  view.data = entry.published_data;
  view.score = entry.score;
  view.writes = entry.text;
  view.samples = entry.samples;
  view.skip_scales = run.skip_scales();
  view.branch_scales = run.branch_scales();
  view.history = run.history();
  view.edits = run.edits();
  view.scheduled = run.scheduled();
  view.forked_from = entry.forked_from;
  view.fork_step = entry.fork_step;
  view.fork_note = entry.fork_note;
  if (const SeedVariability* luck = find_variability(variability_key(entry))) view.spread = luck->spread;
  view.batch = entry.batch;
  view.ablation = entry.ablation;
  view.inquiry = entry.inquiry;
  if (entry.looking) {
    view.inquiry_done = static_cast<int32_t>(entry.looking->done());
    view.inquiry_parts = static_cast<int32_t>(entry.looking->parts());
  }
  return view;
}

bool LabTrainer::note_too_large() {
  if (std::exchange(noted_too_large_, true)) return false;
  message = "runs too large to be kept by themselves: Ctrl+S saves their settings";
  return true;
}

size_t LabTrainer::weight_bytes() const {
  size_t bytes = 0;
  for (const LabEntry* entry : entries())
    bytes += entry->run->store().size() * sizeof(float) * kTrainedBlocks.size();
  return bytes;
}

LabView LabTrainer::view() const {
  LabView view;
  view.playing = playing_;
  view.busy = lagging() != nullptr;
  view.step = step_;
  view.budget = budget_;
  view.portion = portion_;
  view.seconds_per_step = seconds_per_step_;
  view.tokens_per_second = tokens_per_second_;
  view.threads = threads_;
  view.backend = choice_;
  view.backend_note = backend_note_;
  view.message = message;
  view.seed_check_done = seed_check_done_;
  view.seed_check_steps = seed_check_steps_;
  view.sidecar = sidecar_;
  view.restored = restored_;
  view.played = played_;
  view.answered = answered;
  view.answers = answers_;
  for (LabEntry* entry : entries()) view.runs.push_back(view_of(*entry));
  tell_apart(view.runs);
  if (!runs_.empty()) {
    const Task& task = runs_.front()->run->task();
    view.entropy_rate = task.entropy_rate().value_or(0);
    if (!data_ || data_->hash != task.hash())
      data_ = DataNumbers{task.hash(), task.unigram_entropy(),
                          theory::agreement_of(task, runs_.front()->run->spec().model.sequence)};
    view.unigram_entropy = data_->unigram_entropy;
    view.agreement = data_->agreement;
    view.data_name = data_name(runs_.front()->run->spec().data);
    view.unit = task.unit();
  }
  return view;
}

}  // namespace normscope

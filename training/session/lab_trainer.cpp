// The rounds of LabTrainer: the lockstep, the texts that the models write, slow work in portions, and the views.
#include "training/session/lab_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/core/boundary.h"
#include "engine/core/machine.h"
#include "engine/core/stopwatch.h"
#include "engine/cpu/backend_cpu.h"
#include "training/data/task.h"
#include "training/measure/verdict.h"
#include "training/run/footprint.h"
#include "training/session/played_step.h"
#include "training/spec/spec.h"
#include "training/spec/spec_text.h"

namespace normscope {
namespace {

constexpr double kTextShare = 0.02;  // share of the training time
constexpr auto kRoundInterval = std::chrono::milliseconds(500);
constexpr double kBesideShare = 0.25;      // of the training time, while the live runs play
constexpr double kMaxBesideCredit = 0.05;  // seconds; a command never waits longer
constexpr double kBesideAtOnce = 0.008;    // seconds; threads that wake for less lose more than they do
constexpr double kSmoothing = 0.1;         // weight of the newest step in the shown figures

void smooth(double& figure, double newest) {
  if (newest <= 0) return;  // nothing was timed
  figure = figure > 0 ? figure + kSmoothing * (newest - figure) : newest;
}

double seconds_between(LabTrainer::Clock::time_point from, LabTrainer::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// The loss that every card, plot and table shows for a run as it is.
double shown_loss(const Run& run) { return run.mean_loss(loss_window(run.steps_done(), run.edits())); }

// The end of a run that is whole at every moment is no news.
Message badge_of(const LabEntry& entry, bool playing, bool instant) {
  const Run& run = *entry.run;
  const bool told = instant && run.state() == RunState::Finished && run.learning_since() > 0;
  switch (told ? RunState::Learning : run.state()) {
    case RunState::NonFinite:
      return Message("not finite at step {}", run.non_finite()->step);
    case RunState::Stuck:
      return stuck_words(run.mean_loss(Plateau::kWindow), run.plateau_level(), run.task().unit());
    case RunState::Slow:
    case RunState::Diverging:
      return to_string(run.state());
    case RunState::Learning:
      if (began_below(run.history()->events())) return "learning from the first step on";
      return Message("learning since step {}", run.learning_since());
    case RunState::Finished:
      return "finished";
    case RunState::WarmingUp:
      return playing ? "warming up" : "paused";
    case RunState::Training:
      if (!playing) return "paused";
      if (entry.forked_from < 0) return "training";
      return Message("{} of its own {} steps", run.steps_done() - entry.fork_step,
                     run.spec().train.steps - entry.fork_step);
  }
  return "";
}

// The name of what a run began with, the edits before its first own step included. Later changes are its events.
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
  constexpr size_t kMax = 400;
  if (!entry.samples)
    entry.samples = std::make_shared<std::vector<Sample>>();
  else if (entry.samples.use_count() > 1)  // a view still has the samples
    entry.samples = std::make_shared<std::vector<Sample>>(*entry.samples);
  std::vector<Sample>& all = *entry.samples;
  std::erase_if(all, [step](const Sample& sample) { return sample.step >= step; });
  all.push_back({step, entry.text});
  if (all.size() <= kMax) return;
  size_t kept = 0;
  for (size_t i = 0; i < all.size(); ++i)
    if (i >= kMax / 2 || i % 2 == 0) std::swap(all[kept++], all[i]);
  all.resize(kept);
}

/// Validates first where needed: a run that was opened at its end has no validation yet.
std::string accuracy_of(Run& run) {
  if (run.spec().model.classes > 0 && std::isnan(run.validation_accuracy())) run.validation_loss();
  const double accuracy = run.validation_accuracy();
  return std::isfinite(accuracy) ? fmt::format("accuracy {:.1f} %", 100 * accuracy) : "";
}

constexpr auto kReplayed = std::chrono::milliseconds(20);  // how long a broken run is replayed at a time

/// Names what a broken run was before its last step, by its origin and edits.
std::string key_of(const Run& run) {
  return fmt::format("{} at {}", run.identity().key(), run.non_finite()->step);
}

}  // namespace

LabTrainer::LabTrainer(LabOptions options)
    : options_(std::move(options)),
      threads_(options_.threads > 0 ? options_.threads : usable_cores()),
      cpu_(make_cpu_backend(options_.threads)),
      backend_(cpu_.get()),
      trainer_(options_.trainer ? options_.trainer : std::make_shared<Trainer>(threads_)),
      wisher_(trainer_, [this] {
        if (wake) wake();
      }) {
  wisher_.at_a_time(threads_);
}

void LabTrainer::open_device() {
  if (options_.backend == BackendChoice{}) return;
  try {
    device_ = make_device(options_.backend);
    backend_ = device_.get();
    choice_ = options_.backend;
  } catch (...) {
    backend_note_ = Message("on the CPU: {}", describe_exception("backend"));
  }
}
LabTrainer::~LabTrainer() = default;

std::vector<LabEntry*> LabSession::entries() const {
  std::vector<LabEntry*> all;
  for (const auto& entry : runs) all.push_back(entry.get());
  if (fork) all.push_back(fork.get());
  return all;
}

LabEntry* LabSession::find(char letter) const {
  for (LabEntry* entry : entries())
    if (entry->letter == letter) return entry;
  return nullptr;
}

bool LabTrainer::lags(const LabEntry& entry) const {
  const int32_t to = std::min(now_.step, entry.hold >= 0 ? entry.hold : end_of(entry));
  return !entry.broken() && entry.run->steps_done() < to;
}

LabEntry* LabTrainer::lagging() const {
  if (now_.instant) return nullptr;
  for (const auto& entry : now_.runs)
    if (lags(*entry)) return entry.get();
  return now_.fork && lags(*now_.fork) ? now_.fork.get() : nullptr;
}

bool LabTrainer::all_broken() const {
  return std::ranges::all_of(now_.runs, [](const auto& entry) { return entry->broken(); }) &&
         (!now_.fork || now_.fork->broken());
}

bool LabTrainer::wants_step() const {
  const auto all = now_.entries();
  return now_.step < target_ && std::ranges::any_of(all, [this](const LabEntry* entry) {
           return !entry->broken() && now_.step < end_of(*entry);
         });
}

LabEntry* LabTrainer::without_text() const {
  if (!options_.sample_text) return nullptr;
  const auto stale = [](const LabEntry& e) { return !e.broken() && e.text_step != e.run->steps_done(); };
  for (const auto& entry : now_.runs)
    if (stale(*entry)) return entry.get();
  return now_.fork && stale(*now_.fork) ? now_.fork.get() : nullptr;
}

bool LabTrainer::has_work() const {
  return arrived() || only_looks() || unscored() || lagging() || wants_step() || without_text() ||
         wisher_.waits_here();
}

void LabTrainer::work() {
  try {
    do_work();
  } catch (const DeviceError& error) {
    if (!fall_back(error.message)) throw;
  }
  share_cores();
}

/// The trainer's threads work while the runs that are shown rest.
void LabTrainer::share_cores() {
  if (wisher_.busy()) wisher_.shut(lagging() || wants_step());
}

void LabTrainer::do_work() {
  if (arrived()) return take_whole();
  if (replays()) return replay_some();
  if (LabEntry* seen = looking()) return look_some(*seen);
  if (LabEntry* late = unscored()) return score(*late);
  if (LabEntry* late = lagging()) {
    step_entry(*late);
    return end_again(*late);
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
  if (wisher_.waits_here()) wisher_.work_for(std::chrono::milliseconds(1));
}

// Ends D's wait at an earlier step, during which the others stand still.
bool LabTrainer::release_holds() {
  bool any = false;
  for (LabEntry* entry : now_.entries()) {
    any = any || entry->hold >= 0;
    entry->hold = -1;
  }
  return any;
}

// Returns the seconds without validation, which is rare and may take longer than many steps; 0 where the process was
// stopped meanwhile.
double LabTrainer::step_entry(LabEntry& entry) {
  Run& run = *entry.run;
  Stopwatch clock;
  run.step();
  clock.lap();
  const double seconds = clock.seconds();
  smooth(entry.seconds_per_step, seconds);
  if (const Message notice = run.take_notice(); !notice.empty())
    message = Message("run {}: {}", entry.letter, notice);
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
  if (!entry.from_start || 3 * sizeof(float) * entry.run->store().size() > trainer_->finished()->largest())
    return;
  if (!trainer_->finished()->find({run.identity(), numbers()})) trainer_->finished()->put(run.record());
}

Wish::Numbers LabTrainer::numbers() const {
  return {Run::live_interval(*backend_), options_.validation_every, true};
}

void LabTrainer::step_all() {
  const auto begin = Clock::now();
  double tokens = 0, seconds = 0;
  bool timed = true;
  for (LabEntry* entry : now_.entries()) {
    // A run that is ahead took this step before the device failed in another run.
    if (entry->broken() || entry->run->steps_done() > now_.step || now_.step >= end_of(*entry)) continue;
    const double of_run = step_entry(*entry);
    timed = timed && of_run > 0;
    seconds += of_run;
    tokens += units_of_step(entry->run->spec());
  }
  ++now_.step;
  if (timed && seconds > 0) {
    smooth(seconds_per_step_, seconds);
    smooth(tokens_per_second_, tokens / seconds);
  }
  if (limit_ > 0) {
    const auto interval =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1.0 / limit_));
    next_step_ = std::max(next_step_ + interval, begin);
  }
  if (options_.sample_text && options_.live_text && wants_step()) write_live(seconds);
  if (wisher_.busy()) train_beside(seconds);
}

// Lets the lines grow symbol by symbol while training, in rounds: the runs take turns, and all lines are
// shown together when the last is complete. It charges its time against a share of the training time.
void LabTrainer::write_live(double trained_seconds) {
  text_credit_ = std::min(text_credit_ + kTextShare * trained_seconds, 0.05);
  std::vector<LabEntry*> writers = now_.entries();
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
  if (entry.wanted) return entry.wanted;
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
  view.stale = entry.wanted != nullptr;
  view.origin = view.stale ? entry.wanted : entry.published_origin;
  view.name = view.stale ? default_name(*entry.wanted) : entry.published_name;
  view.state = run.state();
  view.badge = lags(entry) ? Message("catching up") : badge_of(entry, now_.playing, now_.instant);
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
  view.spread = spread_of_card(entry);
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
  for (const LabEntry* entry : now_.entries())
    bytes += entry->run->store().size() * sizeof(float) * kTrainedBlocks.size();
  return bytes;
}

LabView LabTrainer::view() const {
  LabView view;
  view.playing = now_.playing;
  view.busy = lagging() != nullptr;
  view.instant = now_.instant;
  view.supposed = supposed_;
  for (const PassedValue& one : passed_)
    if (one.seen.run) view.passed.push_back(one.seen);
  view.step = now_.step;
  view.budget = now_.budget;
  view.portion = now_.portion;
  view.seconds_per_step = seconds_per_step_;
  view.tokens_per_second = tokens_per_second_;
  view.threads = threads_;
  view.backend = choice_;
  view.backend_note = backend_note_;
  view.message = message;
  for (const SeedCheck& asked : asked_)
    for (const Wish& wish : asked.wishes) {
      view.seed_check_steps += wish.until();
      view.seed_check_done += is_done(wish) ? wish.until() : wisher_.steps(wish);
    }
  view.can_undo = log_.can_undo();
  view.can_redo = log_.can_redo();
  view.step_back = step_back_;
  view.restored = restored_;
  view.by_undo = by_undo_;
  view.window = window_;
  view.played = played_;
  view.answered = answered;
  view.answers = answers_;
  for (LabEntry* entry : now_.entries()) view.runs.push_back(view_of(*entry));
  tell_apart(view.runs);
  if (!now_.runs.empty()) {
    const Task& task = now_.runs.front()->run->task();
    view.entropy_rate = task.entropy_rate().value_or(0);
    if (!data_ || data_->hash != task.hash())
      data_ = DataNumbers{task.hash(), task.unigram_entropy(),
                          theory::agreement_of(task, now_.runs.front()->run->spec().model.sequence)};
    view.unigram_entropy = data_->unigram_entropy;
    view.agreement = data_->agreement;
    view.data_name = data_name(now_.runs.front()->run->spec().data);
    view.unit = task.unit();
  }
  return view;
}

// ---- runs with other seeds

const std::string& LabTrainer::card_key(LabEntry& entry) {
  const Run& run = *entry.run;
  if (!entry.key.empty() && entry.key_revision == run.revision()) return entry.key;
  entry.key_revision = run.revision();
  std::string key = run.identity().from_scratch().key();
  if (key != entry.key) {
    entry.spread.reset();
    entry.spread_at.reset();
  }
  return entry.key = std::move(key);
}

void LabTrainer::serve(const session::CheckSeeds& asked) {
  if (now_.runs.empty() && asked.on) fail("lab", "there is no run to do again with other seeds");
  asked_.clear();
  if (now_.instant) return;  // there the other seeds are wanted at every change
  if (asked.on)
    for (LabEntry* entry : now_.entries()) asked_.push_back(seed_check(*entry));
  beside_credit_ = 0;
}

LabTrainer::SeedCheck LabTrainer::seed_check(LabEntry& entry) const {
  SeedCheck check{card_key(entry), {}};
  for (uint64_t i = 1; i <= kOtherSeeds; ++i)
    check.wishes.push_back(with_other_seed(entry.run->identity(), i, *backend_));
  return check;
}

bool LabTrainer::is_done(const Wish& wish) const {
  return wisher_.find(wish) || !wisher_.failure(wish).empty();
}

/// Forgets what was asked of cards whose run was changed, says so, and forgets what is there.
void LabTrainer::settle_seed_checks() {
  size_t dropped = 0;
  std::erase_if(asked_, [&](SeedCheck& asked) {
    const auto shown = now_.entries();
    const auto at =
        std::ranges::find_if(shown, [&](LabEntry* entry) { return card_key(*entry) == asked.key; });
    const bool changed = at == shown.end();
    if (!changed) asked = seed_check(**at);  // with the budget and the backend of now
    size_t left = 0;
    for (const Wish& wish : asked.wishes) {
      if (Message why = wisher_.failure(wish); !why.empty()) message = std::move(why);
      left += !is_done(wish);
    }
    if (changed) dropped += left;
    return changed || left == 0;
  });
  if (dropped > 0)
    message = Message("{} reruns with other seeds are not made: their runs were changed", dropped);
}

/// The runs with other seeds that CheckSeeds asked for, seed by seed, so that every card soon has a band.
std::vector<Trainer::Request> LabTrainer::other_seeds() {
  std::vector<Trainer::Request> all;
  Backend* const device = backend_ == cpu_.get() ? nullptr : backend_;
  for (size_t i = 0; i < kOtherSeeds; ++i)
    for (const SeedCheck& asked : asked_) {
      const RunSpec& spec = asked.wishes[i].run().origin;
      all.push_back(
          {asked.wishes[i], task_for(spec.data), static_cast<int32_t>(i), device, estimated_bytes(spec)});
    }
  return all;
}

std::shared_ptr<const RunSpread> LabTrainer::spread_of_card(LabEntry& entry) const {
  card_key(entry);
  if (entry.spread_at == wisher_.ended()) return entry.spread;
  entry.spread_at = wisher_.ended();
  std::vector<std::shared_ptr<const RunRecord>> known;
  for (uint64_t i = 1; i <= kOtherSeeds; ++i)
    if (auto record = wisher_.find(with_other_seed(entry.run->identity(), i, *backend_)))
      known.push_back(std::move(record));
  // What was known once is shown as long as the run is this one, with a longer budget too.
  if (!entry.spread || static_cast<int32_t>(known.size()) > entry.spread->seeds)
    entry.spread = spread_of(known);
  return entry.spread;
}

/// Gives the trainer the time between two steps under a speed limit, and a share of the time at full speed.
void LabTrainer::train_beside(double trained_seconds) {
  const double spare =
      limit_ > 0 ? std::max(1.0 / limit_ - trained_seconds, 0.0) : kBesideShare * trained_seconds;
  beside_credit_ = std::min(beside_credit_ + spare, kMaxBesideCredit);
  if (beside_credit_ < kBesideAtOnce) return;
  const auto begin = Clock::now();
  wisher_.work_for(
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(beside_credit_)));
  beside_credit_ -= seconds_between(begin, Clock::now());
}

// ---- scores and looks, in portions between which commands are carried out

LabEntry* LabTrainer::unscored() const {
  for (LabEntry* entry : now_.entries())
    if (entry->unscored) return entry;
  return nullptr;
}

// Does at least one portion for a validated run, so that a stream of commands cannot keep it from its end.
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

namespace {

/// Trains a copy of a run again up to an earlier step, and then inquires into it. Each step is a part, so that newer
/// commands need not wait, and the view says how far it is.
class EarlierInquiry : public Inquiry {
 public:
  using Begin = decltype(session::Inquire::begin);
  EarlierInquiry(std::unique_ptr<Run> copy, int32_t step, Begin begin)
      : copy_(std::move(copy)), begin_(std::move(begin)), first_(copy_->steps_done()), step_(step) {
    copy_->measure_live(false);
  }
  bool next() override {
    if (then_) return then_->next();
    if (copy_->steps_done() < step_) {
      copy_->step();
      return true;
    }
    copy_->measure_live(true);
    Run& run = *copy_;
    then_ = begin_(run, std::move(copy_));
    return true;
  }
  size_t done() const override {
    return then_ ? steps() + then_->done() : static_cast<size_t>(copy_->steps_done() - first_);
  }
  size_t parts() const override { return steps() + (then_ ? then_->parts() : 1); }
  bool worth_showing() const override { return then_ && then_->worth_showing(); }
  bool holds() const override { return !then_ || then_->holds(); }
  std::shared_ptr<const InquiryResult> result() const override { return then_->result(); }

 private:
  size_t steps() const { return static_cast<size_t>(step_ - first_); }

  std::unique_ptr<Run> copy_;  ///< until the inquiry has it
  Begin begin_;
  int32_t first_, step_;
  std::unique_ptr<Inquiry> then_;
};

}  // namespace

void LabTrainer::serve(const session::Inquire& asked) {
  LabEntry& seen = entry(asked.run);
  const bool past = asked.step >= 0 && asked.step < seen.run->steps_done();
  const size_t copies = size_t{past} + static_cast<size_t>(asked.copies);
  if (copies > 0) make_room(std::vector<RunSpec>(copies, seen.run->spec()));
  if (!past && seen.run->state() == RunState::NonFinite)
    fail("inside", "the weights are not finite: expected a run that is");
  // Before steps are trained again for it, too, an inquiry that cannot be made is refused.
  seen.looking = asked.begin(*seen.run, nullptr);
  if (past)
    seen.looking = std::make_unique<EarlierInquiry>(seen.run->at(asked.step), asked.step, asked.begin);
  look_some(seen);
}

LabEntry* LabTrainer::looking() const {
  LabEntry* least = nullptr;
  for (LabEntry* entry : now_.entries())
    if (entry->looking && (!least || entry->looking->done() < least->looking->done())) least = entry;
  return least;
}

/// Measures at least one part, and as many more as take no time, up to a result.
void LabTrainer::look_some(LabEntry& seen) {
  constexpr auto kAtOnce = std::chrono::milliseconds(20);
  const auto until = Clock::now() + kAtOnce;
  try {
    do {
      if (!seen.looking->holds() || !seen.looking->next()) return seen.looking.reset();
    } while (!seen.looking->worth_showing() && Clock::now() < until);
    if (seen.looking->worth_showing()) seen.inquiry = seen.looking->result();
  } catch (...) {
    seen.looking.reset();
    throw;
  }
}

// ---- copies of a step

/// Trains a run that is not finite again up to the step before, since its present weights say nothing. It
/// does so in portions between which commands are served, and keeps the run for the next time.
void LabTrainer::serve(const session::PlayStep& asked, session::Ticket ticket) {
  replayed_ = -1;  // a newer request replaces the older one
  step_ticket_ = ticket;
  LabEntry& played = entry(asked.run);
  require_played(played);
  if (!played.broken() || !played.run->non_finite()) {
    hand_out(played, *played.run);
  } else if (earlier_ && earlier_key_ == key_of(*played.run)) {
    hand_out(played, *earlier_);
  } else {
    earlier_.reset();
    replayed_ = asked.run;
  }
}

/// Drops the former copy, and refuses a copy for which there is no memory.
void LabTrainer::require_played(const LabEntry& played) {
  played_.reset();
  const Run& run = *played.run;
  if (memory() == 0) return;  // the size is unknown
  const auto need = static_cast<int64_t>(played_bytes(run.spec(), run.task(), *cpu_));
  while (!has_room(need) && drop_kept()) continue;
  require_bytes("copying a step", need, held_bytes(), memory());
}

/// Trains a broken run again by a portion, up to its last step. True: the copy is handed out.
bool LabTrainer::replay(Clock::time_point until) {
  LabEntry& played = entry(replayed_);
  if (!played.broken() || !played.run->non_finite()) {  // the run was exchanged meanwhile
    hand_out(played, *played.run);
    return true;
  }
  const int32_t step = std::max(0, played.run->non_finite()->step - 1);
  if (!earlier_ || earlier_key_ != key_of(*played.run)) {
    earlier_ = played.run->at(step);
    earlier_key_ = key_of(*played.run);
  }
  while (earlier_->steps_done() < step && earlier_->state() != RunState::NonFinite) {
    if (Clock::now() >= until) return false;
    earlier_->step();
  }
  hand_out(played, *earlier_);
  return true;
}

void LabTrainer::replay_some() {
  try {
    if (!replay(Clock::now() + kReplayed)) return;
  } catch (const DeviceError&) {  // the replay begins again on the CPU
    earlier_.reset();
    throw;
  } catch (...) {
    earlier_.reset();
    message = describe_exception(session::PlayStep::doing());
    refuse(step_ticket_, message);
  }
  replayed_ = -1;
}

void LabTrainer::hand_out(LabEntry& played, const Run& at) {
  auto made = std::make_shared<PlayedStep>();
  made->letter = played.letter;
  made->generation = generation_;
  made->step = at.steps_done() + 1;
  made->spec = std::make_shared<const RunSpec>(at.spec());
  const std::vector<LabEntry*> all = now_.entries();
  if (played.forked_from >= 0 && static_cast<size_t>(played.forked_from) < all.size()) {
    const LabEntry& source = *all[static_cast<size_t>(played.forked_from)];
    made->source = source.letter;
    made->source_spec = std::make_shared<const RunSpec>(source.run->spec());
  }
  made->shape = at.task().shape(made->spec->seed, static_cast<uint64_t>(made->step), Split::Train,
                                made->spec->train.batch, made->spec->model.sequence);
  made->backend = make_cpu_backend(1);
  made->player = at.play_next(*made->backend);
  made->ticket = step_ticket_;
  played_ = std::move(made);
}

}  // namespace normscope

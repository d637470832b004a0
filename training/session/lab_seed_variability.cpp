// This part of LabTrainer answers "Is it luck?": reruns of the cards with other seeds train one step at a time when the
// live runs rest, and beside them for a share of their time. A rerun changes no bit of a live run, because it is a Run
// of its own on the same pool.
#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/session/lab_trainer.h"
#include "training/session/run_cache.h"

namespace normscope {
namespace {

constexpr uint64_t kSeeds = 4;
constexpr size_t kMostCards = 32;            // cards whose reruns are remembered; the oldest are dropped
constexpr double kShare = 0.25;              // of the training time, while the live runs play
constexpr double kMostCredit = 0.05;         // seconds; a command never waits longer
constexpr size_t kFrames = size_t{1} << 20;  // bytes of a rerun's frames; only its losses are read

// Takes each step over the reruns that reached it finite.
RunSpread spread_of(const std::vector<std::span<const float>>& runs) {
  RunSpread spread;
  spread.seeds = static_cast<int32_t>(runs.size());
  size_t longest = 0;
  for (const auto& losses : runs) longest = std::max(longest, losses.size());
  for (size_t i = 0; i < longest; ++i) {
    double sum = 0;
    int32_t count = 0;
    float low = 0, high = 0;
    for (const auto& losses : runs) {
      if (i >= losses.size() || !std::isfinite(losses[i])) continue;
      const float value = losses[i];
      low = count ? std::min(low, value) : value;
      high = count ? std::max(high, value) : value;
      sum += static_cast<double>(value);
      ++count;
    }
    if (count == 0) break;
    spread.mean.push_back(static_cast<float>(sum / count));
    spread.low.push_back(low);
    spread.high.push_back(high);
  }
  return spread;
}

}  // namespace

// Leaves the budget out, which changes nothing that is computed.
const std::string& LabTrainer::variability_key(LabEntry& entry) {
  const Run& run = *entry.run;
  if (!entry.key.empty() && entry.key_revision == run.revision()) return entry.key;
  RunSpec spec = run.origin();
  spec.train.steps = 1;
  entry.key_revision = run.revision();
  return entry.key = run_key(spec, run.past().all_edits());
}

const LabTrainer::SeedVariability* LabTrainer::find_variability(const std::string& key) const {
  const auto at = std::find_if(variability_.begin(), variability_.end(),
                               [&](const SeedVariability& luck) { return luck.key == key; });
  return at == variability_.end() ? nullptr : &*at;
}

void LabTrainer::add_variability(const std::string& key, uint64_t seed,
                                 std::shared_ptr<const FinishedRun> run) {
  if (!find_variability(key)) {
    if (variability_.size() >= kMostCards) variability_.erase(variability_.begin());
    variability_.push_back({key, {}, nullptr});
  }
  const auto luck = std::find_if(variability_.begin(), variability_.end(),
                                 [&](const SeedVariability& other) { return other.key == key; });
  luck->by_seed.insert_or_assign(seed, std::move(run));
  std::vector<std::span<const float>> losses;
  for (const auto& [number, one] : luck->by_seed) losses.emplace_back(one->losses);
  RunSpread spread = spread_of(losses);
  for (const auto& [number, one] : luck->by_seed)
    spread.each.push_back({number, std::shared_ptr<const std::vector<float>>(one, &one->losses)});
  luck->spread = std::make_shared<const RunSpread>(std::move(spread));
}

// Finds a rerun of this card with this budget or a longer one, or a finished run in the store.
bool LabTrainer::knows_variability(const Rerun& rerun) {
  if (const SeedVariability* luck = find_variability(rerun.key))
    if (const auto at = luck->by_seed.find(rerun.seed);
        at != luck->by_seed.end() &&
        (at->second->broken || at->second->losses.size() >= static_cast<size_t>(rerun.spec.train.steps)))
      return true;
  auto known = finished_->find(run_key(rerun.spec, rerun.edits));
  if (!known && options_.losses) {
    FinishedRun run;
    run.origin = rerun.spec;
    run.edits = rerun.edits;
    run.losses = options_.losses->find(run.origin, run.edits, task_for(run.origin.data)->hash(), *backend_);
    if (!run.losses.empty()) known = finished_->put(std::move(run));
  }
  if (!known) return false;
  add_variability(rerun.key, rerun.seed, std::move(known));
  return true;
}

// Goes seed by seed over all cards, so that every card soon has a band.
void LabTrainer::check_seeds() {
  if (now_.runs.empty()) fail("lab", "there is no run to do again with other seeds");
  cancel_seeds();
  for (uint64_t i = 1; i <= kSeeds; ++i)
    for (LabEntry* entry : now_.entries()) {
      const Run& run = *entry->run;
      Rerun rerun{variability_key(*entry), run.origin().seed + i, run.origin(), run.past().all_edits()};
      rerun.spec.seed = rerun.seed;
      const bool known =
          knows_variability(rerun) || std::any_of(reruns_.begin(), reruns_.end(), [&](const Rerun& other) {
            return other.key == rerun.key && other.seed == rerun.seed;
          });
      if (known) continue;
      seed_check_steps_ += rerun.spec.train.steps;
      reruns_.push_back(std::move(rerun));
    }
}

void LabTrainer::cancel_seeds() {
  reruns_.clear();
  rerun_.reset();
  seed_check_done_ = seed_check_steps_ = 0;
  seed_check_credit_ = 0;
}

void LabTrainer::drop_stale_reruns() {
  const auto stale = [this](const Rerun& rerun) {
    const auto all = now_.entries();
    return std::none_of(all.begin(), all.end(),
                        [&](LabEntry* entry) { return variability_key(*entry) == rerun.key; });
  };
  if (rerun_ && stale(reruns_.front())) {
    seed_check_done_ -= rerun_->steps_done();
    rerun_.reset();
  }
  const size_t before = reruns_.size();
  for (auto at = reruns_.begin(); at != reruns_.end();) {
    if (!stale(*at)) {
      ++at;
      continue;
    }
    seed_check_steps_ -= at->spec.train.steps;
    at = reruns_.erase(at);
  }
  if (const size_t dropped = before - reruns_.size(); dropped > 0)
    message = fmt::format("{} reruns with other seeds are not made: their runs were changed", dropped);
}

void LabTrainer::finish_rerun() {
  Rerun& done = reruns_.front();
  seed_check_done_ += done.spec.train.steps - rerun_->steps_done();
  const auto finished = finished_->put({rerun_->past()});
  if (options_.losses && !finished->broken)
    options_.losses->keep(done.spec, done.edits, rerun_->task().hash(), *backend_, finished->losses);
  add_variability(done.key, done.seed, finished);
  rerun_.reset();
  reruns_.erase(reruns_.begin());
}

void LabTrainer::seed_check_step() {
  drop_stale_reruns();
  if (reruns_.empty()) return cancel_seeds();
  try {
    if (!rerun_) {
      const Rerun& next = reruns_.front();
      rerun_ = std::make_unique<Run>(next.spec, task_for(next.spec.data), *backend_);
      rerun_->measure_live(false);
      rerun_->limit_bytes(kFrames, 0);
      rerun_->schedule_edits(next.edits);
    }
    rerun_->step();
    ++seed_check_done_;
    if (rerun_->non_finite() || rerun_->steps_done() >= reruns_.front().spec.train.steps) finish_rerun();
    if (reruns_.empty()) cancel_seeds();
  } catch (const DeviceError&) {  // such an error concerns all runs
    throw;
  } catch (...) {  // the live runs go on
    message = describe_exception("reruns with other seeds");
    cancel_seeds();
  }
}

// Uses the time between two steps under a speed limit, and a share of the time at full speed.
void LabTrainer::check_seeds_beside(double trained_seconds) {
  const double spare = limit_ > 0 ? std::max(1.0 / limit_ - trained_seconds, 0.0) : kShare * trained_seconds;
  seed_check_credit_ = std::min(seed_check_credit_ + spare, kMostCredit);
  while (seed_check_credit_ > 0 && !reruns_.empty()) {
    const auto begin = Clock::now();
    seed_check_step();
    seed_check_credit_ -= std::chrono::duration<double>(Clock::now() - begin).count();
  }
}

}  // namespace normscope

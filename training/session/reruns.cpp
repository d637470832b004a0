#include "training/session/reruns.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/core/boundary.h"
#include "engine/core/error.h"

namespace normscope {
namespace {

constexpr size_t kMostCards = 32;            // cards whose reruns are remembered; the oldest are dropped
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

Reruns::Reruns(std::shared_ptr<RunCache> finished, Tasks task_for)
    : finished_(std::move(finished)), task_for_(std::move(task_for)) {}

std::string Reruns::key_of(const Run& run) {
  RunIdentity identity = run.identity();
  identity.origin.train.steps = 1;
  return identity.key();
}

std::shared_ptr<const RunSpread> Reruns::spread(const std::string& key) const {
  const auto at = std::ranges::find(known_, key, &Seeds::key);
  return at == known_.end() ? nullptr : at->spread;
}

void Reruns::add(const Rerun& rerun, std::shared_ptr<const RunRecord> run) {
  auto card = std::ranges::find(known_, rerun.key, &Seeds::key);
  if (card == known_.end()) {
    if (known_.size() >= kMostCards) known_.erase(known_.begin());
    card = known_.insert(known_.end(), {rerun.key, {}, nullptr});
  }
  card->by_seed.insert_or_assign(rerun.seed, std::move(run));
  std::vector<std::span<const float>> losses;
  for (const auto& [number, one] : card->by_seed) losses.emplace_back(one->losses);
  RunSpread spread = spread_of(losses);
  for (const auto& [number, one] : card->by_seed)
    spread.each.push_back({number, std::shared_ptr<const std::vector<float>>(one, &one->losses)});
  card->spread = std::make_shared<const RunSpread>(std::move(spread));
}

// Finds a rerun of this card with this budget or a longer one, or a finished run in the store.
bool Reruns::knows(const Rerun& rerun) {
  if (const auto card = std::ranges::find(known_, rerun.key, &Seeds::key); card != known_.end())
    if (const auto at = card->by_seed.find(rerun.seed);
        at != card->by_seed.end() &&
        (at->second->broken || at->second->losses.size() >= static_cast<size_t>(rerun.spec.train.steps)))
      return true;
  auto known = finished_->find(RunIdentity{rerun.spec, rerun.edits, {}}.key());
  if (!known) return false;
  add(rerun, std::move(known));
  return true;
}

std::vector<Reruns::Rerun> Reruns::unknown(const std::vector<Card>& cards) {
  std::vector<Rerun> all;
  for (uint64_t i = 1; i <= kSeeds; ++i)
    for (const auto& [key, run] : cards) {
      Rerun rerun{key, run->origin().seed + i, run->origin(), run->identity().all_edits()};
      rerun.spec.seed = rerun.seed;
      const bool known = knows(rerun) || std::ranges::any_of(all, [&](const Rerun& other) {
                           return other.key == rerun.key && other.seed == rerun.seed;
                         });
      if (!known) all.push_back(std::move(rerun));
    }
  return all;
}

void Reruns::ask(const std::vector<Card>& cards) {
  cancel();
  queue_ = unknown(cards);
  for (const Rerun& rerun : queue_) steps_ += rerun.spec.train.steps;
}

void Reruns::cancel() {
  queue_.clear();
  now_.reset();
  done_ = steps_ = 0;
}

void Reruns::leave() {
  if (now_) done_ -= now_->steps_done();
  now_.reset();
}

size_t Reruns::drop_stale(const std::vector<std::string>& keys) {
  const auto stale = [&](const Rerun& rerun) { return std::ranges::find(keys, rerun.key) == keys.end(); };
  if (now_ && stale(queue_.front())) leave();
  for (const Rerun& rerun : queue_)
    if (stale(rerun)) steps_ -= rerun.spec.train.steps;
  return std::erase_if(queue_, stale);
}

void Reruns::finish() {
  const Rerun& rerun = queue_.front();
  done_ += rerun.spec.train.steps - now_->steps_done();
  const auto finished = finished_->put(now_->record(false));
  add(rerun, finished);
  now_.reset();
  queue_.erase(queue_.begin());
}

Message Reruns::step(const std::vector<std::string>& keys, Backend& backend) {
  Message says;
  if (const size_t dropped = drop_stale(keys); dropped > 0)
    says = Message("{} reruns with other seeds are not made: their runs were changed", dropped);
  try {
    if (!now_ && waiting()) {
      const Rerun& next = queue_.front();
      now_ = std::make_unique<Run>(next.spec, task_for_(next.spec.data), backend);
      now_->measure_live(false);
      now_->limit_bytes(kFrames, 0);
      now_->schedule_edits(next.edits);
    }
    if (now_) {
      now_->step();
      ++done_;
      if (now_->non_finite() || now_->steps_done() >= queue_.front().spec.train.steps) finish();
    }
    if (!waiting()) cancel();
  } catch (const DeviceError&) {  // such an error concerns all runs
    throw;
  } catch (...) {  // the live runs go on
    cancel();
    return describe_exception("reruns with other seeds");
  }
  return says;
}

}  // namespace normscope

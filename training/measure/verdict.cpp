#include "training/measure/verdict.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/model/model_config.h"

namespace normscope {
namespace {

double mean_of(std::span<const float> losses) {
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

double variance_of(std::span<const float> losses) {
  const double mean = mean_of(losses);
  double sum = 0;
  for (const float loss : losses)
    sum += (static_cast<double>(loss) - mean) * (static_cast<double>(loss) - mean);
  return sum / static_cast<double>(losses.size());
}

}  // namespace

double Plateau::mean() const {
  const int32_t known = std::min(count_, kWindow);
  if (known == 0) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (int32_t i = 0; i < known; ++i) sum += window_[static_cast<size_t>(i)];
  return sum / known;
}

std::optional<RunEvent::Kind> Plateau::update(int32_t step, double loss, double level, int32_t warmup,
                                              std::span<const float> losses) {
  window_[static_cast<size_t>(count_ % kWindow)] = loss;
  ++count_;
  if (!decided()) return std::nullopt;
  const bool was_stuck = stuck_, was_learning = learning_since_ > 0;
  const bool below = mean() < level - (was_learning ? kReturn : kMargin);
  const auto stays = [&] {
    const auto own = losses.last(std::min(losses.size(), static_cast<size_t>(count_)));
    return count_ > kPatience && step > warmup && !falling() && !is_slow(own, level);
  };
  stuck_ = !below && (was_stuck || stays());
  if (count_ % kWindow == 0) blocks_[static_cast<size_t>(count_ / kWindow % kBlocks)] = mean();
  if (below && !was_learning) learning_since_ = step;
  if (!below) learning_since_ = 0;
  if (stuck_ && !was_stuck) return RunEvent::Kind::Stuck;
  if (was_stuck && !stuck_) return RunEvent::Kind::Unstuck;
  if (below && !was_learning) return RunEvent::Kind::LeftPlateau;
  if (!below && was_learning) return RunEvent::Kind::Returned;
  return std::nullopt;
}

bool Plateau::began_below(double level) const {
  return count_ == kWindow &&
         std::ranges::all_of(window_, [&](double loss) { return loss < level - kMargin; });
}

// Compares with the oldest block that is remembered; an unknown block is 0, below any loss.
bool Plateau::falling() const {
  return mean() < blocks_[static_cast<size_t>((count_ / kWindow + 1) % kBlocks)] - kFall;
}

void Plateau::begin_anew() {
  const int32_t since = learning_since_;
  *this = {};
  learning_since_ = since;
}

void Plateau::restore(const State& state) {
  window_ = state.window;
  count_ = state.count;
  stuck_ = state.stuck;
  learning_since_ = state.learning_since;
  blocks_ = state.blocks;
}

bool is_slow(std::span<const float> losses, double level) {
  constexpr size_t kMost = 100, kWindow = Plateau::kWindow;
  const size_t quarter = std::min(kMost, losses.size() / 4);
  if (quarter < kWindow) return false;
  const auto before = losses.last(2 * quarter).first(quarter), last = losses.last(quarter);
  const double fall = mean_of(before) - mean_of(last), count = static_cast<double>(quarter);
  const double noise = std::sqrt((variance_of(before) + variance_of(last)) / count);
  if (!(fall > std::max(Plateau::kFall * count / kMost, 2 * noise))) return false;
  double sum = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    sum += static_cast<double>(losses[i]);
    if (i >= kWindow) sum -= static_cast<double>(losses[i - kWindow]);
    if (i + 1 >= kWindow && !(sum / kWindow > level + Plateau::kMargin / 2)) return false;
  }
  return true;
}

// Without data, which bring their symbols, it is unknown: NaN, above which no loss is.
double guessing_loss(const ModelConfig& model) {
  const int32_t choices = model.classes > 0 ? model.classes : model.vocabulary;
  return choices > 0 ? std::log(static_cast<double>(choices)) : std::numeric_limits<double>::quiet_NaN();
}

Verdict judge(Verdict told, std::span<const float> losses, const Yardstick& by) {
  if (told == Verdict::NotFinite || losses.empty()) return told;
  const double loss = mean_of(losses.last(std::min(losses.size(), size_t{Plateau::kEnd})));
  if (!std::isfinite(loss)) return {Verdict::NotFinite};
  const bool stuck = told == Verdict::Stuck;
  const bool late = by.ended && losses.size() > static_cast<size_t>(Plateau::kPatience);
  if (told == Verdict::Learns || (!stuck && !(late && std::isfinite(by.level)))) return told;
  const bool slow = late && loss < static_cast<double>(losses.front()) && is_slow(losses, by.level);
  if (slow) return {Verdict::TooSlow};
  const double start = mean_of(losses.first(std::min(losses.size(), size_t{Plateau::kWindow})));
  const bool moved = std::abs(loss - start) > Plateau::kMargin;
  if (loss > by.guessing && moved) return {Verdict::Diverges, told.since};
  return stuck ? told : Verdict{Verdict::Stuck};
}

Verdict verdict_of(std::span<const RunEvent> events, int32_t step) {
  using Kind = Verdict::Kind;
  Verdict verdict;
  for (const RunEvent& event : events) {
    if (event.step > step || verdict.kind == Kind::NotFinite) continue;
    switch (event.kind) {
      case RunEvent::Kind::LeftPlateau:
      case RunEvent::Kind::BeganBelow:
      case RunEvent::Kind::Unstuck:
        verdict = {Kind::Learns, event.step, event.text};
        break;
      case RunEvent::Kind::Returned:
        verdict = {Kind::Returned, event.step, {}};
        break;
      case RunEvent::Kind::Stuck:
        verdict = {Kind::Stuck, event.step, event.text};
        break;
      case RunEvent::Kind::NonFinite:
        verdict = {Kind::NotFinite, event.step, event.text};
        break;
      default:
        break;
    }
  }
  return verdict;
}

bool began_below(std::span<const RunEvent> events, int32_t step) {
  const Verdict verdict = verdict_of(events, step);
  return verdict == Verdict::Learns && std::ranges::any_of(events, [&](const RunEvent& event) {
           return event.step == verdict.since && event.kind == RunEvent::Kind::BeganBelow;
         });
}

std::vector<RunEvent> events_of(const Series& loss, double level, int32_t warmup) {
  std::vector<RunEvent> events;
  Plateau plateau;
  for (size_t i = 0; i < loss.steps.size(); ++i) {
    const int32_t step = loss.steps[i];
    if (!std::isfinite(loss.values[i])) {
      events.push_back({step, RunEvent::Kind::NonFinite, {}});
      break;
    }
    if (!std::isfinite(level)) continue;
    const auto so_far = std::span(loss.values).first(i + 1);
    if (const auto kind = plateau.update(step, static_cast<double>(loss.values[i]), level, warmup, so_far))
      events.push_back({step, *kind, {}});
  }
  return events;
}

Message to_string(const Verdict& verdict) {
  if (verdict.kind == Verdict::Learns) return Message("learns since step {}", verdict.since);
  if (verdict.kind == Verdict::Returned) return Message("returned at step {}", verdict.since);
  if (verdict.kind == Verdict::NotFinite) return Message("not finite at step {}", verdict.since);
  return word_of(verdict.kind);
}

void Verdicts::add(const Verdict& verdict) {
  ++counts_[static_cast<size_t>(verdict.kind)];
  ++seeds_;
  if (verdict != Verdict::Learns) return;
  since_.insert(std::ranges::upper_bound(since_, verdict.since), verdict.since);
}

int32_t Verdicts::since() const { return since_.empty() ? 0 : since_[(since_.size() - 1) / 2]; }

std::optional<Verdict::Kind> Verdicts::shared() const {
  const std::optional<Verdict::Kind> first = foremost();
  if (first && all(*first)) return first;
  const int32_t broken = count(Verdict::Diverges) + count(Verdict::NotFinite);
  return seeds_ > 0 && broken == seeds_ ? std::optional(Verdict::Diverges) : std::nullopt;
}

std::optional<Verdict::Kind> Verdicts::foremost() const {
  using enum Verdict::Kind;
  for (const Verdict::Kind kind : {Learns, Stuck, TooSlow, Diverges, NotFinite, Returned, Undecided, Failed})
    if (count(kind) > 0) return kind;
  return std::nullopt;
}

Message to_string(const Verdicts& verdicts) {
  const std::optional<Verdict::Kind> kind = verdicts.foremost();
  if (!kind) return {};
  const int32_t since = verdicts.since();
  const Message word(word_of(*kind));
  if (verdicts.seeds() == 1) return since > 0 ? to_string(Verdict{*kind, since}) : word;
  if (since > 0)
    return Message("{} in {} of {} seeds, at step {} (median)", word, verdicts.count(*kind), verdicts.seeds(),
                   since);
  return Message("{} in {} of {} seeds", word, verdicts.count(*kind), verdicts.seeds());
}

}  // namespace normscope

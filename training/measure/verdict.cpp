#include "training/measure/verdict.h"

#include <algorithm>

namespace normscope {

double Plateau::mean() const {
  const int32_t known = std::min(count_, kWindow);
  if (known == 0) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (int32_t i = 0; i < known; ++i) sum += window_[static_cast<size_t>(i)];
  return sum / known;
}

std::optional<RunEvent::Kind> Plateau::update(int32_t step, double loss, double level, int32_t warmup) {
  window_[static_cast<size_t>(count_ % kWindow)] = loss;
  ++count_;
  if (!decided()) return std::nullopt;
  const bool was_stuck = stuck_, was_learning = learning_since_ > 0;
  const bool below = mean() < level - (was_learning ? kReturn : kMargin);
  stuck_ = !below && (was_stuck || (count_ > kPatience && step > warmup && !falling()));
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

Verdict verdict_of(std::span<const RunEvent> events, int32_t step) {
  using Kind = Verdict::Kind;
  Verdict verdict;
  for (const RunEvent& event : events) {
    if (event.step > step || verdict.kind == Kind::NotFinite) continue;
    switch (event.kind) {
      case RunEvent::Kind::LeftPlateau:
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

// Files keep an event's kind and text, so this text is what tells it from leaving the plateau.
bool began_below(const RunEvent& event) {
  return event.kind == RunEvent::Kind::LeftPlateau && event.text == kBeganBelow;
}

bool began_below(std::span<const RunEvent> events, int32_t step) {
  const Verdict verdict = verdict_of(events, step);
  return verdict == Verdict::Learns && std::ranges::any_of(events, [&](const RunEvent& event) {
           return event.step == verdict.since && began_below(event);
         });
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

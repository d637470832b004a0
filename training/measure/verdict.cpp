#include "training/measure/verdict.h"

#include <fmt/format.h>

#include <charconv>

namespace normscope {

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
        verdict = {Kind::Undecided, event.step, {}};
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
  return verdict.kind == Verdict::Learns && verdict.where == kBeganBelow;
}

std::string to_string(const Verdict& verdict) {
  const std::string_view word = word_of(verdict.kind);
  if (verdict.kind == Verdict::Learns) return fmt::format("{} since step {}", word, verdict.since);
  if (verdict.kind == Verdict::NotFinite) return fmt::format("{} at step {}", word, verdict.since);
  return std::string(word);
}

std::optional<Verdict> verdict_from(std::string_view text) {
  for (size_t kind = 0; kind < static_cast<size_t>(Verdict::Failed); ++kind) {
    if (!text.starts_with(kVerdictWords[kind])) continue;
    Verdict verdict{static_cast<Verdict::Kind>(kind)};
    const std::string_view last = text.substr(text.rfind(' ') + 1);
    std::from_chars(last.data(), last.data() + last.size(), verdict.since);
    return verdict;
  }
  return std::nullopt;
}

}  // namespace normscope

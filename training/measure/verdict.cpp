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
  return verdict.kind == Verdict::Kind::Learns && verdict.where == kBeganBelow;
}

std::string_view word_of(Verdict::Kind kind) {
  constexpr std::string_view kWords[] = {"not decided", "learns", "stuck", "diverges", "not finite"};
  return kWords[static_cast<size_t>(kind)];
}

Message to_string(const Verdict& verdict) {
  if (verdict.kind == Verdict::Kind::Learns) return Message("learns since step {}", verdict.since);
  if (verdict.kind == Verdict::Kind::NotFinite) return Message("not finite at step {}", verdict.since);
  return word_of(verdict.kind);
}

std::optional<Verdict> verdict_from(std::string_view text) {
  using Kind = Verdict::Kind;
  for (const Kind kind : {Kind::Undecided, Kind::Learns, Kind::Stuck, Kind::Diverges, Kind::NotFinite}) {
    if (!text.starts_with(word_of(kind))) continue;
    Verdict verdict{kind};
    const std::string_view last = text.substr(text.rfind(' ') + 1);
    std::from_chars(last.data(), last.data() + last.size(), verdict.since);
    return verdict;
  }
  return std::nullopt;
}

}  // namespace normscope

#include "training/measure/verdict.h"

#include <fmt/format.h>

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
  return verdict.kind == Verdict::Kind::Learns && verdict.what == kBeganBelow;
}

std::string to_string(const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::Learns:
      return fmt::format("learns since step {}", verdict.since);
    case Verdict::Kind::Stuck:
      return "stuck";
    case Verdict::Kind::NotFinite:
      return fmt::format("not finite at step {}", verdict.since);
    case Verdict::Kind::Undecided:
      break;
  }
  return "not decided";
}

}  // namespace normscope

// `Verdict` is the verdict on a run from its events: the one rule behind the word in a table, in a log and on the
// card of a run seen at an earlier step. It is a function of the events alone, so that a saved history gives the same
// verdict as the run that wrote it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "training/measure/history.h"

namespace normscope {

struct Verdict {
  enum class Kind : uint8_t {
    Undecided,  ///< none of the others yet
    Learns,     ///< its mean loss left the level of symbol frequencies downward (measure/plateau.h)
    Stuck,      ///< it stayed there
    Diverges,   ///< its loss is finite, but at the end worse than guessing; only studies tell it from Stuck
    NotFinite,
    Failed  ///< it could not be trained: only of a study
  };
  using enum Kind;
  Kind kind = Kind::Undecided;
  int32_t since = 0;    ///< the step at which that began; for Undecided, of its return to the level, or 0
  std::string where{};  ///< as the event words it: "stuck at letter frequencies"; of NotFinite the tensor
  bool operator==(Kind other) const { return kind == other; }
};
/// The words of every table, log and cell.
inline constexpr std::string_view kVerdictWords[] = {"not decided", "learns",     "stuck",
                                                     "diverges",    "not finite", "failed"};
inline std::string_view word_of(Verdict::Kind kind) { return kVerdictWords[static_cast<size_t>(kind)]; }

/// The verdict after `step`; without one, at the end. A run that was stuck and then left the plateau
/// learns from that step on (Unstuck); a run that came back to it is undecided again; a run that is not finite stays
/// so.
Verdict verdict_of(std::span<const RunEvent> events, int32_t step = std::numeric_limits<int32_t>::max());

inline Verdict verdict_of(const History& history, int32_t step = std::numeric_limits<int32_t>::max()) {
  return verdict_of(history.events(), step);
}

/// What the event of a run says that learned from its first step on, and never was on the plateau.
inline constexpr const char* kBeganBelow = "began below the plateau";
bool began_below(std::span<const RunEvent> events, int32_t step = std::numeric_limits<int32_t>::max());

/// "learns since step 46", "stuck", "not finite at step 23", "not decided".
std::string to_string(const Verdict& verdict);
/// Reads such a text; nothing for any other.
std::optional<Verdict> verdict_from(std::string_view text);

}  // namespace normscope

// How far a lesson's claims reach, in words: what `lesson limits --write` kept beside the lesson, limits.md, read back.
// Called by the player, which shows it below the claim. The numbers are those of the table, and none is typed in a text.
#pragma once

#include <string>
#include <vector>

#include "app/course/lesson.h"

namespace normscope::course {

/// One setting of the table: what its cells say of the effect's measures, in their order.
struct Reach {
  struct Cell {
    std::string text;  ///< "−1.1 nats, −1.4 nats to −0.95 nats, 0 of 5 hold"
    bool holds = true;
  };
  std::string setting;  ///< "width 32"
  std::vector<Cell> cells;
  bool holds() const;
};
/// Of limits.md, without the lesson's own setting; empty where there is none. Throws Error with file and line for a table
/// that is not of this lesson's effect: it is measured again then.
std::vector<Reach> load_reach(const Lesson& lesson);
/// The same of a table in memory; `file` stands for it.
std::vector<Reach> parse_reach(const Lesson& lesson, const std::string& table, const std::string& file);

/// What limits.md says of the table as a whole, a line above it: how it was measured where that is not as the lesson is.
/// Empty: nothing.
std::string load_reach_note(const Lesson& lesson);
/// The same of a page in memory.
std::string reach_note(const std::string& page);

/// "It also holds with: width 128, another text." Then a sentence for each setting in which something did not hold,
/// with what the check needs and what was measured there. In the lesson's language.
std::vector<std::string> reach_words(const Lesson& lesson, const std::vector<Reach>& all);

}  // namespace normscope::course

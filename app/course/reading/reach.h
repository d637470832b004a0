// The reach of a lesson says in words how far its claims hold: at other widths, depths, budgets and on another text, as
// limits.md beside the lesson has it. The player shows it below the claim. Every number comes from the table; none is
// typed into a text.
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
/// Reads limits.md and leaves out the lesson's own setting; it is empty where there is no file. Throws an
/// Error with file and line for a table that is not of this lesson's effect and must be measured again.
std::vector<Reach> load_reach(const Lesson& lesson);
/// `parse_reach` does the same for a table in memory; `file` is its name for messages.
std::vector<Reach> parse_reach(const Lesson& lesson, const std::string& table, const std::string& file);

/// Says in the language of the course what bands and tables say in English: "−0.1 to 0.1", "at least 2".
std::string claim_in_words(const Lesson& lesson, std::string text);
/// Says "It also holds with: width 128, another text." Then comes a sentence for each setting in which
/// something did not hold, with what the check needs and what was measured there. All in the lesson's language.
std::vector<std::string> reach_words(const Lesson& lesson, const std::vector<Reach>& all);

}  // namespace normscope::course

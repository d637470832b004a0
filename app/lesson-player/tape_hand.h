// A user runs the instructions of a lesson's tapes forward and backward, one at a time by a button or an arrow
// key. A tape is shown as a table, or as a network that follows one number through it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "app/course/tapes.h"
#include "app/ui/ui.h"

namespace normscope::lessons {

struct LessonContext;

class TapeHand {
 public:
  void draw(ui::Ui& ui, ui::Rect rect, LessonContext& context, const course::Figure& figure);
  /// Whether instructions are left that the user may run; false for a figure without a tape.
  bool left(const LessonContext& context, const course::Figure& figure);
  /// Leaves each tape as its run does, even where the user has not gone through it.
  void run_all(const course::Lesson& lesson);
  void rewind() { done_.clear(); }

 private:
  const course::TapeTable& table(const LessonContext& context, const course::Figure& figure);
  static size_t end(const LessonContext& context, const course::TapeTable& table);
  void move(const LessonContext& context, const course::Figure& figure, int by);

  std::map<std::string, size_t> done_;  ///< by tape: its instructions that were run
  std::optional<course::TapeTable> table_;
  std::tuple<std::string, size_t, course::Changes>
      table_of_;  ///< the tape, its instructions that were run, changes
  Message error_;
};

}  // namespace normscope::lessons

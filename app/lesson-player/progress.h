// The progress is what the learner has done: predictions, how they compared, what is finished. It is one JSON file in
// the user's data folder, written atomically after every change. A file that cannot be read is stashed, never
// overwritten.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/course/check.h"
#include "app/course/lesson.h"
#include "engine/core/error.h"

namespace normscope::lesson_player {

/// A prediction and what came of it, in numbers and in words. The words follow from the numbers (verdict.h).
struct JudgedPrediction {
  bool skipped = false;               ///< the prediction was skipped
  std::vector<std::string> order;     ///< Order: ids of the cards
  double value = 0;                   ///< Value; Draw: y at the curve's end
  std::vector<double> found;          ///< what was measured: one number, or one for each card; empty: not yet
  bool own_setting = false;           ///< it was measured with a setting of the learner's
  std::string said, measured, score;  ///< "100 steps", "50 steps", "2× too long"
  bool operator==(const JudgedPrediction&) const = default;
};

struct LessonProgress : JudgedPrediction {
  int step = 0;            ///< the furthest step reached, 0 Predict .. 3 Explain
  bool committed = false;  ///< the prediction is locked
  bool done = false;
  std::vector<double> drawn;  ///< Draw: y at the curve's x
  JudgedPrediction first;     ///< the first prediction, once there is a second
  std::string language;       ///< of the words
  std::vector<std::string>
      words;  ///< by sentence to complete, the word said last (Say::kept); empty: not yet
  std::vector<course::Try> tries;  ///< trainings of the challenge, each setting once
  int hints = 0;                   ///< hints of the challenge that were taken
  bool operator==(const LessonProgress&) const = default;
};

using CourseProgress = std::map<std::string, LessonProgress>;  ///< by lesson

/// Names the file in messages by `name`. Throws Error for damaged text and for values out of range.
CourseProgress parse_progress(std::string_view text, const std::string& name);

/// What parse_progress reads; an indentation of −1 makes it one line.
std::string text_of(const CourseProgress& lessons, int indentation);

/// One line of JSON: of every lesson with a prediction what was said and measured, and the sentences,
/// without drawings and trainings.
std::string predictions_line(const CourseProgress& progress);

class Progress {
 public:
  /// XDG_DATA_HOME/normscope/lessons.json, else ~/.local/share/normscope/lessons.json.
  static std::string default_path();
  /// With an empty path it is kept in memory only.
  explicit Progress(std::string path);

  LessonProgress& of(const std::string& lesson) { return lessons_[lesson]; }
  /// Returns null where nothing was done.
  const LessonProgress* find(const std::string& lesson) const {
    const auto it = lessons_.find(lesson);
    return it == lessons_.end() ? nullptr : &it->second;
  }
  const CourseProgress& all() const { return lessons_; }
  const std::string& path() const { return path_; }  ///< empty: nothing is kept
  /// What was wrong with the file; it is empty when nothing was.
  const Message& notice() const { return notice_; }
  /// Turns a failure into a notice, as it must not stop a lesson.
  void save();

 private:
  void load();
  std::string path_;
  Message notice_;
  CourseProgress lessons_;
};

// The verdict is a prediction beside what was measured, in words. Only the numbers are certain: the words are said anew
// for who goes on in another language, or gathers the predictions of a class.

/// Whether a score, in English or in the language of `words`, means that the prediction was right.
bool is_right(const std::string& score, const course::Words& words = words::language("en"));

/// What was measured of what a lesson asks for: one number, or in an order one a card. It is empty where the
/// curve to be drawn was not measured.
std::vector<double> found_of(const course::Lesson& lesson, const course::CurveSet& curves);

/// Says in the lesson's language what was said and measured and how far apart they are, and returns the faults
/// of the answer (course/lesson.h). Without numbers, or with numbers of other cards, the words stay as they were.
std::vector<std::string> put_in_words(const course::Lesson& lesson, const course::Results* seeds,
                                      JudgedPrediction& told);

/// Says what is right about an answer that is not: the sign of a number, the direction of a drawing, and where
/// they were at stake their order of magnitude. It is empty where nothing of this is, or all.
std::string right_in_words(const course::Lesson& lesson, const course::Results* seeds,
                           const JudgedPrediction& told);

/// Does so for all that was kept of a lesson in another language.
void say_anew(const course::Lesson& lesson, LessonProgress& progress);

}  // namespace normscope::lesson_player

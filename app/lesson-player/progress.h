// The progress is what the learner has done: predictions, how they compared, what is finished. It is one JSON file in
// the user's data folder, written atomically after every change. A file that cannot be read is stashed, never
// overwritten.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/course/check.h"
#include "app/course/lesson.h"
#include "engine/core/error.h"

namespace normscope::lesson_player {

/// How a prediction compares with what was measured; Within lies between the five seeds of the course. Right is an order.
enum class Grade : uint8_t { None, Exact, Close, Within, Right, Wrong };

/// A prediction and its measured result, in numbers and in words. put_in_words() makes the words from the numbers.
struct JudgedPrediction {
  bool skipped = false;               ///< the prediction was skipped
  std::vector<std::string> order;     ///< Order: ids of the cards
  double value = 0;                   ///< Value; Draw: y at the curve's end
  std::vector<double> found;          ///< what was measured: one number, or one for each card; empty: not yet
  bool own_setting = false;           ///< `found` was measured with a setting of the learner's
  Grade grade = Grade::None;          ///< None: not compared, or by a version that kept only the words
  std::string said, measured, score;  ///< "100 steps", "50 steps", "2× too long"
  bool operator==(const JudgedPrediction&) const = default;
};

inline constexpr size_t kLongestSentence = 500;  ///< bytes

struct LessonProgress : JudgedPrediction {
  int step = 0;            ///< the furthest step reached, 0 Predict .. 3 Explain
  bool committed = false;  ///< the prediction is locked
  bool done = false;
  std::vector<double> drawn;       ///< Draw: y at the curve's x
  JudgedPrediction first;          ///< the first prediction, once there is a second
  std::string language;            ///< language of said, measured and score
  std::string answer;              ///< to the case at the end, in English (Case::kept); empty: none yet
  std::string sentence;            ///< why, in the learner's own words, up to kLongestSentence
  std::vector<course::Try> tries;  ///< trainings of the challenge, each setting once
  int hints = 0;                   ///< hints of the challenge that were taken
  bool operator==(const LessonProgress&) const = default;
};

using CourseProgress = std::map<std::string, LessonProgress>;  ///< by lesson

/// Names the file in messages by `name`. Throws Error for damaged text and for values out of range.
CourseProgress parse_progress(std::string_view text, const std::string& name);

/// The JSON that parse_progress() reads; an indentation of −1 makes it one line.
std::string text_of(const CourseProgress& lessons, int indentation);

/// One line of JSON with the predictions, the measured results, the answer to the case and the learner's own sentence of
/// every lesson, without drawings and trainings.
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
  /// Why the file could not be read or written; empty: nothing failed.
  const Message& notice() const { return notice_; }
  /// Turns a failure into a notice, as it must not stop a lesson.
  void save();

 private:
  void load();
  std::string path_;
  Message notice_;
  CourseProgress lessons_;
};

// The verdict compares a prediction with the measured result, in words. Only the numbers are permanent: the words are
// made anew when the course goes on in another language, or when a teacher gathers the predictions of a class.

/// Whether the learner has come to Compare, the page that tells the result.
inline bool is_told(const LessonProgress& progress) {
  return progress.step >= static_cast<int>(course::StepKind::Compare);
}

inline bool is_right(Grade grade) { return grade != Grade::None && grade != Grade::Wrong; }

/// The measured answer to a lesson's prediction: one number, or for an order one per card. Empty if the curve to draw
/// was not measured.
std::vector<double> found_of(const course::Lesson& lesson, const course::CurveSet& curves);

/// The measured order of a lesson's cards, from the smallest number to the largest.
struct MeasuredOrder {
  std::vector<const course::Prediction::Card*> cards;
  std::vector<std::pair<size_t, size_t>>
      decided;       ///< places of two cards whose order counts, the lower first
  std::string note;  ///< which cards are alike, or change places between seeds
};
/// Empty where `found` is not of the lesson's cards.
MeasuredOrder measured_order(const course::Lesson& lesson, const course::Results* seeds,
                             const JudgedPrediction& told);
/// The cards of a kept order; empty if another version of the lesson kept it.
std::vector<const course::Prediction::Card*> said_order(const course::Lesson& lesson,
                                                        const JudgedPrediction& told);

/// Fills in grade, said, measured and score of `told` in the lesson's language, and returns the faults of the answer
/// (possible_faults() in course/lesson.h). If `found` is empty or of other cards, the words stay as they were.
std::vector<std::string> put_in_words(const course::Lesson& lesson, const course::Results* seeds,
                                      JudgedPrediction& told);

/// States what is right about a wrong answer: the sign of a number or the direction of a drawing, and the order of
/// magnitude if the question left it open. Empty if none of these is right, or if the answer is.
std::string right_in_words(const course::Lesson& lesson, const course::Results* seeds,
                           const JudgedPrediction& told);

/// Calls put_in_words() for both kept predictions of a lesson if their words are in another language, or if a grade is
/// missing beside a score.
void say_anew(const course::Lesson& lesson, LessonProgress& progress);

}  // namespace normscope::lesson_player

// The results of the learner's runs, kept between starts: one file per measurement in the folder of
// the progress, named after everything that decides it (the lesson's definition, the learner's settings, the seed, the
// program's version). A file that is damaged or belongs to something else counts as missing: it is measured again and
// overwritten.
#pragma once

#include <optional>
#include <string>

#include "app/lesson-player/worker.h"

namespace normscope::lessons {

class SavedCurves {
 public:
  /// An empty folder keeps nothing.
  explicit SavedCurves(std::string folder = "") : folder_(std::move(folder)) {}

  /// The folder lessons/ beside the file of the progress; it is empty when the progress is kept in memory only.
  static std::string folder_beside(const std::string& progress_path);

  std::optional<MeasureState> load(const course::Lesson& lesson, const course::Changes& changes) const;
  /// A failure does no harm: the measurement is then repeated next time. Only the newest few of a lesson are
  /// kept.
  void save(const course::Lesson& lesson, const MeasureState& state) const;

 private:
  std::string path_of(const course::Lesson& lesson, const course::Changes& changes) const;
  void thin_out(const course::Lesson& lesson) const;

  std::string folder_;
};

}  // namespace normscope::lessons

// The trainings that a lesson's measurement still needs, in a unit in which equal amounts take about equally long: the
// multiplications of their steps. Curves tell nothing of the time, because one training may give twenty of them. Fresh
// models that are only built are not counted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/course/curves.h"

namespace normscope::lesson_player {

/// The runs that are trained to their end for a curve.
std::vector<experiments::StudyRun> runs_of(const course::Lesson& lesson, const course::Curve& curve,
                                           const course::Changes& changes,
                                           const std::vector<course::Changes>& tried);

struct Training {
  std::string key;  ///< of the run; of a step that is made along other rates (RunStore::along_step) of_step()
  double a_step = 0;
  int32_t steps = 0, reached = 0;
};
std::vector<Training> trainings_of(const course::Lesson& lesson, const course::Curve& curve,
                                   const course::Changes& changes, const std::vector<course::Changes>& tried);
std::string of_step(const course::Curve& curve);

class Workload {
 public:
  /// Adds a training, unless there is one with its key.
  void add(const Training& training);
  void reach(const std::string& key, int32_t step);
  void finish(const std::string& key);
  bool empty() const { return all_ == 0; }
  double share() const { return empty() ? 1 : done_ / all_; }  ///< that is done, 0..1
  /// The seconds left, `seconds` after the first training was begun; nothing before there is a pace to go by.
  std::optional<double> seconds_left(double seconds) const;

 private:
  std::map<std::string, Training> trainings_;  ///< by key
  double all_ = 0, done_ = 0;
};

}  // namespace normscope::lesson_player

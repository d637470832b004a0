// The worker measures a lesson's curves for the learner, seed 1, on a thread of its own, and reports how far it has
// come. The screen reads a shared immutable state each frame and never waits. Runs are kept, so that going back costs
// nothing.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "app/course/curves.h"
#include "engine/core/error.h"
#include "training/files/background.h"

namespace normscope::lesson_player {

struct MeasureState {
  std::string lesson;
  course::Changes changes;  ///< the learner's changes that it is measured with
  bool running = false, done = false, stopped = false;
  std::string run;    ///< the lesson's run that is being trained; empty: none
  std::string doing;  ///< "run B, step 120 of 300", or "Post-LN, learning rate 0.004, step 120 of 300"
  std::set<std::string> growing;  ///< the curves of what is being trained
  double share = 0;               ///< share of all the work that is done, 0..1
  double seconds_left = NAN;      ///< an estimate; NaN: not known yet
  Message error;
  course::CurveSet curves;  ///< the finished curves, and the beginning of the one being measured
  std::map<std::string, experiments::ShareMap> maps;  ///< "A start"
  std::map<std::string, std::string> texts;           ///< what each model writes
  /// Each run that was trained in this sitting, or is being trained; any thread may read it.
  std::map<std::string, std::shared_ptr<const History>> histories;
};

/// What the player needs for measuring. Tests supply their own.
class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Replaces the measurement under way. The lesson must outlive the new one.
  virtual void start(const course::Lesson& lesson, const course::Changes& changes) = 0;
  virtual void stop() = 0;
  virtual std::shared_ptr<const MeasureState> state() const = 0;
};

// The results of the learner's runs, kept between starts: one file per measurement in the folder of the progress, named
// after everything that decides it (the lesson's definition, the learner's settings, the seed, the program's version).
// A file that is damaged or belongs to something else counts as missing: it is measured again and overwritten.
class SavedCurves {
 public:
  /// An empty folder keeps nothing.
  explicit SavedCurves(std::string folder = "") : folder_(std::move(folder)) {}

  /// The folder lessons/ beside the file of the progress; it is empty when the progress is kept in memory only.
  static std::string folder_beside(const std::string& progress_path);

  std::optional<MeasureState> load(const course::Lesson& lesson, const course::Changes& changes) const;
  /// A failure does no harm: the measurement is then repeated next time. Only the newest few of a lesson are kept.
  void save(const course::Lesson& lesson, const MeasureState& state) const;

 private:
  std::string path_of(const course::Lesson& lesson, const course::Changes& changes) const;
  void thin_out(const course::Lesson& lesson) const;

  std::string folder_;
};

class Worker : public Measurer {
 public:
  /// `kept` is the folder of measurements from earlier starts; empty: none. `on_change` is called from the worker's
  /// thread when the state has changed (a window wakes its event loop there). `trainer` is the Lab's, which trains the
  /// runs; null: its own.
  explicit Worker(std::function<void()> on_change = {}, int threads = 0,
                  std::shared_ptr<Trainer> trainer = nullptr, const std::string& kept = "");
  ~Worker() override;
  void start(const course::Lesson& lesson, const course::Changes& changes) override;
  void stop() override;
  std::shared_ptr<const MeasureState> state() const override { return jobs_.state(); }
  void wait() { jobs_.wait(); }  ///< waits until nothing is under way

 private:
  struct Job {
    const course::Lesson* lesson = nullptr;
    course::Changes changes;
  };
  static std::string doing(const Job& job);  ///< for messages
  void carry_out(const Job& job);
  void work(const Job& job);
  void measure(const Job& job, MeasureState& state);

  int threads_;
  std::shared_ptr<Trainer> trainer_;
  std::unique_ptr<experiments::RunStore>
      store_;  ///< only the worker's thread makes and uses it and the next two
  std::map<std::string, std::vector<course::Changes>>
      tried_;  ///< by lesson: settings that were measured before
  SavedCurves kept_;
  NewestJob<Job, MeasureState> jobs_;  ///< last, so destroyed first: its thread uses the others
};

}  // namespace normscope::lesson_player

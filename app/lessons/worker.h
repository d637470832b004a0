// Measures a lesson's curves for the learner, seed 1, on a thread of its own, and shows how far it has come: the
// screen reads a shared immutable state each frame and never waits. Runs are kept, so that going back costs
// nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/course/curves.h"
#include "training/files/newest_job.h"

namespace normscope::lessons {

struct MeasureState {
  std::string lesson;
  course::Changes changes;  ///< of the learner, with which it is measured
  bool running = false, done = false, stopped = false;
  std::string run;    ///< the lesson's run that is being trained; empty: none of them
  std::string doing;  ///< "run B, step 120 of 300"
  double share = 0;   ///< of all that is to be done, 0..1
  std::string error;
  course::CurveSet curves;  ///< finished ones, and the beginning of the one that is being measured
  std::map<std::string, experiments::ShareMap> maps;  ///< "A start"
  std::map<std::string, std::string> texts;           ///< what each model writes
  /// Of each run that was trained in this sitting, or is being trained; safe to read from any thread.
  std::map<std::string, std::shared_ptr<const History>> histories;
};

/// What the player needs for measuring. Tests supply their own.
class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Replaces what is under way. The lesson must outlive it.
  virtual void start(const course::Lesson& lesson, const course::Changes& changes) = 0;
  virtual void stop() = 0;
  virtual std::shared_ptr<const MeasureState> state() const = 0;
};

class Kept;

class Worker : public Measurer {
 public:
  /// `kept`: folder for measurements from earlier starts; empty: none.
  /// Called from the worker's thread when the state has changed (a window wakes its event loop here).
  /// `finished`: the store of finished runs that is shared with the Lab; null: its own.
  explicit Worker(std::function<void()> on_change = {}, int threads = 0,
                  std::shared_ptr<RunCache> finished = nullptr, const std::string& kept = "");
  ~Worker() override;
  void start(const course::Lesson& lesson, const course::Changes& changes) override;
  void stop() override;
  std::shared_ptr<const MeasureState> state() const override { return jobs_.state(); }
  void wait() { jobs_.wait(); }  ///< until nothing is under way

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
  std::shared_ptr<RunCache> finished_;
  std::unique_ptr<experiments::RunStore>
      store_;  ///< made and used by the worker's thread only, as the next two
  std::map<std::string, std::vector<course::Changes>>
      tried_;  ///< by lesson: settings that were measured before
  std::unique_ptr<Kept> kept_;
  NewestJob<Job, MeasureState> jobs_;  ///< the last to be made and the first to go: it works with the others
};

}  // namespace normscope::lessons

// A measurer that has everything at once: the course's own reference numbers stand in for a
// training. Player tests are about input and screens; that the numbers are the engine's is checked elsewhere.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "app/course/check.h"
#include "app/course/curves.h"
#include "app/lesson-player/worker.h"

namespace normscope::fixture {

class RecordedMeasurer : public lesson_player::Measurer {
 public:
  /// What a run with the learner's setting would come to.
  using Adapt = std::function<void(const course::Lesson&, lesson_player::MeasureState&)>;
  explicit RecordedMeasurer(int* started = nullptr, Adapt adapt = {})
      : state_(std::make_shared<lesson_player::MeasureState>()),
        started_(started),
        adapt_(std::move(adapt)) {}

  void start(const course::Lesson& lesson, const course::Changes& changes) override {
    if (started_) ++*started_;
    auto state = std::make_shared<lesson_player::MeasureState>();
    state->lesson = lesson.id;
    state->changes = changes;
    state->done = true;
    state->share = 1;
    if (const auto kept = course::load_results(lesson)) {
      for (const auto& [id, band] : kept->curves) state->curves[id] = {band.x, band.mean};
      state->maps = kept->maps;
      state->texts = kept->texts;
    }
    if (adapt_) adapt_(lesson, *state);
    state_ = std::move(state);
  }
  void stop() override {}
  std::shared_ptr<const lesson_player::MeasureState> state() const override { return state_; }

 private:
  std::shared_ptr<const lesson_player::MeasureState> state_;
  int* started_;
  Adapt adapt_;
};

/// Trains what it is asked for before start() returns, each once in a test program: cases at the ends of lessons.
class TrainedMeasurer : public lesson_player::Measurer {
 public:
  void start(const course::Lesson& lesson, const course::Changes&) override {
    static std::map<std::string, course::CurveSet> trained;
    const auto [known, fresh] = trained.try_emplace(course::definition(lesson));
    if (fresh) {
      experiments::RunStore store(1);
      for (const course::Curve& curve : lesson.curves)
        known->second[curve.id] = course::measure_curve(lesson, curve, 1, store);
    }
    auto state = std::make_shared<lesson_player::MeasureState>();
    state->lesson = lesson.id;
    state->done = true;
    state->share = 1;
    state->curves = known->second;
    state_ = std::move(state);
  }
  void stop() override {}
  std::shared_ptr<const lesson_player::MeasureState> state() const override { return state_; }

 private:
  std::shared_ptr<const lesson_player::MeasureState> state_ = std::make_shared<lesson_player::MeasureState>();
};

/// Lets the effect vanish from whatever run A is when it is given a warm-up; B's sweep gets its point.
inline void without_effect(const course::Lesson& lesson, lesson_player::MeasureState& state) {
  if (lesson.id == "first-steps" && state.changes.contains("A"))
    for (const char* id : {"g1_A", "r_A", "low_A", "rel_gradient", "rel_update", "cosine_A"})
      for (double& y : state.curves[id].y) y = 0.5;
  if (lesson.id == "warm-up" && state.changes.contains("B"))
    for (const char* id : {"by_warmup", "gap"}) {
      course::CurveData& c = state.curves[id];
      c.x = course::sweep_values(lesson, *lesson.curve(id), 1, state.changes, {});
      c.y.assign(c.x.size(), 1.9);
    }
}

}  // namespace normscope::fixture

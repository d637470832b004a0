// `RecordedMeasurer` is a measurer that has everything at once: the course's own reference numbers stand in for a
// training. Player tests are about input and screens; that the numbers are the engine's is checked elsewhere.
#pragma once

#include <functional>
#include <memory>

#include "app/course/check.h"
#include "app/lessons/worker.h"

namespace normscope::fixture {

class RecordedMeasurer : public lessons::Measurer {
 public:
  /// What a run with the learner's setting would come to.
  using Adapt = std::function<void(const course::Lesson&, lessons::MeasureState&)>;
  explicit RecordedMeasurer(int* started = nullptr, Adapt adapt = {})
      : state_(std::make_shared<lessons::MeasureState>()), started_(started), adapt_(std::move(adapt)) {}

  void start(const course::Lesson& lesson, const course::Changes& changes) override {
    if (started_) ++*started_;
    auto state = std::make_shared<lessons::MeasureState>();
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
  std::shared_ptr<const lessons::MeasureState> state() const override { return state_; }

 private:
  std::shared_ptr<const lessons::MeasureState> state_;
  int* started_;
  Adapt adapt_;
};

}  // namespace normscope::fixture

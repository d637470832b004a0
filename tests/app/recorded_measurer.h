// A measurer that has everything at once: the course's own reference numbers stand in for a training. Player
// tests are about hands and screens; that the numbers are the engine's is checked elsewhere.
#pragma once

#include <memory>
#include <string>

#include "app/lessons/check.h"
#include "app/lessons/worker.h"

namespace normscope::fixture {

class RecordedMeasurer : public lessons::Measurer {
 public:
  explicit RecordedMeasurer(int* started = nullptr)
      : state_(std::make_shared<lessons::MeasureState>()), started_(started) {}

  void start(const lessons::Lesson& lesson, const lessons::Changes&) override {
    if (started_) ++*started_;
    auto state = std::make_shared<lessons::MeasureState>();
    state->lesson = lesson.id, state->done = true, state->share = 1;
    if (const auto kept = lessons::load_results(lesson)) {
      for (const auto& [id, band] : kept->curves) state->curves[id] = {band.x, band.mean};
      state->maps = kept->maps, state->texts = kept->texts;
    }
    state_ = std::move(state);
  }
  void stop() override {}
  std::shared_ptr<const lessons::MeasureState> state() const override { return state_; }

 private:
  std::shared_ptr<const lessons::MeasureState> state_;
  int* started_;
};

}  // namespace normscope::fixture

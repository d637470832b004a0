// One sequence, the same at every step, and the measurements of the network on it, so that only the weights can
// change the numbers. A forward program of one row over the run's Store, without dropout; it changes no bit of the
// run and costs about a third of a batch's row. Called by Run before every step, so that the numbers of a step
// belong to the weights at which its gradient is taken (at step 1: the initial ones).
#pragma once

#include <span>
#include <vector>

#include "engine/model/transformer.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/data/task.h"
#include "training/measure/step_metrics.h"

namespace normscope {

/// The one that all runs on a task are measured on, whatever their seed: the middle of its validation split.
Batch measured_row(const Task& task, int32_t sequence);

class MeasuredSequence {
 public:
  MeasuredSequence(Store& store, const ModelConfig& model, const Batch& row);
  MeasuredSequence(const MeasuredSequence&) = delete;
  MeasuredSequence& operator=(const MeasuredSequence&) = delete;

  const std::vector<StatInfo>& layout() const { return live_.layout(); }
  /// Fills one number a layout entry from the weights as they stand.
  void measure(std::span<double> out);
  const Program& program() const { return program_; }
  /// See LiveMeasurements.
  double residual() const { return live_.residual(); }

 private:
  struct Recorded {
    ModelValues values;
    Program program;
  };
  static Recorded record(Store& store, const ModelConfig& model, const Batch& row);
  MeasuredSequence(Recorded recorded, const ModelConfig& model);

  Program program_;
  LiveMeasurements live_;
};

}  // namespace normscope

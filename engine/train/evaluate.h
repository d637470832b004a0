// What is computed from a run's weights beside its training: eval programs over the same Store (no dropout, no backward,
// no update), so nothing here changes a bit of the run. Called by Run.
#pragma once

#include <string>
#include <vector>

#include "data/task.h"
#include "model/model_config.h"
#include "tape/program.h"
#include "tape/store.h"

namespace normscope {

/// Mean cross-entropy (without label smoothing) over fixed validation batches.
class Validator {
 public:
  static constexpr int32_t kBatches = 2;
  Validator(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t batch);
  double measure();

 private:
  Program program_;
  std::vector<Batch> batches_;
};

/// Writes lines symbol by symbol at temperature 1. Symbol i of a line is drawn with the random number (seed, site
/// "sample", i): the same for all runs of a seed and for every line, so what changes is the model alone. The prompt is
/// the start of a validation sequence: one symbol of a text (not shown), the question of a sequence task.
class Writer {
 public:
  Writer(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t line_length);

  /// One more symbol (one forward pass); true when the line is complete with it. Then the next call begins a new one.
  bool advance();
  void restart();
  int32_t line_length() const { return line_length_; }
  /// What stands of the line.
  std::string text(const Task& task) const;

 private:
  int32_t draw(int32_t row);

  uint64_t seed_;
  int32_t line_length_, prompt_length_ = 1;
  std::vector<int32_t> line_;  // prompt and what was written
  std::vector<int32_t> prompt_;
  Program program_;
};

}  // namespace normscope

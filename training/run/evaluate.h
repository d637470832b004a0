// Evaluation computes from a run's weights outside training. Its programs run over the same Store (no dropout, no
// backward, no update), so they change no bit of the run. Called by Run.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/model/model_config.h"
#include "engine/model/transformer.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/data/task.h"

namespace normscope {

/// The row on which all runs of a task are measured before every step: the middle of the validation split. It does not
/// depend on the seed, so that only the weights can change the numbers.
Batch measured_row(const Task& task, int32_t sequence);

/// The first index of the largest number: of logits, the most probable symbol.
inline int32_t place_of_largest(std::span<const float> numbers) {
  return static_cast<int32_t>(std::ranges::max_element(numbers) - numbers.begin());
}

/// How the next symbol is chosen from softmax(logits / temperature); at temperature 0 it is the most probable one.
struct Draws {
  double temperature = 0;
  uint64_t seed = 1;
  bool operator==(const Draws&) const = default;
};
/// Draws with the random number (seed, site "sample", place), so that it can be repeated to the bit. Logits that are
/// not finite give some symbol of the vocabulary: nothing here may fail on a broken model.
int32_t drawn_symbol(std::span<const float> logits, const Draws& draws, uint64_t place);

/// The forward program for batches of a shape: no dropout, no probes; its values share memory. `left_out`: see
/// RecordOptions. With `memories`, a model with a memory gets a program over model.memory positions whose values stay
/// readable; the values of its memory go to `memories`.
Program evaluation_program(Store& store, const ModelConfig& model, const BatchShape& shape,
                           const std::vector<std::string>& left_out = {},
                           std::vector<LayerMemory>* memories = nullptr);

/// Measures the mean cross-entropy per target (without label smoothing) over the task's fixed validation
/// batches. For a classifier (a parser classifies transitions) it also counts the targets that have the largest
/// logit. A model with a memory starts each measurement with an empty one and carries it from batch to batch.
class Validator {
 public:
  /// `left_out`: see RecordOptions. `most` limits the number of batches.
  Validator(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t batch,
            const std::vector<std::string>& left_out = {},
            int32_t most = std::numeric_limits<int32_t>::max());
  double measure();
  /// Measures with the sources of each batch exchanged between its rows: every row has to write
  /// its target from another row's source. For an encoder-decoder.
  double measure_exchanged();
  double accuracy() const { return accuracy_; }  ///< of the last measure(); NaN unless it classifies

 private:
  struct ValidationBatch {
    Batch batch;
    Program* program;
    int64_t targets;
    bool goes_on;  ///< the memory carries over from the batch before
  };
  int64_t right(const ValidationBatch& drawn) const;
  double mean_loss(bool exchanged);

  std::map<BatchShape, Program> programs_;
  std::vector<LayerMemory> memories_;
  std::vector<ValidationBatch> batches_;
  int32_t classes_;
  double accuracy_;
};

/// The worth of its sources to an encoder-decoder, in nats a target: the validation loss with the sources exchanged
/// between rows, minus the true one. About zero: the model ignores its sources. NaN without sources, and for a batch of
/// one row.
double source_use(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t batch);

/// Writes lines. A decoder writes symbol by symbol at temperature 1. Symbol i of a line is drawn with the
/// random number (seed, site "sample", i), the same for all runs of a seed and for every line, so that only the model
/// changes what is written. The prompt is the start of a validation sequence: one symbol of a text (not shown), or
/// the question of a sequence task. An encoder-decoder translates a validation row, each time with the most probable
/// symbol, and shows "target <- source" (the translation first, because a narrow view shows only the beginning). An
/// encoder fills in or classifies a validation row at once, a parser names the transition of a validation state.
class Writer {
 public:
  Writer(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t line_length);

  /// Writes one more symbol (one forward pass); true when that completes the line. The next call then
  /// begins a new line.
  bool advance();
  void restart();
  int32_t line_length() const { return line_length_; }
  /// The line so far.
  std::string text(const Task& task) const;

 private:
  bool advance_translation();
  bool fill_in();
  int32_t draw(int32_t row);
  int32_t most_probable(int32_t row) const;

  uint64_t seed_;
  TaskForm form_;
  int32_t end_ = -1;  // ends a translation
  Batch row_;         // read by an encoder or encoder-decoder
  int32_t line_length_, prompt_length_ = 1;
  std::vector<int32_t> line_;  // prompt, then the written symbols
  std::vector<int32_t> prompt_;
  std::optional<Program> program_;
};

}  // namespace normscope

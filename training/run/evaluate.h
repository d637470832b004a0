// What is computed from a run's weights outside training: evaluation programs over the same Store (no dropout,
// no backward, no update), so nothing here changes a bit of the run. Called by Run.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/model_config.h"
#include "engine/model/transformer.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/data/task.h"

namespace normscope {

/// A row of the validation split, the middle one where they are sorted by length.
Batch validation_row(const Task& task, uint64_t seed, int32_t sequence);
/// The row that all runs on a task are measured on before every step, whatever their seed, so that only the weights can
/// change the numbers: the middle of its validation split.
Batch measured_row(const Task& task, int32_t sequence);

/// The forward program for batches of a shape: no dropout, no probes; its values share their places. `left_out`: see
/// RecordOptions. With `memories` that of a model with a memory runs over model.memory positions, whose places go there,
/// and its values stay readable.
Program evaluation_program(Store& store, const ModelConfig& model, const BatchShape& shape,
                           const std::vector<std::string>& left_out = {},
                           std::vector<LayerMemory>* memories = nullptr);

/// Mean cross-entropy per target (without label smoothing) over the task's fixed validation batches; of a
/// classifier (a parser is one of transitions) also how many targets have the largest logit. A model with a memory
/// begins each measurement with an empty one and carries it from batch to batch.
class Validator {
 public:
  /// `left_out`: see RecordOptions. At most `most` batches of the fixed ones.
  Validator(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t batch,
            const std::vector<std::string>& left_out = {},
            int32_t most = std::numeric_limits<int32_t>::max());
  double measure();
  /// The same with the sources of each batch exchanged between its rows: every row is asked to write its
  /// target from another row's source. Of an encoder-decoder.
  double measure_exchanged();
  double accuracy() const { return accuracy_; }  ///< of the last measure(); NaN unless it classifies

 private:
  struct Drawn {
    Batch batch;
    Program* program;
    int64_t targets;
    bool goes_on;  ///< from the batch before
  };
  int64_t right(const Drawn& drawn) const;
  double mean_loss(bool exchanged);

  std::map<BatchShape, Program> programs_;
  std::vector<LayerMemory> memories_;
  std::vector<Drawn> batches_;
  int32_t classes_;
  double accuracy_;
};

/// What its sources are worth to an encoder-decoder, in nats a target: the validation loss with the sources
/// exchanged between rows, over the true one. About zero: it writes the language and ignores what it reads.
/// NaN for what reads no source.
double source_use(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t batch);

/// Writes lines. A decoder writes symbol by symbol at temperature 1: symbol i of a line is drawn with the
/// random number (seed, site "sample", i), the same for all runs of a seed and for every line, so what
/// changes is the model alone; the prompt is the start of a validation sequence, one symbol of a text (not
/// shown) or the question of a sequence task. An encoder-decoder translates a validation row, "target <-
/// source" (what it wrote stands first, for a narrow place), each time the most probable symbol. An encoder
/// fills in or classifies a validation row at once, a parser names the transition of a validation state.
class Writer {
 public:
  Writer(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t line_length);

  /// One more symbol (one forward pass); true when the line is complete with it. Then the next call begins a new
  /// one.
  bool advance();
  void restart();
  int32_t line_length() const { return line_length_; }
  /// What stands of the line.
  std::string text(const Task& task) const;

 private:
  bool advance_translation();
  bool fill_in();
  int32_t draw(int32_t row);
  int32_t most_probable(int32_t row) const;

  uint64_t seed_;
  TaskForm form_;
  int32_t end_ = -1;  // ends a translation
  Batch row_;         // what an encoder or encoder-decoder reads
  int32_t line_length_, prompt_length_ = 1;
  std::vector<int32_t> line_;  // prompt and what was written
  std::vector<int32_t> prompt_;
  std::optional<Program> program_;
};

}  // namespace normscope

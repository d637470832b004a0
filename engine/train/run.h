// One training run: a Store, its programs, its history. Owned and stepped by one thread (the trainer's).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tape/program.h"
#include "tape/store.h"
#include "train/history.h"
#include "train/spec.h"

namespace normscope {

enum class RunState : uint8_t { Training, WarmingUp, Learning, Stuck, NonFinite, Finished };
const char* to_string(RunState state);

/// Where a value first stopped being finite, in execution order.
struct NonFiniteReport {
  int32_t layer = 0;
  std::string tensor;
  int32_t step = 0;
};

class Run {
 public:
  /// Builds model, store (seeded) and programs; Admin profiles its first batch. Throws Error.
  Run(RunSpec spec, std::shared_ptr<const Task> task, Backend& backend);

  /// One update. Applies the edits due at this step first.
  void step();
  int32_t steps_done() const;

  const RunSpec& spec() const;                   ///< with the edits applied so far
  const std::vector<Edit>& edits() const;
  /// Changes a live field from the next step on, as an event of the run. Throws Error for a structural field.
  void edit(const std::string& key, const std::string& value);
  void schedule_edits(std::vector<Edit> edits);  ///< to be applied when their step comes

  RunState state() const;
  std::optional<NonFiniteReport> non_finite() const;
  double last_loss() const;
  double mean_loss(int32_t window) const;  ///< mean of the last `window` losses
  double validation_loss();                ///< eval program on fixed validation batches; changes no bit of the run
  /// Text written by the model now: the eval program at temperature 1, with random numbers of (seed, site "sample").
  std::string sample(int32_t symbols);
  const std::shared_ptr<History>& history() const;

  /// A new run with another wiring (or any other structural change) that keeps by name what still fits: weights,
  /// optimizer state, step. A norm that moved within its sub-layer takes its gain, bias and their moments along.
  std::unique_ptr<Run> fork(const RunSpec& spec) const;

  void save(const std::string& path) const;  ///< safetensors, atomic
  /// Bitwise continuation; refuses another data set (hash), a truncated, foreign or mismatching file.
  static std::unique_ptr<Run> load(const std::string& path, std::shared_ptr<const Task> task, Backend& backend);

  Store& store();
  Program& program();

  ~Run();

 private:
  struct Impl;
  explicit Run(std::unique_ptr<Impl>);
  std::unique_ptr<Impl> impl_;
};

}  // namespace normscope

// The report is the result of a run as one value, and the table that shows several.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "training/data/task.h"
#include "training/experiments/table.h"
#include "training/measure/history.h"
#include "training/run/run.h"
#include "training/spec/spec.h"

namespace normscope::commands {

/// Which run a line of log or table is about.
struct RunLabel {
  char letter = 'A';
  uint64_t seed = 1;
};

struct RunResult {
  RunLabel label;
  RunSpec spec;
  std::vector<Edit> edits;
  DataIdentity data;
  std::string name;     ///< "Post-LN, warm-up 200"
  std::string wiring;   ///< "Post-LN"
  std::string state;    ///< "stuck"
  std::string verdict;  ///< "stuck", "learns since step 46", "not finite at step 23", "not decided", "ignores
                        ///< the source"
  int32_t step = 0;
  int32_t window = 0;       ///< how many steps the two means cover, see loss_window()
  double loss = 0;          ///< mean over these steps, nats
  double unigram = 0;       ///< unigram cross-entropy of exactly their tokens, nats; smoothed as the loss is
  double validation = 0;    ///< NaN when not measured
  double milliseconds = 0;  ///< per step of this run; NaN when not known
  std::vector<Score> scores = {};  ///< of the validation data, where the task has any
};

/// Reads the result off a run's history. `validation` is NaN when not measured; `source_use` (evaluate.h)
/// is NaN for a run without a source.
RunResult result_of(RunLabel label, const RunSpec& spec, std::vector<Edit> edits, RunState state,
                    const History& history, const Task& task, double validation, double milliseconds,
                    double source_use = std::numeric_limits<double>::quiet_NaN());

/// One row per result, with columns for the scores of the first result that has any. `clock` adds the time of
/// a step, which no file of a study has.
experiments::Table table(const std::vector<RunResult>& results, bool clock = true);

}  // namespace normscope::commands

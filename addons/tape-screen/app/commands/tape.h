// normscope tape: tape.cpp has the options and the listing, tape_step.cpp one step as it is executed,
// app/tape/tape_writers.h what is printed as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "addons/tape-screen/app/tape_writers.h"
#include "engine/tape/backend.h"
#include "training/data/task.h"
#include "training/measure/step/step_player.h"
#include "training/spec/spec.h"

namespace normscope::commands {

struct TapeOptions {
  std::string config, preset, text, program = "training";
  std::vector<std::string> runs, set;
  bool json = false, rules = false;
  // One step.
  bool fold = false, layers = false, memory = false, changes = false;
  std::vector<std::string> checks, instructions;
  int32_t after = 0;    ///< steps trained before
  int32_t threads = 1;  ///< 0: one per physical core

  /// Whether something needs the step itself and not only its program.
  bool wants_step() const { return fold || memory || !checks.empty() || !instructions.empty(); }
};

/// Completes the specification for its data. Throws CommandError(memory) where the machine cannot hold
/// the run.
RunSpec prepared_spec(RunSpec spec, const Task& task, Backend& backend, bool copies = false);

/// What was asked of a step, as text and as fields of the run's object.
struct StepReport {
  std::string text;
  nlohmann::json fields = nlohmann::json::object();
};
/// Trains `options.after` steps and looks at the next. Throws CommandError (usage, input, memory).
StepReport step_report(RunSpec spec, const TapeOptions& options);

using tape::to_json;

}  // namespace normscope::commands

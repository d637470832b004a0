// The contents of a saved run as one value: the gate that every checkpoint passes before a network is built.
//
// Promises: each number is in its range, each list has its length, the specification is one that can be built, and
// nothing in it can send an index out of range or a loop astray. Throws Error that names file, field, value and
// what was expected. Called by Run::load and Run::saved_spec.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/safetensors.h"
#include "training/measure/history.h"
#include "training/measure/plateau.h"
#include "training/run/recurrence/segment_memory.h"
#include "training/run/run.h"

namespace normscope {

struct SavedRun {
  RunSpec origin, spec;  ///< at step 0; with the edits
  std::vector<Edit> edits, scheduled;
  int32_t step = 0;
  std::string data_hash;
  std::vector<int32_t> loss_steps, validation_steps;
  std::vector<float> history_losses, history_rates, validation_losses;
  FrameBlock frames;               ///< empty where there are none
  std::vector<std::string> stats;  ///< names of a frame's numbers; empty in files of before
  std::vector<float> losses;
  std::vector<RunEvent> events;
  Plateau::State plateau;
  MemoryState memory;
  std::optional<NonFiniteReport> broken;
  int64_t bytes =
      0;  ///< estimated, of the largest network on the way from `origin` to the last scheduled edit
};

/// What the header alone says: specification, edits, step, data and memory; of SafetensorsFile::load_header() too.
SavedRun read_saved_header(const SafetensorsFile& file);
/// Everything but the weights, whose shapes only the network knows.
SavedRun read_saved_run(const SafetensorsFile& file);
/// A plateau's means and losses, which checkpoints and keyframes have as tensors; the rest is left at 0.
Plateau::State plateau_from(std::string_view where, const SafetensorsFile& file);

inline constexpr const char* kSavedRunFormat = "normscope run 1";

}  // namespace normscope

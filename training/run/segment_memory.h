// The memory that a decoder with relative positions has of earlier segments: row by row, the last M
// states of each layer's input (Transformer-XL, Dai et al. 2019, section 3.2: the last M positions of memory and
// segment together). It lies on the host and belongs to whoever replays: a run, a validation, an evaluation.
//
// Promises: without a memory (M = 0) nothing is touched; the same replays give the same bits; equal states are equal
// values, which checkpoints and keyframes keep. Called by Run, Validator and play_next.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/transformer.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/data/task.h"
#include "training/io/safetensors.h"
#include "training/spec/spec.h"

namespace normscope {

/// A memory as plain numbers, to be kept: lengths (B), and for each layer of the program (B,M,D).
/// Empty: nothing is remembered.
struct MemoryState {
  std::vector<int32_t> lengths;  ///< the number of last positions of each row that count
  std::vector<float> states;
  bool operator==(const MemoryState&) const = default;
  size_t bytes() const { return lengths.size() * sizeof(int32_t) + states.size() * sizeof(float); }
};

class SegmentMemory {
 public:
  /// Writes the memory into the program's inputs before a replay, or an empty one where its rows do not go on
  /// from the last segment. It does nothing for a program without a memory.
  void fill(Program& program, std::span<const LayerMemory> layers, bool goes_on);
  /// Remembers the segment after that replay. It reads the layers' inputs, which the program must have kept.
  void take(const Program& program, std::span<const LayerMemory> layers);

  const MemoryState& state() const { return state_; }
  void restore(MemoryState state) { state_ = std::move(state); }
  void forget() { state_ = {}; }

 private:
  MemoryState state_;
  std::vector<float> segment_;  ///< (B,T,D) of one layer
};

/// Counts the numbers that a specification's memory has in a run of `batch` rows.
struct MemorySize {
  size_t lengths = 0, states = 0;
};
MemorySize memory_size(const ModelConfig& model, int32_t batch);
/// In files: tensors memory/lengths and memory/states, none for an empty memory. `state` must outlive the writing.
void add_memory(SafetensorsWriter& file, const MemoryState& state);
MemoryState memory_from(const SafetensorsFile& file);
/// Throws Error, which begins with `where`, unless the memory is empty or one of such a model:
/// with its counts of numbers, and lengths of at most M.
void require_memory_of(const std::string& where, const MemoryState& state, const ModelConfig& model,
                       int32_t batch);

/// How well a decoder predicts consecutive text, with any memory. The memory may be longer than in training, because the
/// table of distances is not a weight and W_R, u, v serve every distance (Dai et al. 2019, section 3.3).
struct TextLoss {
  double loss = 0;  ///< nats a target, mean over all
  int64_t targets = 0;
  int32_t batches = 0;  ///< fewer than requested where the validation split has no more
  double bits() const;  ///< the same in bits a symbol
};

/// Measures over consecutive batches of the validation split, starting from an empty memory. A batch has
/// the specification's rows, or fewer for a short text. `task` gives consecutive batches. `weights` belong to a run
/// of `spec` and are copied. `go_on` is asked before each batch with the number done. Throws Error for a memory that
/// the model cannot have, and where no row has a second segment.
TextLoss text_loss(const Store& weights, const RunSpec& spec, const Task& task, int32_t memory,
                   int32_t most_batches, const std::function<bool(int32_t)>& go_on = {});

}  // namespace normscope

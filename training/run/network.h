// A model as a run holds it: its Store and the training Program sealed over it. A new network can take over the weights
// of an older one with another specification. Used by Run, and by whatever evaluates, measures or benchmarks a run with
// a program of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/safetensors.h"
#include "engine/model/transformer.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/data/task.h"
#include "training/measure/look.h"
#include "training/measure/token_metrics.h"
#include "training/measure/update_metrics.h"
#include "training/spec/spec.h"

namespace normscope {

/// Names one number of the stats block and the tensor that it measures.
struct FiniteCheck {
  int32_t stat = 0;
  int32_t layer = 0;
  std::string tensor;  ///< "L03.attn output", "L02.attn.wq gradient"
};

/// The options to record a step of the run on batches of that shape.
RecordOptions step_options(const RunSpec& spec, const BatchShape& shape);
/// The program of a step on batches of that shape: forward, backward, clip and the optimizer's
/// update. It fills a Store without weights by the seed, and also writes the recorded values to `values`.
Program training_program(Store& store, const RunSpec& spec, const BatchShape& shape,
                         ModelValues* values = nullptr);

struct Network {
  explicit Network(Backend& backend) : store(backend) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  Store store;
  ModelValues values;
  std::optional<Program> program;  ///< training program for the shape of the first batch
  BatchShape shape;                ///< of `program`
  /// Training programs for the other shapes that occurred: one Store, one stats layout.
  std::map<BatchShape, Program> others;
  Program* newest = nullptr;     ///< program of the last step; nullptr before the first
  std::optional<Look> measured;  ///< at measured_row(); only a transformer has sub-layers to measure
  std::optional<UpdateMeasurements> updates;  ///< of the steps that the programs make
  std::optional<TokenMeasurements> tokens;    ///< of their batches
  /// The training program for a shape, sealed at its first use.
  Program& program_for(const BatchShape& wanted, const RunSpec& spec);
  std::vector<FiniteCheck> checks;  ///< in execution order
};

/// Makes a new network with seeded initial weights. With `older`, it first takes over its weights by name and shape
/// (see transfer_weights). Admin's constants are profiled on the batch of `step`, for a new network and where the
/// wiring differs.
std::unique_ptr<Network> build_network(const RunSpec& spec, const Task& task, Backend& backend, int32_t step,
                                       const Store* older = nullptr, const RunSpec* older_spec = nullptr);

/// Copies weights and moments by name where the shape is the same. Then, within each sub-layer, a norm whose slot is
/// new takes gain, bias and alpha (and their moments) of a norm whose slot vanished, in the order before, after,
/// stream. Without `moments` the moments stay at zero: another optimizer gives them another meaning.
void transfer_weights(const Store& from, Store& to, bool moments = true);

/// Loads the weights of a saved run, or of a model of another program (checkpoint.h), by name; moments start at zero. A
/// head for other classes and positions for another length start afresh. Returns how many tensors fitted. Throws Error
/// when none fits, or any other tensor has another shape.
int32_t load_weights(const std::string& path, Store& store);

/// Lists every number that a replay measures, in the order in which its tensor came to be: forward
/// probes, loss, gradients from the last layer down, updates, weights.
std::vector<FiniteCheck> finite_checks(const ProgramData& program);

// A decoder's memory of earlier segments, with relative positions: row by row, the last M states of each layer's input
// (Transformer-XL, Dai et al. 2019, section 3.2: the last M positions of memory and segment together). It lies on the
// host and belongs to the caller of the replays: a run, a validation, an evaluation.
//
// Promises: without a memory (M = 0) nothing is touched; the same replays give the same bits; equal states are equal
// values, which checkpoints and keyframes keep. Called by Run, Validator and play_next.

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

/// In files: tensors memory/lengths and memory/states, none for an empty memory. `state` must outlive the writing.
void add_memory(SafetensorsWriter& file, const MemoryState& state);
MemoryState memory_from(const SafetensorsFile& file);
/// Throws Error, which begins with `where`, unless the memory is empty or fits the model: in its counts of numbers, and
/// with lengths of at most M.
void require_memory_of(const std::string& where, const MemoryState& state, const ModelConfig& model,
                       int32_t batch);

/// How well a decoder predicts consecutive text, with any memory. The memory may be longer than in training, because
/// the table of distances is not a weight and W_R, u, v serve every distance (Dai et al. 2019, section 3.3).
struct TextLoss {
  double loss = 0;  ///< nats a target, mean over all
  int64_t targets = 0;
  int32_t batches = 0;  ///< fewer than requested where the validation split has no more
  double bits() const;  ///< the same in bits a symbol
};

/// Measures over consecutive batches of the validation split, starting from an empty memory. A batch has
/// the specification's rows, or fewer for a short text. `task` gives consecutive batches. `weights` belong to a run
/// of `spec` and are copied. `go_on` is asked before each batch with the number done. Throws Error for a memory that
/// the model cannot have, for a text that is too short, and with a memory where no row has a second segment.
TextLoss text_loss(const Store& weights, const RunSpec& spec, const Task& task, int32_t memory,
                   int32_t most_batches, const std::function<bool(int32_t)>& go_on = {});

}  // namespace normscope

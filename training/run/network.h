// A model as a run holds it: its Store and the training Program sealed over it. It takes over what an
// older network with another specification has learned. Used by Run, and by whatever evaluates, measures or
// benchmarks a run with a program of its own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/transformer.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/measure/look.h"
#include "training/measure/update_metrics.h"
#include "training/spec/spec.h"

namespace normscope {

/// Names one number of the stats block and the tensor that it measures.
struct FiniteCheck {
  int32_t stat = 0;
  int32_t layer = 0;
  std::string tensor;  ///< "L03.attn output", "L02.attn.wq gradient"
};

/// How a step of the run is recorded on batches of that shape.
RecordOptions step_options(const RunSpec& spec, const BatchShape& shape);
/// The program of a step on batches of that shape: forward, backward, clip and the optimizer's
/// update. It gives a Store without weights the seed's, and writes what was recorded to `values` too.
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
  /// The same for the other shapes that occurred: one Store, one stats layout.
  std::map<BatchShape, Program> others;
  Program* newest = nullptr;     ///< program of the last step; nullptr before the first
  std::optional<Look> measured;  ///< at measured_row(); only a transformer has sub-layers to measure
  std::optional<UpdateMeasurements> updates;  ///< of the steps that the programs make
  /// The training program for a shape, sealed at its first use.
  Program& program_for(const BatchShape& wanted, const RunSpec& spec);
  std::vector<FiniteCheck> checks;  ///< in execution order
};

/// Makes a new network with seeded initial weights. With `older`, it first takes over what that has
/// by the same name and shape (see transfer_weights). Admin's constants are profiled on the batch of `step`, for a
/// new network and where the wiring differs.
std::unique_ptr<Network> build_network(const RunSpec& spec, const Task& task, Backend& backend, int32_t step,
                                       const Store* older = nullptr, const RunSpec* older_spec = nullptr);

/// Copies weights and moments by name where the shape is the same. Then, within each sub-layer, a
/// norm whose slot is new takes gain and bias (and their moments) of a norm whose slot vanished, in the order before,
/// after, stream. Without `moments` they stay at zero: another optimizer gives them another meaning.
void transfer_weights(const Store& from, Store& to, bool moments = true);

/// Loads the weights of a saved run, or of a model of another program (model_formats.h), by name; moments start at zero. A
/// head for other classes and positions for another length start afresh. Returns how many tensors fitted. Throws Error
/// when none fits, or one has another shape.
int32_t load_weights(const std::string& path, Store& store);

/// Lists every number that a replay measures, in the order in which its tensor came to be: forward
/// probes, loss, gradients from the last layer down, updates, weights.
std::vector<FiniteCheck> finite_checks(const ProgramData& program);

}  // namespace normscope

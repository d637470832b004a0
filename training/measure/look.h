// Runs a model forward once over a batch: then every tensor of the program can be read, and the measurements
// of step_metrics.h can be taken. It reads the weights of a Store as they are, without dropout and without a memory
// of earlier segments, and changes no bit of a run. Used by runs (on one fixed sequence before every step, on whole
// batches on request), by the analyses of a run and of a start, and by what experiments measure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/model/model_config.h"
#include "engine/model/transformer.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/data/task.h"
#include "training/measure/step_metrics.h"

namespace normscope {

/// The options to record a model for batches of a shape. `memory`: positions before the segment.
RecordOptions record_options(const BatchShape& shape, bool training, int32_t memory = 0);
BatchShape shape_of(const Batch& batch);
/// The inputs of a program for a batch of that shape.
BatchView inputs_of(Program& program, const BatchShape& shape);
/// Copies a batch into the inputs of a program of its shape.
void put(const Batch& batch, Program& program);

class Look {
 public:
  /// The gradients of parameters that can be read; All but None keep the embedding's and all states' gradients too.
  enum class Gradients : uint8_t {
    None,
    Norms,     ///< gradient_norm() only: the gradients share memory
    Products,  ///< in addition to Norms, at the product with each sub-layer's last matrix
    Kept,  ///< all can be read until another such program of the backend is replayed (SealOptions::reuse_bytes)
  };
  /// For batches of that shape, which put() copies in. Without `probabilities`, attention's probabilities take no
  /// memory and cannot be read.
  Look(Store& store, const ModelConfig& model, const BatchShape& shape, Gradients gradients = Gradients::None,
       bool probabilities = true);
  /// For one batch, which it copies in.
  Look(Store& store, const ModelConfig& model, const Batch& batch);
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;

  void put(const Batch& batch) { normscope::put(batch, program_); }
  void replay(const StepInputs& inputs = {}) { program_.replay(inputs); }

  const Program& program() const { return program_; }
  const ModelValues& values() const { return values_; }
  const Shape& shape(ValueId value) const;
  std::vector<float> read(ValueId value) const;           ///< as the last replay left it
  std::vector<float> read_gradient(ValueId value) const;  ///< of the embedding, a state, or a product
  double gradient_norm(const std::string& matrix) const;  ///< of a trainable parameter with rows and columns

  /// Lists the measurements of a transformer over all rows. Throws Error for a model without sub-layers.
  const std::vector<StatInfo>& layout() { return live().layout(); }
  /// Replays, then fills one number for each entry of the layout. It allocates nothing once layout() was called.
  void measure(std::span<double> out);
  std::vector<double> measure();
  std::vector<double> numbers();  ///< measure() of the last replay
  void drop_gradients() { program_.drop_gradients(); }
  /// See LiveMeasurements for these.
  double residual() { return live().residual(); }
  void keep_token_shares() { live().keep_token_shares(); }
  const std::vector<std::vector<float>>& token_shares() { return live().token_shares(); }
  bool follow_down(std::vector<float>& direction, const LiveMeasurements::BranchReader& at) {
    return live().follow_down(direction, at);
  }
  bool follow_norm(ValueId output, ValueId input, std::vector<float>& direction) {
    return live().follow_norm(output, input, direction);
  }
  bool carry_branch(size_t place, ValueId product, std::vector<float>& direction) {
    return live().carry_branch(place, product, direction);
  }
  /// The product with a sub-layer's last matrix: W_O, W_2. Null where none was recorded.
  const Node* last_product(const SublayerValues& sublayer) const;

 private:
  Program record(Store& store, const BatchShape& shape, Gradients gradients, bool probabilities);
  LiveMeasurements& live();

  ModelConfig model_;
  int32_t rows_;
  ModelValues values_;
  Program program_;
  std::optional<LiveMeasurements> live_;  ///< made on request, as it needs memory of its own
};

}  // namespace normscope

// One of the benchmark's models, ready to step on a backend of its own, or timed on a CUDA device. It needs the
// engine alone.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/model/transformer.h"
#include "engine/tape/seal.h"
#include "training/data/task.h"

namespace normscope::bench {

struct Model {
  const char* name;
  int32_t layers, width, heads, feed_forward, sequence, batch, vocabulary;
  bool listed = true;  ///< false: measured only when named
  bool tied = false;
  Placement placement = Placement::Pre;
  std::string_view architecture = "decoder";
  int32_t memory = 0;  ///< positions kept of earlier segments; above 0: relative positions
};
/// Lists lesson and deep first, and no model of an architecture that this build lacks. encdec is the model that the
/// sources train (Xiong et al. 2020, section 3): 6-6, d=512, f=1024, 4096 tokens, 10,000 pieces. The last three listed
/// are the other systems of Xu et al. (2019): `memory` is lesson over a full memory; `convnet` is their network on
/// images of 28 x 28 in ten classes, LayerNorm before the activation; `parser` is theirs of two layers over 48
/// features, with the 37 relations of Universal Dependencies either way, and shift.
std::span<const Model> models();
std::vector<std::string> model_names();  ///< the names that --model takes
const Model& model_of(std::string_view name);

ModelConfig config_of(const Model& model);
inline bool is_transformer(const Model& m) { return is_transformer(architecture_from(m.architecture)); }
BatchShape shape_of(const Model& model);
/// The number of targets of a step: symbols, images or transitions.
int64_t targets_of(const Model& model);
/// The FLOP of a step in units of 1e9: see step_flop().
double gflop_of(const Model& model);

struct Stepper {
  std::unique_ptr<Backend> backend;
  Store store;
  ModelConfig config;
  ModelValues values;
  std::unique_ptr<Program> program;
  StepInputs inputs;

  Stepper(const ModelConfig& config, const BatchShape& shape, int threads, const SealOptions& options = {});
  Stepper(const Model& model, int threads) : Stepper(config_of(model), shape_of(model), threads) {}
  void step() { program->replay(inputs); }
  size_t bytes() const;
  size_t parameters() const;

 private:
  void fill(const BatchShape& shape);
};

/// The listed models that addons/bench/peers/torch_cuda.py has too: no memory, no other systems.
std::vector<std::string> device_models();

/// One row of normscope bench --backend cuda and of normscope_cuda_bench (cuda/), with the keys of
/// addons/bench/peers/torch_cuda.py: the median of many steps with all probes on and all norms read back.
nlohmann::json measure_on_device(Backend& backend, const std::string& model, double seconds, bool tf32,
                                 bool graph);

}  // namespace normscope::bench

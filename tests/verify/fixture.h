// The description of a fixture (tests/fixtures/README.md): its model as a ModelConfig and our name for
// each of its tensors. Used by verify.cpp.
#pragma once

#include <string>
#include <vector>

#include "engine/io/safetensors.h"
#include "engine/model/model_config.h"
#include "engine/model/transformer.h"
#include "engine/tape/step_inputs.h"
#include "training/io/input_value.h"

namespace normscope {

/// Integers of the batch: their names in the program and in the file, and their range.
struct FixtureInput {
  std::string name, tensor;
  TensorShape shape;
  int32_t low = 0, high = 0;
};

struct Fixture {
  ModelConfig config;
  std::vector<Placement> encoder, decoder;  ///< one for each layer of the stacks
  std::string description;
  int32_t batch = 0, length = 0, source_length = 0, adam_steps = 0;
  bool key_lengths = false;
  std::vector<FixtureInput> inputs;
  std::vector<FixtureInput> before;  ///< for the segment whose states are the memory; empty without a memory
  StepInputs step;  ///< learning rate, betas, eps, label smoothing; step and bias corrections change

  /// Our name for the fixture's: dec.subs.1.norm.g -> L01.ffn.stream.gain. Throws Error for a foreign name.
  std::string parameter(const std::string& name) const;
};

/// How a fixture describes a network that is not a transformer, an add-on's.
struct FixtureForm {
  std::string_view name;  ///< "conv"
  void (*read)(const InputValue& config, ModelConfig& model);
  FixtureInput (*input)(const Fixture&);  ///< beside the targets
  std::string (*describe)(const ModelConfig&, const std::string& norms);
};
/// Layers, widths and vocabulary.
void read_sizes(const InputValue& config, ModelConfig& model);
#define ARCHITECTURE(Name, name) extern const FixtureForm name##_fixture;
#include "chosen/architectures.def"
#undef ARCHITECTURE

/// Throws Error for a foreign file or a model that this version does not build.
Fixture read_fixture(const SafetensorsFile& file);

}  // namespace normscope

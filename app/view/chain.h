// `chain_of` is the diagram of a model without a residual stream, before any drawing: a convolutional network or a
// parser is a chain of boxes with its norms between them. These functions are pure; the drawn chain, the run cards and
// the tests use them.
#pragma once

#include <string>
#include <vector>

#include "engine/model/model_config.h"

namespace normscope::view {

/// A box of the chain, or a place between two boxes where the engine puts a norm.
struct ChainPart {
  std::string title{}, note{};            // of a box: "Convolution", "5 × 5, 20 channels"
  int layer = 0;                          // from 1, of the matrix in the box; 0: none
  std::string slot{};                     // of a slot: "layer1/conv/after"; empty: a box
  NormKind norm = NormKind::None;         // the norm in the slot
  Placement placement = Placement::None;  // the placement that puts norms in such slots
};
/// Goes from the input up. Norms are those of `stack`, everything else is the model's.
std::vector<ChainPart> chain_of(const ModelConfig& model, const StackWiring& stack);

/// Counts the layers that have a matrix; the last one is that of the classes.
int chain_layers(const ModelConfig& model);
/// The preset that has these norms.
Placement chain_placement(const ModelConfig& model, const StackWiring& stack);
/// Why a preset cannot stand in a model; empty where it can, and for every transformer.
std::string preset_refusal(const ModelConfig& model, Placement placement);
/// Returns "before ReLU", "before layer", "no norm".
std::string chain_caption(const ModelConfig& model);
/// How a hand begins to change the norms of any model in its diagram: "Drag a norm", "Click a norm",
/// "Click a free slot", "Choose a preset".
const std::string& first_move(const ModelConfig& model);

}  // namespace normscope::view

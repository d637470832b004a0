// The diagram of a model without a residual stream, without a pixel: a convolutional network or a parser is a chain of
// boxes, and its norms stand between them. Pure functions, used by the drawn chain, by the run cards and by the tests.
#pragma once

#include <string>
#include <vector>

#include "engine/model/model_config.h"

namespace normscope::lab {

// A box of the chain, or a place between two boxes where the engine puts a norm.
struct ChainPart {
  std::string title{}, note{};            // of a box: "Convolution", "5 × 5, 20 channels"
  int layer = 0;                          // from 1: of the matrix in the box; 0: it has none
  std::string slot{};                     // of a slot: "layer1/conv/after"; empty: a box
  NormKind norm = NormKind::None;         // that stands in the slot
  Placement placement = Placement::None;  // whose norms stand in such slots
};
// From the input up. Norms are those of `stack`, everything else is the model's.
std::vector<ChainPart> chain_of(const ModelConfig& model, const StackWiring& stack);

// Layers that have a matrix, the last one that of the classes.
int chain_layers(const ModelConfig& model);
// Its norms as a preset has them.
Placement chain_placement(const ModelConfig& model, const StackWiring& stack);
// Why a preset cannot stand in a model; empty where it can, and for every transformer.
std::string preset_refusal(const ModelConfig& model, Placement placement);
// "before ReLU", "before layer", "no norm".
std::string chain_caption(const ModelConfig& model);
// How a hand begins to change the norms of any model in its diagram: "Drag a norm", "Click a norm", "Click a free slot",
// "Choose a preset".
const std::string& first_move(const ModelConfig& model);

}  // namespace normscope::lab

// The diagram of a convolutional network or a parser, before any drawing: a chain of boxes with its norms between them.
// These functions are pure; the drawn chain and the tests use them.
#pragma once

#include <string>
#include <vector>

#include "app/view/diagram_model.h"
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

/// The parts from the input up: norms from `stack`, all else from `model`.
std::vector<ChainPart> chain_parts(const ModelConfig& model, const StackWiring& stack);

}  // namespace normscope::view

namespace normscope::diagram {
view::DrawChain draw_chain;
}  // namespace normscope::diagram

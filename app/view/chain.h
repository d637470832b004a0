// The diagram of a model without a residual stream, before any drawing: a chain of boxes with its norms between them.
// What stands in it comes with the network, an add-on's. These functions are pure; the drawn chain, the run cards and the
// tests use them.
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

/// What the app asks of a network that is not a transformer.
struct Chain {
  std::vector<ChainPart> (*parts)(const ModelConfig&, const StackWiring&);  ///< see chain_of
  int (*layers)(const ModelConfig&);                                        ///< see chain_layers
  std::string (*refusal)(Placement);                                        ///< see preset_refusal
  std::string (*caption)(const ModelConfig&, Placement);                    ///< of a placement with norms
  bool dragged = true;  ///< whether norms go to other places; otherwise they are only put in and taken out
};
#define ARCHITECTURE(Name, name) extern const Chain name##_chain;
#include "chosen/architectures.def"
#undef ARCHITECTURE

/// From the input up. The norms are the stack's, everything else is the model's.
std::vector<ChainPart> chain_of(const ModelConfig& model, const StackWiring& stack);
/// What chains are made of.
ChainPart chain_box(std::string title, std::string note, int layer = 0);
ChainPart chain_slot(int layer, const char* name, NormKind norm, Placement placement);
const char* activation_name(const ModelConfig& model);  ///< "ReLU"

/// Counts the layers that have a matrix; the last one makes the classes.
int chain_layers(const ModelConfig& model);
/// The preset that has these norms.
Placement chain_placement(const ModelConfig& model, const StackWiring& stack);
/// Why a preset cannot stand in a model; empty where it can, and for every transformer.
std::string preset_refusal(const ModelConfig& model, Placement placement);
/// Returns "before ReLU", "before layer", "no norm".
std::string chain_caption(const ModelConfig& model);
/// How a user begins to change the norms of any model in its diagram: "Drag a norm", "Click a norm",
/// "Click a free slot", "Choose a preset".
const std::string& first_move(const ModelConfig& model);
/// Whether a norm of a model without a stream goes from place to place.
bool chain_is_dragged(const ModelConfig& model);

}  // namespace normscope::view

// An add-on's network without a residual stream, for the app: a chain of layers with norms between them. The
// diagram, the run cards and the tests use it.
#pragma once

#include <string>
#include <vector>

#include "engine/model/model_config.h"
#include "training/session/command.h"

namespace normscope::ui {
class Ui;
struct Rect;
}  // namespace normscope::ui
namespace normscope::diagram {
struct DiagramInput;
struct DiagramState;
}  // namespace normscope::diagram

namespace normscope::view {

struct Stacks;

using DrawChain = void(ui::Ui&, diagram::DiagramState&, const diagram::DiagramInput&, int run, const Stacks&,
                       const ui::Rect& area, std::vector<session::Command>&);

struct Chain {
  int (*layers)(const ModelConfig&);  ///< those that have a matrix; the last one makes the classes
  std::string (*refusal)(Placement);  ///< see preset_refusal
  std::string (*caption)(const ModelConfig&, Placement);  ///< of a placement with norms
  DrawChain* draw;                                        ///< draws and handles it in the diagram's place
  bool dragged = true;  ///< whether norms go to other places; otherwise they are only put in and taken out
};
#define ARCHITECTURE(Name, name) extern const Chain name##_chain;
#include "chosen/architectures.def"
#undef ARCHITECTURE
const Chain& chain_of(const ModelConfig& model);

Placement chain_placement(const ModelConfig& model, const StackWiring& stack);
/// Why a preset cannot stand in a model; empty where it can, and for every transformer.
std::string preset_refusal(const ModelConfig& model, Placement placement);
/// Returns "before ReLU", "before layer", "no norm".
std::string chain_caption(const ModelConfig& model);
/// How a user begins to change the norms of any model in its diagram: "Drag a norm", "Click a norm",
/// "Click a free slot", "Choose a preset".
const std::string& first_move(const ModelConfig& model);

}  // namespace normscope::view

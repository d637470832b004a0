// What the fold of a step lists, as values: an op and its gradient on one row, layers and sub-layers that are closed
// as one row with their sums; where the play head stands among them; the sentence above. Pure; called by the fold panel,
// by what saves it, and by tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/tape_screen/step_worker.h"

namespace normscope::tape_screen {

enum class RowKind : uint8_t { Update, Layer, Sublayer, Line };

struct FoldRow {
  RowKind kind = RowKind::Line;
  std::string name;           ///< "L06", "L06.attn", "L06.ffn.trunk", "update"
  std::string label;          ///< "Layer 6", "attention", "ffn.trunk", "Adam"
  std::string op;             ///< "linear", "12 ops"
  std::string shape;          ///< "(16, 64, 64)"; of a line
  int depth = 0;              ///< 1: within a layer
  int32_t layer = 0;          ///< 0: outside the layers
  bool open = false;          ///< of a layer
  std::string opens_with;     ///< of the first line of an open sub-layer: its name
  size_t first = 0, end = 0;  ///< lines of the fold, [first, end)
  size_t bytes = 0;           ///< of the results
  FoldSide forward,
      backward;         ///< sums; `instruction` is the one at which the head comes in on that side, or -1
  double gradient = 0;  ///< norm of the gradient of the first result; 0: there is none
  char mark = 0;        ///< '+': came with the last change of the wiring, '~': rewired
};

/// Which groups are open: as the hand left them, else the last layer, and in it every sub-layer but, with `compact`,
/// attention.
struct Opened {
  std::map<std::string, bool> by_hand;
  bool compact = false;
};

/// Downwards; the update stands first, above where the gradient arrives.
std::vector<FoldRow> fold_rows(const StepFacts& facts, const Opened& opened);

/// The side of the fold on which an instruction stands; the update stands on the backward one.
bool is_forward(const ProgramData& program, size_t instruction);
/// The row in which an instruction stands; none for a probe.
std::optional<size_t> row_of(const std::vector<FoldRow>& rows, const StepFacts& facts, size_t instruction);
/// Instructions in order of execution, without probes: those that the head stops at.
std::vector<size_t> listed_instructions(const ProgramData& program);
/// The nearest of them.
size_t nearest_listed(const std::vector<size_t>& listed, size_t instruction);
/// Index of the last forward instruction that is listed: where the step folds.
size_t fold_of(const ProgramData& program);
/// The same op on the other side; where there is none, the instruction itself.
size_t other_side(const StepFacts& facts, size_t instruction);

/// The gradient's norm where it sets out (what the loss hands back) and where it arrives; 0: not known.
struct GradientWay {
  double begins = 0, arrives = 0;
  /// At the norms whose input nobody else reads: what comes in over what goes out.
  double least = 0, most = 0;
  size_t norms = 0;
  bool every_norm = true;  ///< there is no other norm
};
GradientWay gradient_way(const StepFacts& facts);
/// "Backward costs 2.1 times forward. On its way up the gradient falls from 0.028 to 0.0012, 1.8 to 5.2 times at every
/// norm."; where it does not fall altogether: ", falling 1.8 to 5.2 times at every norm". Every number is that of this
/// step.
std::string fold_sentence(const StepFacts& facts);
/// Without probes, as the list has them.
struct ChangeCounts {
  size_t came = 0, went = 0, rewired = 0, same = 0;
};
ChangeCounts change_counts(const StepFacts& facts);
/// "Compared with run A before the change: 12 instructions came, 12 went, 6 are rewired; 130 are as they were."; empty:
/// no change.
std::string change_sentence(const StepFacts& facts);

}  // namespace normscope::tape_screen

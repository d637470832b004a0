// One training step folded at its loss: forward instructions down, backward ones up, so that an op and its gradient
// stand on one line; layers and sub-layers that fold, with sums. Called by normscope tape --fold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/tape/program.h"
#include "training/measure/step/cost.h"
#include "training/measure/step/step_player.h"

namespace normscope {

/// What one direction of a line, or of several, takes.
struct FoldSide {
  int32_t instruction = -1;  ///< index in the program; -1: there is none, or a sum
  Cost cost;
  double seconds = 0;  ///< 0: not measured
};

/// A node with its forward and its backward instruction.
struct FoldLine {
  int32_t node = -1;
  OpKind op = OpKind::Count;
  std::string name;   ///< "L06.ffn.trunk"
  std::string label;  ///< the same within the group that it stands in: "trunk"
  int32_t layer = 0;  ///< 0: outside the layers
  Shape shape;        ///< of the result and of its gradient
  size_t bytes = 0;   ///< of the result
  FoldSide forward, backward;
  double gradient = 0;  ///< norm of the result's gradient; 0: not measured
};

/// Consecutive lines that fold into one: a layer ("L06", "enc.L06"), or a sub-layer within one ("L06.ffn").
struct FoldGroup {
  std::string name;
  int depth = 0;  ///< 0: layer, 1: sub-layer
  int32_t layer = 0;
  size_t first = 0, end = 0;  ///< its lines, [first, end)
  size_t bytes = 0;
  FoldSide forward, backward;
};

/// An instruction of the update, which belongs to no line.
struct FoldUpdate {
  OpKind op = OpKind::Count;
  FoldSide side;
};

struct Fold {
  std::vector<FoldLine> lines;    ///< in the order of recording: downwards
  std::vector<FoldGroup> groups;  ///< a layer stands before its sub-layers
  std::vector<FoldUpdate> update;
  size_t probes = 0;  ///< measurements that no line shows
  FoldSide forward, backward, updates, probed;
};

/// `seconds`: one number an instruction of the program, or empty: not measured.
/// Throws Error when there are some, and not as many as instructions.
Fold fold(const ProgramData& program, std::span<const double> seconds = {});

/// Plays the step to its end and notes the norm of each result's gradient. The fold is of the same program.
void measure_gradients(Fold& fold, StepPlayer& player);

/// A table, a line a node, layers and sub-layers as headings with their sums; rates over the roof where one is known.
/// `open`: with the lines of a group; else layers and what lies outside them alone.
std::string to_string(const Fold& fold, const Roof& roof, bool open);

}  // namespace normscope

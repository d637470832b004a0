// One training step folded at its loss: forward instructions down, backward instructions up, so that an op and its
// gradient are on one line. Layers and sub-layers fold too, with sums. Called by normscope tape --fold.
#pragma once

#include "training/measure/step/profile.h"
#include "training/measure/step/step_player.h"

namespace normscope {

/// The machine's peaks per second: fused multiply-adds in registers, and main memory. 0: not measured.
struct Roofline {
  double flops = 0, bytes = 0;
};
/// The longer of the times that arithmetic and bytes take at the roof. Caches move tensors faster
/// than main memory: an instruction on cached tensors can take less.
double least_seconds(const Cost& cost, const Roofline& roof);

/// The cost of one direction of a line, or of several lines.
struct FoldSide {
  int32_t instruction = -1;  ///< index in the program; -1: none, or a sum
  Cost cost;
  double seconds = 0;  ///< 0: not measured
};

/// A node with its forward and its backward instruction.
struct FoldLine {
  int32_t node = -1;
  OpKind op = OpKind::Count;
  std::string name;   ///< "L06.ffn.stream"
  std::string label;  ///< its name within its group: "stream"
  int32_t layer = 0;  ///< 0: outside the layers
  Shape shape;        ///< of the result and of its gradient
  size_t bytes = 0;   ///< bytes of the result
  FoldSide forward, backward;
  double gradient = 0;  ///< norm of the result's gradient; 0: not measured
};

/// Consecutive lines that fold into one: a layer ("L06", "enc.L06"), or a sub-layer in it ("L06.ffn").
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
  size_t probes = 0;  ///< measurements, which no line shows
  FoldSide forward, backward, updates, probed;
};

/// Takes one number of `seconds` for each instruction, or none: not measured. Throws Error for another count.
Fold fold(const ProgramData& program, std::span<const double> seconds = {});

/// Plays the step to its end and notes the norm of each result's gradient. The fold must be of the same program.
void measure_gradients(Fold& fold, StepPlayer& player);

/// Writes a table with a line for each node, layers and sub-layers as headings with their sums, and rates
/// over the roof where it is known. Unless `open`, it omits the lines within layers.
std::string to_string(const Fold& fold, const Roofline& roof, bool open);

}  // namespace normscope

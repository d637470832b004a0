// The instruction under the play head as plain data: what it is, what it does to this step's numbers in one sentence,
// its formula and rule, its tensors as small pictures; and one of its elements checked by differences. Made off the
// thread that draws, where the StepPlayer lives; drawn by InstructionPanel and MemoryPanel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "training/measure/step/numeric_check.h"
#include "training/measure/step/step_player.h"
#include "training/measure/step/tensor_summary.h"

namespace normscope::tape_screen {

/// Cells of a picture in one row that have one colour.
struct Stripe {
  uint16_t row = 0, first = 0, end = 0;  ///< cells of the HeatMap, `end` excluded
  int8_t level = 0;                      ///< of kLevels, by the limit of the summary; or kHatched
  friend bool operator==(const Stripe&, const Stripe&) = default;
};
inline constexpr int8_t kLevels = 24, kHatched = 127;  // kHatched: holds a number that is not finite
/// Cells of level 0 are left out. `limit`: of the whole colour.
std::vector<Stripe> stripes_of(const HeatMap& picture, double limit);

/// A tensor that an instruction reads or writes.
struct ShownTensor {
  TensorId id;
  std::string sign;  ///< of the formula: "x", "W", "γ", "1/σ", "∂y"
  std::string role;  ///< "ffn.sum", "gain", "saved", "from logits", "to ffn.sum": where it comes from or goes
  std::string name;  ///< "L06.ffn.sum", "gradient of L06.ffn.sum"
  Shape shape;
  int input = -1;      ///< of the node, where this is an input with a gradient, or that gradient
  bool there = false;  ///< holds something of this step by now; without it no summary and no picture
  bool integers = false;
  bool adds = false;  ///< written by adding to what others wrote
  TensorSummary summary;
  /// Of one sequence: positions down, features across; of a weight all of it.
  HeatMap picture;
  std::vector<Stripe> stripes;   ///< of the picture
  size_t rows = 0, columns = 0;  ///< numbers that the picture stands for,
  int64_t first = 0;             ///< and the first of them in the tensor
};

/// Cells of a picture at most.
inline constexpr size_t kPictureRows = 60, kPictureColumns = 104;
/// Tensors of one side at most: an update writes all parameters.
inline constexpr size_t kMostTensors = 12;

struct Shown {
  uint64_t step = 0;  ///< which step's copy this is of; the caller's to fill
  size_t instruction = 0, instructions = 0;
  size_t position = 0;  ///< of the player: how many were executed
  int32_t node = -1, layer = 0;
  OpKind op = OpKind::Count;
  Phase phase = Phase::Forward;
  std::string name;                     ///< "L06.ffn.trunk"
  std::string title;                    ///< "Layer norm, backward"
  std::string sentence;                 ///< what it does to this gradient or value
  std::string note;                     ///< what else the numbers say; may be empty
  std::string formula, rule;            ///< TeX; rule empty where nothing has a gradient
  std::string shapes, source;           ///< words of the op (engine/ops/rules.h)
  int64_t sequence = 0, sequences = 1;  ///< the one in the pictures, of how many
  std::vector<ShownTensor> reads, writes;
  size_t left_out = 0;     ///< tensors beyond kMostTensors
  bool can_check = false;  ///< a gradient passes through its node
};

/// As the player stands, which is not moved: a tensor that is not there yet has no summary. Throws Error for an
/// instruction that the program does not have.
Shown shown_of(StepPlayer& player, size_t instruction, int64_t sequence = 0);

/// The input of the node, as the instruction reads it or as it writes its gradient; null: it does neither.
const ShownTensor* input_of(const Shown& shown, int input);

/// A number of an input: row and column of its picture (position and feature).
struct Element {
  int input = 0;
  int64_t row = 0, column = 0;
  friend bool operator==(const Element&, const Element&) = default;
};

/// The element that was asked for (nullopt: the one with the largest gradient), checked.
struct Checked {
  uint64_t step = 0;
  int32_t node = -1;
  int64_t asked_sequence = 0;  ///< of the pictures that it was asked in
  std::optional<Element> asked;
  int64_t sequence = 0;  ///< that the element is of
  Element element;
  NumericCheck check;
  std::string fault;  ///< why there is none, one line
};
/// Plays up to the node's backward instruction and back to where the player stood: not for the thread that draws.
/// Throws nothing of what check_element refuses: that is the fault. nullopt: `stop` said so.
std::optional<Checked> checked_of(StepPlayer& player, const Shown& shown, std::optional<Element> asked,
                                  const std::function<bool()>& stop = {});

}  // namespace normscope::tape_screen

// The instruction under the play head as plain data: its name, its effect on this step's numbers in one sentence, its
// formula and rule, its tensors as small pictures. `ElementCheck` is one of its elements checked by differences. Both
// are made off the drawing thread, where the StepPlayer is; InstructionPanel and MemoryPanel draw them.
#pragma once

#include "addons/tape-screen/training/numeric_check.h"
#include "addons/tape-screen/training/tensor_summary.h"

namespace normscope::tape_screen {

/// A run of cells in one row of a picture that have one colour.
struct Stripe {
  uint16_t row = 0, first = 0, end = 0;  ///< cells of the HeatMap, `end` excluded
  int8_t level = 0;                      ///< of kLevels, relative to the limit; or kHatched
  friend bool operator==(const Stripe&, const Stripe&) = default;
};
inline constexpr int8_t kLevels = 24, kHatched = 127;  // kHatched: it holds a number that is not finite
/// Leaves out cells of level 0. `limit` is the value of the full colour.
std::vector<Stripe> stripes_of(const HeatMap& picture, double limit);

/// A tensor that an instruction reads or writes.
struct ShownTensor {
  TensorId id{};
  std::string sign{};  ///< of the formula: "x", "W", "γ", "1/σ", "∂y"
  /// "ffn.sum", "gain", "saved", "from logits", "to ffn.sum": where it comes from or goes.
  std::string role{};
  std::string name{};  ///< "L06.ffn.sum", "gradient of L06.ffn.sum"
  Shape shape{};
  int input = -1;      ///< the node's input that this is, or is the gradient of; -1: neither
  bool there = false;  ///< it holds a value of this step by now; else no summary or picture
  bool integers = false;
  bool adds = false;  ///< written by adding to what is there
  TensorSummary summary{};
  /// Shows one sequence, positions down and features across, or the whole of a weight.
  HeatMap picture{};
  std::vector<Stripe> stripes{};  ///< of the picture
  size_t rows = 0, columns = 0;   ///< size of the part that the picture shows
  int64_t first = 0;              ///< index in the tensor of the picture's first number
};

/// The largest number of cells in a picture.
inline constexpr size_t kPictureRows = 60, kPictureColumns = 104;
/// Limits the tensors of one side, because an update writes all parameters.
inline constexpr size_t kMaxTensors = 12;

struct InstructionView {
  uint64_t step = 0;  ///< PlayedStep::ticket; the caller fills it in
  size_t instruction = 0, instructions = 0;
  size_t position = 0;  ///< number of instructions that the player has executed
  int32_t node = -1, layer = 0;
  OpKind op = OpKind::Count;
  Phase phase = Phase::Forward;
  std::string name;                     ///< "L06.ffn.stream"
  std::string title;                    ///< "Layer norm, backward"
  std::string sentence;                 ///< its effect on this gradient or value
  std::string note;                     ///< more about the numbers; may be empty
  std::string formula, rule;            ///< TeX; rule empty where nothing has a gradient
  std::string shapes, source;           ///< words of the op (engine/ops/rules.h)
  int64_t sequence = 0, sequences = 1;  ///< the sequence in the pictures; how many there are
  std::vector<ShownTensor> reads, writes;
  size_t left_out = 0;     ///< tensors beyond kMaxTensors
  bool can_check = false;  ///< whether a gradient passes through its node
};

/// Describes the instruction at the player's position, and does not move the player: a tensor that is not
/// computed yet has no summary. Throws Error for an instruction that the program does not have.
InstructionView shown_of(StepPlayer& player, size_t instruction, int64_t sequence = 0);

/// The input of the node that the instruction reads or writes the gradient of; null: it does neither.
const ShownTensor* input_of(const InstructionView& shown, int input);

/// A number of an input: row and column of its picture (position and feature).
struct Element {
  int input = 0;
  int64_t row = 0, column = 0;
  friend bool operator==(const Element&, const Element&) = default;
};

/// The check of the requested element (nullopt: the element with the largest gradient).
struct ElementCheck {
  uint64_t step = 0;
  int32_t node = -1;
  int64_t asked_sequence = 0;  ///< sequence of the pictures at the request
  std::optional<Element> asked;
  int64_t sequence = 0;  ///< sequence of the element
  Element element;
  NumericCheck check;
  std::string fault;  ///< why there is no check, one line
};
/// Plays up to the node's backward instruction and back to the player's position: not for the drawing thread. Where
/// check_element refuses, it returns the reason as the fault and does not throw. nullopt: `stop` returned true.
std::optional<ElementCheck> checked_of(StepPlayer& player, const InstructionView& shown,
                                       std::optional<Element> asked, const std::function<bool()>& stop = {});

/// Describes `shown` from its tensors as they are at the player's position.
std::string sentence_of(StepPlayer& player, const InstructionView& shown);
/// Further facts from the same tensors: gradients of parameters, rows that are nearly one vector. May be empty.
std::string note_of(StepPlayer& player, const InstructionView& shown);

/// Turns "L06.ffn.sum" or "enc.L06.ffn.sum" into "ffn.sum" where the name is of that layer.
std::string short_name(const std::string& name, int32_t layer);

}  // namespace normscope::tape_screen

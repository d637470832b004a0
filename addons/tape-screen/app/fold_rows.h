// The rows of a step's fold, as values: an op and its gradient on one row, closed layers and sub-layers as one row with
// their sums; the row of the play head; and the sentence above. Pure functions for the panel, its export and the tests.
#pragma once

#include "addons/tape-screen/app/step_worker.h"
#include "app/ui/paint.h"

namespace normscope::tape_screen {

enum class RowKind : uint8_t { Update, Layer, Sublayer, Line };

struct FoldRow {
  RowKind kind = RowKind::Line;
  std::string name{};         ///< "L06", "L06.attn", "L06.ffn.stream", "update"
  std::string label{};        ///< "Layer 6", "attention", "ffn.stream", "Adam"
  std::string op{};           ///< "linear", "12 ops"
  std::string shape{};        ///< "(16, 64, 64)"; only of a line
  int depth = 0;              ///< 1: within a layer
  int32_t layer = 0;          ///< 0: outside the layers
  bool open = false;          ///< whether a layer is open
  std::string opens_with{};   ///< name of an open sub-layer, on its first line only
  size_t first = 0, end = 0;  ///< lines of the fold, [first, end)
  size_t bytes = 0;           ///< of the results
  FoldSide forward{};         ///< sums; `instruction` is where the head enters on that side, or -1
  FoldSide backward{};        ///< the same
  double gradient = 0;        ///< norm of the first result's gradient; 0: there is none
  char mark = 0;              ///< '+': new with the last change of the wiring, '~': rewired
};

/// Which groups are open: as the user left them, or else the last layer, and in it every sub-layer (with
/// `compact`, every one but attention).
struct OpenRows {
  std::map<std::string, bool> by_hand;
  bool compact = false;
};

/// Lists from top to bottom. The update comes first, above the row where the gradient arrives.
std::vector<FoldRow> fold_rows(const StepFacts& facts, const OpenRows& opened);

/// Says on which side of the fold an instruction is; the update is on the backward side.
bool is_forward(const ProgramData& program, size_t instruction);
/// The row of an instruction; a probe has none.
std::optional<size_t> row_of(const std::vector<FoldRow>& rows, const StepFacts& facts, size_t instruction);
/// The instructions at which the head stops: all but the probes, in order of execution.
std::vector<size_t> listed_instructions(const ProgramData& program);
/// The index, in the program, of the listed instruction nearest to `instruction`.
size_t nearest_listed(const std::vector<size_t>& listed, size_t instruction);
/// The index of the last forward instruction that is listed, where the step folds.
size_t fold_of(const ProgramData& program);
/// The instruction of the same node on the other side of the fold, or the instruction itself.
size_t other_side(const StepFacts& facts, size_t instruction);

/// Says "Backward costs 2.1 times forward. On its way up the gradient falls from 0.028 to 0.0012, 1.8
/// to 5.2 times at every norm."; where it does not fall altogether: ", falling 1.8 to 5.2 times at every norm". Every
/// number is this step's.
std::string fold_sentence(const StepFacts& facts);
/// Leaves out probes, as the list does.
ChangeCounts change_counts(const StepFacts& facts);
/// Says "Compared with run A before the change: 12 instructions came, 12 went, 6 are rewired; 130 are
/// as they were."; empty: no change.
std::string change_sentence(const StepFacts& facts);

// The fold picture draws the fold of a step: forward down on the left, backward up on the right, an op and its gradient
// on one row, with bars of their times and the track between. The screen paints the visible rows, fold_svg all rows.

/// Where the columns of the fold are, px from the left edge of its panel, and how high a row is.
struct FoldColumns {
  float rate_left, bar_right, left_room, track_left, name, shape_right, bytes_right, track_right, bar_left,
      right_room, rate_right, row;
};
// The style guide's; a picture in a file has an extra column of gradients next to the right track.
inline constexpr FoldColumns kWideFold{62, 172, 54, 190, 208, 444, 500, 522, 540, 118, 726, 29},
    kNarrowFold{0, 112, 44, 128, 144, 328, 384, 404, 420, 86, 0, 24},
    kFoldAlone{62, 172, 54, 190, 208, 444, 500, 590, 608, 118, 794, 20};

struct FoldPicture {
  const StepFacts& facts;
  const std::vector<FoldRow>& rows;
  FoldColumns at = kWideFold;
  bool wide = true, clock = true;  ///< false: without words and rates; without times
  bool alone = false;              ///< a picture by itself, in which nothing opens or closes
  ui::Rect panel{}, list{};
  size_t first = 0, end = 0;  ///< the visible rows
  float px_per_second = 0;

  float y(size_t row) const { return list.y + (static_cast<float>(row - first) + 0.5f) * at.row; }
  float left() const { return panel.x + at.track_left; }
  float right() const { return panel.x + at.track_right; }
  bool folds() const { return end == rows.size(); }  ///< its last row is visible
  ui::Rect turn() const { return {left() + 20, list.bottom() - 2, right() - left() - 40, 20}; }
  std::string turn_words() const;  ///< "the fold: loss 2.91, gradient 0.028"

  void paint_headings(ui::Painter& p, const ui::Theme& t, float baseline) const;
  void paint(ui::Painter& p, const ui::Theme& t) const;
};

/// Says "7.2 ms forward, 15 ms backward, 1.1 ms update; ..."; it is empty for a step without times.
std::string times_of(const StepFacts& facts);
/// Draws every op of the step with the norms of the gradients, in light colours, and in dark ones where the
/// viewer prefers them.
std::string fold_svg(const StepFacts& facts);

}  // namespace normscope::tape_screen

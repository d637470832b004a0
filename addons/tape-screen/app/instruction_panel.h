// The instruction panel is the middle panel of the Tape screen: the instruction under the play head with its sentence,
// formula and local rule, the tensors that it reads and writes, and the check of one element by differences. TapeScreen
// draws it, and passes what it asks for to the thread with the StepPlayer.
//
// Controls: tape/instruction with /menu, /formula, /sequence; tape/reads/0 ..., tape/writes/0 ... (a click chooses the
// element, arrows move on from it), tape/tensors/scroll; tape/check with /position, /feature, /plot and /plot/h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addons/tape-screen/app/shown.h"
#include "app/plot/plot.h"
#include "app/tex/tex.h"
#include "app/ui/ui.h"
#include "app/view/screen.h"

namespace normscope::tape_screen {

/// What the panel shows where tabs share the room: Rule has the three tensors that matter, and the check.
enum class Part { All, Rule, Tensors };

struct InstructionInput {
  std::shared_ptr<const InstructionView> shown;  ///< null: no step was played, or it is not ready
  std::shared_ptr<const ElementCheck> checked;   ///< null: not ready; a check of another element is not shown
  Part part = Part::All;
  /// `head`, where > 0, means that the caller drew the panel, with tabs at its top of this height, px.
  float head = 0;
  std::string nothing{};  ///< shown where there is no instruction: "No step yet."
};

struct InstructionRequest {
  /// Asks for a check where `checked` is not of the chosen element (inner nullopt: the element with the largest
  /// gradient). It is set in every frame until the check is there.
  std::optional<std::optional<Element>> check;
  std::optional<int64_t> sequence;                          ///< another sequence for the pictures
  std::optional<std::pair<std::string, std::string>> file;  ///< name and content of a file to save
};

class InstructionPanel {
 public:
  InstructionRequest draw(ui::Ui&, const ui::Rect&, const InstructionInput&);

  /// The figures that the user asked to save since the last call.
  std::vector<view::SavePlot> take_saves() { return std::exchange(saves_, {}); }
  /// The tensor under the mouse in this frame; MemoryPanel outlines its buffer.
  const std::optional<TensorId>& hovered() const { return hovered_; }

 private:
  struct Frame;  // what one draw() passes to its parts, see panel_frame.h
  struct Row;    // of the list of tensors

  void settle(Frame&);
  void save(Frame&, const std::string& ending);
  void draw_head(Frame&, ui::Rect& rest);
  void draw_formulas(Frame&, ui::Rect& rest);
  // tensor_rows.cpp
  void draw_tensors(Frame&, ui::Rect);
  size_t scroll(Frame&, ui::Rect&, const std::vector<Row>&);
  void draw_heading(Frame&, ui::Rect, const Row&);
  void draw_tensor(Frame&, ui::Rect, const Row&);
  void hold_picture(Frame&, const ui::Rect&, const Row&);
  // check_panel.cpp
  void draw_check(Frame&, ui::Rect);
  void draw_fields(Frame&, ui::Rect row);
  void draw_numbers(Frame&, ui::Rect);
  void draw_errors(Frame&, const ui::Rect&);

  /// A formula broken into lines of a width, kept while neither changes.
  struct Typeset {
    std::string source;
    float width = 0, largest = 0, height = 0;  // largest: px of the letters
    struct Piece {
      ui::Vec at;
      tex::Layout layout;
    };
    std::vector<Piece> pieces;
  };
  void typeset(const ui::Painter&, Typeset&, const std::string& source, float width, float largest) const;

  std::optional<Element> chosen_;  // by the user; none: the largest gradient
  std::optional<TensorId> hovered_;
  std::optional<size_t> h_;  // index of the difference that is shown; none: the best
  bool dragging_h_ = false;
  int first_ = 0;  // the first row of the list that is shown
  uint64_t step_ = 0;
  size_t instruction_ = 0;
  int32_t node_ = -1;
  plot::View view_;
  Typeset forward_, rule_;
  std::vector<view::SavePlot> saves_;
};

/// Draws the error against the step h, of both kinds of difference.
plot::PlotSpec error_plot(const ElementCheck& checked, std::optional<size_t> h = {});
/// The pictures of the tensors that are computed, then the error.
std::vector<plot::PlotSpec> instruction_plots(const InstructionView& shown, const ElementCheck* checked);
/// One line per tensor: use, sign, name, shape and its summary; then the differences.
std::string instruction_csv(const InstructionView& shown, const ElementCheck* checked);
/// Writes the same as one JSON object.
std::string instruction_json(const InstructionView& shown, const ElementCheck* checked);

}  // namespace normscope::tape_screen

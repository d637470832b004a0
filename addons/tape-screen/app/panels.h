// The instruction panel is the middle panel of the Tape screen: the instruction under the play head with its sentence,
// formula and local rule, the tensors that it reads and writes, and the check of one element by differences. TapeScreen
// draws it, and passes what it asks for to the thread with the StepPlayer.
//
// Controls: tape/instruction with /menu, /formula, /sequence; tape/reads/0 ..., tape/writes/0 ... (a click chooses the
// element, arrows move on from it), tape/tensors/scroll; tape/check with /position, /feature, /plot and /plot/h.
#pragma once

#include "addons/tape-screen/app/shown.h"
#include "addons/tape-screen/training/memory_map.h"
#include "app/plot/plot.h"
#include "app/tex/tex.h"
#include "app/view/screen.h"

namespace normscope::tape_screen {

/// The part of the panel to draw where tabs share its space: Rule has the check, and the three tensors that matter.
enum class Part { All, Rule, Tensors };

struct InstructionInput {
  std::shared_ptr<const InstructionView> shown;  ///< null: no step was played, or it is not ready
  std::shared_ptr<const ElementCheck> checked;   ///< null: not ready; a check of another element is not shown
  Part part = Part::All;
  /// Height of the tabs at the top, px, if the caller drew the panel with them; 0: this draws the panel.
  float head = 0;
  std::string nothing{};  ///< shown where there is no instruction: "No step yet."
};

struct InstructionRequest {
  /// Asks for a check where `checked` is not of the chosen element (inner nullopt: the element with the largest
  /// gradient). It is set in every frame until the check is there.
  std::optional<std::optional<Element>> check;
  std::optional<int64_t> sequence;  ///< another sequence for the pictures
};

class InstructionPanel {
 public:
  /// Files that the user saves go into `desk`.
  InstructionRequest draw(ui::Ui&, const ui::Rect&, const InstructionInput&, ScreenRequests& desk);
  /// The tensor under the mouse in this frame; MemoryPanel outlines its buffer.
  const std::optional<TensorId>& hovered() const { return hovered_; }

 private:
  struct Frame;  // what one draw() passes to its parts
  struct Row;    // of the list of tensors

  void settle(Frame&);
  void draw_head(Frame&, ui::Rect& rest);
  void draw_formulas(Frame&, ui::Rect& rest);
  void draw_tensors(Frame&, ui::Rect);
  size_t scroll(Frame&, ui::Rect&, const std::vector<Row>&);
  void draw_heading(Frame&, ui::Rect, const Row&);
  void draw_tensor(Frame&, ui::Rect, const Row&);
  void hold_picture(Frame&, const ui::Rect&, const Row&);
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
};

/// Draws the error against the step h, of both kinds of difference.
plot::PlotSpec error_plot(const ElementCheck& checked, std::optional<size_t> h = {});

// The memory panel is the right panel of the Tape screen: the memory plan as address by instruction, each buffer a
// rectangle from its first write to its last read in the colour of its layer, and the plan compared with every tensor
// in its own place. TapeScreen draws it.
//
// Controls: tape/memory with /menu, tape/memory/plan (where there are two), tape/memory/map (hover a buffer: what it
// holds; Left and Right step through them), tape/memory/flag (the play head, to be dragged), tape/memory/bars.

struct StepFacts;  // step_worker.h

struct MemoryInput {
  /// Two plans of the same step: one in which every gradient stays readable, one in which gradients and activations
  /// share memory. Either may be null.
  std::shared_ptr<const MemoryMap> readable, shared;
  std::shared_ptr<const InstructionView> shown;  ///< its tensors are outlined and named
  int32_t head = 0;                              ///< the instruction under the play head
  int32_t fold = 0;                              ///< the first instruction that is not forward
  int layers = 1;
  bool reuses = true;               ///< whether the run itself uses `shared`
  std::optional<TensorId> hovered;  ///< the tensor hovered elsewhere on the screen
  float head_room = 0;              ///< > 0: the caller drew the panel, with tabs this high at its top, px
};

/// A rectangle of the picture, in its px. Adjacent buffers of one colour that are thinner than a pixel share a box.
struct MemoryBox {
  ui::Rect rect;
  int32_t layer = 0;
  BufferKind kind = BufferKind::Activation;
  int32_t buffer = -1;  ///< -1: several
  int32_t count = 1;
};
std::vector<MemoryBox> memory_boxes(const MemoryMap& map, float width, float height, float pixel = 1);
ui::Rect buffer_rect(const MemoryMap& map, const Buffer& buffer, float width, float height);

class MemoryPanel {
 public:
  /// Returns the instruction to which the flag was dragged. Files that the user saves go into `desk`.
  std::optional<int32_t> draw(ui::Ui&, const ui::Rect&, const MemoryInput&, ScreenRequests& desk);
  /// The buffer under the mouse in the last frame, where it belongs to this step: its writers and readers
  /// are outlined elsewhere. Null: none. It lives as long as the maps that were given.
  const Buffer* hovered(const StepFacts& facts) const;
  /// Called in a frame that does not draw the panel: the mouse is then on no buffer.
  void forget() { under_.reset(); }

 private:
  struct Frame;  // what one draw() passes to its parts

  void draw_title(Frame&, ui::Rect& rest);
  void draw_map(Frame&, ui::Rect);
  void draw_scale(Frame&);
  void draw_boxes(Frame&);
  void draw_linked(Frame&);
  void draw_names(Frame&, const ui::Rect& names);
  void draw_flag(Frame&, const ui::Rect& row);
  void hold_map(Frame&);
  void draw_under(Frame&);
  void draw_bars(Frame&, ui::Rect);

  int plan_ = 1;                 // 0: readable, 1: shared
  bool plan_by_hand_ = false;    // otherwise it follows the run
  std::optional<size_t> under_;  // under the mouse, or chosen by the keys
  // The boxes drawn last; for the map `of_`, this width and this height.
  std::shared_ptr<const MemoryMap> of_;
  float width_ = 0, height_ = 0;
  std::vector<MemoryBox> boxes_;
};

/// Says "12 MiB; every tensor in its own place would take 15 MiB.", or only the first part where both are equal.
std::string plan_sentence(const MemoryMap& map);

/// The files that a panel can save, under `name` without an ending.
struct PanelFiles {
  std::string name;
  std::function<std::vector<plot::PlotSpec>()> plots;
  std::function<std::string()> csv, json;
};
/// The menu in the upper right corner of a panel: NAME/menu with NAME/menu/svg, png, csv, json. The chosen file goes
/// into `desk`. `what` names its content: "the memory plan".
void save_menu(ui::Ui& ui, const std::string& name, const ui::Rect& panel, std::string_view what,
               const PanelFiles& files, ScreenRequests& desk);

inline constexpr ui::TextStyle kTickWords{ui::Face::Sans, ui::type::tick},
    kTickMono{ui::Face::Mono, ui::type::tick}, kBodyWords{ui::Face::Sans, ui::type::body},
    kBodyMono{ui::Face::Mono, ui::type::body}, kBodyBold{ui::Face::Bold, ui::type::body},
    kTitleBold{ui::Face::Bold, ui::type::title};

}  // namespace normscope::tape_screen

// The memory panel is the right panel of the Tape screen: the memory plan as address by instruction, each buffer a
// rectangle from its first write to its last read in the colour of its layer, and the plan compared with every tensor
// in its own place. TapeScreen draws it.
//
// Controls: tape/memory with /menu, tape/memory/plan (where there are two), tape/memory/map (hover a buffer: what it
// holds; Left and Right step through them), tape/memory/flag (the play head, to be dragged), tape/memory/bars.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addons/tape-screen/app/shown.h"
#include "app/plot/plot.h"
#include "app/ui/ui.h"
#include "app/view/screen.h"
#include "training/measure/step/memory_map.h"

namespace normscope::tape_screen {

struct StepFacts;  // step_worker.h

struct MemoryInput {
  /// `readable` and `shared` are maps of the same step: every gradient stays readable, or gradients and activations
  /// share memory. One may be null.
  std::shared_ptr<const MemoryMap> readable, shared;
  std::shared_ptr<const InstructionView> shown;  ///< its tensors are outlined and named
  int32_t head = 0;                              ///< the instruction under the play head
  int32_t fold = 0;                              ///< the first instruction that is not forward
  int layers = 1;
  bool reuses = true;               ///< whether the run itself uses `shared`
  std::optional<TensorId> hovered;  ///< the tensor hovered elsewhere on the screen
  float head_room = 0;              ///< > 0: the caller drew the panel, with tabs this high at its top, px
};

struct MemoryRequest {
  std::optional<int32_t> head;                              ///< where the flag was dragged
  std::optional<std::pair<std::string, std::string>> file;  ///< name and content of a file to save
};

/// A rectangle of the picture, in its px. Adjacent buffers of one colour that are thinner than a pixel
/// share a box.
struct MemoryBox {
  ui::Rect rect;
  int32_t layer = 0;
  BufferKind kind = BufferKind::Activation;
  int32_t buffer = -1;  ///< -1: several
  int32_t count = 1;
};
std::vector<MemoryBox> memory_boxes(const MemoryMap& map, float width, float height, float pixel = 1);
/// The rectangle of one buffer.
ui::Rect buffer_rect(const MemoryMap& map, const Buffer& buffer, float width, float height);

class MemoryPanel {
 public:
  MemoryRequest draw(ui::Ui&, const ui::Rect&, const MemoryInput&);
  /// The figures that the user asked to save since the last call.
  std::vector<view::SavePlot> take_saves() { return std::exchange(saves_, {}); }
  /// The buffer under the mouse in the last frame, where it belongs to this step: its writers and readers
  /// are outlined elsewhere. Null: none. It lives as long as the maps that were given.
  const Buffer* hovered(const StepFacts& facts) const;
  /// Called in a frame that does not draw the panel: the mouse is then on no buffer.
  void forget() { under_.reset(); }

 private:
  struct Frame;  // what one draw() passes to its parts

  void save(Frame&, const std::string& ending);
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

  std::vector<view::SavePlot> saves_;
  int plan_ = 1;                 // 0: readable, 1: shared
  bool plan_by_hand_ = false;    // otherwise it follows the run
  std::optional<size_t> under_;  // under the mouse, or chosen by the keys
  // The boxes as they were drawn last; `of_`, width and height say for what.
  std::shared_ptr<const MemoryMap> of_;
  float width_ = 0, height_ = 0;
  std::vector<MemoryBox> boxes_;
};

/// Says "12 MiB; every tensor in its own place would take 15 MiB.", or only the first part where both
/// are equal.
std::string plan_sentence(const MemoryMap& map);
/// Says "Most is alive at instruction 96: 9.5 MiB."
std::string most_sentence(const MemoryMap& map);
/// A round number of MiB that divides the whole into about four parts.
double address_step(double whole);
/// Addresses downwards and instructions across; its colour is the layer of the buffer.
plot::PlotSpec memory_plot(const MemoryMap& map);
/// One line per buffer.
std::string memory_csv(const MemoryMap& map);
/// What normscope tape --memory --json prints.
std::string memory_json(const MemoryMap& map);

}  // namespace normscope::tape_screen

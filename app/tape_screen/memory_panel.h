// The right panel of the Tape screen: the memory plan as address by instruction, each buffer a rectangle from its first
// write to its last read in the colour of its layer, and the plan against every tensor in its own place. Drawn by
// TapeScreen.
//
// Controls: tape/memory with /menu, tape/memory/plan (where there are two), tape/memory/map (hover a buffer: what it
// holds; Left and Right go through them), tape/memory/flag (the play head, to be dragged), tape/memory/bars.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/plot/plot.h"
#include "app/tape_screen/shown.h"
#include "app/ui/ui.h"
#include "app/view/commands.h"
#include "training/measure/step/memory_map.h"

namespace normscope::tape_screen {

struct StepFacts;  // step_worker.h

struct MemoryGiven {
  /// Of the same step: every gradient stays readable; gradients and activations share memory. One may be null.
  std::shared_ptr<const MemoryMap> readable, shared;
  std::shared_ptr<const Shown> shown;  ///< its tensors are outlined and named
  int32_t head = 0;                    ///< the instruction under the play head
  int32_t fold = 0;                    ///< the first that is not forward
  int layers = 1;
  bool reuses = true;               ///< the run itself has `shared`
  std::optional<TensorId> hovered;  ///< elsewhere on the screen
  float head_room = 0;              ///< > 0: the caller drew the panel, with tabs in so many px at its top
};

struct MemoryAsked {
  std::optional<int32_t> head;                              ///< the flag was dragged there
  std::optional<std::pair<std::string, std::string>> file;  ///< name and content of what is to be saved
};

/// A rectangle of the picture, in px of it; buffers of one colour that are thinner than a pixel are one.
struct MemoryBox {
  ui::Rect rect;
  int32_t layer = 0;
  BufferKind kind = BufferKind::Activation;
  int32_t buffer = -1;  ///< -1: several
  int32_t count = 1;
};
std::vector<MemoryBox> memory_boxes(const MemoryMap& map, float width, float height, float pixel = 1);
/// Of one buffer.
ui::Rect buffer_rect(const MemoryMap& map, const Buffer& buffer, float width, float height);

class MemoryPanel {
 public:
  MemoryAsked draw(ui::Ui&, const ui::Rect&, const MemoryGiven&);
  /// Figures that the hand wants as files since the last call.
  std::vector<lab::SavePlot> take_saves() { return std::exchange(saves_, {}); }
  /// The buffer under the hand in the last frame, where it is one of this step's: its writers and readers are outlined
  /// elsewhere. Null: none. Lives as long as the maps that were given.
  const Buffer* hovered(const StepFacts& facts) const;
  /// In a frame in which it is not drawn: the hand is on nothing of it.
  void forget() { under_.reset(); }

 private:
  struct Frame;  // what one draw() passes around

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

  std::vector<lab::SavePlot> saves_;
  int plan_ = 1;                 // 0: readable, 1: shared
  bool plan_by_hand_ = false;    // else it is the run's
  std::optional<size_t> under_;  // buffer under the hand, or chosen by the keys
  // The boxes as they were drawn last, and of what.
  std::shared_ptr<const MemoryMap> of_;
  float width_ = 0, height_ = 0;
  std::vector<MemoryBox> boxes_;
};

/// "12 MiB; every tensor in its own place would take 15 MiB.", or the first alone where both are one.
std::string plan_sentence(const MemoryMap& map);
/// "Most is alive at instruction 96: 9.5 MiB."
std::string most_sentence(const MemoryMap& map);
/// A round number of MiB, so that about four marks divide the whole.
double address_step(double whole);
/// Address down, instruction across: the layer of what lies there.
plot::PlotSpec memory_plot(const MemoryMap& map);
/// A line a buffer.
std::string memory_csv(const MemoryMap& map);
/// As normscope tape --memory --json prints it.
std::string memory_json(const MemoryMap& map);

}  // namespace normscope::tape_screen

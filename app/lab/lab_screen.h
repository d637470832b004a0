// The Lab: run cards, architecture diagram, settings, plots, transport. State plus draw(), window-less: it
// reads a LabView, returns commands and knows no trainer, so window, screenshot and tests run the same code.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "app/lab/commands.h"
#include "app/lab/diagram.h"
#include "app/lab/run_cards.h"
#include "app/lab/scenes.h"
#include "app/lab/settings.h"
#include "app/lab/transport.h"
#include "app/plot/plot.h"

namespace normscope::lab {

// Layout by logical size; a smaller window takes the next one, it never squeezes.
Size layout_for(ui::Vec size);

class LabScreen {
 public:
  // `area`: the window below the top bar. Clock figures print as a dash when `clock` is false.
  void draw(ui::Ui&, const LabView&, const ui::Rect& area, bool clock, std::vector<Command>& commands);

  DiagramState& diagram() { return diagram_; }
  TransportState& transport() { return transport_; }
  bool can_undo() const { return !done_.empty(); }
  bool can_redo() const { return !undone_.empty(); }

 private:
  // One undoable thing: commands that take it back, commands that do it again.
  struct Done {
    std::vector<Command> undo, redo;
    char selected_before = 'A', selected_after = 'A';
  };
  struct Frame;  // what one draw() passes around, see lab_screen.cpp

  void draw_left(Frame&, ui::Rect);
  void draw_architecture(Frame&, const ui::Rect&, bool switched);
  void draw_settings_panel(Frame&, const ui::Rect&, bool switched);
  void draw_switch(Frame&, const ui::Rect& head);
  void draw_time(Frame&, ui::Rect);
  void draw_depth(Frame&, ui::Rect);
  void draw_compact(Frame&, ui::Rect);
  void draw_gradient_over_time(Frame&, const ui::Rect&, bool with_panel);
  void draw_matrix_choice(Frame&, const ui::Rect&);
  void rate_handles(Frame&, const plot::PlotHit&, const plot::PlotScene&);
  void time_hit(Frame&, const plot::PlotHit&);
  void remember(const LabView&, std::vector<Command>& commands, char selected_before);
  void undo_keys(ui::Ui&, const LabView&, std::vector<Command>& commands);

  DiagramState diagram_;
  TransportState transport_;
  SettingsState settings_;
  LabData data_;
  SceneOptions scene_;
  std::map<std::string, plot::View> views_;
  int left_tab_ = 0;  // medium, compact: diagram or settings
  int plot_tab_ = 0;  // compact: which plot stands below the loss
  std::vector<Done> done_, undone_;
};

}  // namespace normscope::lab

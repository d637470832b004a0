// What one LabScreen::draw() passes between its parts. Only .cpp files of
// app/lab include it.
#pragma once

#include "app/lab/lab_screen.h"

namespace normscope::lab {

inline constexpr float kStackWidth = 88;    // width of the list "decoder, encoder"
inline constexpr float kWeightsWidth = 94;  // width of the list "β², weights"
inline constexpr float kLinesWidth = 128;   // width of the list "layers, heads of layer 1, ..."

struct LabScreen::Frame {
  ui::Ui& ui;
  const LabView& view;   // as it is now: what commands refer to
  const LabView& shown;  // as it stood at the cursor: cards, diagram, labels and sentences
  std::vector<session::Command>& commands;
  ui::Size size;
  bool clock = false;    // figures that depend on the machine's speed are shown
  float pad_right = 16;  // of all plots over time, so that their cursors stand in one line
  bool compact() const { return size == ui::Size::Compact; }
};

}  // namespace normscope::lab

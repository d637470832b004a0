// What one LabScreen::draw() passes between its parts. Included by lab_screen.cpp and lab_plots.cpp only.
#pragma once

#include "app/lab/lab_screen.h"

namespace normscope::lab {

struct LabScreen::Frame {
  ui::Ui& ui;
  const LabView& view;
  std::vector<Command>& commands;
  Size size;
  float pad_right = 16;  // of the plots over time, so that their cursors stand in one line
  bool compact() const { return size == Size::compact; }
};

}  // namespace normscope::lab

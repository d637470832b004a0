// What the window's frames cost, a line of CSV each: for tests/bench/window.py and for finding slow frames.
#pragma once

#include <string>

#include "training/io/line_file.h"

namespace normscope {

struct FrameCost {
  double build_ms = 0;  // wall time from the views to ImGui's vertices
  double draw_ms = 0;   // wall time of OpenGL and the buffer swap
  int vertices = 0;
  int step = 0;  // of the lockstep that the frame shows
};

class FrameLog {
 public:
  // An empty path logs nothing. Throws Error when the file cannot be written.
  explicit FrameLog(const std::string& path);
  // Each line is complete on the disk when this returns, so none is lost when the window is ended.
  void write(const FrameCost& cost);
  // Empty while all is well.
  const std::string& error() const { return file_.error(); }

 private:
  LineFile file_;
};

}  // namespace normscope

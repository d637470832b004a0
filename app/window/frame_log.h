// Writes what the window's frames cost, one line of CSV each: for `make bench-window` and for finding
// slow frames.
#pragma once

#include <string>

#include "training/io/output_file.h"

namespace normscope::window {

struct FrameCost {
  double build_ms = 0;  // wall time from the views to ImGui's vertices
  double draw_ms = 0;   // wall time of OpenGL and the buffer swap
  int vertices = 0;
  int step = 0;  // the step of the lockstep that the frame shows
  // How many seeds of every run it shows; 0: it shows a run that is not of the settings yet, or the trainer has not
  // carried out every command yet.
  int seeds = 0;
};

class FrameLog {
 public:
  // Logs nothing with an empty path. It throws Error when the file cannot be written.
  explicit FrameLog(const std::string& path);
  // Returns when the line is complete on the disk, so none is lost when the window is ended.
  void write(const FrameCost& cost);
  // Empty while all is well.
  const std::string& error() const { return file_.error(); }

 private:
  LineFile file_;
};

}  // namespace normscope::window

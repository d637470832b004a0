// A screen with every widget and sample plots, for the tests of the ui layer: what all of them need, drawn
// once.
#pragma once

#include <string>
#include <vector>

#include "app/plot/plot.h"
#include "app/ui/frame.h"
#include "app/ui/robot.h"
#include "app/ui/ui.h"
#include "app/ui/widgets.h"

namespace gallery {

struct State {
  double depth = 6, rate = 3e-3, width = 64;
  int preset = 1, speed = 2, optimizer = 0, chosen_run = 0, tab = 0;
  bool playing = false;
  std::string search;
  int steps = 0, resets = 0;
  normscope::ui::Change last_change = normscope::ui::Change::none;
  normscope::plot::View loss_view, gradient_view, heat_view, hidden_view, rate_view;
  normscope::plot::PlotHit loss_hit, rate_hit;
  double warmup = 200;
};

// Sample scenes with made-up numbers of the usual shape.
normscope::plot::PlotScene loss_scene(int steps = 214);
normscope::plot::PlotScene gradient_scene();
normscope::plot::PlotScene layers_scene(int run);
normscope::plot::PlotScene hidden_scene();
normscope::plot::PlotScene heat_scene(int run);
normscope::plot::PlotScene rate_scene(const State&);

void draw(normscope::ui::Ui&, State&);

// Everything a test needs: a loop without window, a Ui and a robot.
struct Stage {
  explicit Stage(normscope::ui::Vec size = {1600, 1000}, bool dark = false, float scale = 1);
  normscope::ui::Frame frame;
  normscope::ui::Ui ui;
  State state;
  normscope::ui::FrameOptions options;
  normscope::ui::Robot robot;
};

}  // namespace gallery

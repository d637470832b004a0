// The gallery is a screen with every widget and sample plots, drawn once for all tests of the ui layer.
#pragma once

#include <string>

#include "app/headless/frame.h"
#include "app/headless/ui_driver.h"
#include "app/plot/plot.h"
#include "app/ui/ui.h"
#include "app/ui/widgets.h"

namespace gallery {

struct State {
  double depth = 6, rate = 3e-3, width = 64;
  int preset = 1, speed = 2, optimizer = 0, chosen_run = 0, tab = 0;
  bool playing = false;
  std::string search;
  int steps = 0, resets = 0;
  normscope::ui::Change last_change = normscope::ui::Change::None;
  normscope::plot::View loss_view, gradient_view, heat_view, hidden_view, rate_view;
  normscope::plot::PlotHit loss_hit, rate_hit;
  double warmup = 200;
};

// `loss_plot` and the next are sample plots with made-up numbers of the usual shape.
normscope::plot::PlotSpec loss_plot(int steps = 214);
normscope::plot::PlotSpec gradient_plot();
normscope::plot::PlotSpec layers_plot(int run);
normscope::plot::PlotSpec hidden_plot();
normscope::plot::PlotSpec heat_plot(int run);
normscope::plot::PlotSpec rate_plot(const State&);

void draw(normscope::ui::Ui&, State&);

// Everything that a test needs: a loop without window, a Ui and a UI driver.
struct Stage {
  explicit Stage(normscope::ui::Vec size = {1600, 1000}, bool dark = false, float scale = 1);
  normscope::headless::Frame frame;
  normscope::ui::Ui ui;
  State state;
  normscope::ui::FrameOptions options;
  normscope::headless::UiDriver driver;
};

}  // namespace gallery

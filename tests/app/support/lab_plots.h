// The plots of the Lab that lab_fixture.h makes, and one of them alone in a window under a hand.
#pragma once

#include "app/headless/ui_driver.h"
#include "app/panels/panels.h"
#include "app/plot/plot.h"
#include "app/support/lab_fixture.h"
#include "app/view/lab_data.h"

namespace normscope::fixture {

/// The first plot of a panel at a step.
inline plot::PlotSpec lab_plot(const char* panel, int step = 214) {
  view::LabData data;
  return panels::plots_of(*panels::find_panel(panel), *lab_view({.step = step}), data, {.step = step},
                          &kGradNorm)[0];
}

/// A handle goes along with the hand, in whole steps.
struct PlotStage {
  explicit PlotStage(plot::PlotSpec of) : spec(std::move(of)) { driver.frames(3); }
  plot::PlotSpec spec;
  plot::View view;
  plot::PlotHit hit;
  headless::Frame frame{{1600, 1000}};
  ui::Ui ui{ui::load_fonts()};
  headless::UiDriver driver{frame, ui, [this] {
                              ui.begin_frame({.reduced_motion = true});
                              hit = plot::draw_plot(ui, "plot", {20, 20, 640, 340}, spec, view, "A plot.");
                              if (hit.handle)
                                spec.handles[static_cast<size_t>(*hit.handle)].x = std::round(hit.handle_x);
                              ui.end_frame();
                            }};
};

}  // namespace normscope::fixture

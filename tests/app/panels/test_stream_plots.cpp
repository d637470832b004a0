// These tests cover the gradients of several residual streams in the Lab: by layer, over time, and where they are chosen.
#include "app/panels/plot_specs.h"
#include "app/support/english.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/support/text_faults.h"
#include "catch.hpp"

namespace normscope::test_stream_plots {

using namespace normscope::panels;

/// A, hyper-connections with four streams, B, Post-LN with one, and C, ResiDual with two, after four
/// real steps.
std::shared_ptr<const LabView> view_of_streams() {
  static const std::shared_ptr<const LabView> view =
      fixture::trained_view({"hyper", "post", "resi-dual"}, 3, "train.steps", "60", 4);
  return view;
}

PlotOptions of_stream(int stream) {
  PlotOptions options{.step = 3};
  options.stream = stream;
  return options;
}

TEST_CASE("the gradient of a stream stands by layer and over time, of the runs that have the stream") {
  view::LabData data;
  const auto view = view_of_streams();
  for (int stream = 1; stream <= 4; ++stream) {
    INFO(stream);
    const plot::PlotSpec plot = depth_plot(*view, data, of_stream(stream), Metric::Gradient);
    REQUIRE(plot.series.size() >= (stream > 2 ? 1 : 2));
    CHECK(plot.y.label == fmt::format("root mean square of the gradient of stream {} at step 3", stream));
    CHECK(plot.note == "root mean square of ∂L/∂s, log scale");
    const auto strips = over_time_plots(*view, data, of_stream(stream), Metric::Gradient);
    for (const size_t run : {size_t{0}, size_t{2}}) {
      const bool has = stream <= (run == 0 ? 4 : 2);
      const auto line = std::ranges::find(plot.series, run == 0 ? "A" : "C", &plot::Series::id);
      CHECK((line != plot.series.end()) == has);
      REQUIRE(strips[run].series.size() == (has ? 3 : 0));
      for (size_t layer = 0; has && layer < 3; ++layer) {
        const float square = data.value(
            view->runs[run], fmt::format("L{:02}.ffn.stream.{}.gradient_square", layer + 1, stream), 3);
        CHECK(square > 0);
        CHECK(line->y[layer] == Approx(std::sqrt(square)));
        CHECK(strips[run].series[layer].y[2] == Approx(std::sqrt(square)));
      }
    }
    CHECK(std::ranges::find(plot.series, "B", &plot::Series::id) == plot.series.end());
    CHECK(strips[1].series.empty());
  }
  const auto first = depth_plot(*view, data, of_stream(1), Metric::Gradient),
             second = depth_plot(*view, data, of_stream(2), Metric::Gradient);
  CHECK(first.series.back().y[0] != second.series.back().y[0]);
}

TEST_CASE("the Lab offers streams beside the matrices where a run has several, and of gradients alone") {
  for (const char* language : {"en", "de"}) {
    INFO(language);
    const fixture::Spoken spoken(language);
    fixture::LabDriver lab(view_of_streams());
    lab.driver.frames(3);
    lab.driver.choose("plot/matrix", "stream 4");
    CHECK(lab.state.screens.lab.shown().stream == 4);
    CHECK(lab.driver.value("plot/matrix") == "stream 4");
    CHECK(lab.driver.value("plot/matrix-over-time") == "stream 4");
    lab.driver.move_to({4, 4});
    lab.driver.frames(3);
    CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
    lab.driver.choose("plot/gradient-over-time/quantity", "update-ratio");
    CHECK(lab.driver.value("plot/matrix-over-time") == "W₂");
    CHECK(lab.state.screens.lab.shown().stream == 4);  // of the plot by layer, still
    lab.driver.choose("plot/matrix", "W₁");
    CHECK(lab.state.screens.lab.shown().stream == 0);
    CHECK(lab.state.screens.lab.shown().matrix == 1);
  }
}

TEST_CASE("with runs of one stream the Lab has matrices to choose from, and no stream") {
  fixture::LabDriver lab(view_of_streams());
  lab.driver.frames(3);
  lab.click("plot/matrix");
  lab.click("plot/matrix/stream 2");
  CHECK(lab.state.screens.lab.shown().stream == 2);
  lab.state.session.view = fixture::lab_view();
  lab.driver.frames(3);
  CHECK(lab.state.screens.lab.shown().stream == 0);
  CHECK(lab.driver.value("plot/matrix") == "W₂");
  lab.click("plot/matrix");
  CHECK_FALSE(lab.ui.registry().find("plot/matrix/stream 1"));
}

}  // namespace normscope::test_stream_plots

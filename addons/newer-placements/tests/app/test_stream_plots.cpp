// The Lab's plots of several residual streams and of weights over depth.
#include <algorithm>

#include "app/panels/panels.h"
#include "app/panels/plot_specs.h"
#include "app/support/english.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/support/text_faults.h"

namespace normscope::test_stream_plots {
using namespace panels;
using fixture::cell;

constexpr int kLayers = 3, kSublayers = 2 * kLayers, kStep = 4;

/// A, attention residuals, B, depth averages, and C, Post-LN, which has one sum, after four real steps.
std::shared_ptr<const LabView> view_over_depth() {
  static const std::shared_ptr<const LabView> view =
      fixture::trained_view({"attn-res", "depth-average", "post"}, kLayers, "train.lr", "0.05", kStep);
  return view;
}

PlotOptions of_weights() {
  PlotOptions options{.step = kStep};
  options.weights = true;
  return options;
}

TEST_CASE("a triangle of weights over depth has the weights that are read behind each sub-layer") {
  view::LabData data;
  const auto view = view_over_depth();
  const auto plots = plots_of(*find_panel("plot/dependency"), *view, data, of_weights(), &kGradNorm);
  REQUIRE(plots.size() == 3);
  for (size_t run = 0; run < 2; ++run) {
    INFO(run);
    REQUIRE(plots[run].heat);
    const plot::HeatMap& heat = *plots[run].heat;
    REQUIRE(heat.rows == kSublayers);
    REQUIRE(heat.columns == kSublayers + 1);
    bool differ = false;
    for (int row = 0; row < heat.rows; ++row) {
      float sum = 0;
      for (int column = 0; column <= row + 1; ++column) {
        const std::string name =
            fmt::format("L{:02}.{}.read.{}", row / 2 + 1, row % 2 == 0 ? "attn" : "ffn", column + 1);
        INFO(name);
        CHECK(cell(heat, row, column) == data.value(view->runs[run], name, kStep));
        sum += cell(heat, row, column);
        differ = differ || cell(heat, row, column) != cell(heat, row, 0);
      }
      if (run == 0) CHECK(sum == Approx(1).epsilon(1e-5));
      if (run == 1) CHECK(sum > 1.5f);
      for (int column = row + 2; column < heat.columns; ++column) CHECK(std::isnan(cell(heat, row, column)));
    }
    CHECK(differ);  // the runs have moved
  }
  CHECK(plots[0].heat->below == "Σ rows 1.00–1.00");
  CHECK(plots[1].heat->below != plots[0].heat->below);
  CHECK_FALSE(plots[2].heat);  // Post-LN weighs nothing
}

TEST_CASE("the triangle of weights says what it shows, and how many outputs count at the end") {
  view::LabData data;
  const auto view = view_over_depth();
  const auto plots = plots_of(*find_panel("plot/dependency"), *view, data, of_weights(), &kGradNorm);
  CHECK(plots[0].title == "Weights over depth");
  CHECK(plots[2].title == plots[0].title);
  CHECK(plots[0].y.label == "weight over depth at step 4, A: " + view->runs[0].name);
  CHECK(plots[0].id == "depth-weights-A");
  std::string said;
  for (size_t run = 0; run < 2; ++run) {
    double sum = 0, squares = 0;
    for (int column = 0; column <= kSublayers; ++column) {
      const double weight = cell(*plots[run].heat, kSublayers - 1, column);
      sum += std::abs(weight);
      squares += weight * weight;
    }
    said += fmt::format("{}about {} of 7 in {}", run == 0 ? "" : ", ", std::lround(sum * sum / squares),
                        "AB"[run]);
  }
  CHECK(plots[0].sentence == "The output reads " + said + ".");
  // On one scale, that reaches as far as the largest weight of any run.
  CHECK(plots[0].heat->full == plots[1].heat->full);
  float most = 0;
  for (const float weight : plots[1].heat->cells.values)
    if (std::isfinite(weight)) most = std::max(most, std::abs(weight));
  CHECK(most > 1);
  CHECK(plots[1].heat->full >= most);
  CHECK(plots[1].heat->full < most + 0.2f);
}

TEST_CASE("weights below zero have colours of their own") {
  view::LabData data;
  LabView view = *view_over_depth();
  const History& measured = *view.runs[1].history;
  std::vector<float> numbers;
  int32_t step = 0;
  measured.frame(kStep, numbers, step);
  numbers[static_cast<size_t>(measured.find("L02.attn.read.2"))] = -3;
  auto changed = std::make_shared<History>(measured.layout());
  changed->append(kStep, 3, 0.05, std::vector<double>(numbers.begin(), numbers.end()));
  view.runs[1].history = changed;
  const auto plots = dependency_plots(view, data, of_weights());
  CHECK(cell(*plots[1].heat, 2, 1) == -3);
  CHECK(plots[1].heat->full == 3);
  CHECK(plots[0].heat->signed_data);
  CHECK(plots[1].heat->signed_data);
}

TEST_CASE("without the choice, or without a run that weighs over depth, the triangles are those of shares") {
  view::LabData data;
  PlotOptions options = of_weights();
  options.step = 214;
  const auto one_sum = fixture::lab_view();
  CHECK(dependency_plots(*one_sum, data, options)[0].sentence ==
        "A leans on its newest branch, B on about 3 of 13, C on all.");
  options = of_weights();
  options.weights = false;
  const auto shares = dependency_plots(*view_over_depth(), data, options);
  for (size_t run = 0; run < 3; ++run) {
    REQUIRE(shares[run].heat);
    CHECK(shares[run].title.empty());  // the panel's own
    CHECK(shares[run].heat->full == 1);
    CHECK_FALSE(shares[run].heat->signed_data);
    CHECK(cell(*shares[run].heat, 2, 1) == data.value(view_over_depth()->runs[run], "beta2.3.1", kStep));
  }
}

TEST_CASE("the Lab offers the weights beside the shares, and says of other runs that they have none") {
  for (const char* language : {"en", "de"})
    for (const float scale : {1.f, 1.5f}) {
      INFO(language << " " << scale);
      const fixture::Spoken spoken(language);
      fixture::LabDriver lab(view_over_depth(), {1600, 1000}, scale);
      lab.driver.frames(3);
      if (scale > 1) lab.click("plot/tab/β²");
      CHECK(lab.driver.value("plot/weights") == "β²");
      lab.click("plot/weights");
      lab.click("plot/weights/weights");
      CHECK(lab.state.screens.lab.shown().weights);
      const auto written = [&](const std::string& text) {
        return std::ranges::any_of(
            lab.ui.texts(), [&](const ui::TextRecord& t) { return t.text.find(text) != std::string::npos; });
      };
      CHECK(written(tr("A softmax's rows sum to 1; learned weights begin at 1 each.")));
      CHECK_FALSE(written(tr("Rows sum to 1 at first: less as branches agree, more as they cancel.")));
      lab.driver.move_to("plot/dependency/A", {0.2f, 0.1f});
      lab.driver.frames(40);
      const auto titled = [&](const ui::TextRecord& t) { return t.text == tr("Weights over depth"); };
      CHECK(std::ranges::any_of(lab.ui.texts(), titled) ==
            (scale == 1));  // in the narrow Lab the tab's name stands
      lab.driver.move_to({4, 4});
      lab.driver.frames(3);
      CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
      lab.click("plot/weights");
      lab.click("plot/weights/β²");
      CHECK_FALSE(lab.state.screens.lab.shown().weights);
    }
  fixture::LabDriver lab(fixture::lab_view());
  lab.driver.frames(3);
  CHECK_FALSE(lab.ui.registry().find("plot/weights"));
}

/// A, hyper-connections with four streams, B, Post-LN with one, and C, ResiDual with two, after four real steps.
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
    const plot::PlotSpec plot = depth_plot(*view, data, of_stream(stream), &kGradNorm);
    REQUIRE(plot.series.size() >= (stream > 2 ? 1 : 2));
    CHECK(plot.y.label == fmt::format("root mean square of the gradient of stream {} at step 3", stream));
    CHECK(plot.note == "root mean square of ∂L/∂s, log scale");
    const auto strips = over_time_plots(*view, data, of_stream(stream), &kGradNorm);
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
  const auto first = depth_plot(*view, data, of_stream(1), &kGradNorm),
             second = depth_plot(*view, data, of_stream(2), &kGradNorm);
  CHECK(first.series.back().y[0] != second.series.back().y[0]);
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

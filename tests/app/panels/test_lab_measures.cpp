// These tests cover the metrics of plot cells: triangles of dependency, the selector, the theory band, files and text.
#include <imgui.h>

#include <algorithm>

#include "app/panels/panels.h"
#include "app/panels/plot_specs.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "folder.h"
#include "training/measure/theory/theory.h"

using namespace normscope;
using namespace normscope::lab;
using namespace normscope::panels;
using fixture::LabDriver;

TEST_CASE("own shares by layer and over time are the diagonal of the triangle") {
  view::LabData data;
  const auto view = fixture::lab_view();
  for (const RunView& run : view->runs) {
    const Dependency all = dependency(data, run, 100);
    const DepthPoints own = along_depth(data, run, &kOwnShare, 0, 100);
    REQUIRE(own.y.size() == all.rows.size());
    for (size_t i = 0; i < own.y.size(); ++i) {
      CHECK(own.x[i] == static_cast<float>(i + 1) / 2);  // two sub-layers a layer
      CHECK(own.y[i] == all.rows[i].back());
    }
    const auto line = over_time(data, run, &kOwnShare, 0, 2);
    const auto at = std::ranges::find(line->x, 100.f);
    REQUIRE(at != line->x.end());
    CHECK(line->y[static_cast<size_t>(at - line->x.begin())] == all.rows[5].back());
  }
  CHECK(stat_names(&kOwnShare, 0, 2, "").value == "beta2.4.4");
  CHECK(stat_names(&kOwnShare, 0, 2, "enc.").value == "enc.beta2.4.4");
  CHECK(stat_names(&kOwnShare, 0, 2, "dec.").value == "dec.beta2.6.6");  // with cross-attention
}

TEST_CASE(
    "where one token dominates, own shares are drawn by token too, and the sentence says whose they are") {
  view::LabData data;
  LabView view = *fixture::lab_view();
  const PlotOptions options{.step = 1};
  CHECK(depth_plot(view, data, options, &kOwnShare).series.size() == 3);
  std::vector<StatInfo> layout{{"loss", 0}};
  std::vector<double> numbers{3};
  const auto put = [&](const std::string& name, int layer, double value) {
    layout.push_back({name, layer});
    numbers.push_back(value);
  };
  for (int i = 1; i <= 12; ++i) {
    const int layer = (i + 1) / 2;
    const std::string name = fmt::format("L{:02}.{}", layer, i % 2 ? "attn" : "ffn");
    put(name + ".longest", layer, i == 5 ? 186 : 3);
    put(name + ".token_share", layer, 0.03);
    for (int j = 0; j <= i; ++j) put(fmt::format("beta2.{}.{}", i, j), layer, j == i ? 2e-5 : 0.1);
    put(fmt::format("beta2.{}.sum", i), layer, 0.9);
  }
  auto history = std::make_shared<History>(layout);
  history->append(1, 3, 0.001, numbers);
  view.runs[1].history = history;
  view::LabData fresh;
  const plot::PlotSpec plot = depth_plot(view, fresh, options, &kOwnShare);
  REQUIRE(plot.series.size() == 4);
  CHECK(plot.series.back().dash);
  CHECK(plot.series.back().y[0] == 0.03f);
  CHECK(plot.sentence.starts_with("One token dominates B: its state is 186 times as long"));
  CHECK(dependency_plots(view, fresh, options)[0].sentence.starts_with("One token dominates B"));
}

TEST_CASE("dragging in a plot over time moves the one cursor, and letting go at the end follows again") {
  LabDriver lab(fixture::lab_view());
  lab.driver.drag_by("plot/loss", {-60, 0}, "", 4, {0.5f, 0.5f});
  const int step = cursor_step(lab.state.screens.lab.transport(), *lab.state.session.view);
  CHECK(step > 30);
  CHECK(step < 214);
  CHECK(lab.driver.value("timeline") == fmt::format("{}", step));
  lab.driver.drag_by("plot/loss", {500, 0}, "", 4, {0.5f, 0.5f});
  CHECK_FALSE(lab.state.screens.lab.transport().pinned_step);
}

TEST_CASE("a plot is saved as SVG, PNG and CSV, never over another file, and copied as text") {
  const test::Pictures pictures;
  const auto size_of = [&](const char* file) { return std::filesystem::file_size(pictures.path / file); };
  LabDriver lab(fixture::lab_view());
  for (const char* format : {"svg", "png", "csv", "csv"}) {
    lab.driver.click("plot/loss/menu");
    lab.click(fmt::format("plot/loss/menu/{}", format));
  }
  CHECK(size_of("normscope-loss.svg") > 1000);
  CHECK(size_of("normscope-loss.png") > 5000);
  CHECK(size_of("normscope-loss.csv") > 1000);
  CHECK(std::filesystem::exists(pictures.path / "normscope-loss-2.csv"));
  CHECK(lab.state.notice.starts_with("saved "));
  const test::Variable nowhere("XDG_PICTURES_DIR", "/nowhere/at/all");
  lab.driver.click("plot/loss/menu");
  lab.click("plot/loss/menu/svg");
  CHECK(test::contains(lab.state.notice, "/nowhere/at/all"));
  lab.driver.move_to("plot/loss");
  lab.driver.key("Ctrl+T");
  CHECK(std::string(ImGui::GetClipboardText()).starts_with("Loss"));
  CHECK(lab.state.notice == "copied: Loss as text");
}

TEST_CASE("every plot is saved in every format, those of one run each too, and copied as text") {
  const test::Pictures pictures;
  LabDriver lab(fixture::lab_view());
  std::map<std::string, std::string> plots{
      {"plot/loss", "Loss: how well does it foresee the text?"},
      {"plot/rate", "Learning rate: how far does each step go?"},
      {"plot/gradient-over-time", "Gradient size over time: how much of the loss reaches it?"},
      {"plot/gradient-by-layer", "Gradient size by layer: how much of the loss reaches it?"},
      {"plot/hidden-norm", "Mean square of the state: does the signal grow with depth?"},
      {"plot/dependency", "Residual dependency β²: whom does each layer lean on?"}};
  for (const Panel& panel : panels::panels()) {
    const std::string plot = panel.id, title = plots[plot];
    INFO(plot);
    REQUIRE_FALSE(title.empty());
    for (const char* format : {"svg", "png", "csv"}) {
      lab.driver.click(plot + "/menu");
      lab.click(fmt::format("{}/menu/{}", plot, format));
    }
    lab.driver.move_to(panel.form == Form::Strips ? plot + "/A" : plot);
    lab.driver.key("Ctrl+T");
    CHECK(std::string(ImGui::GetClipboardText()).starts_with(title));
  }
  std::map<std::string, int> files;
  for (const auto& file : std::filesystem::directory_iterator(pictures.path)) {
    INFO(file.path().filename());
    CHECK(file.file_size() > 300);
    ++files[file.path().extension().string()];
  }
  // Four plots, and one a run of those over time and of the triangles.
  for (const char* format : {".svg", ".png", ".csv"}) CHECK(files[format] == 4 + 3 + 3);
}

TEST_CASE("turning an axis keeps every value on it") {
  view::LabData data;
  const auto view = fixture::lab_view();
  PlotOptions options{.step = 214};
  plot::PlotSpec plot = gradient_by_layer_plot(*view, data, options);
  CHECK(plot.y.scale == plot::AxisScale::Log);
  turn_axis(plot);
  CHECK(plot.y.scale == plot::AxisScale::Linear);
  turn_axis(plot);
  CHECK(plot.y.scale == plot::AxisScale::Log);
  for (const plot::Series& s : plot.series)
    for (float v : s.y.values) CHECK((v >= plot.y.lo && v <= plot.y.hi));
}

TEST_CASE("a layer under the hand is marked in every plot by layer") {
  LabDriver lab(fixture::lab_view());
  view::LabData data;
  PlotOptions options{.step = 214};
  options.hover_layer = 2;
  CHECK(depth_plot(*lab.state.session.view, data, options, &kGradNorm).hover == 3.0);
  CHECK(depth_plot(*lab.state.session.view, data, options, &kLayerCosine).hover == 3.0);
  CHECK(dependency_plots(*lab.state.session.view, data, options)[0].heat->marked_row == 4);
}

TEST_CASE("what the hand is over in one plot or in the diagram is the layer, or the step, of all of them") {
  LabDriver lab(fixture::lab_view());
  const auto layer_over = [&](const std::string& name, ui::Vec at) {
    lab.driver.move_to(ui::Vec{2, 2});
    lab.driver.frames(2);
    CHECK_FALSE(lab.state.screens.lab.shown().hover_layer);
    CHECK_FALSE(lab.state.screens.lab.shown().hover_step);
    lab.driver.move_to(name, at);
    lab.driver.frames(2);
    return lab.state.screens.lab.shown().hover_layer.value_or(-1);
  };
  // From the first to the last layer, whatever shows them.
  for (const char* plot : {"plot/gradient-by-layer", "plot/hidden-norm"}) {
    INFO(plot);
    CHECK(layer_over(plot, {0.15f, 0.5f}) == 0);
    CHECK(layer_over(plot, {0.85f, 0.5f}) == 5);
  }
  CHECK(layer_over("plot/dependency/A", {0.2f, 0.1f}) == 0);
  CHECK(layer_over("plot/dependency/A", {0.3f, 0.7f}) > 3);
  CHECK(layer_over("diagram/layer2/attn/before", {0.5f, 0.5f}) == 1);
  CHECK(layer_over("diagram/layer1", {0.5f, 0.5f}) == 0);
  for (const char* plot : {"plot/loss", "plot/rate", "plot/gradient-over-time/A"}) {
    INFO(plot);
    layer_over(plot, {0.3f, 0.5f});
    REQUIRE(lab.state.screens.lab.shown().hover_step);
    const double early = *lab.state.screens.lab.shown().hover_step;
    layer_over(plot, {0.6f, 0.5f});
    REQUIRE(lab.state.screens.lab.shown().hover_step);
    CHECK((early > 20 && early + 40 < *lab.state.screens.lab.shown().hover_step));
  }
}

TEST_CASE("the cost of a setting is said before it is asked for") {
  CHECK(settings::cost_text(0.03, 1e9, 2e9, 41'000'000) == "restarts: about 60 ms a step, 41 MB");
  CHECK(settings::cost_text(0.03, 1e9, 40e9, int64_t{5} << 30) == "heavy: about 1.2 s a step, 5.4 GB");
  CHECK(settings::cost_text(0, 1e9, 2e9, 41'000'000) == "restarts: about 41 MB");
  CHECK(settings::cost_text(0.03, 1e9, 2e12, 90'000'000'000, 16'000'000'000) ==
        "too large: 90.0 GB of 16.0 GB");
}

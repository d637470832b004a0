// These tests cover the maps of variances over time: their cells, their colours, and what theory says beside them.
#include "app/panels/plot_specs.h"
#include "app/plot/plot.h"
#include "app/support/english.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "catch.hpp"
#include "training/measure/theory/trainability.h"

namespace normscope::test_variance_maps {

using namespace normscope::panels;
using fixture::cell;

/// The fixture's Lab with a text whose symbols repeat as often as the built-in one's.
std::shared_ptr<LabView> known_text() {
  auto view = std::make_shared<LabView>(*fixture::lab_view());
  view->agreement.token = 0.07;
  return view;
}

PlotOptions as_map() {
  PlotOptions options{.step = 214};
  options.map = true;
  return options;
}

TEST_CASE("a map has a row for each sub-layer, and a column only where the run has been") {
  view::LabData data;
  const auto view = known_text();
  const auto maps = over_time_plots(*view, data, as_map(), Metric::StreamVariance);
  REQUIRE(maps.size() == 3);
  for (const plot::PlotSpec& plot : maps) {
    REQUIRE(plot.heat);
    CHECK(plot.heat->rows == 12);
    CHECK(plot.series.empty());
    CHECK(plot.heat->full == maps[0].heat->full);  // one scale for all runs
    CHECK(std::isfinite(cell(*plot.heat, 11, plot.heat->columns * 213 / 300)));
    CHECK(std::isnan(cell(*plot.heat, 11, plot.heat->columns * 220 / 300)));
  }
  CHECK(cell(*maps[2].heat, 0, 0) == 2);   // the fixture's Pre-LN stream grows by one a layer
  CHECK(cell(*maps[2].heat, 10, 9) == 7);  // attention of layer 6
  CHECK(cell(*maps[0].heat, 10, 9) == 1);
  const auto branches = over_time_plots(*view, data, as_map(), Metric::BranchVariance);
  CHECK(cell(*branches[1].heat, 3, 50) == 0.5f);
  CHECK(branches[0].id != maps[0].id);
  // Without the choice, and of other numbers, the lines stay.
  CHECK_FALSE(over_time_plots(*view, data, {}, Metric::BranchVariance)[0].heat);
  CHECK_FALSE(over_time_plots(*view, data, as_map(), Metric::Gradient)[0].heat);
}

TEST_CASE("the colours of a map are even in the logarithm") {
  plot::HeatMap heat;
  heat.log = true;
  heat.least = 0.1f;
  heat.full = 10;
  CHECK(heat.share(0.1f) == 0);
  CHECK(heat.share(1) == Approx(0.5));
  CHECK(heat.share(10) == Approx(1));
  heat.log = false;
  CHECK(heat.share(1) == Approx(0.1));
}

TEST_CASE("beside a map stands theory's start, of the placement that the run has") {
  view::LabData data;
  const auto view = known_text();
  const auto maps = over_time_plots(*view, data, as_map(), Metric::StreamVariance);
  const theory::AtStart pre = theory::at_start(view->runs[2].spec->model, 0.07);
  REQUIRE(pre.sublayers.size() == 12);
  for (size_t row = 0; row < 12; ++row) {
    CHECK(maps[2].heat->beside[row] == static_cast<float>(pre.sublayers[row].stream));
    if (row > 0) {
      CHECK(maps[0].heat->beside[row] == Approx(1));  // Post-LN: a norm stands before every branch joins
      CHECK(maps[2].heat->beside[row] > maps[2].heat->beside[row - 1]);
    }
  }
  CHECK(maps[0].sentence.starts_with("A, B, C: at the start within a factor of "));
  CHECK_FALSE(test::contains(maps[0].sentence, "No theory"));
  CHECK(test::contains(plot::to_csv(maps[2]), ",theory,"));
  CHECK(cell_words(maps[2], 29.9, 6).starts_with("Sub-layer 12, step 30: 7. Theory at step 0: "));
  CHECK(cell_words(maps[2], 260, 6).empty());
}

TEST_CASE("theory's numbers stand in a file at the sub-layers that they are of") {
  view::LabData data;
  const auto view = known_text();
  const plot::PlotSpec map = over_time_plots(*view, data, as_map(), Metric::StreamVariance)[2];
  std::istringstream lines(plot::to_csv(map));
  size_t found = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(",theory,") == line.npos) continue;
    // A layer has two rows of cells, one for each sub-layer.
    const double share = (std::stod(line) - map.y.lo) / (map.y.hi - map.y.lo);
    REQUIRE((share >= 0 && share < 1));
    const double number = std::stod(line.substr(line.rfind(',') + 1));
    CHECK(number == Approx(map.heat->beside[static_cast<size_t>(12 * share)]));
    ++found;
  }
  CHECK(found == 12);
}

TEST_CASE("where no theory holds there is no column, and the sentence says why") {
  view::LabData data;
  const auto view = known_text();
  RunSpec smooth = *view->runs[2].spec;
  set_field(smooth, "model.activation", "gelu");
  view->runs[2].spec = std::make_shared<const RunSpec>(smooth);
  view->runs[1].forked_from = 0;
  const auto maps = over_time_plots(*view, data, as_map(), Metric::BranchVariance);
  CHECK(maps[0].heat->beside.size() == 12);
  CHECK(maps[1].heat->beside.empty());
  CHECK(maps[2].heat->beside.empty());
  CHECK(maps[0].sentence.starts_with("A: at the start within a factor of "));
  CHECK(test::contains(maps[0].sentence, "No theory for C: the activation is not ReLU."));
  CHECK(test::contains(maps[0].sentence, "No theory for B: the run did not start from fresh weights."));
  view->agreement.token = 0;
  CHECK(over_time_plots(*view, data, as_map(), Metric::BranchVariance)[0].heat->beside.empty());
}

TEST_CASE("the narrow Lab says what a map's colours mean, in a language of longer words too") {
  for (const char* language : {"en", "de"}) {
    const fixture::Spoken spoken(language);
    fixture::LabDriver lab(known_text(), {1600, 1000}, 1.5f);
    lab.driver.frames(3);
    lab.click("plot/tab/Gradient over time");
    lab.click("plot/gradient-over-time/quantity");
    lab.click("plot/gradient-over-time/quantity/branch-variance");
    lab.click("plot/map");
    lab.click("plot/map/map");
    const ui::Rect choice = lab.driver.control("plot/map").rect;
    const auto beside = [&](const ui::TextRecord& text) {
      const ui::Vec at = text.rect.centre();
      return at.x > choice.right() && at.y > choice.y && at.y < choice.bottom();
    };
    INFO(language);
    CHECK(std::ranges::count_if(lab.ui.texts(), beside) == 2);  // of the two ends
  }
}

}  // namespace normscope::test_variance_maps

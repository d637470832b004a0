// These tests draw every plot and the picture of an encoder-decoder: both stacks are filled, cross-attention is a
// branch of its own, sentences follow from the numbers, and no text overlaps another.
#include "app/panels/panels.h"
#include "app/panels/plot_specs.h"
#include "app/support/both_view.h"
#include "app/support/lab_driver.h"
#include "app/support/text_faults.h"
#include "catch.hpp"

using namespace normscope;
using fixture::LabDriver;

namespace {

panels::PlotOptions at_step(int step) { return panels::PlotOptions{.step = step}; }

void check_texts(ui::Vec size, float scale, bool dark,
                 const std::function<void(headless::UiDriver&)>& hand = {}) {
  LabDriver lab(fixture::both_view(), size, scale);
  lab.state.look.dark = dark;
  lab.state.switches.clock = true;
  lab.driver.frames(2);
  if (hand) hand(lab.driver);
  CHECK(lab.ui.texts().size() > 40);
  for (const std::string& fault : fixture::text_faults(lab.ui))
    FAIL_CHECK(fmt::format("{}x{} at {}: {}", size.x, size.y, scale, fault));
}

}  // namespace

TEST_CASE("every metric is measured in both stacks, by layer and over time") {
  view::LabData data;
  const auto view = fixture::both_view();
  for (const panels::MetricInfo& q : panels::metrics()) {
    INFO(q.id);
    const plot::PlotSpec plot = panels::depth_plot(*view, data, at_step(4), q.metric);
    for (const char* id : {"A decoder", "A encoder", "B decoder", "B encoder"}) {
      INFO(id);
      const auto line = std::ranges::find(plot.series, id, &plot::Series::id);
      REQUIRE(line != plot.series.end());
      for (float v : line->y.values) CHECK(std::isfinite(v));
    }
    CHECK_FALSE(plot.sentence.empty());
    for (view::Side side : {view::Side::Main, view::Side::Encoder}) {
      panels::PlotOptions options = at_step(4);
      options.side = side;
      const auto plots = panels::over_time_plots(*view, data, options, q.metric);
      REQUIRE(plots.size() == 2);
      for (const plot::PlotSpec& s : plots) CHECK(s.series.size() == 6);
    }
  }
}

TEST_CASE("the matrices of cross-attention can be looked at") {
  view::LabData data;
  const auto view = fixture::both_view();
  panels::PlotOptions options = at_step(4);
  for (options.matrix = 6; options.matrix < 10; ++options.matrix) {
    const plot::PlotSpec plot = panels::gradient_by_layer_plot(*view, data, options);
    CHECK(std::isfinite(plot.series.front().y[0]));
    CHECK(panels::over_time_plots(*view, data, options).front().series.size() == 6);
  }
}

TEST_CASE("each stack has its own triangle, the decoder's with three branches a layer") {
  view::LabData data;
  const auto view = fixture::both_view();
  panels::PlotOptions options = at_step(1);
  options.hover_layer = 1;
  const auto decoder = panels::dependency_plots(*view, data, options);
  options.side = view::Side::Encoder;
  const auto encoder = panels::dependency_plots(*view, data, options);
  for (size_t i = 0; i < 2; ++i) {
    REQUIRE(decoder[i].heat);
    REQUIRE(encoder[i].heat);
    CHECK(decoder[i].heat->rows == 18);
    CHECK(encoder[i].heat->rows == 12);
    CHECK(decoder[i].heat->marked_row == 3);
    CHECK(decoder[i].heat->marked_rows == 3);
    CHECK(encoder[i].heat->marked_row == 2);
  }
  CHECK(panels::own_share(data, view->runs[0], 2, view::Sub::Cross, 1) ==
        data.value(view->runs[0], "dec.beta2.8.8", 1));
}

TEST_CASE(
    "at the start Post-LN's decoder has a smaller gradient below, its encoder does not: theory beside it") {
  view::LabData data;
  const auto view = fixture::both_view();
  const plot::PlotSpec plot = panels::gradient_by_layer_plot(*view, data, at_step(1));
  const auto theory =
      std::ranges::find(plot.series, "theory of A (Post-LN decoder) at step 1", &plot::Series::id);
  REQUIRE(theory != plot.series.end());
  double times = 1;  // through every norm above the first layer, by the variance that its branch really has
  for (int layer = 1; layer < 6; ++layer)
    times *= 1 + data.by_layer(view->runs[0], "cross.branch.variance", 1)[layer] /
                     data.by_layer(view->runs[0], "cross.input.variance", 1)[layer];
  CHECK(theory->y[5] / theory->y[0] == Approx(std::sqrt(times)));
  CHECK(times > 4);
  CHECK(plot.sentence.find("Going down A: decoder falls ") == 0);
  CHECK(panels::stacks_sentence('B', {1, 2, 8}, {1, 1.1f, 1.05f}) ==
        "Going down B: decoder falls 8.0×, encoder is flat.");
  CHECK(panels::stacks_sentence('B', {}, {1, 2}).empty());
}

TEST_CASE("two stacks stand side by side where there is room, one at a time where there is none") {
  LabDriver wide(fixture::both_view());
  for (const char* name :
       {"diagram/layer1/cross/stream", "diagram/enc/layer1/attn/stream", "diagram/enc/final"})
    CHECK(wide.ui.registry().find(name));
  CHECK_FALSE(wide.ui.registry().find("diagram/enc/layer1/cross/stream"));
  LabDriver small(fixture::both_view(), {1024, 600});
  CHECK_FALSE(small.ui.registry().find("diagram/enc/layer2/attn/stream"));
  small.driver.click("diagram/stack");
  small.click("diagram/stack/encoder");
  CHECK(small.ui.registry().find("diagram/enc/layer2/attn/stream"));
  CHECK_FALSE(small.ui.registry().find("diagram/layer2/attn/stream"));
}

TEST_CASE("no text of an encoder-decoder overlaps or is cut") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1440, 900}, ui::Vec{1024, 600}, ui::Vec{1920, 1080}})
    for (float scale : {1.f, 1.5f}) check_texts(size, scale, scale > 1);
  for (const char* row : {"diagram/layers2-6", "diagram/enc/layers2-6", "diagram/collapse"})
    for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1440, 900}})
      check_texts(size, 1, false, [&](headless::UiDriver& driver) {
        driver.click(row);
        driver.move_to({4, 4});
        driver.frames(3);
      });
  for (const char* stack : {"diagram/stack", "plot/stack"})
    check_texts({1600, 1000}, 1, true, [&](headless::UiDriver& driver) {
      driver.click(stack);
      driver.click(fmt::format("{}/encoder", stack));
      driver.move_to({4, 4});
      driver.frames(3);
    });
  for (const panels::Panel* panel : panels::tab_panels())
    check_texts({1024, 600}, 1, false, [&](headless::UiDriver& driver) {
      driver.click(fmt::format("plot/tab/{}", panel->place.tab));
      driver.move_to({4, 4});
      driver.frames(3);
    });
  check_texts({1600, 1000}, 1, false, [](headless::UiDriver& driver) {
    driver.script("grab diagram/layer1/cross/stream diagram/layer1/cross/before\nframes 12");
  });
  check_texts({1600, 1000}, 1, false, [](headless::UiDriver& driver) {
    driver.click("diagram/layer1/cross/stream", {0.5f, 0.5f}, 1);
    driver.frames(3);
  });
}

// These tests cover what the Lab's plots show of an optimizer's steps: spikes, the step's cosine, the ratio of each
// matrix, and why a plot is empty where the optimizer keeps no second moment.
#include "app/panels/plot_specs.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/systems_view.h"
#include "catch.hpp"

namespace normscope::test_update_plots {

using namespace normscope::panels;

TEST_CASE("a spike stands in the plot over time, in every layer, at its step") {
  view::LabData data;
  const auto view = fixture::lab_view();
  PlotOptions options{.step = 60};
  for (int layer = 0; layer < 6; ++layer) {
    const auto line = over_time(data, view->runs[0], Metric::SpikeRatio, 0, layer);
    REQUIRE(line->y.size() == 214);
    CHECK(line->y[59] == 4);
    CHECK(line->y[60] < 2);
  }
  CHECK(stat_names(Metric::SpikeRatio, 3, 2, "dec.").value == "dec.L02.spike_ratio");
  CHECK(stat_names(Metric::UpdateCosine, 3, 2, "").value == "L02.update_cosine");
  const plot::PlotSpec cosine = depth_plot(*view, data, options, Metric::UpdateCosine);
  CHECK(cosine.series[0].y[1] == Approx(0.4f));
  CHECK(cosine.y.scale == plot::AxisScale::Linear);
  CHECK(depth_plot(*view, data, options, Metric::SpikeRatio).y.scale == plot::AxisScale::Log);
}

TEST_CASE("the ratio of an update to its weights is shown of the matrix that was chosen") {
  view::LabData data;
  const auto view = fixture::lab_view();
  PlotOptions options{.step = 214};
  for (int matrix = 0; matrix < 6; ++matrix) {
    options.matrix = matrix;
    const std::string path = view::kMatrices[matrix].path;
    INFO(path);
    const plot::PlotSpec plot = depth_plot(*view, data, options, Metric::UpdateRatio);
    const auto over = over_time(data, view->runs[0], Metric::UpdateRatio, matrix, 2);
    const float update = data.value(view->runs[0], "L03." + path + ".update_norm", 214),
                weight = data.value(view->runs[0], "L03." + path + ".weight_norm", 214);
    CHECK(plot.series[0].y[2] == Approx(update / weight));
    CHECK(over->y.back() == Approx(update / weight));
    CHECK(test::contains(plot.y.label, view::kMatrices[matrix].label));
  }
}

TEST_CASE("runs whose optimizer keeps no second moment say why there is no spike to see") {
  view::LabData data;
  auto view = std::make_shared<LabView>(*fixture::lab_view());
  PlotOptions options{.step = 214};
  const auto train_with = [&](RunView& run, const char* optimizer) {
    RunSpec spec = *run.spec;
    set_field(spec, "train.optimizer", optimizer);
    run.spec = std::make_shared<const RunSpec>(spec);
  };
  for (RunView& run : view->runs) {
    run.history = std::make_shared<History>(std::vector<StatInfo>{{"loss", 0}});
    train_with(run, "sgd");
  }
  const auto sentence = [&](Metric metric) { return depth_plot(*view, data, options, metric).sentence; };
  CHECK(sentence(Metric::SpikeRatio) == "SGD keeps no second moment that a gradient could be held against.");
  CHECK(sentence(Metric::UpdateCosine) == "These runs do not measure this.");
  train_with(view->runs[1], "adamw");
  CHECK(sentence(Metric::SpikeRatio) == "These runs do not measure this.");
}

TEST_CASE("networks without a residual stream have both numbers of every layer") {
  view::LabData data;
  for (const std::string& name : fixture::added_systems()) {
    INFO(name);
    const auto view = fixture::systems_view(name);
    for (const Metric metric : {Metric::SpikeRatio, Metric::UpdateCosine}) {
      const DepthPoints points = along_depth(data, view->runs[0], metric, 0, 4);
      REQUIRE(points.y.size() == static_cast<size_t>(view::layers_of(view->runs[0])));
      for (const float value : points.y) CHECK(std::isfinite(value));
    }
  }
}

TEST_CASE("a plot of attention over time shows the heads of one layer, and names the highest at the cursor") {
  view::LabData data;
  const auto view = fixture::lab_view();
  REQUIRE(view->runs[0].spec->model.heads == fixture::kHeads);
  PlotOptions options{.step = 100};
  const auto layers = over_time_plots(*view, data, options, Metric::LargestLogit);
  options.heads_of = 4;  // the fifth layer
  const auto heads = over_time_plots(*view, data, options, Metric::LargestLogit);
  REQUIRE(heads.size() == 3);
  REQUIRE(heads[1].series.size() == fixture::kHeads);
  CHECK(heads[1].series[0].id == "head 1");
  CHECK(heads[1].series[0].y[99] == 6.f);
  CHECK(heads[1].series[2].y[99] == 7.f);
  CHECK(heads[1].series[2].y[99] == layers[1].series[4].y[99]);  // the layer's is its highest head's
  CHECK(heads[1].sentence == "B: head 3 of layer 5 is highest, at 7.");
  CHECK(heads[1].note == "one line per head of layer 5");
  CHECK(heads[1].id != layers[1].id);  // the name of its files
  const auto entropy = over_time_plots(*view, data, options, Metric::AttentionEntropy);
  CHECK(entropy[0].series[3].y[99] == Approx(3.0 - 0.5 + 0.4));
  CHECK(over_time_plots(*view, data, options, Metric::FirstMass)[0].series[0].y[99] == Approx(0.36));

  // Other numbers do not belong to heads, and a run without that layer has no lines.
  CHECK(over_time_plots(*view, data, options, Metric::Gradient)[0].series.size() == 6);
  options.heads_of = 6;
  CHECK(over_time_plots(*view, data, options, Metric::LargestLogit)[0].series.empty());
}

}  // namespace normscope::test_update_plots

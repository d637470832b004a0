// These tests cover the Lab's plots as values: axes, series, lines, and sentences that follow from numbers.
#include "answers.h"
#include "app/panels/panels.h"
#include "app/panels/plot_specs.h"
#include "app/plot/plot.h"
#include "app/support/english.h"
#include "app/support/lab_fixture.h"
#include "app/support/listing.h"
#include "catch.hpp"

using namespace normscope;
using namespace normscope::panels;

namespace {

/// The plots of all panels at a step, as Ctrl+T copies them.
std::string panels_as_text(const LabView& view, int step) {
  view::LabData data;
  std::string text;
  for (const Panel& panel : panels::panels())
    for (const plot::PlotSpec& plot :
         plots_of(panel, view, data, {.step = step}, panel.metric.value_or(Metric::Gradient)))
      text += fmt::format("{}, {}\n{}\n", panel.id, plot.id, plot::to_text(plot));
  return text;
}

}  // namespace

TEST_CASE("what the plots of the Lab say: at the end, at step 1, before the first, of a fork, in German",
          "[listing]") {
  fixture::check_listing("plots-at-214", panels_as_text(*fixture::lab_view(), 214));
  fixture::check_listing("plots-at-1", panels_as_text(*fixture::lab_view(), 1));
  fixture::check_listing("plots-before-training", panels_as_text(*fixture::lab_view({.step = 0}), 0));
  fixture::check_listing("plots-with-a-fork", panels_as_text(*fixture::four_runs(), 214));
  LabView unmeasured = *fixture::lab_view();
  for (RunView& run : unmeasured.runs)
    run.history = std::make_shared<History>(std::vector<StatInfo>{{"loss", 0}});
  fixture::check_listing("plots-of-runs-without-measurements", panels_as_text(unmeasured, 214));
  const fixture::Spoken german("de");
  fixture::check_listing("plots-at-214-in-german", panels_as_text(*fixture::lab_view(), 214));
}

TEST_CASE("what every metric says by layer and over time", "[listing]") {
  const auto view = fixture::lab_view();
  for (const char* language : {"en", "de"}) {
    const fixture::Spoken spoken(language);
    view::LabData data;
    const PlotOptions options{.step = 214};
    std::string text;
    for (const MetricInfo& metric : metrics()) {
      text +=
          fmt::format("{}\n{}{}\n", metric.id, plot::to_text(depth_plot(*view, data, options, metric.metric)),
                      plot::to_text(over_time_plots(*view, data, options, metric.metric)[0]));
    }
    fixture::check_listing(std::string("metrics-") + language, text);
  }
}

TEST_CASE("what a plot's text does not say: an empty ground, a triangle's cells, another matrix") {
  view::LabData data;
  const auto view = fixture::lab_view();
  CHECK(loss_plot(*view, data, {.step = 214}).lines[1].fill_below);
  const auto late = dependency_plots(*view, data, {.step = 214});
  CHECK(std::isnan(late[0].heat->cells[2]));  // above the diagonal
  CHECK(std::isfinite(late[0].heat->cells[12 * 13 - 1]));
  CHECK(dependency_plots(*view, data, {.step = 1})[0].heat->cells[0] != late[0].heat->cells[0]);
  PlotOptions query{.step = 1};
  query.matrix = 2;
  CHECK(gradient_by_layer_plot(*view, data, query).series.back().y[0] !=
        gradient_by_layer_plot(*view, data, {.step = 1}).series.back().y[0]);
}

TEST_CASE("a run's short label is what tells it from the others", "[listing]") {
  test::check_answers("short-labels", [](const std::string& line) {
    LabView view;
    std::istringstream names(line);
    for (std::string name; std::getline(names >> std::ws, name, ';');) view.runs.emplace_back().name = name;
    std::string labels;
    for (size_t i = 0; i < view.runs.size(); ++i) labels += short_label(view, i) + "; ";
    return labels;
  });
  LabView forked = *fixture::lab_view({.fork = true});
  forked.runs[3].fork_note += ", final norm added";
  CHECK(short_label(forked, 3) == "12 norms moved");
}

TEST_CASE("the number at the end of a loss line is the card's") {
  view::LabData data;
  const auto view = fixture::lab_view();
  const plot::PlotSpec plot = loss_plot(*view, data, {});
  REQUIRE(plot.series.size() == view->runs.size());
  for (size_t i = 0; i < view->runs.size(); ++i)
    CHECK(plot.series[i].value == fmt::format("{:.2f}", plot.series[i].y[plot.series[i].y.size() - 1]));
}

TEST_CASE("the learning rate shows what was used and what is planned") {
  view::LabData data;
  const auto view = fixture::lab_view();
  PlotOptions options{.step = view->step};
  const plot::PlotSpec plot = rate_plot(*view, data, options);
  CHECK(plot.series.size() == 6);  // past and future of three runs
  for (const plot::Series& series : plot.series) {
    const bool planned = series.id.find("planned") != std::string::npos;
    CHECK(series.alpha == (planned ? Approx(0.4) : Approx(1)));
    CHECK(series.x_at(series.y.size() - 1) == (planned ? 300 : 214));
  }
  REQUIRE(plot.handles.size() == 1);  // B's warm-up of 200 is over at 214
  CHECK(plot.handles[0].name == "peak");
  view::LabData early_data;
  const auto early = fixture::lab_view({.step = 150});
  const plot::PlotSpec rising = rate_plot(*early, early_data, {.step = 150});
  REQUIRE(rising.handles.size() == 2);
  CHECK(rising.handles[0].name == "warmup/B");
  CHECK(rising.handles[0].x == 200);
}

TEST_CASE("the critical rate joins the learning rate where it is measured, on a logarithmic axis") {
  view::LabData data;
  LabView view = *fixture::lab_view();
  const auto measure = [&](size_t run, double critical) {
    auto history = std::make_shared<History>(std::vector<StatInfo>{{kCriticalStat, 0}});
    for (int step = 1; step <= view.step; ++step)
      history->append(step, 3, 3e-3, std::vector<double>{(step - 1) % 10 == 0 ? critical : std::nan("")});
    view.runs[run].history = history;
  };
  measure(0, 1e-3);
  measure(2, 3e-2);
  PlotOptions options{.step = view.step};
  const plot::PlotSpec plot = rate_plot(view, data, options);
  REQUIRE(plot.series.size() == 8);
  CHECK(plot.series[6].id == "A critical");
  CHECK(plot.series[7].id == "C critical");
  REQUIRE(plot.series[6].y.size() == 22);  // steps 1, 11, ... 211 and no gaps between
  CHECK(plot.series[6].x_at(1) == 11);
  CHECK(plot.series[6].y[21] == Approx(1e-3));
  CHECK(plot.y.scale == plot::AxisScale::Log);
  CHECK(plot.y.lo < 1e-3);
  CHECK(plot.y.hi > 3e-2);
  CHECK(plot.sentence == "A's rate is 3× its critical one: its step raises the loss of its own batch.");
  measure(0, 6e-3);
  view::LabData again;
  CHECK(rate_plot(view, again, {}).sentence ==
        "No rate is above its critical one; A's is nearest, at 0.5 of it.");
}

TEST_CASE("gets_less and spread_of follow the numbers") {
  CHECK(gets_less({1e-5f, 1e-3f, 0.163f}) ==
        "layer 1 gets 16"
        "\u2009"
        "000× less than layer 3");
  CHECK(gets_less({0.2f, 0.1f}).empty());
  CHECK(gets_less({1.f, 0.01f}) == "layer 2 gets 100× less than layer 1");
  CHECK(gets_less({}).empty());
  CHECK(spread_of({1, 2, 8}) == Approx(8));
  CHECK(spread_of({std::numeric_limits<float>::quiet_NaN(), 3}) == 0);
}

TEST_CASE("every panel can be exported, under its term and its question, each as a file of its own") {
  view::LabData data;
  const auto view = fixture::lab_view();
  PlotOptions options{.step = view->step};
  std::set<std::string> files;
  for (const Panel& panel : panels::panels()) {
    const auto plots = plots_of(panel, *view, data, options, panel.metric.value_or(Metric::Gradient));
    const bool of_each_run = panel.form == Form::Strips || panel.form == Form::Triangles;
    CHECK(plots.size() == (of_each_run ? view->runs.size() : 1));
    for (const plot::PlotSpec& plot : plots) {
      INFO(plot.id);
      CHECK_FALSE(plot.title.empty());
      CHECK(plot.question.ends_with('?'));
      CHECK(plot.brief.ends_with('?'));
      CHECK(plot.brief.size() < plot.question.size());
      CHECK_FALSE(plot.y.label.empty());
      CHECK(files.insert(plot.id).second);
      CHECK(test::contains(plot::to_svg(plot, ui::theme(false)), "<svg"));
      CHECK(plot::to_text(plot).starts_with(plot.title + ": " + plot.question));
      CHECK(plot::to_csv(plot).size() > 100);
    }
  }
  CHECK(files == std::set<std::string>{"loss", "gradient-by-layer", "gradient-over-time-A",
                                       "gradient-over-time-B", "gradient-over-time-C", "hidden-norm", "rate",
                                       "dependency-A", "dependency-B", "dependency-C"});
}

TEST_CASE("every panel stands in the largest and the smallest layout and has a place of its own") {
  std::set<std::string> ids, tabs;
  std::set<std::pair<PanelColumn, int>> places;
  int above = 0;
  for (const Panel& panel : panels::panels()) {
    INFO(panel.id);
    CHECK(ids.insert(panel.id).second);
    CHECK(find_panel(panel.id) == &panel);
    CHECK(panel_of(std::string(panel.id) + "/menu/svg") == &panel);
    CHECK(stands_in(panel, ui::Size::Full));
    CHECK(stands_in(panel, ui::Size::Compact));
    CHECK(places.insert({panel.place.column, panel.place.row}).second);
    CHECK(panel.place.least > 0);
    CHECK(*panel.words);
    above += panel.place.above_tabs;
    CHECK((panel.place.above_tabs || tabs.insert(panel.place.tab).second));
    for (const PanelControl& own : panel.controls)
      CHECK(panel_control(std::string(panel.id) + std::string(own.name)) == &own);
  }
  CHECK(above == 1);
  CHECK_FALSE(panel_of("plot/tab"));
  CHECK_FALSE(panel_control("plot/loss/menu"));
}

TEST_CASE("bands of seeds are explained by the note, which then stands in the question's place") {
  view::LabData data;
  LabView view = *fixture::lab_view();
  CHECK_FALSE(plots_of(*find_panel("plot/loss"), view, data, {}, Metric::Gradient)[0].question.empty());
  auto spread = std::make_shared<RunSpread>();
  spread->seeds = 4;
  spread->mean = spread->low = spread->high = {3.f, 2.9f, 2.8f};
  view.runs[0].spread = spread;
  const plot::PlotSpec plot = plots_of(*find_panel("plot/loss"), view, data, {}, Metric::Gradient)[0];
  CHECK(plot.question.empty());
  CHECK(test::contains(plot.note, "bands"));
}

// These tests cover the Lab's plots as values: axes, series, lines, and sentences that follow from numbers.
#include <algorithm>

#include "answers.h"
#include "app/panels/panels.h"
#include "app/panels/plot_specs.h"
#include "app/plot/plot.h"
#include "app/support/both_view.h"
#include "app/support/english.h"
#include "app/support/lab_fixture.h"
#include "app/support/listing.h"
#include "app/support/live_lab.h"
#include "app/support/systems_view.h"
#include "app/support/text_faults.h"
#include "catch.hpp"
#include "training/measure/theory/theory.h"
#include "training/support/tiny.h"

using namespace normscope;
using namespace normscope::panels;

namespace {

/// The plots of all panels at a step, as Ctrl+T copies them.
std::string panels_as_text(const LabView& view, int step) {
  view::LabData data;
  std::string text;
  for (const Panel& panel : panels::panels())
    for (const plot::PlotSpec& plot :
         plots_of(panel, view, data, {.step = step}, panel.metric.value_or(&kGradNorm)))
      text += fmt::format("{}, {}\n{}\n", panel.id, plot.id, plot::to_text(plot));
  return text;
}

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
    for (const Metric metric : metrics()) {
      text += fmt::format("{}\n{}{}\n", metric->id, plot::to_text(depth_plot(*view, data, options, metric)),
                          plot::to_text(over_time_plots(*view, data, options, metric)[0]));
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

/// What the lines of plots.txt change in the fixture's Lab, and ask of it.
class PlotScript {
 public:
  std::string obey(const std::string& line) {
    std::istringstream words(line);
    std::string verb, name, value, letter;
    words >> verb >> name >> value >> letter;
    const auto runs = [&](const std::string& of, const std::function<void(RunView&)>& change) {
      data_ = {};
      for (RunView& run : view_.runs)
        if (of.empty() || of[0] == run.letter) change(run);
    };
    if (verb == "view") {  // at a step
      *this = {};
      view_ = *fixture::lab_view({.step = std::stoi(name)});
      view_.agreement.token = 0.07;  // symbols repeat as often as those of the built-in text
      options_.step = view_.step;
    } else if (verb == "set") {
      runs(letter, [&](RunView& run) {
        run.spec = std::make_shared<const RunSpec>(test::with_fields(*run.spec, {{name, value}}));
      });
    } else if (verb == "unmeasured") {
      runs("", [](RunView& run) {
        run.history = std::make_shared<History>(std::vector<StatInfo>{{"loss", 0}});
      });
    } else if (verb == "forked") {
      runs(name, [](RunView& run) { run.forked_from = 0; });
    } else if (verb == "seeds") {  // a run has a band of some
      runs(name, [](RunView& run) {
        const std::vector<float> losses{3.f, 2.9f, 2.8f};
        run.spread = std::make_shared<RunSpread>(RunSpread{4, losses, losses, losses});
      });
    } else if (verb == "critical") {  // a rate, measured every ten steps
      runs(name, [&](RunView& run) {
        auto history = std::make_shared<History>(std::vector<StatInfo>{{kCriticalStat, 0}});
        for (int step = 1; step <= view_.step; ++step)
          history->append(step, 3, 3e-3,
                          std::vector<double>{(step - 1) % 10 == 0 ? std::stod(value) : std::nan("")});
        run.history = history;
      });
    } else if (verb == "known") {  // what is counted of the data, and of how many symbols
      view_.agreement = {.vocabulary = 29, .token = 0.077, .pair = 0.0115, .repeat = 0.02};
      runs("", [](RunView& run) {
        RunSpec spec = *run.spec;
        spec.model.vocabulary = 29;
        run.spec = std::make_shared<const RunSpec>(spec);
      });
    } else if (verb == "uncounted") {
      view_.agreement = {};
    } else if (verb == "matrix") {
      options_.matrix = std::stoi(name);
    } else if (verb == "card") {  // of a run at a step
      const RunView& run = view_.runs[static_cast<size_t>(view::find_run(view_, name[0]))];
      const RunView then = view::run_at(data_, run, std::stoi(value));
      return fmt::format("{}, loss {:.4g}, {}", std::string(then.badge), then.loss,
                         then.learning_since > 0         ? "learning"
                         : then.state == RunState::Stuck ? "stuck"
                                                         : "training");
    } else if (verb == "step") {
      options_.step = std::stoi(name);
    } else if (verb == "heads") {  // of a layer
      options_.heads_of = std::stoi(name) - 1;
    } else if (verb == "map") {
      options_.map = true;
    } else {
      return told(verb, name, value);
    }
    return "";
  }

 private:
  /// "rate", "loss", "state", "depth METRIC", "over METRIC A": a plot as Ctrl+T copies it, what can be dragged in it,
  /// and what is pale.
  std::string told(const std::string& what, const std::string& id, const std::string& letter) {
    const auto metric = [&] { return *std::ranges::find(metrics(), id, &Number::id); };
    const plot::PlotSpec plot =
        what == "rate"    ? rate_plot(view_, data_, options_)
        : what == "state" ? hidden_norm_plot(view_, data_, options_)
        : what == "loss"  ? plots_of(*find_panel("plot/loss"), view_, data_, options_, &kGradNorm)[0]
        : what == "depth" ? depth_plot(view_, data_, options_, metric())
                          : over_time_plots(view_, data_, options_,
                                            metric())[static_cast<size_t>(view::find_run(view_, letter[0]))];
    std::string text = plot.id + "\n" + plot::to_text(plot);
    for (const plot::Series& series : plot.series) {
      if (series.y.size() <= 12) {  // a curve over depth: every point of it
        text += series.id + ":";
        for (const float y : series.y.values) text += fmt::format(" {:.5g}", y);
        text += "\n";
      }
      if (series.alpha != 1) text += fmt::format("{}: {:g} of its ink\n", series.id, series.alpha);
    }
    for (const plot::Band& band : plot.bands)
      text += fmt::format("band up to {:.4g}\n", *std::ranges::max_element(band.hi.values));
    for (const plot::Handle& handle : plot.handles)
      text += fmt::format("handle {} at {:g}\n", handle.name, handle.x);
    if (plot.heat) text += fmt::format("{} numbers of theory\n", plot.heat->beside.size());
    return text;
  }
  LabView view_;
  view::LabData data_;
  PlotOptions options_;
};

TEST_CASE("what a plot says of other runs, settings and measurements", "[listing]") {
  PlotScript plotted;
  test::check_answers("plots", [&](const std::string& line) { return plotted.obey(line); });
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

TEST_CASE("one loss has one number: on the card, along the bold line and at its end, at every step") {
  Lab lab{fixture::quiet_lab()};
  lab.post(session::ReplaceRuns{fixture::small_runs(1), {}, false});
  lab.post(session::PlayTo{12});
  lab.post(session::EditField{1, "model.norm", "rms"});  // the mean begins anew
  const auto view = test::view_after(lab, session::PlayTo{40});
  view::LabData data;
  const plot::PlotSpec plot = loss_plot(*view, data, {});
  REQUIRE(plot.series.size() == 2 * view->runs.size());
  for (const RunView& run : view->runs) {
    INFO(run.letter);
    const plot::Series& line = *std::ranges::find(plot.series, view::letter_of(run), &plot::Series::id);
    const plot::Series& single = plot.series[static_cast<size_t>(run.letter - 'A')];
    CHECK(line.value == ui::decimals(run.loss, 2));
    CHECK(single.value.empty());
    CHECK(single.alpha < 0.5f * line.alpha);
    REQUIRE(line.y.size() == 40);
    for (int step = 1; step <= 40; ++step) {
      const auto at = static_cast<size_t>(step - 1);
      CHECK(line.y[at] == static_cast<float>(view::run_at(data, run, step).loss));
      CHECK(single.y[at] == test::losses(run)[at]);
    }
  }
}

TEST_CASE("a run that is a step ahead has no second label while the cursor follows the newest step") {
  LabView ahead = *fixture::lab_view();
  --ahead.step;  // the slowest run's
  fixture::LabDriver lab(std::make_shared<const LabView>(ahead));
  const auto labels = [&] {
    const ui::Rect plot = lab.driver.control("plot/loss").rect;
    return std::ranges::count_if(lab.ui.texts(), [&](const ui::TextRecord& text) {
      return text.text == "A" && plot.contains(text.rect.centre());
    });
  };
  CHECK(labels() == 1);
  lab.state.screens.lab.transport().pinned_step = 100;
  lab.driver.frames(2);
  CHECK(labels() == 2);
}

TEST_CASE("an axis of losses reaches to a run that ends above it, unless the others would be flat") {
  CHECK(top_of_losses(2.95, 3.4, 2.9) == Approx(3.4));
  CHECK(top_of_losses(2.95, 9, 2.9) == Approx(4.25));  // first losses are cut off
  CHECK(top_of_losses(2.95, 9, 14) > 14);
  CHECK(top_of_losses(2.95, 2000, 1000) == Approx(4.25));

  // A fork that is far worse is seen at once, whatever it began with.
  view::LabData data;
  LabView view = *fixture::four_runs();
  RunView& fork = view.runs.back();
  const auto made = std::make_shared<History>(std::vector<StatInfo>{});
  for (int32_t step = 1; step <= view.step; ++step)
    made->append(step, step <= fork.fork_step ? 2.9 : 14, 1e-3, {});
  fork.history = made;
  CHECK(loss_plot(view, data, {}).y.hi > 14);

  // A run that goes on from a file's weights does not begin high because it knows nothing.
  view.runs.resize(1);
  RunView& trained_on = view.runs.front();
  const auto begun = std::make_shared<History>(std::vector<StatInfo>{});
  for (int32_t step = 1; step <= 3; ++step) begun->append(step, 7, 1e-5, {});
  trained_on.history = begun;
  view.step = trained_on.step = 3;
  view::LabData afresh;
  CHECK(loss_plot(view, afresh, {}).y.hi < 7);
  RunSpec spec = *trained_on.spec;
  spec.train.init_from = "weights.safetensors";
  trained_on.spec = std::make_shared<const RunSpec>(spec);
  view::LabData from_file;
  CHECK(loss_plot(view, from_file, {}).y.hi > 7);
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
    const auto plots = plots_of(panel, *view, data, options, panel.metric.value_or(&kGradNorm));
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

// These tests draw every plot and the picture of an encoder-decoder: both stacks are filled, cross-attention is a
// branch of its own, and sentences follow from the numbers.

panels::PlotOptions at_step(int step) { return panels::PlotOptions{.step = step}; }

}  // namespace

TEST_CASE("every metric is measured in both stacks, by layer and over time") {
  view::LabData data;
  const auto view = fixture::both_view();
  for (const Metric q : metrics()) {
    INFO(q->id);
    const plot::PlotSpec plot = panels::depth_plot(*view, data, at_step(4), q);
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
      const auto plots = panels::over_time_plots(*view, data, options, q);
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

using fixture::cell;

// What the Lab's plots show of an optimizer's steps: spikes, the step's cosine, the ratio of each matrix, and why a
// plot is empty where the optimizer keeps no second moment.

TEST_CASE("networks without a residual stream have both numbers of every layer") {
  view::LabData data;
  for (const std::string& name : fixture::added_systems()) {
    INFO(name);
    const auto view = fixture::systems_view(name);
    for (const Metric metric : {&kSpikeRatio, &kUpdateCosine}) {
      const DepthPoints points = along_depth(data, view->runs[0], metric, 0, 4);
      REQUIRE(points.y.size() == static_cast<size_t>(view::layers_of(view->runs[0])));
      for (const float value : points.y) CHECK(std::isfinite(value));
    }
  }
}

// The maps of variances over time: their cells, their colours, and what theory says beside them.

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
  const auto maps = over_time_plots(*view, data, as_map(), &kInputVariance);
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
  const auto branches = over_time_plots(*view, data, as_map(), &kBranchVariance);
  CHECK(cell(*branches[1].heat, 3, 50) == 0.5f);
  CHECK(branches[0].id != maps[0].id);
  // Without the choice, and of other numbers, the lines stay.
  CHECK_FALSE(over_time_plots(*view, data, {}, &kBranchVariance)[0].heat);
  CHECK_FALSE(over_time_plots(*view, data, as_map(), &kGradNorm)[0].heat);
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
  const auto maps = over_time_plots(*view, data, as_map(), &kInputVariance);
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
  const plot::PlotSpec map = over_time_plots(*view, data, as_map(), &kInputVariance)[2];
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

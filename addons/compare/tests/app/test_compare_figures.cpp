// These tests look at what a comparison becomes, on histories by hand: plots, SVG, CSV, JSON, Markdown and text.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "addons/compare/app/figures.h"
#include "addons/compare/app/writers.h"
#include "addons/compare/tests/app/compared_runs.h"
#include "app/commands/figure_options.h"
#include "app/commands/run_log.h"
#include "app/panels/plot_specs.h"
#include "app/plot/plot_axis.h"
#include "app/plot/plot_layout.h"
#include "app/support/lab_fixture.h"
#include "app/support/program.h"
#include "app/support/well_formed.h"
#include "app/ui/paint.h"
#include "app/view/lab_data.h"

namespace normscope::compare {

using compared::history, compared::ours, compared::theirs, test::contains, test::times_in;

namespace {

/// A and B with two seeds, B 0.4 nats above, its first W₂ far smaller from step 10 on; a port.
Comparison drawn_comparison() {
  const auto other = [](const std::string& stat, int32_t step, double value) {
    if (stat == "loss") return value + 0.4;
    return stat == "L01.ffn.w2.grad_norm" && step >= 10 ? value * 1e-5 : value;
  };
  Recording base = ours("base | one", {history(60), history(60, 2)}),
            worse = ours("worse <&>", {history(60, 1, other), history(60, 2, other)});
  for (SeedRecord& seed : base.seeds) seed.measured[records::kUnigram] = 2.95;
  return compare({base, worse, theirs("port", history(40, 1, compared::unchanged, false))});
}

}  // namespace

TEST_CASE("compare: every figure is an SVG that says what it shows") {
  const Comparison all = drawn_comparison();
  const std::vector<Figure> figures = figures_of(all);
  std::vector<std::string> names;
  for (const Figure& figure : figures) {
    INFO(figure.name);
    names.push_back(figure.name);
    const std::string svg = plot::to_svg(figure.plot, ui::theme(false), figure.size);
    CHECK(test::well_formed(svg));
    CHECK_FALSE(contains(svg, "nan"));
    CHECK_FALSE(contains(svg, "inf\""));
    CHECK(contains(figure.csv, "\n"));
    CHECK_FALSE(figure.plot.title.empty());
  }
  CHECK(names == std::vector<std::string>{"loss", "difference", "gradient-B", "end"});  // C has no gradients
  const std::string svg = plot::to_svg(figures[0].plot, ui::theme(false), figures[0].size);
  for (const char* part :
       {"letter frequencies 2.95", ">A</text>", ">B</text>", ">C</text>", "worse &lt;&amp;&gt;"})
    CHECK(contains(svg, part));
}

TEST_CASE("compare: all figures in one SVG keep their own clips") {
  const std::vector<Figure> figures = figures_of(drawn_comparison());
  const std::string svg = stacked_svg(figures);
  CHECK(test::well_formed(svg));
  CHECK(times_in(svg, "<?xml") == 1);
  CHECK(times_in(svg, "<svg ") == 1);
  for (const Figure& figure : figures)
    CHECK(contains(svg, "<g><title>" + ui::svg_escaped(figure.plot.title)));
  std::set<std::string> clips;
  for (size_t at = svg.find("clipPath id=\""); at != svg.npos; at = svg.find("clipPath id=\"", at + 1))
    clips.insert(svg.substr(at + 13, svg.find('"', at + 13) - at - 13));
  CHECK(clips.size() > 1);
  CHECK(clips.size() == times_in(svg, "<clipPath "));
  for (const std::string& clip : clips) CHECK(contains(svg, "url(#" + clip + ")"));
}

TEST_CASE(
    "compare: the map is drawn in the signed colours, full at four decades, with a mark at the first place") {
  const Comparison all = drawn_comparison();
  const plot::PlotSpec map = ratio_plot(all, 1);
  REQUIRE(map.heat);
  CHECK(map.heat->rows == 2);
  CHECK(map.heat->columns == 60);
  CHECK(map.heat->cells[8] == Approx(0).margin(1e-6));       // layer 1, step 9
  CHECK(map.heat->cells[9] == Approx(-5).margin(1e-4));      // step 10
  CHECK(map.heat->cells[60 + 9] == Approx(0).margin(1e-6));  // layer 2
  REQUIRE(map.series.size() == 1);
  CHECK(map.series[0].x[0] == 10);
  CHECK(map.series[0].y[0] == 1);
  const auto measure = [](ui::TextStyle style, std::string_view text) {
    return style.px * 0.6f * static_cast<float>(text.size());
  };
  const ui::Rect rect{0, 0, 700, 200};
  const plot::Drawing drawing = plot::layout_plot(map, {}, rect, ui::theme(false), measure);
  const ui::Rect area = drawing.map.area;
  int full = 0;
  for (const plot::Item& item : drawing.items)
    if (const auto* fill = std::get_if<plot::FillItem>(&item);
        fill && fill->colour == ui::theme(false).signed_low) {
      ++full;
      CHECK(fill->rect.x == Approx(area.x + area.w * 9 / 60).epsilon(1e-3));
      CHECK(fill->rect.right() == Approx(area.right()).epsilon(1e-3));
      CHECK(fill->rect.y == Approx(area.y + area.h / 2).epsilon(1e-3));  // layer 1 is the lower one
      CHECK(fill->rect.bottom() == Approx(area.bottom()).epsilon(1e-3));
    }
  CHECK(full == 1);  // neighbours of one colour are one piece
  // Zoomed in, the cells move with the axis.
  plot::View zoomed;
  zoomed.x = {{0, 20}};
  for (const plot::Item& item : plot::layout_plot(map, zoomed, rect, ui::theme(false), measure).items)
    if (const auto* fill = std::get_if<plot::FillItem>(&item);
        fill && fill->colour == ui::theme(false).signed_low)
      CHECK(fill->rect.x == Approx(area.x + area.w * 9 / 20).epsilon(1e-3));
}

TEST_CASE("compare: more steps than columns, and a column shows the ratio farthest from one") {
  const auto spike = [](const std::string& stat, int32_t step, double value) {
    return stat == "L02.ffn.w2.grad_norm" && step == 501 ? value * 1e3 : value;
  };
  const Comparison all = compare({ours("base", {history(1000)}), ours("other", {history(1000, 1, spike)})});
  const plot::PlotSpec map = ratio_plot(all, 1);
  CHECK(map.heat->columns < 1000);
  CHECK(*std::ranges::max_element(map.heat->cells.values) == Approx(3).margin(1e-4));
}

TEST_CASE("compare: the scale of the difference is even near zero and keeps its sign") {
  CHECK(difference_scale(0) == 0);
  CHECK(difference_scale(0.05) == Approx(std::log10(2)));
  CHECK(difference_scale(-0.45) == Approx(-1));
  const Comparison all = drawn_comparison();
  const plot::PlotSpec shown = difference_plot(all), numbers = difference_plot(all, false);
  CHECK(shown.series[1].y[30] == Approx(difference_scale(0.4)).epsilon(1e-4));
  CHECK(numbers.series[1].y[30] == Approx(0.4).epsilon(1e-4));
  CHECK(contains(figures_of(all)[1].csv, "difference of the losses, nats per letter"));
}

TEST_CASE("compare: the loss at a line's end is the one that the table states") {
  const auto falling = [](const std::string& stat, int32_t step, double value) {
    return stat == "loss" ? 4.0 / step : value;
  };
  const Comparison all = compare({ours("one", {history(60, 1, falling)}), ours("other", {history(60)})});
  const plot::PlotSpec loss = loss_plot(all);
  REQUIRE(loss.series.size() == 4);  // single steps, then means
  CHECK(loss.series[2].value == loss_words(all.rows[0]));
  CHECK(all.losses[0].means.back() == all.rows[0].loss);
  CHECK(all.losses[0].means.front() == all.losses[0].shown.y.front());
  CHECK(all.losses[0].means.back() > all.losses[0].shown.y.back());
}

TEST_CASE("compare: huge and negative losses are short, on the axes and in sight") {
  const auto loss_of = [](double loss) {
    return [loss](const std::string& stat, int32_t, double value) { return stat == "loss" ? loss : value; };
  };
  const Comparison huge =
      compare({ours("usual", {history(60)}), ours("huge", {history(60, 1, loss_of(3e38))})});
  const plot::PlotSpec loss = loss_plot(huge), difference = difference_plot(huge);
  CHECK(loss.series[3].value == "3×10³⁸");  // behind both runs' single steps
  CHECK(loss_words(huge.rows[1]) == "3×10³⁸");
  CHECK(difference.series[1].value == "+3×10³⁸");
  for (const plot::PlotSpec* plot : {&difference, &loss}) {
    const std::vector<plot::Tick> ticks = plot::ticks_of(plot->y, plot->y.lo, plot->y.hi, plot->y.max_ticks);
    REQUIRE(ticks.size() >= 3);
    std::vector<double> at;
    for (const plot::Tick& tick : ticks) at.push_back(tick.value);
    std::ranges::sort(at);
    for (size_t i = 1; i < at.size(); ++i) CHECK(at[i] - at[i - 1] > 0.08 * (plot->y.hi - plot->y.lo));
  }
  const Comparison negative =
      compare({ours("usual", {history(60)}), ours("negative", {history(60, 1, loss_of(-5))})});
  CHECK(loss_plot(negative).y.lo < -5);
}

TEST_CASE("compare: a run that ends above the usual losses is in sight") {
  const auto worse = [](const std::string& stat, int32_t, double value) {
    return stat == "loss" ? 9 : value;
  };
  Recording usual = ours("usual", {history(60)});
  usual.seeds[0].measured[records::kUnigram] = 2.95;
  CHECK(loss_plot(compare({usual, ours("worse", {history(60, 1, worse)})})).y.hi > 9);
  const auto begins_high = [](const std::string& stat, int32_t step, double value) {
    return stat == "loss" && step == 1 ? 9 : value;
  };
  CHECK(loss_plot(compare({usual, ours("high", {history(60, 1, begins_high)})})).y.hi < 5);
}

TEST_CASE("compare: which seed a line is of is said where it is one number, else that it is the first") {
  Recording two = ours("two", {history(60), history(60, 2)}),
            turned = ours("turned", {history(60, 2), history(60)});
  CHECK(contains(loss_plot(compare({two, two})).note, "line: seed 1"));
  std::swap(turned.seeds[0].origin.seed, turned.seeds[1].origin.seed);
  CHECK(contains(loss_plot(compare({two, turned})).note, "line: the first"));
}

TEST_CASE("compare: JSON has every part, round numbers, and null for what is not known") {
  const Comparison all = drawn_comparison();
  const nlohmann::json json = nlohmann::json::parse(to_json(all).dump());
  CHECK(json.at("format") == "normscope comparison 1");
  CHECK(json.at("baseline") == "A");
  CHECK(json.at("runs").size() == 3);
  CHECK(json.at("runs")[0].at("seeds") == nlohmann::json({1, 2}));
  CHECK(json.at("losses")[0].at("loss")[0] == 3.1);  // 3.0999999046325684 as a float
  CHECK(json.at("losses")[0].at("step").size() == 60);
  CHECK(json.at("differences")[1].at("end") == 0.4);
  CHECK(json.at("differences")[1].at("against") == "same seed");
  CHECK(json.at("differences")[2].at("words") == all.differences[2].words());
  CHECK(json.at("maps").size() == 2);
  CHECK(json.at("maps")[0].at("log10_ratio")[0][20] == -5.0);
  CHECK(json.at("maps")[1].at("lacks") == "gradient size of W₂: not in its log");
  CHECK(json.at("places")[0].at("step") == 10);
  CHECK(json.at("places")[0].at("layer") == 1);
  CHECK(json.at("places")[0].at("matrix") == "W₂");
  CHECK_FALSE(json.at("places")[1].contains("step"));
  CHECK(json.at("end").size() == 3);
  for (const nlohmann::json& row : json.at("end")) CHECK(row.at("tokens_per_second").is_null());
  for (const nlohmann::json& setting : json.at("settings")) CHECK(setting.at("values").size() == 3);
}

TEST_CASE("compare: a figure becomes a file in every format") {
  const test::Folder folder;
  const std::vector<Figure> figures = figures_of(drawn_comparison());
  write_figure(figures[2], view::PlotFormat::Svg, folder.file("map.svg"));
  write_figure(figures[2], view::PlotFormat::Csv, folder.file("map.csv"));
  write_figure(figures[2], view::PlotFormat::Png, folder.file("map.png"));
  CHECK(test::well_formed(test::read_all(folder.file("map.svg"))));
  CHECK(test::read_all(folder.file("map.csv")) == figures[2].csv);
  CHECK(test::read_all(folder.file("map.png")).starts_with("\x89PNG"));
}

TEST_CASE("the size of a figure is given in columns, millimetres and points") {
  const auto style = [](const char* width, const char* font) {
    return commands::style_of({.width = width, .font = font});
  };
  CHECK(style("", "").width == plot::kColumn);
  CHECK(style("1column", "").width == plot::kColumn);
  CHECK(style("2 columns", "").width == plot::kTwoColumns);
  CHECK(style("120mm", "").width == 120);
  CHECK((style("", "7pt").font == 7 && style("", "9.5").font == 9.5f));
  for (const char* wrong : {"3columns", "84", "84cm", "20mm", "500mm", "nanmm", "wide"})
    CHECK(test::contains(test::error_of([&] { style(wrong, ""); }),
                         "expected 1column, 2columns, or 30mm to 400mm"));
  for (const char* wrong : {"2pt", "30pt", "8px", "x"})
    CHECK(test::contains(test::error_of([&] { style("", wrong); }), "expected 4pt to 24pt"));
}

TEST_CASE("loss window: 25 losses, fewer at first, and none of the network before a change") {
  CHECK(loss_window(1, {}) == 1);
  CHECK(loss_window(24, {}) == 24);
  CHECK(loss_window(300, {}) == kLossWindow);
  const std::vector<Edit> edits{{101, "wiring.L01.attn", "before=layernorm"}, {110, "train.lr", "1e-3"}};
  CHECK(loss_window(100, edits) == kLossWindow);  // nothing was changed by then
  CHECK(loss_window(101, edits) == 1);
  CHECK(loss_window(112, edits) == 12);  // a rate makes no other network
  CHECK(loss_window(200, edits) == kLossWindow);
  CHECK(loss_window(105, {{103, "somebody.elses.key", "1"}}) == kLossWindow);
}

TEST_CASE("loss window: card, Compare and table have one number, at the cursor too") {
  view::LabData data;
  const auto view = fixture::lab_view();
  compare::LiveRuns live;
  std::vector<records::Recording> runs;
  for (const RunView& run : view->runs) runs.push_back(*live.take(*view, run.letter));
  const compare::Comparison all = compare::compare(runs);
  const std::shared_ptr<const Task> task = make_task({});
  for (size_t i = 0; i < view->runs.size(); ++i) {
    const RunView& run = view->runs[i];
    INFO(run.letter);
    for (const compare::EndRow& row : all.rows)
      if (row.run == i) CHECK(row.loss == Approx(run.loss).epsilon(1e-6));
    const commands::RunResult result =
        commands::result_of({run.letter, 1}, *run.spec, run.edits, run.state, *run.history, *task, 3.0, 1.0);
    CHECK(result.loss == Approx(run.loss).epsilon(1e-6));
    CHECK(result.window == kLossWindow);
    const RunView then = view::run_at(data, run, 100);
    double mean = 0;
    for (int step = 76; step <= 100; ++step) mean += fixture::loss_at(static_cast<int>(i), step) / 25;
    CHECK(then.loss == Approx(mean).epsilon(1e-5));
  }
}

TEST_CASE("loss window: a label has the number of the line where it stands, wherever the cursor is") {
  view::LabData data;
  const auto view = fixture::lab_view();
  for (const int step : {view->step, 100}) {
    const auto plot =
        panels::loss_plot(view::view_at(data, *view, step), data, {.step = step, .follows = false});
    for (const plot::Series& series : plot.series) {
      if (series.letter.empty()) continue;  // of single steps, which have no label
      CHECK(series.value == fmt::format("{:.2f}", series.y[series.y.size() - 1]));
      CHECK(series.decimals == 2);
    }
  }
}

TEST_CASE("loss window: just after a fork the number is of its own losses alone") {
  view::LabData data;
  auto view = std::make_shared<LabView>(*fixture::lab_view({.step = 153, .fork = true}));
  RunView& fork = view->runs[3];
  fork.edits = {{151, "model.placement", "pre"}};
  double own = 0;
  for (int step = 151; step <= 153; ++step) own += fixture::loss_at(2, step) / 3;
  CHECK(view::loss_at(data, fork, 153) == Approx(own).epsilon(1e-5));
}

TEST_CASE("data identity: by the hash, else by the name, and never with another number of symbols") {
  using compare::SameData, compare::same_data;
  const DataIdentity ours{"corpus.txt", "00000000000000aa", 29, "letter"};
  CHECK(same_data(ours, ours) == SameData::Same);
  CHECK(same_data(ours, {"renamed.txt", "00000000000000aa", 29, ""}) == SameData::Same);
  CHECK(same_data(ours, {"corpus.txt", "00000000000000ab", 29, ""}) == SameData::Other);
  CHECK(same_data(ours, {"corpus.txt", "", 0, ""}) == SameData::Same);
  CHECK(same_data(ours, {"web text", "", 0, ""}) == SameData::Other);
  CHECK(same_data(ours, {"corpus.txt", "", 138, ""}) == SameData::Other);
  CHECK(same_data(ours, {}) == SameData::Unknown);
  CHECK(same_data({}, {}) == SameData::Unknown);
  CHECK(compare::to_words(ours) == "corpus.txt, 29 symbols");
  const DataIdentity built_in = identity_of({}, *make_task({}));
  CHECK(built_in.name == "built-in sentences");
  CHECK(built_in.hash.size() == 16);
  CHECK(built_in.unit == "letter");
  CHECK(frequencies_of(built_in.unit) == "letter frequencies");
  CHECK(nats_per("") == "nats per symbol");
}

TEST_CASE("data: what a symbol is can be said without reading them") {
  int made_up = 0;
  for (const TaskKind* kind : task_kinds()) {
    if (kind->made_up.empty()) continue;
    DataSpec spec;
    spec.name = kind->name;
    INFO(kind->name);
    CHECK(unit_of(spec) == make_task(spec)->unit());
    ++made_up;
  }
  CHECK(made_up > 6);
  DataSpec masked;
  masked.form = TaskForm::Masked;
  CHECK(unit_of(masked) == make_task(masked)->unit());
}

}  // namespace normscope::compare

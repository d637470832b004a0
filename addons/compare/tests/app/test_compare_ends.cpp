// These tests compare runs that end at other steps or read other data: numbers name their step, window and data.
#include <cmath>
#include <limits>
#include <string>

#include "addons/compare/app/comparison.h"
#include "addons/compare/app/figures.h"
#include "addons/compare/app/words.h"
#include "addons/compare/tests/app/compared_runs.h"
#include "catch.hpp"
#include "engine/support/helpers.h"

namespace normscope::compare {
using compared::history, compared::ours, compared::theirs;
using test::contains;

TEST_CASE("compare: a difference that is not of the two ends says its step and its window") {
  const auto to = [](double from, double slope) {
    return [=](const std::string& stat, int32_t step, double value) {
      return stat == "loss" ? from + slope * step : value;
    };
  };
  const Comparison all =
      compare({ours("long", {history(60, 1, to(3.6, -0.012))}), ours("short", {history(40, 1, to(3.1, 0))})});
  const Difference& d = all.differences[1];
  CHECK(d.early);
  CHECK(d.when() == "at step 40, mean of 25");
  CHECK(contains(difference_sentence(all), "A at step 40, mean of 25: one seed"));
  CHECK(contains(end_table(all)[1][6] + end_table(all)[2][6], "at step 40, mean of 25; "));
  // By its own end, 3.02, the baseline would be first: the order is that of the shared steps.
  CHECK(d.end < 0);
  CHECK(all.rows[0].run == 1);
  CHECK(all.rows[1].loss < all.rows[0].loss);
  const plot::PlotSpec plot = difference_plot(all, false);
  CHECK(plot.series[1].value == signed_decimals(d.smooth.mean.back()));
  // Runs of one length end together.
  const Comparison even = compare({ours("one", {history(40)}), ours("two", {history(40, 3)})});
  CHECK_FALSE(even.differences[1].early);
  CHECK(even.differences[1].when().empty());
  CHECK(contains(difference_sentence(even), "B ends "));
}

TEST_CASE("compare: the line of frequencies is named by the data of the baseline") {
  Compared base = ours("base", {history(60)}), other = theirs("other", history(60, 3));
  base.data = {"built-in sentences", "00000000000000aa", 29, "letter"};
  other.data = {"web text", "", 138, ""};
  base.seeds[0].unigram = 2.9;
  const Comparison all = compare({base, other});
  CHECK(all.unit.empty());
  CHECK(contains(loss_plot(all).lines[0].label, "letter frequencies of A"));
  // One row says what the data are.
  for (const Setting& setting : all.settings) CHECK(setting.key != "data.name");
}

TEST_CASE("compare: a map shows nothing where one of the two was not measured") {
  Comparison all = compare({ours("long", {history(60)}), ours("short", {history(60, 3)})});
  RatioMap& map = all.maps[1];
  REQUIRE(map.lacks.empty());
  const size_t columns = map.steps.size();
  for (int32_t layer = 0; layer < map.layers; ++layer)
    for (size_t i = columns / 2; i < columns; ++i)
      map.cells[static_cast<size_t>(layer) * columns + i] = std::numeric_limits<float>::quiet_NaN();
  const plot::PlotSpec plot = ratio_plot(all, 1);
  REQUIRE(plot.heat);
  const int width = plot.heat->columns;
  const auto& cells = plot.heat->cells.values;
  CHECK(std::isfinite(cells[0]));
  CHECK(std::isnan(cells[static_cast<size_t>(width) - 1]));
  CHECK(std::isnan(cells[static_cast<size_t>(width) * 3 / 4]));
}

}  // namespace normscope::compare

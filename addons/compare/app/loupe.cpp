#include "addons/compare/app/loupe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "addons/compare/app/tracks.h"
#include "addons/compare/app/words.h"
#include "app/words/words.h"

namespace normscope::compare {
namespace {

/// The first step if the place is within kLoupeSteps of it, else the step before the place.
size_t first_column(const Track& track, const FirstPlace& place) {
  if (!place.parts) return 0;
  const auto at = std::lower_bound(track.steps.begin(), track.steps.end(), place.step);
  const auto index = static_cast<size_t>(at - track.steps.begin());
  return index < kLoupeSteps ? 0 : index - 1;
}

std::string prefix_of(const std::string& stack) {
  return stack == "encoder" ? "enc." : stack == "decoder" ? "dec." : "";
}

/// A matrix of the layer that both runs measure.
struct Row {
  std::string stat;
  const char* matrix;
  Track track;
  std::vector<Track> others;
};

/// Follows the computation: attention, then the feed-forward network. `layer`: "dec.L06.".
std::vector<Row> rows_in(const Comparison& all, const Ruler& ruler, size_t run, const Opponents::Pair& pair,
                         const std::string& layer) {
  std::vector<view::Matrix> in_order(std::begin(view::kMatrices), std::end(view::kMatrices));
  std::rotate(in_order.begin(), in_order.begin() + 2, in_order.end());
  std::swap(in_order[in_order.size() - 2], in_order.back());
  std::vector<Row> rows;
  for (const view::Matrix& matrix : in_order) {
    Row row{fmt::format("{}{}.grad_norm", layer, matrix.path), matrix.label, {}, {}};
    row.track = stat_track(ruler, all.runs[run], *pair.one, row.stat);
    for (const OneSeed* other : pair.others)
      if (other->history->find(row.stat) >= 0)
        row.others.push_back(stat_track(ruler, all.runs[all.baseline()], *other, row.stat));
    if (!row.track.empty() && !row.others.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Loupe loupe_of(const Comparison& all, size_t run) {
  Loupe loupe;
  const FirstPlace& place = all.places[run];
  if (run == all.baseline() || !place.lacks.empty()) return loupe;
  const Opponents found = opponents(all, run);
  const Opponents::Pair* pair = shown_pair(all, found, run);
  if (!pair) return loupe;
  const History& mine = *pair->one->history;
  const Ruler ruler = ruler_of(all.runs, all.choice);
  const std::string prefix = place.parts ? prefix_of(place.stack) : stack_of(mine);
  const int32_t layer = place.parts ? place.layer : layers_of(mine);
  std::vector<Row> rows = rows_in(all, ruler, run, *pair, fmt::format("{}L{:02}.", prefix, layer));
  if (rows.empty()) return loupe;
  // A thinned history keeps the extremes of each stat at different steps, so one track decides which steps are shown.
  const auto of_place = std::find_if(rows.begin(), rows.end(),
                                     [&](const Row& row) { return place.parts && row.stat == place.stat; });
  const Track& shown = of_place == rows.end() ? rows.front().track : of_place->track;
  const size_t begin = first_column(shown, place);
  const size_t end = std::min(begin + kLoupeSteps, shown.steps.size());
  loupe.steps.assign(shown.steps.begin() + static_cast<std::ptrdiff_t>(begin),
                     shown.steps.begin() + static_cast<std::ptrdiff_t>(end));
  loupe.layer = layer;
  loupe.stack = stack_word(prefix);
  for (const Row& row : rows) {
    loupe.matrices.push_back(row.matrix);
    for (size_t i = begin; i < end; ++i) {
      const double value = ruler.find(row.track, shown.x[i]).value_or(kUnknown);
      loupe.ratios.push_back(ratio_to_range(ruler, value, row.others, shown.x[i]).value_or(kUnknown));
    }
  }
  return loupe;
}

plot::PlotSpec loupe_plot(const Comparison& all, size_t run, const Loupe& loupe) {
  plot::PlotSpec plot;
  if (loupe.layer == 0 || loupe.steps.empty()) return plot;
  const char letter = all.letter(run);
  plot.id = fmt::format("compare-place-{}", letter);
  plot.title = tr("Where they part first");
  plot.note = tr("{layer} of {run}", {{"layer", layer_words(loupe.stack, loupe.layer)}, {"run", letter}});
  plot.sentence = place_sentence(all, run);
  plot.x.label = tr("step");
  plot.x.lo = loupe.steps.front() - 0.5;
  plot.x.hi = plot.x.lo + static_cast<double>(loupe.steps.size());
  for (size_t i = 0; i < loupe.steps.size(); ++i)
    plot.x.ticks.push_back({plot.x.lo + 0.5 + static_cast<double>(i), std::to_string(loupe.steps[i])});
  plot.x.max_ticks = static_cast<int>(kLoupeSteps);
  const size_t rows = loupe.matrices.size();
  plot.y.label = tr("matrix");
  plot.y.lo = 0.5;
  plot.y.hi = static_cast<double>(rows) + 0.5;
  // The first matrix stands on top.
  for (size_t row = 0; row < rows; ++row)
    plot.y.ticks.push_back({static_cast<double>(rows - row), loupe.matrices[row]});
  plot.y.max_ticks = static_cast<int>(rows);
  plot::HeatMap heat;
  heat.rows = static_cast<int>(rows);
  heat.columns = static_cast<int>(loupe.steps.size());
  std::vector<float> cells;
  for (const double ratio : loupe.ratios) cells.push_back(static_cast<float>(std::log10(ratio)));
  heat.cells = plot::Column::of(std::move(cells));
  heat.signed_data = true;
  heat.stretched = true;
  heat.full = 4;
  heat.label = tr("colour: log₁₀ of the ratio, blue smaller, red larger, full at ±4");
  plot.heat = std::move(heat);
  return plot;
}

}  // namespace normscope::compare

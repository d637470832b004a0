#include "app/compare/loupe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "app/compare/tracks.h"

namespace normscope::comparison {
namespace {

/// Where the shown steps begin: at the first one, or one step before the place where that is later.
size_t first_column(const Track& track, const FirstPlace& place) {
  if (!place.parts) return 0;
  const auto at = std::lower_bound(track.steps.begin(), track.steps.end(), place.step);
  const auto index = static_cast<size_t>(at - track.steps.begin());
  return index < kLoupeSteps ? 0 : index - 1;
}

std::string prefix_of(const std::string& stack) {
  return stack == "encoder" ? "enc." : stack == "decoder" ? "dec." : "";
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
  // As a layer computes: attention, then the feed-forward network.
  std::vector<lab::Matrix> in_order(std::begin(lab::kMatrices), std::end(lab::kMatrices));
  std::rotate(in_order.begin(), in_order.begin() + 2, in_order.end());
  std::swap(in_order[in_order.size() - 2], in_order.back());
  for (const lab::Matrix& matrix : in_order) {
    const std::string stat = fmt::format("{}L{:02}.{}.grad_norm", prefix, layer, matrix.path);
    const Track track = stat_track(ruler, all.runs[run], *pair->one, stat);
    std::vector<Track> others;
    for (const OneSeed* other : pair->others)
      if (other->history->find(stat) >= 0)
        others.push_back(stat_track(ruler, all.runs[all.baseline()], *other, stat));
    if (track.empty() || others.empty()) continue;
    const size_t begin = first_column(track, place);
    const size_t end = std::min(begin + kLoupeSteps, track.steps.size());
    if (loupe.steps.empty()) {
      loupe.steps.assign(track.steps.begin() + static_cast<std::ptrdiff_t>(begin),
                         track.steps.begin() + static_cast<std::ptrdiff_t>(end));
      loupe.layer = layer;
      loupe.stack = stack_word(prefix);
    }
    loupe.matrices.push_back(matrix.label);
    for (size_t i = begin; i < begin + loupe.steps.size(); ++i)
      loupe.ratios.push_back(i < track.y.size()
                                 ? ratio_to_range(ruler, track.y[i], others, track.x[i]).value_or(kUnknown)
                                 : kUnknown);
  }
  return loupe;
}

plot::PlotSpec loupe_plot(const Comparison& all, size_t run, const Loupe& loupe) {
  plot::PlotSpec plot;
  if (loupe.layer == 0 || loupe.steps.empty()) return plot;
  const char letter = all.letter(run);
  plot.id = fmt::format("compare-place-{}", letter);
  plot.title = "First place they part";
  plot.note =
      fmt::format("{}{}layer {} of {}", loupe.stack, loupe.stack.empty() ? "" : " ", loupe.layer, letter);
  plot.sentence = place_sentence(all, run);
  plot.x.label = "step";
  plot.x.lo = loupe.steps.front() - 0.5;
  plot.x.hi = plot.x.lo + static_cast<double>(loupe.steps.size());
  for (size_t i = 0; i < loupe.steps.size(); ++i)
    plot.x.ticks.push_back({plot.x.lo + 0.5 + static_cast<double>(i), std::to_string(loupe.steps[i])});
  plot.x.max_ticks = static_cast<int>(kLoupeSteps);
  const size_t rows = loupe.matrices.size();
  plot.y.label = "matrix";
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
  heat.label = "colour: log₁₀ of the ratio, blue smaller, red larger, full at ±4";
  plot.heat = std::move(heat);
  return plot;
}

}  // namespace normscope::comparison

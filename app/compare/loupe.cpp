#include "app/compare/loupe.h"

#include <fmt/format.h>

#include <algorithm>

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
  for (const lab::Matrix& matrix : lab::kMatrices) {
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

}  // namespace normscope::comparison

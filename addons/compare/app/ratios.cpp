// This file has metrics over the baseline's by layer and step, and where gradient norms part. See comparison.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "addons/compare/app/tracks.h"
#include "addons/compare/app/words.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::compare {
namespace {

constexpr float kNoRatio = std::numeric_limits<float>::quiet_NaN();
constexpr std::string_view kNorm = ".grad_norm";

/// A metric of a layer, or the ratio of two stats where both have a number.
Track metric_track(const Ruler& ruler, const Compared& run, const OneSeed& seed,
                   const panels::StatNames& names) {
  Track track = stat_track(ruler, run, seed, names.value);
  if (names.over.empty()) return track;
  const Track below = stat_track(ruler, run, seed, names.over);
  for (size_t i = 0; i < track.x.size(); ++i) {
    const std::optional<double> divisor = ruler.find(below, track.x[i]);
    track.y[i] = divisor && *divisor > 0 ? track.y[i] / *divisor : kUnknown;
  }
  return track;
}

/// Log10 of a value over the others' geometric mean; NaN where one is missing or not positive.
float ratio_at(const Ruler& ruler, double value, const std::vector<Track>& others, double x) {
  double sum = 0;
  for (const Track& other : others) {
    const std::optional<double> found = ruler.find(other, x);
    if (!found || !(*found > 0)) return kNoRatio;
    sum += std::log10(*found);
  }
  return value > 0 ? static_cast<float>(std::log10(value) - sum / static_cast<double>(others.size()))
                   : kNoRatio;
}

std::string lacks_metric(const Comparison& all, size_t run, const std::string& what) {
  return tr(run == all.baseline() ? "{metric}: not in {where} (the baseline's)" : "{metric}: not in {where}",
            {{"metric", what}, {"where", where_missing(all.runs[run])}});
}

/// A weight matrix of a layer whose gradient both runs measure.
struct Tensor {
  std::string stat, stack, matrix;
  int32_t layer = 0;
};

std::vector<Tensor> tensors_of(const History& one, const History& other) {
  std::vector<std::string> known;
  for (const StatInfo& stat : other.layout())
    if (stat.name.ends_with(kNorm)) known.push_back(stat.name);
  std::sort(known.begin(), known.end());
  std::vector<Tensor> tensors;
  for (const StatInfo& stat : one.layout()) {
    const std::optional<StatPlace> place = place_of_stat(stat.name);
    if (!place || !std::binary_search(known.begin(), known.end(), stat.name)) continue;
    for (const view::Matrix& matrix : view::kMatrices)
      if (place->rest == matrix.path + std::string(kNorm))
        tensors.push_back({stat.name, stack_word(place->stack), matrix.label, place->layer});
  }
  return tensors;
}

double factor_of(double ratio) { return ratio <= 0 ? INFINITY : std::max(ratio, 1 / ratio); }

class Search {
 public:
  Search(const Comparison& all, const Ruler& ruler, FirstPlace& place)
      : all_(all), ruler_(ruler), place_(place) {}

  /// Looks along one tensor of the run for the first place where it parts from the others, and for the largest
  /// factor between them.
  void visit(const Tensor& tensor, const Track& track, const std::vector<Track>& others) {
    for (size_t i = 0; i < track.steps.size(); ++i) {
      const std::optional<double> ratio = ratio_to_range(ruler_, track.y[i], others, track.x[i]);
      if (!ratio) continue;
      const int32_t step = track.steps[i];
      if (place_.first_step == 0 || step < place_.first_step) place_.first_step = step;
      if (*ratio == 1 && others.size() == 1)
        equal_.push_back(step);
      else
        differs_ = std::min(differs_, step);
      const double factor = factor_of(*ratio);
      if (factor > place_.most) {
        place_.most = factor;
        place_.most_step = step;
      }
      if (factor <= all_.choice.factor) continue;
      if (place_.parts && (step > place_.step || (step == place_.step && factor <= factor_of(place_.ratio))))
        break;
      place_.parts = true;
      place_.step = step;
      place_.x = track.x[i];
      place_.layer = tensor.layer;
      place_.stack = tensor.stack;
      place_.matrix = tensor.matrix;
      place_.stat = tensor.stat;
      place_.ratio = *ratio;
    }
  }
  void finish() {
    for (const int32_t step : equal_)
      if (step < differs_) place_.equal_until = std::max(place_.equal_until, step);
    place_.equal = place_.first_step > 0 && differs_ == std::numeric_limits<int32_t>::max();
  }

 private:
  const Comparison& all_;
  const Ruler& ruler_;
  FirstPlace& place_;
  std::vector<int32_t> equal_;  ///< steps of norms that are equal
  int32_t differs_ = std::numeric_limits<int32_t>::max();
};

}  // namespace

Track stat_track(const Ruler& ruler, const Compared& run, const OneSeed& seed, const std::string& name) {
  const int32_t place = seed.history->find(name);
  return place < 0 ? Track{} : ruler.track(seed.history->series(place), ruler.per_step(run));
}

const Opponents::Pair* shown_pair(const Comparison& all, const Opponents& opponents, size_t run) {
  for (const Opponents::Pair& pair : opponents.pairs)
    if (pair.one == &all.runs[run].seeds.front()) return &pair;
  return opponents.pairs.empty() ? nullptr : &opponents.pairs.front();
}

std::optional<double> ratio_to_range(const Ruler& ruler, double value, const std::vector<Track>& others,
                                     double x) {
  double low = INFINITY, high = -INFINITY;
  for (const Track& other : others) {
    const std::optional<double> found = ruler.find(other, x);
    if (!found || !std::isfinite(*found)) return {};
    low = std::min(low, *found);
    high = std::max(high, *found);
  }
  if (!std::isfinite(value)) return {};
  if (value >= low && value <= high) return 1;
  return value < low ? value / low : high > 0 ? value / high : INFINITY;
}

RatioMap map_of(const Comparison& all, const Ruler& ruler, size_t run) {
  RatioMap map;
  if (run == all.baseline()) return map;
  const Compared& base = all.runs[all.baseline()];
  const Opponents found = opponents(all, run);
  const Opponents::Pair* pair = shown_pair(all, found, run);
  map.against = found.against;
  const History &mine = *pair->one->history, &theirs = *pair->others.front()->history;
  const std::string what = metric_words(all.choice);
  const int32_t layers = std::min(layers_of(mine), layers_of(theirs));
  std::vector<std::vector<float>> rows;
  for (int32_t layer = 1; layer <= layers; ++layer) {
    const auto names = [&](const History& history) {
      return panels::stat_names(all.choice.metric, all.choice.matrix, layer, stack_of(history));
    };
    const Track track = metric_track(ruler, all.runs[run], *pair->one, names(mine));
    std::vector<Track> others;
    for (const OneSeed* other : pair->others)
      if (const panels::StatNames theirs_of = names(*other->history);
          other->history->find(theirs_of.value) >= 0)
        others.push_back(metric_track(ruler, base, *other, theirs_of));
    if (layer == 1) {
      map.steps = track.steps;
      map.x = track.x;
    }
    rows.emplace_back(map.steps.size(), kNoRatio);
    for (size_t i = 0; i < map.steps.size(); ++i)
      if (const std::optional<double> value = ruler.find(track, map.x[i]))
        rows.back()[i] = ratio_at(ruler, *value, others, map.x[i]);
  }
  map.layers = layers;
  for (const auto& row : rows) map.cells.insert(map.cells.end(), row.begin(), row.end());
  if (std::any_of(map.cells.begin(), map.cells.end(), [](float cell) { return std::isfinite(cell); }))
    return map;
  const auto has = [&](const History& history) {
    const panels::StatNames names =
        panels::stat_names(all.choice.metric, all.choice.matrix, 1, stack_of(history));
    return history.find(names.value) >= 0 && (names.over.empty() || history.find(names.over) >= 0);
  };
  map = {};
  map.against = found.against;
  map.lacks = !has(mine)     ? lacks_metric(all, run, what)
              : !has(theirs) ? lacks_metric(all, all.baseline(), what)
                             : tr("{metric}: no step that both have", {{"metric", what}});
  return map;
}

FirstPlace place_of(const Comparison& all, const Ruler& ruler, size_t run) {
  FirstPlace place;
  if (run == all.baseline()) return place;
  const Opponents found = opponents(all, run);
  const Opponents::Pair* pair = shown_pair(all, found, run);
  place.against = found.against;
  const auto measures = [](const History& history) {
    return std::any_of(history.layout().begin(), history.layout().end(), [](const StatInfo& stat) {
      return stat.name.ends_with(kNorm) && place_of_stat(stat.name);
    });
  };
  for (const auto& [history, index] : {std::pair(pair->one->history.get(), run),
                                       std::pair(pair->others.front()->history.get(), all.baseline())})
    if (!measures(*history)) {
      place.lacks = lacks_metric(all, index, tr("gradient sizes"));
      return place;
    }
  Search search(all, ruler, place);
  for (const Tensor& tensor : tensors_of(*pair->one->history, *pair->others.front()->history)) {
    std::vector<Track> others;
    for (const OneSeed* other : pair->others)  // reruns of "Is it luck?" have their losses alone
      if (other->history->find(tensor.stat) >= 0)
        others.push_back(stat_track(ruler, all.runs[all.baseline()], *other, tensor.stat));
    search.visit(tensor, stat_track(ruler, all.runs[run], *pair->one, tensor.stat), others);
  }
  search.finish();
  if (place.first_step == 0) place.lacks = tr("gradient sizes: no matrix and step that both have");
  return place;
}

namespace {

/// Follows a ratio of gradients of different data.
std::string data_note(const Comparison& all, size_t run) {
  const std::string words = data_words(all, run);
  return words.empty() ? "" : fmt::format(" ({})", words);
}

}  // namespace

std::string map_sentence(const Comparison& all, size_t run) {
  const RatioMap& map = all.maps[run];
  if (!map.lacks.empty()) return map.lacks + ".";
  float most = 0;
  int32_t layer = 0, step = 0;
  for (int32_t l = 1; l <= map.layers; ++l)
    for (size_t i = 0; i < map.steps.size(); ++i)
      if (const float cell = map.at(l, i); std::fabs(cell) > std::fabs(most)) {
        most = cell;
        layer = l;
        step = map.steps[i];
      }
  const char mine = all.letter(run), base = all.letter(all.baseline());
  if (std::fabs(most) < std::log10(2.f))
    return tr("{run} stays within 2× of {base}.", {{"run", mine}, {"base", base}});
  return tr("Farthest apart at step {step}, layer {layer}: {run}'s is {ratio}{note}.",
            {{"step", ui::grouped(step)},
             {"layer", layer},
             {"run", mine},
             {"ratio", held_against(std::pow(10.0, static_cast<double>(most)), owned_by(base))},
             {"note", data_note(all, run)}});
}

std::string place_sentence(const Comparison& all, size_t run) {
  const FirstPlace& place = all.places[run];
  const char mine = all.letter(run), base = all.letter(all.baseline());
  if (run == all.baseline()) return "";
  if (!place.lacks.empty())
    return tr("{run} and {base}: {what}.", {{"run", mine}, {"base", base}, {"what", place.lacks}});
  if (place.equal)
    return tr("{run} and {base}: every gradient size is equal to the bit.", {{"run", mine}, {"base", base}});
  // A single seed has no range.
  const bool single = place.against == Against::SameSeed || measuring_seeds(all.runs[all.baseline()]) == 1;
  const std::string range = tr("the range {seeds}", {{"seeds", seeds_of_baseline(all)}});
  if (!place.parts) {
    const char* const said =
        place.most_step == 0 ? "{run} and {base} part nowhere by more than {factor}: it stays in {range}."
        : single             ? "{run} and {base} part nowhere by more than {factor}: {most} at most, at step "
                               "{step}{note}."
                 : "{run} and {base} part nowhere by more than {factor}: it leaves {range} by {most} at "
                   "most, at step {step}{note}.";
    return tr(said, {{"run", mine},
                     {"base", base},
                     {"factor", times(all.choice.factor)},
                     {"range", range},
                     {"most", times(place.most)},
                     {"step", ui::grouped(place.most_step)},
                     {"note", data_note(all, run)}});
  }
  std::string since;
  if (place.equal_until > 0)
    since = tr("; equal to the bit up to step {step}", {{"step", ui::grouped(place.equal_until)}});
  else if (place.step == place.first_step)
    since = tr(place.step == 1 ? ", from the first step on" : ", at the first step that was compared");
  return tr(
      "{run} and {base} part at step {step} in {tensor}: its gradient size is "
      "{ratio}{since}{note}.",
      {{"run", mine},
       {"base", base},
       {"step", ui::grouped(place.step)},
       {"tensor", tensor_words(place)},
       {"ratio", held_against(place.ratio, single ? owned_by(base) : range)},
       {"since", since},
       {"note", data_note(all, run)}});
}

}  // namespace normscope::compare

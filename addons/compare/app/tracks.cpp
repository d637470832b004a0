#include "addons/compare/app/tracks.h"

#include <algorithm>
#include <cmath>

#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/spec/loss_window.h"

namespace normscope::compare {
namespace {

/// Bounds the maps, because nobody needs one of a file that names more layers.
constexpr int32_t kMostLayers = 1024;

double said_per_step(const OneSeed& seed, Alignment align) {
  switch (align) {
    case Alignment::Step:
      return 1;
    case Alignment::Tokens:
      return seed.tokens_per_step;
    case Alignment::Time:
      return seed.seconds_per_step;
  }
  return kUnknown;
}

}  // namespace

double Ruler::per_step(const Compared& run) const {
  double sum = 0;
  int32_t count = 0;
  for (const OneSeed& seed : run.seeds)
    if (const double said = said_per_step(seed, align); std::isfinite(said) && said > 0) {
      sum += said;
      ++count;
    }
  return count ? sum / count : kUnknown;
}

Track Ruler::track(const Series& series, double per_step) const {
  Track track;
  if (!std::isfinite(per_step)) return track;
  for (size_t i = 0; i < series.steps.size(); ++i) {
    const double x = series.steps[i] * per_step;
    if (x < low || x > high) continue;
    track.steps.push_back(series.steps[i]);
    track.x.push_back(x);
    track.y.push_back(std::isfinite(series.values[i]) ? static_cast<double>(series.values[i]) : kUnknown);
  }
  return track;
}

std::optional<double> Ruler::find(const Track& track, double x) const {
  const auto at = std::lower_bound(track.x.begin(), track.x.end(), x);
  if (at == track.x.end()) return {};
  size_t i = static_cast<size_t>(at - track.x.begin());
  if (*at == x) return track.y[i];
  if (align == Alignment::Step || i == 0) return {};
  if (x - track.x[i - 1] < track.x[i] - x) --i;
  return track.y[i];
}

Ruler ruler_of(const std::vector<Compared>& runs, const Choice& choice) {
  Ruler ruler;
  ruler.align = choice.align;
  const Compared& baseline = runs[static_cast<size_t>(choice.baseline)];
  const double per_step = ruler.per_step(baseline);
  if (!std::isfinite(per_step))
    fail("compare", "the baseline, {}, does not say {}: expected another baseline, or to align by step",
         baseline.name,
         choice.align == Alignment::Tokens ? "how many tokens a step has" : "how long a step takes");
  if (!choice.range) return ruler;
  const auto [from, to] = *choice.range;
  if (from > to) fail("compare", "steps {} to {}: expected the lower one first", from, to);
  ruler.low = from * per_step;
  ruler.high = to * per_step;
  return ruler;
}

Track minus(const Ruler& ruler, const Track& one, std::span<const Track> others) {
  Track result;
  for (size_t i = 0; i < one.x.size(); ++i) {
    double sum = 0;
    bool all = !others.empty();
    for (const Track& other : others) {
      const std::optional<double> value = ruler.find(other, one.x[i]);
      if (!value) {
        all = false;
        break;
      }
      sum += *value;
    }
    if (!all) continue;
    result.steps.push_back(one.steps[i]);
    result.x.push_back(one.x[i]);
    result.y.push_back(one.y[i] - sum / static_cast<double>(others.size()));
  }
  return result;
}

Track smoothed(const Track& track) {
  Track result = track;
  size_t first = 0, end = 0;
  for (size_t i = 0; i < track.steps.size(); ++i) {
    while (track.steps[i] - track.steps[first] > kSmooth / 2) ++first;
    while (end < track.steps.size() && track.steps[end] - track.steps[i] <= kSmooth / 2) ++end;
    double sum = 0;
    for (size_t k = first; k < end; ++k) sum += track.y[k];
    result.y[i] = sum / static_cast<double>(end - first);
  }
  return result;
}

Spread spread_of(std::span<const Track> tracks) {
  Spread spread;
  if (tracks.empty()) return spread;
  const Track& first = tracks.front();
  for (size_t i = 0; i < first.steps.size(); ++i) {
    double sum = 0, low = first.y[i], high = first.y[i];
    bool all = true;
    for (const Track& track : tracks) {
      const auto at = std::lower_bound(track.steps.begin(), track.steps.end(), first.steps[i]);
      all = at != track.steps.end() && *at == first.steps[i];
      if (!all) break;
      const double value = track.y[static_cast<size_t>(at - track.steps.begin())];
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (!all) continue;
    const bool finite = std::isfinite(sum);
    spread.steps.push_back(first.steps[i]);
    spread.x.push_back(first.x[i]);
    spread.mean.push_back(finite ? sum / static_cast<double>(tracks.size()) : kUnknown);
    spread.low.push_back(finite ? low : kUnknown);
    spread.high.push_back(finite ? high : kUnknown);
  }
  return spread;
}

int32_t window_at(const Compared& run, int32_t step) { return loss_window(step, run.edits); }

double mean_at_end(const Track& track, int32_t most) {
  if (track.y.empty()) return kUnknown;
  const size_t count = std::min(track.y.size(), static_cast<size_t>(most));
  double sum = 0;
  for (size_t i = track.y.size() - count; i < track.y.size(); ++i) sum += track.y[i];
  return sum / static_cast<double>(count);
}

double mean_between(const Track& track, double low, double high) {
  double sum = 0;
  int32_t count = 0;
  for (size_t i = 0; i < track.x.size(); ++i)
    if (track.x[i] >= low && track.x[i] <= high) {
      sum += track.y[i];
      ++count;
    }
  return count ? sum / count : kUnknown;
}

bool same_batches(const Compared& a, const Compared& b) {
  return a.spec && b.spec && a.maker == b.maker && a.spec->data == b.spec->data &&
         data_of(a, b) != SameData::Other && a.spec->train.batch == b.spec->train.batch &&
         a.spec->model.sequence == b.spec->model.sequence;
}

SameData data_of(const Compared& a, const Compared& b) {
  if (const SameData said = same_data(a.data, b.data); said != SameData::Unknown) return said;
  if (!a.spec || !b.spec) return SameData::Unknown;
  DataSpec mine = a.spec->data, theirs = b.spec->data;
  mine.context = theirs.context = 0;  // how long a row may be, not what stands in it
  // A path identifies a file only within one session or one log.
  const bool made_up = !made_up_name(mine).empty() && !made_up_name(theirs).empty();
  if (!made_up && a.source != b.source) return SameData::Unknown;
  return mine == theirs ? SameData::Same : SameData::Other;
}

Opponents opponents(const Comparison& all, size_t run) {
  const Compared &mine = all.runs[run], &base = all.runs[all.baseline()];
  Opponents result;
  if (same_batches(mine, base))
    for (const OneSeed& one : mine.seeds)
      for (const OneSeed& other : base.seeds)
        if (one.seed == other.seed && one.seed != 0) result.pairs.push_back({&one, {&other}});
  if (!result.pairs.empty()) {
    result.against = Against::SameSeed;
    return result;
  }
  std::vector<const OneSeed*> others;
  for (const OneSeed& other : base.seeds) others.push_back(&other);
  for (const OneSeed& one : mine.seeds) result.pairs.push_back({&one, others});
  return result;
}

std::optional<StatPlace> place_of_stat(std::string_view name) {
  StatPlace place;
  for (const std::string_view stack : {"enc.", "dec."})
    if (name.starts_with(stack)) place.stack = stack;
  name.remove_prefix(place.stack.size());
  const size_t dot = name.find('.');
  if (dot == name.npos || dot < 2 || dot > 5 || name[0] != 'L') return {};
  for (const char c : name.substr(1, dot - 1)) {
    if (c < '0' || c > '9') return {};
    place.layer = 10 * place.layer + (c - '0');
  }
  if (place.layer < 1 || place.layer > kMostLayers) return {};
  place.rest = name.substr(dot + 1);
  return place;
}

std::string stack_of(const History& history) {
  std::string found;
  for (const StatInfo& stat : history.layout()) {
    const std::optional<StatPlace> place = place_of_stat(stat.name);
    if (!place) continue;
    found = place->stack;
    if (found != "enc.") break;
  }
  return found;
}

int32_t layers_of(const History& history) {
  const std::string stack = stack_of(history);
  int32_t layers = 0;
  for (const StatInfo& stat : history.layout())
    if (const std::optional<StatPlace> place = place_of_stat(stat.name); place && place->stack == stack)
      layers = std::max(layers, place->layer);
  return layers;
}

std::string stack_word(const std::string& prefix) {
  return prefix == "enc." ? "encoder" : prefix == "dec." ? "decoder" : "";
}

std::string where_missing(const Compared& run) { return tr(run.source.empty() ? "this run" : "its log"); }

}  // namespace normscope::compare

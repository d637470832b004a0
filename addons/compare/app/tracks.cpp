#include <algorithm>

#include "addons/compare/app/writers.h"
#include "app/ui/widgets.h"

namespace normscope::compare {
namespace {

/// Bounds the size of maps of a file that names absurdly many layers.
constexpr int32_t kMaxLayers = 1024;

/// The mean of the points from `low` to `high` of the shared axis; NaN where there are none.
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

/// Takes the mean of the points at most kSmooth / 2 steps away.
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

double said_per_step(const SeedRecord& seed, Alignment align) {
  if (align == Alignment::Step) return 1;
  return seed.number(align == Alignment::Tokens ? records::kTokensPerStep : records::kSecondsPerStep);
}

Track loss_track(const Ruler& ruler, const Recording& run, const SeedRecord& seed) {
  return ruler.track(seed.history->loss(), ruler.per_step(run));
}

std::vector<Track> loss_tracks(const Ruler& ruler, const Recording& run,
                               const std::vector<const SeedRecord*>& seeds) {
  std::vector<Track> tracks;
  for (const SeedRecord* seed : seeds) tracks.push_back(loss_track(ruler, run, *seed));
  return tracks;
}

/// A difference for each seed, step by step; for the baseline, each seed minus their mean.
std::vector<Track> differences_of(const Comparison& all, const Ruler& ruler, const Recording& run,
                                  const Opponents& opponents) {
  std::vector<Track> result;
  for (const Opponents::Pair& pair : opponents.pairs) {
    Track difference = minus(ruler, loss_track(ruler, run, *pair.one),
                             loss_tracks(ruler, all.runs[all.baseline()], pair.others));
    if (!difference.empty()) result.push_back(std::move(difference));
  }
  return result;
}

Opponents own_opponents(const Recording& base) {
  Opponents own;
  own.against = Against::Itself;
  std::vector<const SeedRecord*> seeds;
  for (const SeedRecord& seed : base.seeds) seeds.push_back(&seed);
  if (seeds.size() > 1)
    for (const SeedRecord* seed : seeds) own.pairs.push_back({seed, seeds});
  return own;
}

/// The number of losses over which the difference at the end of a track is averaged.
int32_t count_at_end(const Track& track, const Recording& run, const Recording& base) {
  const int32_t last = track.steps.back();
  return std::min(static_cast<int32_t>(track.x.size()),
                  std::min(window_at(run, last), window_at(base, last)));
}

/// Sets step and window of the difference at the end, and whether a run ends elsewhere.
void put_end_of(Difference& d, const std::vector<Track>& tracks, const Ruler& ruler, const Recording& run,
                const Recording& base) {
  double x = tracks.front().x.back();  // the earliest end of a seed
  for (const Track& track : tracks) {
    const int32_t last = track.steps.back(), count = count_at_end(track, run, base);
    d.early = d.early || (d.step > 0 && last != d.step);
    d.step = d.step > 0 ? std::min(d.step, last) : last;
    d.window = d.window > 0 ? std::min(d.window, count) : count;
    x = std::min(x, track.x.back());
  }
  for (const Recording* one : {&run, &base})
    for (const SeedRecord& seed : one->seeds) {
      const Track loss = loss_track(ruler, *one, seed);
      if (loss.empty()) continue;
      const int32_t last = loss.steps.back();
      const bool other_end =
          one == &run || ruler.align == Alignment::Step ? last > d.step : loss.x.back() > x;
      d.early = d.early || other_end ||
                std::min(window_at(*one, last), static_cast<int32_t>(loss.x.size())) != d.window;
    }
}

/// Computes the band over the same steps and finds where the end lies in it.
void judge(Difference& d, const std::vector<Track>& tracks, const std::vector<Track>& own,
           const Recording& run, const Recording& base) {
  double low = tracks.front().x.back(), high = low;
  for (const Track& track : tracks) {
    const int32_t count = count_at_end(track, run, base);
    low = std::min(low, track.x[track.x.size() - static_cast<size_t>(count)]);
    high = std::max(high, track.x.back());
    d.at_end.push_back(mean_at_end(track, count));
  }
  double sum = 0;
  for (const double end : d.at_end) sum += end;
  d.end = sum / static_cast<double>(d.at_end.size());
  if (!std::isfinite(d.end)) return;
  d.agree = static_cast<int32_t>(
      std::ranges::count_if(d.at_end, [&](double end) { return (end < 0) == (d.end < 0); }));
  d.luck = Luck::OneSeed;
  if (own.size() < 2) return;
  d.band_low = INFINITY;
  d.band_high = -INFINITY;
  for (const Track& track : own) {
    const double end = mean_between(track, low, high);
    if (!std::isfinite(end)) {
      d.band_low = kUnknown;
      d.band_high = kUnknown;
      return;
    }
    d.band_low = std::min(d.band_low, end);
    d.band_high = std::max(d.band_high, end);
  }
  d.luck = d.end >= d.band_low && d.end <= d.band_high ? Luck::Inside : Luck::Outside;
}

constexpr float kNoRatio = std::numeric_limits<float>::quiet_NaN();
constexpr std::string_view kNorm = ".grad_norm";

/// A metric of a layer, or the ratio of two stats where both have a number.
Track metric_track(const Ruler& ruler, const Recording& run, const SeedRecord& seed,
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
  std::ranges::sort(known);
  std::vector<Tensor> tensors;
  for (const StatInfo& stat : one.layout()) {
    const std::optional<StatPlace> place = place_of_stat(stat.name);
    if (!place || !std::ranges::binary_search(known, stat.name)) continue;
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

/// A note after a ratio of gradients: that the data differ.
std::string data_note(const Comparison& all, size_t run) {
  const std::string words = data_words(all, run);
  return words.empty() ? "" : fmt::format(" ({})", words);
}

}  // namespace

double Ruler::per_step(const Recording& run) const {
  double sum = 0;
  int32_t count = 0;
  for (const SeedRecord& seed : run.seeds)
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
  const auto at = std::ranges::lower_bound(track.x, x);
  if (at == track.x.end()) return {};
  size_t i = static_cast<size_t>(at - track.x.begin());
  if (*at == x) return track.y[i];
  if (align == Alignment::Step || i == 0) return {};
  if (x - track.x[i - 1] < track.x[i] - x) --i;
  return track.y[i];
}

Ruler ruler_of(const std::vector<Recording>& runs, const Choice& choice) {
  Ruler ruler{.align = choice.align};
  const Recording& baseline = runs[static_cast<size_t>(choice.baseline)];
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

Spread spread_of(std::span<const Track> tracks) {
  Spread spread;
  if (tracks.empty()) return spread;
  const Track& first = tracks.front();
  for (size_t i = 0; i < first.steps.size(); ++i) {
    double sum = 0, low = first.y[i], high = first.y[i];
    bool all = true;
    for (const Track& track : tracks) {
      const auto at = std::ranges::lower_bound(track.steps, first.steps[i]);
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

int32_t window_at(const Recording& run, int32_t step) { return loss_window(step, run.edits); }

double mean_at_end(const Track& track, int32_t most) {
  if (track.y.empty()) return kUnknown;
  const size_t count = std::min(track.y.size(), static_cast<size_t>(most));
  double sum = 0;
  for (size_t i = track.y.size() - count; i < track.y.size(); ++i) sum += track.y[i];
  return sum / static_cast<double>(count);
}

bool same_batches(const Recording& a, const Recording& b) {
  return a.spec && b.spec && a.maker == b.maker && a.spec->data == b.spec->data &&
         data_of(a, b) != SameData::Other && a.spec->train.batch == b.spec->train.batch &&
         a.spec->model.sequence == b.spec->model.sequence;
}

SameData same_data(const DataIdentity& a, const DataIdentity& b) {
  if (a.symbols > 0 && b.symbols > 0 && a.symbols != b.symbols) return SameData::Other;
  if (!a.hash.empty() && !b.hash.empty()) return a.hash == b.hash ? SameData::Same : SameData::Other;
  if (!a.name.empty() && !b.name.empty()) return a.name == b.name ? SameData::Same : SameData::Other;
  return SameData::Unknown;
}

std::string to_words(const DataIdentity& data) {
  std::string text = data.name.empty() ? data.hash : data.name;
  if (data.symbols > 0) text += fmt::format("{}{} symbols", text.empty() ? "" : ", ", data.symbols);
  return text;
}

SameData data_of(const Recording& a, const Recording& b) {
  if (const SameData said = same_data(a.data, b.data); said != SameData::Unknown) return said;
  if (!a.spec || !b.spec) return SameData::Unknown;
  DataSpec mine = a.spec->data, theirs = b.spec->data;
  mine.context = theirs.context = 0;  // the length of rows, not their content
  // A path identifies a file only within one session or one log.
  const bool made_up = !made_up_name(mine).empty() && !made_up_name(theirs).empty();
  if (!made_up && a.source() != b.source()) return SameData::Unknown;
  return mine == theirs ? SameData::Same : SameData::Other;
}

Opponents opponents(const Comparison& all, size_t run) {
  const Recording &mine = all.runs[run], &base = all.runs[all.baseline()];
  Opponents result;
  if (same_batches(mine, base))
    for (const SeedRecord& one : mine.seeds)
      for (const SeedRecord& other : base.seeds)
        if (one.origin.seed == other.origin.seed && one.origin.seed != 0)
          result.pairs.push_back({&one, {&other}});
  if (!result.pairs.empty()) {
    result.against = Against::SameSeed;
    return result;
  }
  std::vector<const SeedRecord*> others;
  for (const SeedRecord& other : base.seeds) others.push_back(&other);
  for (const SeedRecord& one : mine.seeds) result.pairs.push_back({&one, others});
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
  if (place.layer < 1 || place.layer > kMaxLayers) return {};
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

std::string where_missing(const Recording& run) { return tr(run.path.empty() ? "this run" : "its log"); }

std::string Difference::short_words() const {
  if (data == SameData::Same) return words();
  return data == SameData::Other ? tr("other data") : data_words;
}

std::string Difference::when() const {
  return early ? tr("at step {step}, mean of {steps}", {{"step", step}, {"steps", window}}) : "";
}

std::string Difference::words() const {
  if (luck == Luck::Unknown || luck == Luck::Same || data == SameData::Same) return luck_words();
  return data == SameData::Other ? data_words : fmt::format("{}; {}", data_words, luck_words());
}

std::string Difference::luck_words() const {
  if (luck == Luck::Unknown) return "–";
  if (luck == Luck::Same) return tr("the same to the bit");
  if (luck == Luck::OneSeed) return tr("one seed: luck cannot be told");
  if (luck == Luck::Inside) return tr("inside the band: may be luck");
  if (at_end.size() == 1) return tr(end < 0 ? "better, 1 seed" : "worse, 1 seed");
  return tr(end < 0 ? "better, {agree} of {all}" : "worse, {agree} of {all}",
            {{"agree", agree}, {"all", at_end.size()}});
}

namespace {

std::vector<double> means_of(const Recording& run, const Track& loss) {
  std::vector<double> means;
  for (size_t i = 0; i < loss.y.size(); ++i) {
    const int32_t window = std::min(window_at(run, loss.steps[i]), static_cast<int32_t>(i) + 1);
    const auto end = loss.y.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    means.push_back(mean_at_end({{}, {}, {end - window, end}}, window));
  }
  return means;
}

}  // namespace

Loss loss_of(const Comparison& all, const Ruler& ruler, size_t index) {
  const Recording& run = all.runs[index];
  Loss loss;
  if (!std::isfinite(ruler.per_step(run))) {
    loss.lacks = tr(
        ruler.align == Alignment::Tokens ? "tokens a step: not in {where}" : "time of a step: not in {where}",
        {{"where", where_missing(run)}});
    return loss;
  }
  std::vector<Track> tracks;
  for (const SeedRecord& seed : run.seeds) tracks.push_back(loss_track(ruler, run, seed));
  if (tracks.size() > 1) loss.seeds = spread_of(tracks);
  loss.shown = std::move(tracks.front());
  loss.means = means_of(run, loss.shown);
  if (loss.shown.empty()) loss.lacks = all.choice.range ? tr("no loss in this range") : tr("no loss");
  return loss;
}

Difference difference_of(const Comparison& all, const Ruler& ruler, size_t index) {
  const Recording &run = all.runs[index], &base = all.runs[all.baseline()];
  Difference d;
  d.data = data_of(run, base);
  d.data_words = data_words(all, index);
  const std::vector<Track> own = differences_of(all, ruler, base, own_opponents(base));
  const bool itself = index == all.baseline();
  const Opponents others = itself ? own_opponents(base) : opponents(all, index);
  d.against = others.against;
  const std::vector<Track> tracks = itself ? own : differences_of(all, ruler, run, others);
  if (tracks.empty()) return d;
  std::vector<Track> smooth;
  for (const Track& track : tracks) smooth.push_back(smoothed(track));
  d.smooth = spread_of(smooth);
  judge(d, tracks, own, run, base);
  if (!itself) put_end_of(d, tracks, ruler, run, base);
  if (!itself && same_bits(run, base)) d.luck = Luck::Same;
  return d;
}

Track stat_track(const Ruler& ruler, const Recording& run, const SeedRecord& seed, const std::string& name) {
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
  const Recording& base = all.runs[all.baseline()];
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
    for (const SeedRecord* other : pair->others)
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
  if (std::ranges::any_of(map.cells, [](float cell) { return std::isfinite(cell); })) return map;
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
    return std::ranges::any_of(history.layout(), [](const StatInfo& stat) {
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
    for (const SeedRecord* other : pair->others)  // reruns of "Is it luck?" have their losses alone
      if (other->history->find(tensor.stat) >= 0)
        others.push_back(stat_track(ruler, all.runs[all.baseline()], *other, tensor.stat));
    search.visit(tensor, stat_track(ruler, all.runs[run], *pair->one, tensor.stat), others);
  }
  search.finish();
  if (place.first_step == 0) place.lacks = tr("gradient sizes: no matrix and step that both have");
  return place;
}

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
    const char* const key =
        place.most_step == 0 ? "{run} and {base} part nowhere by more than {factor}: it stays in {range}."
        : single             ? "{run} and {base} part nowhere by more than {factor}: {most} at most, at step "
                               "{step}{note}."
                 : "{run} and {base} part nowhere by more than {factor}: it leaves {range} by {most} at "
                   "most, at step {step}{note}.";
    return tr(key, {{"run", mine},
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

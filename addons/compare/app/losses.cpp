// This file has losses, and their difference to the baseline with the band of its seeds. See comparison.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "addons/compare/app/tracks.h"
#include "addons/compare/app/words.h"
#include "app/words/words.h"

namespace normscope::compare {
namespace {

Track loss_track(const Ruler& ruler, const Compared& run, const OneSeed& seed) {
  return ruler.track(seed.history->loss(), ruler.per_step(run));
}

std::vector<Track> loss_tracks(const Ruler& ruler, const Compared& run,
                               const std::vector<const OneSeed*>& seeds) {
  std::vector<Track> tracks;
  for (const OneSeed* seed : seeds) tracks.push_back(loss_track(ruler, run, *seed));
  return tracks;
}

/// Has a difference for each seed, step by step. The baseline's are each seed minus their mean.
std::vector<Track> differences_of(const Comparison& all, const Ruler& ruler, const Compared& run,
                                  const Opponents& opponents) {
  std::vector<Track> result;
  for (const Opponents::Pair& pair : opponents.pairs) {
    Track difference = minus(ruler, loss_track(ruler, run, *pair.one),
                             loss_tracks(ruler, all.runs[all.baseline()], pair.others));
    if (!difference.empty()) result.push_back(std::move(difference));
  }
  return result;
}

Opponents own_opponents(const Compared& base) {
  Opponents own;
  own.against = Against::Itself;
  std::vector<const OneSeed*> seeds;
  for (const OneSeed& seed : base.seeds) seeds.push_back(&seed);
  if (seeds.size() > 1)
    for (const OneSeed* seed : seeds) own.pairs.push_back({seed, seeds});
  return own;
}

/// Counts the losses that the difference at the end of a track is a mean of.
int32_t count_at_end(const Track& track, const Compared& run, const Compared& base) {
  const int32_t last = track.steps.back();
  return std::min(static_cast<int32_t>(track.x.size()),
                  std::min(window_at(run, last), window_at(base, last)));
}

/// Notes where the difference at the end was taken, and whether a run's own end is another one.
void put_end_of(Difference& d, const std::vector<Track>& tracks, const Ruler& ruler, const Compared& run,
                const Compared& base) {
  double x = tracks.front().x.back();  // the earliest end of a seed
  for (const Track& track : tracks) {
    const int32_t last = track.steps.back(), count = count_at_end(track, run, base);
    d.early = d.early || (d.step > 0 && last != d.step);
    d.step = d.step > 0 ? std::min(d.step, last) : last;
    d.window = d.window > 0 ? std::min(d.window, count) : count;
    x = std::min(x, track.x.back());
  }
  for (const Compared* one : {&run, &base})
    for (const OneSeed& seed : one->seeds) {
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
           const Compared& run, const Compared& base) {
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
      std::count_if(d.at_end.begin(), d.at_end.end(), [&](double end) { return (end < 0) == (d.end < 0); }));
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

}  // namespace

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
  switch (luck) {
    case Luck::Unknown:
      return "–";
    case Luck::Same:
      return tr("the same to the bit");
    case Luck::OneSeed:
      return tr("one seed: luck cannot be told");
    case Luck::Inside:
      return tr("inside the band: may be luck");
    case Luck::Outside:
      break;
  }
  if (at_end.size() == 1) return tr(end < 0 ? "better, 1 seed" : "worse, 1 seed");
  return tr(end < 0 ? "better, {agree} of {all}" : "worse, {agree} of {all}",
            {{"agree", agree}, {"all", at_end.size()}});
}

Loss loss_of(const Comparison& all, const Ruler& ruler, size_t index) {
  const Compared& run = all.runs[index];
  Loss loss;
  if (!std::isfinite(ruler.per_step(run))) {
    loss.lacks = tr(
        ruler.align == Alignment::Tokens ? "tokens a step: not in {where}" : "time of a step: not in {where}",
        {{"where", where_missing(run)}});
    return loss;
  }
  std::vector<Track> tracks;
  for (const OneSeed& seed : run.seeds) tracks.push_back(loss_track(ruler, run, seed));
  if (tracks.size() > 1) loss.seeds = spread_of(tracks);
  loss.shown = std::move(tracks.front());
  if (loss.shown.empty()) loss.lacks = all.choice.range ? tr("no loss in this range") : tr("no loss");
  return loss;
}

Difference difference_of(const Comparison& all, const Ruler& ruler, size_t index) {
  const Compared &run = all.runs[index], &base = all.runs[all.baseline()];
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

}  // namespace normscope::compare

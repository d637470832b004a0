// Series of runs brought onto one axis, and what is computed of several of them. Read by app/compare and its screen
// alone.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/compare/comparison.h"

namespace normscope::compare {

/// The shared axis: what of it is shown, and how a point of one run is found in another. Steps have to be the same
/// step; on the other axes the nearest point counts, between the first and the last.
struct Ruler {
  Alignment align = Alignment::Step;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  /// Of what the axis counts, in one step of this run (mean over its seeds); NaN where it does not say.
  double per_step(const Compared& run) const;
  Track track(const Series& series, double per_step) const;
  std::optional<double> find(const Track& track, double x) const;
};
/// As the choice has it. Throws Error as compare() does.
Ruler ruler_of(const std::vector<Compared>& runs, const Choice& choice);

/// `one` minus the mean of `others`, where all of them have a point.
Track minus(const Ruler& ruler, const Track& one, std::span<const Track> others);
/// The mean of the points at most kSmooth / 2 steps away.
Track smoothed(const Track& track);
Spread spread_of(std::span<const Track> tracks);
/// How many points, up to a step, the loss of a run is the mean of: loss_window() with the run's edits.
int32_t window_at(const Compared& run, int32_t step);
/// Mean of the last `count` points, or of those from `low` to `high`; NaN where there are none.
double mean_at_end(const Track& track, int32_t count);
double mean_between(const Track& track, double low, double high);

/// The seeds of a run that are held against seeds of the baseline: with the same seed and batches, pairs of equal
/// seeds; otherwise each against all of the baseline's.
struct Opponents {
  Against against = Against::Seeds;
  struct Pair {
    const OneSeed* one;
    std::vector<const OneSeed*> others;
  };
  std::vector<Pair> pairs;
};
Opponents opponents(const Comparison& all, size_t run);
/// The first opponents: of the shown seed where it has one; null without any.
const Opponents::Pair* shown_pair(const Comparison& all, const Opponents& opponents, size_t run);
/// One stat of one training on the shared axis; empty where it is not measured.
Track stat_track(const Ruler& ruler, const Compared& run, const OneSeed& seed, const std::string& name);
/// A value against the range of the others at a place: 1 inside it, else over its nearer end; none where one of them
/// has no number there.
std::optional<double> ratio_to_range(const Ruler& ruler, double value, const std::vector<Track>& others,
                                     double x);
/// Both were trained by the same program on the same data with batches of the same shape.
bool same_batches(const Compared& a, const Compared& b);
/// Whether the data of two runs are the same: as they say, else by their specifications where those decide it.
SameData data_of(const Compared& a, const Compared& b);

/// "dec.L03.attn.wq.grad_norm" taken apart; none for what is of no layer.
struct StatPlace {
  std::string stack;  ///< "", "dec." or "enc."
  int32_t layer = 0;
  std::string_view rest;  ///< "attn.wq.grad_norm", in the name
};
std::optional<StatPlace> place_of_stat(std::string_view name);
/// The stack that is compared: the only one, or the decoder.
std::string stack_of(const History& history);
/// The highest layer of that stack; 0: no stat names one.
int32_t layers_of(const History& history);
/// "" of one stack, "decoder" or "encoder".
std::string stack_word(const std::string& prefix);

/// "its log" for a run that was read, "this run" for a live one.
std::string where_missing(const Compared& run);

std::vector<Setting> settings_of(const Comparison& all, int32_t& shared);
Loss loss_of(const Comparison& all, const Ruler& ruler, size_t run);
Difference difference_of(const Comparison& all, const Ruler& ruler, size_t run);
RatioMap map_of(const Comparison& all, const Ruler& ruler, size_t run);
FirstPlace place_of(const Comparison& all, const Ruler& ruler, size_t run);
std::vector<EndRow> rows_of(const Comparison& all, const Ruler& ruler);
/// Loss and every stat that both have, at every step.
bool same_bits(const Compared& a, const Compared& b);

}  // namespace normscope::compare

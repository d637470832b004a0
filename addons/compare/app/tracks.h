// Rulers and tracks bring series of runs onto one axis; the functions below compute the comparison. Only
// app/compare and its screen read this file.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "addons/compare/app/comparison.h"

namespace normscope::compare {

/// The shared axis: how much of it is shown, and how a point of one run is found in another. On the axis of
/// steps the step must be the same; on the other axes the nearest point counts, between the first and the last.
struct Ruler {
  Alignment align = Alignment::Step;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  /// How much of the axis one step of this run takes (mean over its seeds); NaN where the run does not
  /// say.
  double per_step(const Recording& run) const;
  Track track(const Series& series, double per_step) const;
  std::optional<double> find(const Track& track, double x) const;
};
/// Follows the choice. It throws Error as compare() does.
Ruler ruler_of(const std::vector<Recording>& runs, const Choice& choice);

/// Returns `one` minus the mean of `others`, where all of them have a point.
Track minus(const Ruler& ruler, const Track& one, std::span<const Track> others);
/// Takes the mean of the points at most kSmooth / 2 steps away.
Track smoothed(const Track& track);
Spread spread_of(std::span<const Track> tracks);
/// Says of how many points up to a step a run's loss is the mean: loss_window() with the run's edits.
int32_t window_at(const Recording& run, int32_t step);
/// The mean of the last `count` points, in `mean_between` of the points from `low` to `high`; NaN
/// where there are none.
double mean_at_end(const Track& track, int32_t count);
double mean_between(const Track& track, double low, double high);

/// Pairs the seeds of a run with seeds of the baseline: equal seeds where both read the same batches, else
/// each seed with all of the baseline's.
struct Opponents {
  Against against = Against::Seeds;
  struct Pair {
    const SeedRecord* one;
    std::vector<const SeedRecord*> others;
  };
  std::vector<Pair> pairs;
};
Opponents opponents(const Comparison& all, size_t run);
/// The opponents of the shown seed where it has some, else the first pair; nullptr without any.
const Opponents::Pair* shown_pair(const Comparison& all, const Opponents& opponents, size_t run);
/// One stat of one training on the shared axis; empty where it is not measured.
Track stat_track(const Ruler& ruler, const Recording& run, const SeedRecord& seed, const std::string& name);
/// Holds a value against the range of the others at a place: 1 inside it, else over its nearer end.
/// It returns nothing where one of them has no number there.
std::optional<double> ratio_to_range(const Ruler& ruler, double value, const std::vector<Track>& others,
                                     double x);
/// Whether the same program trained both on the same data with batches of the same shape.
bool same_batches(const Recording& a, const Recording& b);
/// Compares the hashes where both have one, else the names; data with different numbers of symbols are
/// never the same.
SameData same_data(const DataIdentity& a, const DataIdentity& b);

/// Says "built-in sentences, 29 symbols"; empty where nothing is known.
std::string to_words(const DataIdentity& data);
/// Whether two runs read the same data: as they say, else by their specifications where those decide
/// it.
SameData data_of(const Recording& a, const Recording& b);

/// Takes "dec.L03.attn.wq.grad_norm" apart; place_of_stat() returns nothing for a stat of no layer.
struct StatPlace {
  std::string stack;  ///< "", "dec." or "enc."
  int32_t layer = 0;
  std::string_view rest;  ///< "attn.wq.grad_norm", a part of the given name
};
std::optional<StatPlace> place_of_stat(std::string_view name);
/// The stack that is compared: the only one, or the decoder.
std::string stack_of(const History& history);
/// The highest layer of that stack; 0: no stat names one.
int32_t layers_of(const History& history);
/// Returns "" for a single stack, else "decoder" or "encoder".
std::string stack_word(const std::string& prefix);

/// Returns "its log" for a run that was read, "this run" for a live one.
std::string where_missing(const Recording& run);

std::vector<Setting> settings_of(const Comparison& all, int32_t& shared);
Loss loss_of(const Comparison& all, const Ruler& ruler, size_t run);
Difference difference_of(const Comparison& all, const Ruler& ruler, size_t run);
RatioMap map_of(const Comparison& all, const Ruler& ruler, size_t run);
FirstPlace place_of(const Comparison& all, const Ruler& ruler, size_t run);
std::vector<EndRow> rows_of(const Comparison& all, const Ruler& ruler);
/// Compares the loss and every stat that both have, at every step.
bool same_bits(const Recording& a, const Recording& b);

}  // namespace normscope::compare

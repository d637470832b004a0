// Two to eight runs side by side, as a value: the settings in which they differ, their losses, the difference to one of
// them (the baseline) with the band of its seeds, maps of the ratio of a metric to the baseline's, the first step,
// layer and matrix at which the runs part, and their ends. Every figure, table and sentence of Compare comes from here.
//
// Promises: it is a function of the histories and the choice alone, without window or training. A measurement that a
// run does not have is left out and named (`lacks`, `missing`), never made up. Called by `normscope compare FILE...`
// and the Compare screen.
#pragma once

#include "addons/recorded/training/recorded_run.h"
#include "app/panels/metrics.h"

namespace normscope::compare {

enum class SameData : uint8_t { Same, Other, Unknown };

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
inline constexpr size_t kMin = 2, kMax = 8;  ///< runs of a comparison
inline constexpr int32_t kSmooth = 9;        ///< steps in the centred mean of the drawn difference

/// The unit of the shared axis: steps, tokens read (padding included), or seconds of training.
enum class Alignment : uint8_t { Step, Tokens, Time };
inline constexpr const char* kAlignments[] = {"step", "tokens", "time"};
inline const char* to_string(Alignment align) { return kAlignments[static_cast<size_t>(align)]; }
Alignment alignment_from(std::string_view name);  ///< throws Error

using records::Recording, records::SeedRecord;

struct Choice {
  int32_t baseline = 0;
  Alignment align = Alignment::Step;
  std::optional<std::pair<int32_t, int32_t>> range{};  ///< first and last step of the baseline
  panels::Metric metric = &kGradNorm;                  ///< of the maps
  int32_t matrix = 0;                                  ///< index in view::kMatrices
  double factor = 4;  ///< runs part where gradient norms differ by more than this factor
};

/// Takes the metric of the maps as a command line names it, "gradient" or "update-ratio:attn.wk": its id,
/// and the matrix where it needs one. It throws Error.
void set_metric(Choice& choice, std::string_view text);
std::vector<std::string_view> metric_names();

/// A setting in which runs differ; or the program that trained them, or their seeds.
struct Setting {
  std::string key, label;                           ///< "train.warmup", "warm-up (steps)"
  std::vector<std::optional<std::string>> values;   ///< by run; nullopt: unknown
  bool differs(size_t run, size_t baseline) const;  ///< both are known and not equal
  bool differs() const;                             ///< two of them are known and not equal
};

/// Points on the shared axis; `steps` are the run's own.
struct Track {
  std::vector<int32_t> steps;
  std::vector<double> x, y;  ///< y NaN: measured, but not finite
  bool empty() const { return x.empty(); }
};

/// Statistics over several seeds, at the steps that all of them have.
struct Spread {
  std::vector<int32_t> steps;
  std::vector<double> x, mean, low, high;
};

struct Loss {
  Track shown;  ///< the first seed
  std::vector<double>
      means{};   ///< at each of its points the mean over the loss window, as every number states a loss
  Spread seeds;  ///< empty with one seed
  std::string lacks{};  ///< why there is no line: "tokens a step: not in its log"
};

/// What a run is compared with.
enum class Against : uint8_t {
  SameSeed,  ///< seed by seed, as both read the same batches with the same seed
  Seeds,     ///< all seeds of the baseline: their mean, or their range
  Itself     ///< the baseline itself: each of its seeds against their mean
};
inline constexpr const char* kAgainst[] = {"same seed", "seeds", "itself"};  ///< in files

/// Whether luck explains the difference at the end.
enum class Luck : uint8_t {
  Unknown,  ///< nothing to compare
  Same,     ///< equal to the bit
  OneSeed,  ///< the baseline has one seed: no band
  Inside,   ///< inside the band of the baseline's own seeds
  Outside
};
inline constexpr const char* kLuck[] = {"unknown", "same", "one seed", "inside", "outside"};  ///< in files

/// The loss of a run minus the baseline's, in nats.
struct Difference {
  Against against = Against::Seeds;
  Spread smooth;               ///< mean over kSmooth steps; ends with the shorter run
  std::vector<double> at_end;  ///< per seed: mean over the loss window, up to the last step that both have
  double end = kUnknown;       ///< mean of at_end
  double band_low = kUnknown, band_high = kUnknown;  ///< of the baseline's own seeds over the same steps
  int32_t agree = 0;                                 ///< seeds whose difference has the sign of `end`
  int32_t step = 0, window = 0;  ///< of the run: the last step that both have, and the losses in `end` there
  bool early = false;            ///< one run's own end has another loss: of a later step, or a mean of more
  Luck luck = Luck::Unknown;
  SameData data = SameData::Same;  ///< whether both read the same data
  std::string data_words{};  ///< "other data: corpus.txt, 138 symbols", "data: not in its log"; empty: same
  /// Says "better, 5 of 5", "inside the band: may be luck", "one seed: luck cannot be told". On other data
  /// these would mean nothing, so it names the other data instead.
  std::string words() const;
  std::string short_words() const;  ///< the short form, for narrow columns
  std::string luck_words() const;   ///< without regard to the data
  std::string when() const;  ///< "at step 60, mean of 20"; empty where both losses are those at the ends
};

/// Log10 of a metric over the baseline's, by layer and step; against seeds, over their geometric mean.
struct RatioMap {
  Against against = Against::Seeds;
  int32_t layers = 0;
  std::vector<int32_t> steps;
  std::vector<double> x;
  std::vector<float> cells;  ///< a row per layer, layer 1 first; NaN: no value, or one is not positive
  std::string lacks{};       ///< why it is empty
  float at(int32_t layer, size_t column) const {  ///< layer from 1
    return cells[static_cast<size_t>(layer - 1) * steps.size() + column];
  }
};

/// The first step at which the gradient norm of a layer's weight matrix differs by more than Choice::factor. Of
/// several matrices at that step, the matrix that differs most.
struct FirstPlace {
  Against against = Against::Seeds;
  bool parts = false;
  int32_t step = 0, layer = 0;
  double x = 0;               ///< of the step, on the shared axis
  std::string stack, matrix;  ///< "", "encoder", "decoder"; "W_K"
  std::string stat;           ///< "L06.attn.wk.grad_norm"
  double ratio = kUnknown;    ///< the norm over the baseline's, or over the nearer end of its seeds' range
  int32_t first_step = 0;     ///< the first step compared
  int32_t equal_until = 0;    ///< the last step up to which every norm is equal to the bit; 0: not the first
  bool equal = false;         ///< every norm is equal at every step
  double most = 1;            ///< the largest factor anywhere, and its step
  int32_t most_step = 0;
  std::string lacks{};  ///< why nothing could be compared
};

/// The verdict on one seed: one of ours, or the words of its file where they are none of ours ("ignores the source").
struct SeedVerdict {
  Verdict verdict;
  std::string own{};
};

struct EndRow {
  size_t run = 0, seeds = 0;
  int32_t last_step = 0;
  /// Mean over the seeds, nats; deviation of a sample, unknown with one seed.
  double loss = kUnknown, deviation = kUnknown;
  std::vector<SeedVerdict> verdicts;  ///< of the seeds that have one
  /// The median step at which seeds leave the level of the unigram entropy; 0: none does; empty: not known.
  std::optional<int32_t> leaves;
  double update_ratio = kUnknown;  ///< ‖ΔW‖ / ‖W‖ of layer 1 in the last step, median of the seeds
  double tokens_per_second = kUnknown;  ///< mean over the seeds
  std::vector<std::string> missing;     ///< measurements that the run lacks: "update ÷ weight"

  /// The verdicts that were known at `step`, without words of the file's own.
  Verdicts known(int32_t step = std::numeric_limits<int32_t>::max()) const;
  /// Says "learns 3 of 5, stuck 2 of 5", most seeds first in whatever order a file has them; "stuck, 1 seed"; empty:
  /// not known.
  std::string verdict() const;
  /// What most seeds do, for narrow columns: "learns 3 of 5".
  std::string short_verdict() const;
};

struct Comparison {
  std::vector<Recording> runs;
  Choice choice;
  std::vector<Setting> settings;  ///< only settings that differ
  int32_t shared = 0;             ///< settings that all runs name and agree on
  double unigram = kUnknown;      ///< of the baseline, or of the first run on its data that has it
  std::string level_unit;         ///< a symbol of the baseline's data, the unit of `unigram`
  std::string unit;               ///< the same; empty where a run reads other data
  bool same = false;              ///< all runs are equal to the bit
  std::vector<Loss> losses;       ///< by run, as the vectors below, the baseline included
  std::vector<Difference> differences;
  std::vector<RatioMap> maps;
  std::vector<FirstPlace> places;
  std::vector<EndRow> rows;  ///< the lowest loss first, at steps shared with the baseline; unknown ones last

  size_t baseline() const { return static_cast<size_t>(choice.baseline); }
  char letter(size_t run) const { return runs[run].letter ? runs[run].letter : static_cast<char>('A' + run); }
  /// The run's place among the colours.
  int colour(size_t run) const { return letter(run) - 'A'; }
};

/// Whether runs end at different steps, so that the rows of their ends are in the order of the differences.
bool ends_apart(const Comparison& all);

/// Throws Error for fewer than two runs or more than eight, a run without a history, a baseline that is not one of
/// them, an empty range, or an alignment for which the baseline lacks a number.
Comparison compare(std::vector<Recording> runs, const Choice& choice = {});

/// Sentences about one part of the comparison each; empty where there is nothing to say.
std::string settings_sentence(const Comparison&);
/// Names runs whose data are not the baseline's, or unknown: "E: other data: corpus.txt, 138 symbols."
std::string data_sentence(const Comparison&);
std::string loss_sentence(const Comparison&);
std::string difference_sentence(const Comparison&);
std::string map_sentence(const Comparison&, size_t run);
std::string place_sentence(const Comparison&, size_t run);
/// Why cells of the table are empty.
std::string missing_sentence(const Comparison&);

/// Joins the runs of one file that have the same letter, name and settings into one run with several seeds. Keeps the
/// order of first appearance.
std::vector<Recording> grouped(std::span<const Recording> runs);

/// Turns the live runs of a session, in the state of a LabView, into runs to compare; reruns of "Is it luck?" are
/// further seeds. It shares each history and copies none, so a later comparison sees the steps added meanwhile.
class LiveRuns {
 public:
  /// The run with this letter, or nothing where the view has no such run or the run has no history. With `clock` false
  /// it leaves out the machine's speed, so that pictures are reproducible.
  std::optional<Recording> take(const LabView& view, char letter, bool clock = true);

 private:
  std::shared_ptr<const History> history_of(const std::shared_ptr<const std::vector<float>>& losses);

  /// The losses of each rerun as a history, made once. The losses keep their address while they are held here.
  std::map<std::shared_ptr<const std::vector<float>>, std::shared_ptr<const History>> reruns_;
};

/// A key that changes whenever a comparison with this run would change: with its history, reruns, settings, edits or
/// name. Empty where the view has no such run.
std::string live_key(const LabView& view, char letter);

// `Ruler` and `Track` bring series of runs onto one axis; the functions below compute what is compared. Only this
// add-on calls them.

/// The shared axis: its visible range, and how a point of one run is found in another. On the axis of steps the step
/// must be the same; on the other axes the nearest point counts, between the first and the last.
struct Ruler {
  Alignment align = Alignment::Step;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  /// How much of the axis one step of this run takes (mean over its seeds); NaN: unknown.
  double per_step(const Recording& run) const;
  Track track(const Series& series, double per_step) const;
  std::optional<double> find(const Track& track, double x) const;
};
/// Takes axis and range from the choice. Throws Error as compare() does.
Ruler ruler_of(const std::vector<Recording>& runs, const Choice& choice);

/// Returns `one` minus the mean of `others`, where all of them have a point.
Track minus(const Ruler& ruler, const Track& one, std::span<const Track> others);
Spread spread_of(std::span<const Track> tracks);
/// The number of points up to a step over which a run's loss is averaged: loss_window() with the run's edits.
int32_t window_at(const Recording& run, int32_t step);
/// The mean of the last `count` points; NaN where there are none.
double mean_at_end(const Track& track, int32_t count);

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
/// The pair of the run's first seed, which is shown; without one, the first pair; nullptr: there is none.
const Opponents::Pair* shown_pair(const Comparison& all, const Opponents& opponents, size_t run);
/// One stat of one training on the shared axis; empty where it is not measured.
Track stat_track(const Ruler& ruler, const Recording& run, const SeedRecord& seed, const std::string& name);
/// The ratio of a value to the range of the others at `x`: 1 inside the range, else the value over its nearer end.
/// Nothing where one of them has no finite number there.
std::optional<double> ratio_to_range(const Ruler& ruler, double value, const std::vector<Track>& others,
                                     double x);
/// Whether the same program trained both on the same data with batches of the same shape.
bool same_batches(const Recording& a, const Recording& b);
/// Compares the hashes where both have one, else the names; data with different numbers of symbols are never the same.
SameData same_data(const DataIdentity& a, const DataIdentity& b);

/// Says "built-in sentences, 29 symbols"; empty where nothing is known.
std::string to_words(const DataIdentity& data);
/// Whether two runs read the same data: by their DataIdentity, else by their specifications where those decide it.
SameData data_of(const Recording& a, const Recording& b);

/// The parts of a name such as "dec.L03.attn.wq.grad_norm". place_of_stat() returns nothing for a stat of no layer.
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

/// "its log" for a recorded run, "this run" for a live one.
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

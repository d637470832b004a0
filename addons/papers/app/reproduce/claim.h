// A claim is one figure, table or theorem of a paper as a value, read from claims/PAPER/ID.toml. It has no behaviour:
// the functions below read it, claim_runs.h says which runs it needs, finding.h judges it, the writers show it.
//
// It has the same runs, measures and checks as a lesson, in the lessons' own tables (course/lesson.h), so that a claim
// and a lesson say the same thing with the same words. A claim's curves are Lines: of trained runs, whose RunNumbers
// keep every number that a line can ask for (experiments/run_numbers.h), or of fresh models, which the lessons
// measure.
#pragma once

#include "app/course/lesson.h"
#include "app/grid/axis.h"
#include "training/experiments/run_numbers.h"

namespace normscope::reproduce {

/// Where the paper makes the claim.
struct Source {
  std::string paper;    ///< "Xiong et al. 2020"
  std::string item;     ///< "Figure 2(a)"
  std::string version;  ///< "ICML 2020 and arXiv 2002.04745": whose numbering it is
};

/// Whether the runs of a claim are in the regime of its source: all of them, none, or those of some checks.
enum class Met : uint8_t { Met, NotMet, InPart };
/// Says "met", "not met", "met in part".
const char* to_string(Met met);

/// The regime in which the source's effect lives: a depth at which the compared thing fails, a share of the warm-up in
/// the training, a precision, a start that does not show the result already.
struct Regime {
  std::string effect{};  ///< "18-18 layers, with which the source's Post-LN fails"
  std::string here{};    ///< how our runs meet it, or what they lack
  Met met = Met::Met;
};

/// A number of the paper, and our measure that is shown next to it.
struct Statement {
  std::string what;       ///< "Post-LN, no warm-up"
  std::string measure{};  ///< ours; empty: nothing of ours compares
  /// In `unit`; for another task and size than ours. NaN: the paper says it only in words.
  double value = experiments::kUnknown;
  std::string unit{};     ///< "BLEU"
  bool read_off = false;  ///< read off a picture; otherwise the text states it
};

/// A curve over x for every seed.
struct Line {
  enum class Of : uint8_t {
    Run,   ///< a number of one run over its steps: every step for loss and excess, the steps of ladder() else
    Runs,  ///< a number at the end of each of several runs; x: 1, 2, ...
    Grid,  ///< the same of one run under every pair of values of its axes; x: the value of a single numeric axis,
           ///< else the cell's number from 1, the first axis fastest
    Profile,  ///< a number of every layer of a run; x: the layer
    Shares,   ///< beta^2 of every sub-layer of a run; x: the sub-layer
    LeftOut,  ///< rise of the validation loss without a layer, or without all above; x: the layer, or how many
    Fresh,    ///< a number of no training: the lessons' depth, layers, norm and wiring
  };
  std::string id{};
  Of of = Of::Run;
  std::vector<std::string> runs{};  ///< one; Runs: at least two
  std::string y{};                  ///< see unknown_number()
  std::string stack{};              ///< "", "enc.", "dec.": Profile (in y itself), Shares, LeftOut
  bool relative = false;            ///< Run: divided by its first value
  int32_t from = 1, to = 0;         ///< Run
  std::vector<grid::Axis> axes{};   ///< Grid: one or two
  int32_t step = kEnd;              ///< Profile, Shares: kStart, kEnd, or a step of ladder()
  course::Curve fresh{};            ///< Fresh
  course::Mean mean = course::Mean::Arithmetic;

  static constexpr int32_t kStart = 0, kEnd = -1;
};

/// The band in which a check's measure says the opposite of the claim.
struct Opposite {
  std::optional<double> low, high;
  bool holds(double value) const { return (!low || value >= *low) && (!high || value <= *high); }
};

/// The verdict on a claim or on one of its checks. Unknown: runs are missing. Beyond: no run of its setting could show
/// it. CannotBeTold: the runs are not in the source's regime, or the measurements do not tell the claim from its
/// neighbours. PartsDiffer, of a claim only: its checks have different verdicts.
enum class Finding : uint8_t {
  Unknown,
  Reproduced,
  NotAtThisScale,
  Contradicted,
  Beyond,
  CannotBeTold,
  PartsDiffer
};
/// Says "not run", "reproduced", "not at this scale", "contradicted here", "no system yet", "cannot be told
/// here", "parts differ".
const char* to_string(Finding finding);

/// The word for a comparison of runs at their end. Quality requires runs whose loss has levelled off
/// (finding.h); before that the word is speed.
enum class Compares : uint8_t { Neither, Quality, Speed };

/// The smallest effect that the source's own table or figure shows, which a band that says "as good" must
/// be able to exclude. It is a size in the unit of the check's measure, or a share of another measure's value here.
/// Where the source shows none it has neither, and then no band is narrow enough.
struct Effect {
  std::optional<double> size;
  std::string measure;
  double share = 1;
  std::string where;  ///< "Table 3, Enwiki8: 1.10 less 1.07"
};

/// More about a check, in addition to its band.
struct Part {
  std::optional<Opposite> opposite;
  std::optional<Effect> effect;
  std::string beyond;       ///< why no run of this setting could meet the check; empty for all others
  std::string outside{};    ///< why its runs are not in the source's regime; empty: they are
  std::string start{};      ///< the measure that says what this one is before training; empty: none
  std::string threshold{};  ///< where the source states the edge of the band; empty: the edge is ours
};

/// A run that others are compared with, at its best: the cell of its axes with the lowest validation loss
/// on kTuningSeeds. No claim's own seeds reach kTuningSeeds.
struct Control {
  std::string run;
  std::vector<grid::Axis> axes;
  std::string chosen{};  ///< in words, as resolved() of claim_runs.h writes it; empty: not chosen yet
  bool at_end = false;   ///< the chosen cell lies at an end of the numbers tried: a better one may lie beyond
};
inline constexpr int32_t kMaxSeeds = 100;
inline constexpr std::array<uint64_t, 2> kTuningSeeds{101, 102};

/// A plot of curves below the paper's numbers.
struct ClaimPlot {
  std::string title{}, x{}, y{};
  bool log_x = false, log_y = false;
  struct Trace {
    std::string line, name;
  };
  std::vector<Trace> lines{};
};

inline constexpr const char *kOnPairs = "On the sentence pairs", *kOnMadeUp = "On the made-up translation";

struct Claim {
  std::string file;  ///< of the TOML
  std::string id;    ///< its name in commands and files, such as "xiong-fig2a"
  Source source;
  std::string says;     ///< the paper's claim, a sentence
  Regime regime;        ///< without words for a claim that has no runs
  std::string setting;  ///< the paper's setting and ours, where they differ
  /// Of a claim without runs: what the program lacks to show it, or the proof that decides it. Empty for all others.
  std::string beyond, proof;
  bool refuted = false;  ///< by `proof`, which else agrees with the claim
  /// kOnPairs for a claim on sentence pairs, or kOnMadeUp where a file of them was missing when the claim was read;
  /// `missing` names that file. Both are empty for all other claims.
  std::string data, missing;
  std::vector<course::LessonRun> pair_runs;  ///< its runs on sentence pairs, where a file of them is missing
  int32_t seeds = 5, quick_seeds = 1;
  std::vector<Statement> numbers, besides;  ///< with a number of the paper, and without
  std::vector<Line> lines;
  Compares compares = Compares::Neither;
  std::vector<Part> parts;  ///< one a check
  std::vector<Control> controls;
  std::vector<std::string> subject;  ///< fields, not of the model, in which runs differ as in the source
  /// Reproduced, NotAtThisScale, Contradicted; may hold {MEASURE}. The third is empty where the regime is not met.
  std::array<std::string, 3> sentences;
  std::vector<ClaimPlot> drawings;
  std::map<std::string, std::string> starts;  ///< by run: the run whose final weights it starts from
  /// Holds runs, measures and checks, and for every line a curve of the same name, which only says how seeds
  /// are averaged.
  course::Lesson language;

  bool has_runs() const { return beyond.empty() && proof.empty(); }
  const Line* line(std::string_view line_id) const;
  const Control* control(std::string_view run_id) const;
  /// The sentence of Reproduced, NotAtThisScale and Contradicted. For CannotBeTold it is the sentence of
  /// NotAtThisScale, which only states the numbers.
  const std::string& sentence(Finding finding) const {
    return sentences[finding == Finding::CannotBeTold ? 1 : static_cast<size_t>(finding) - 1];
  }
};

/// The suffix of a line's id: LINE.late_fall is how far each loss of LINE falls over the last quarter of its run. A
/// claim of quality has it for each line of losses at the end of runs.
inline constexpr const char* kLateFall = ".late_fall";
/// What the claim's lines need measured of its runs.
experiments::Names numbers_of(const Claim& claim);

/// One run of a line; all its runs where `x` is empty.
struct Arm {
  const Line* line = nullptr;
  std::optional<double> x{};
};
/// The runs whose losses or scores at the end form a difference or ratio; none for another kind of measure.
std::vector<Arm> arms_of(const Claim& claim, const course::Measure& measure);

/// Whether a better result of the control `run` would raise the measure (1) or lower it (-1); 0: the measure does not
/// rest on it, NaN: it does, and its number is neither a loss nor a score.
double pull_of(const Claim& claim, const course::Measure& measure, std::string_view run);

/// The claim as it is where its sentence pairs are not missing; numbers recorded on pairs belong to it.
Claim on_pairs(const Claim& claim);

/// Reads one file. `pairs` is the folder of the sentence pairs that runs name (data.pairs, data.valid);
/// empty: there is none. Where a file is missing there, [made_up.NAME] replaces [run.NAME]. Throws Error.
Claim read_claim(const std::string& file, const std::string& pairs = {});
/// Does the same from memory; `file` is the name for messages.
Claim parse_claim(std::string_view toml, const std::string& file, const std::string& pairs = {});

struct BrokenClaim {
  std::string file, error;
};
struct Claims {
  std::vector<Claim> claims;  ///< by folder, then by file
  std::vector<BrokenClaim> broken;
  const Claim* find(std::string_view id) const;
};
/// Reads every FOLDER/PAPER/ID.toml. A folder that cannot be read gives no claims and one entry in `broken`.
Claims read_claims(const std::string& folder, const std::string& pairs = {});

/// The folder claims/ next to the program, or in the sources; NORMSCOPE_CLAIMS overrides both.
std::string claims_folder();

}  // namespace normscope::reproduce

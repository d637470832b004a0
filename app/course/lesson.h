// A lesson is one value: the content of lessons/NN-name/lesson.toml and of the Markdown beside it. It has no
// behaviour: the reader fills it in (reader.h), curves.h measures what it names, check.h judges its claim, the player
// and the report show it.
//
// Everything measured is a Curve, one number over an x for every seed: over training steps, over the values of a
// setting, over depth, over sub-layers. A Measure takes one number from a curve, or combines two measures. A Check says
// in which band a measure must lie, and which sentence is wrong otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/course/prose.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/measure/small_tape.h"
#include "training/spec/spec.h"

namespace normscope::course {

// What a learner does in a lesson in addition to predicting: a challenge, a case at its end, and the thoughts
// behind wrong predictions. tables.h reads them.

/// The language of a course.
using Words = words::Language;

/// A task for the learner's own run: its settings are stuck, and the learner changes the offered fields until the
/// loss ends below a line. Some solutions (ways) are measured with the lesson: checks keep their runs below the line,
/// and the player never trains them.
struct Challenge {
  /// A field of the run and the values offered for it. Two ways count as different only if the first choice differs.
  struct Choice {
    struct Value {
      std::string value, text;  ///< "pre", "Pre-LN"
      std::string name{};       ///< the text in English, by which it is called in every language
    };
    std::string field, label;
    std::vector<Value> values;  ///< one of them is the run's own
  };
  /// A measured solution: a run for comparison, and its measure, which a check keeps below the line.
  struct Way {
    std::string run, measure;
  };
  struct Hint {
    std::string text;
    int costs = 0;
  };
  std::string text;     ///< what is to be done
  std::string run;      ///< the learner's run: as written it is the start
  std::string measure;  ///< the run's measure that must come below the line; a check keeps the start above it
  double line = 0;
  int budget = 0;               ///< steps of every run of the challenge
  int minutes = 0;              ///< in addition to the lesson's own
  int points = 0, per_run = 0;  ///< won by each way, lost by each training
  std::vector<Choice> choices;
  std::vector<Way> ways;
  std::vector<Hint> hints;
};

/// One training by the learner: the changes from the start, "model.placement=pre train.warmup=200", and the measured
/// loss.
struct Try {
  std::string set;
  double loss = 0;
  bool operator==(const Try&) const = default;
};

/// The changes in the order of their fields. `to_text` writes them as they are kept, and `settings_of` reads them back.
using Settings = std::vector<std::pair<std::string, std::string>>;
std::string to_text(const Settings& settings);
Settings settings_of(const std::string& set);

/// Whether a loss is below the line; a loss that could not be measured is not.
bool below_line(const Challenge& challenge, double loss);
/// The best training below the line for each value of the first choice, in the order in which the values were found.
std::vector<Try> ways_found(const Challenge& challenge, const std::vector<Try>& tries);
int score_of(const Challenge& challenge, const std::vector<Try>& tries, int hints);
/// States the rule in a sentence; `score_text` shows the sum so far: "2 ways × 40 − 3 trainings × 5 − 0
/// for hints = 65 points". Both are in the language of `words`.
std::string score_rule(const Challenge& challenge, const Words& words = words::language("en"));
std::string score_text(const Challenge& challenge, const std::vector<Try>& tries, int hints,
                       const Words& words = words::language("en"));

struct Lesson;
struct Prediction;

/// A new situation at the end of a lesson, which the lesson's idea decides. It is small, so that the player trains it
/// while the learner waits: what is right was measured, and nobody finds it by reading again.
struct Case {
  std::string ask;
  std::string why;                ///< what is behind the right answer
  std::vector<std::string> whys;  ///< of the wrong ones, in their order: what leads there, and where it fails
  std::string own;                ///< the author's sentence, shown beside the learner's
  std::vector<std::string>
      kept;  ///< the answers in English, as they are kept in every language: see answers_of()
  /// Its runs, tapes, curves, measures, one figure and one check: the check `says` the right answer and `excludes` the
  /// wrong ones, so that no other may be right. It decides nothing of measured.json.
  std::shared_ptr<const Lesson> experiment;
};

/// All answers, the right one first.
std::vector<std::string> answers_of(const Case& question);
/// Their places in answers_of() in alphabetical order, which gives nothing away.
std::vector<size_t> offered_order(const Case& question);
/// The place in answers_of() of a kept answer; none if another version of the lesson kept it.
std::optional<size_t> place_of_answer(const Case& question, std::string_view kept);
/// Whether a kept answer is the right one.
bool answers_right(const Case& question, std::string_view kept);
/// The reason that belongs to an answer: why it is right, or why it is not.
const std::string& reason_of(const Case& question, size_t answer);

/// A likely misconception behind a wrong prediction. The reveal states it, so that the learner can find the faulty
/// step of the reasoning.
struct Thought {
  std::string when;  ///< the fault that it leads to in an answer: "other sign", or "post12 before pre36"
  std::string text;
};

/// Far is another order of magnitude; a drawing goes in the other direction where it rises and the measurement falls.
inline constexpr const char *kTooLow = "too low", *kTooHigh = "too high", *kFarTooLow = "far too low",
                            *kFarTooHigh = "far too high", *kOtherSign = "other sign",
                            *kOtherDirection = "other direction";

/// Whether the slider spans zero, so that an answer can have the wrong sign.
bool has_either_sign(const Prediction& prediction);

/// Names a pair of cards, by their ids, that an answer has in the wrong order.
std::string fault_of_order(const std::string& first, const std::string& second);
/// Lists what can be wrong with an answer to this prediction.
std::vector<std::string> possible_faults(const Prediction& prediction);
/// The lesson's first thought that leads to one of the faults; empty: none does.
std::string thought_behind(const Lesson& lesson, const std::vector<std::string>& faults);

/// How seeds are summed up, also in the picture: geometrically on a log axis, otherwise arithmetically; by the median
/// where a value may end at a bound of its measurement (may_be_censored in check.h); by a count for yes or no.
enum class Mean : uint8_t { Arithmetic, Geometric, Median, Count };
const char* to_string(Mean mean);
const char* average_words(Mean mean);  ///< "geometric mean", "median"

/// A run of the lesson: the default model with some fields set.
struct LessonRun {
  std::string id{};    ///< "A", the letter that the player shows; a run for comparison has a name: "sgd"
  std::string name{};  ///< "Post-LN": what no setting can change; shown with settings, see run_label()
  RunSpec spec{};
  std::vector<Edit> edits{};
};

/// A computation small enough to follow by hand. A lesson may have tapes in addition to runs, or instead of them.
struct LessonTape {
  std::string id;
  SmallTape tape;
};

struct Curve {
  enum class Of : uint8_t {
    Run,     ///< a number of one run at every step in [from, to]
    Sweep,   ///< a number of one run at the end, against the values `xs` of the field `field`
    Depth,   ///< a number of a fresh model against its depth, one of `xs` layers
    Layers,  ///< a number of a fresh model for each layer
    Shares,  ///< a number of the beta^2 map of a run for each sub-layer
    Norm,    ///< a number of the model's norm or activation alone, on Gaussian rows, over `xs` of `over`
    Wiring,  ///< a number of every sub-layer but the last, counted from the wiring
    Profile,  ///< a number of one run at each step in [from, to] for each layer: `y` has L* in the layer's place
    LeftOut,  ///< rise of a trained run's validation loss without a layer, or without the top ones
    Border,  ///< the largest of `values` of the field `other` with which one run learns, against `xs` of `field`
    Tape,     ///< a number of a tape, replayed; `run` is the tape's id
    OneStep,  ///< what a run's step `from` does to the loss of its batch, had it been made at the rates `xs`
  };
  std::string id{};
  Of of = Of::Run;
  std::string run{};             ///< the run that is measured
  std::string y{};               ///< the number, see curves.h
  bool relative = false;         ///< Run: divided by its first value
  int32_t from = 1, to = 0;      ///< Profile: both are the step, or the first and the last; OneStep: the step
  std::string field{};           ///< Sweep, Border
  std::vector<double> xs{};      ///< Sweep, Border, Depth, Norm, OneStep
  std::string other{};           ///< Border, and the sweeps that are its cells (map.h)
  std::vector<double> values{};  ///< of `other`: a Border has all, each of its cells one
  std::string
      over{};       ///< Norm: "scale", "width" or "shift" of the rows (measure/small_tape.h); Tape: a field
  double rate = 0;  ///< Tape, over steps in [from, to]: rate of the gradient descent
  bool theory =
      false;  ///< Depth, Layers: the setting of the theorems (one head, silent attention, F = D, Gaussian)
  int32_t feed_forward = 0;  ///< theory: another F; 0 = D
  int32_t positions = 8;     ///< gradients: rms over so many single positions; 0: of the mean over the batch
  double noise = 0.01;       ///< output change: size of the perturbation, of each matrix's standard deviation
  int32_t models = 1;        ///< Depth, Layers: each point of a seed is the mean of this many fresh models
  bool at_start = true;      ///< Shares: before training; false: after it
  int32_t fast_seeds = 1;    ///< number of seeds in the fast tier
  Mean mean = Mean::Arithmetic;
};

struct Measure {
  std::string id{};
  std::string label{};  ///< "gradient of layer 1 at step 20, run A"
  std::string curve{};
  /// One of at, mean, median, min, max, passes, fall (first over second), first_below, exponent, r2, slope,
  /// lead, left (by the norms of a walk, Figure::walk_norms); for two other measures: ratio, difference.
  std::string take{};
  double a = 0,
         b = 0;      ///< at: a; mean, median, min, max, passes: from a to b (all when equal); fall: a over b;
                     ///< first_below: a; left: at step a, down to layer b
  double limit = 0;  ///< passes: 1 where a value of the part exceeds it, else 0
  std::string against{};  ///< r2, slope: "x", "log x", or another curve's id
  /// lead: the smallest misfit() of a rival divided by this law's misfit() (check.h). "line" is x, "root" the root of
  /// x, "log" log(1 + x/offset); any other text is a curve's id.
  std::string law{};
  std::vector<std::string> rivals{};  ///< lead
  std::string offset{};               ///< id of the measure that gives N0 of "log"
  std::string first{}, second{};      ///< ratio, difference
  Mean mean = Mean::Arithmetic;
  int32_t digits = 2;  ///< significant digits where it is shown
  bool loss = false;   ///< shown with two decimals, as on the axes of figures
  std::string unit{};
  std::optional<double> least{},
      most{};  ///< bounds of its measurement: a value at one is shown as "at most", "at least"
};

/// A neighbouring hypothesis: what the measure would be if the hypothesis were true.
struct Neighbour {
  std::string what{};             ///< "like √N"
  std::optional<double> value{};  ///< the value itself; or one of:
  std::string measure{};          ///< the value of this other measure
  std::string curve{};            ///< the measure taken of this curve instead of its own
  std::string law{};              ///< the measure taken of an exact "line", "root" or "log"
  bool needs_curve() const { return !curve.empty() || !law.empty(); }
};

struct Check {
  std::string measure{};
  std::optional<double> low{}, high{};
  std::string says{};                 ///< the sentence that a measured value outside the band contradicts
  std::vector<Neighbour> excludes{};  ///< at least one: what the check tells the claim from
};

struct FigureLine {
  std::string curve{};
  std::string run{};   ///< the run whose colour it has: "A".."D"; empty: grey, as a run for comparison
  std::string name{};  ///< shown at the end of the line; empty: the run's run_label()
};

/// A named level: a number, or a measure's mean over the reference runs.
struct FigureLevel {
  std::string label{};
  std::optional<double> value{};
  std::string measure{};
  bool letters = false;  ///< the loss of letter frequencies in the data
};

struct FigureAxis {
  std::string label;
  bool log = false;
  double low = 0, high = 1;
  std::vector<double> ticks;
  // The quantity on the axis, as the curves of the figure's lines say (set_quantities in tables.h).
  bool loss = false;   ///< its numbers have two decimals
  bool steps = false;  ///< of training: losses at the ends of lines are means
};

struct Figure {
  std::string id{}, title{}, note{};
  std::string name{};  ///< of the tab as a control, in every language
  std::string tab{};   ///< its label on the switch between figures; default: the id
  FigureAxis x{}, y{};
  std::vector<FigureLine> lines{};
  std::vector<FigureLevel> levels{};
  /// A theory as lines through (x, y): "name" = [[x, y], ...].
  struct Theory {
    std::string label{};
    std::vector<double> x{}, low{}, high{};  ///< low = high: a line
  };
  std::vector<Theory> theory{};
  std::string map_run{};  ///< a beta^2 map instead of curves
  bool map_at_start = true;
  bool river = false;   ///< the map is drawn as a river
  bool grows = false;   ///< the river is as wide as the stream is large
  std::string below{};  ///< river: another river figure, which the player draws below it, aligned
  std::string cells{};  ///< a border: its cells below the lines, axes of its values
  std::string tape{};   ///< the instructions of a tape instead of curves
  int32_t follow = 0;   ///< tape: drawn as a network that follows this index, from 1; 0: as a table
  std::string ball{};   ///< a curve of one step, one of its lines: the learner drags a ball along it
  std::vector<std::string> walk{};  ///< the layers of these curves step by step; the arrows' scale is `y`
  /// walk: for each curve, the curves of mean squares that the norms on its stream read, one per sub-layer.
  std::vector<std::vector<std::string>> walk_norms{};
  int32_t walk_opens = 0;            ///< walk: the step that it shows first; 0: the last one that is known
  std::vector<std::string> chain{};  ///< two curves, mean squares of a stream and of its branches, as a chain
  std::string bars{};                ///< a tape whose norm is drawn as bars, to be moved by hand
  std::string bars_beside{};         ///< the same tape with another norm, whose gradient is drawn too
};

enum class StepKind : uint8_t { Predict, Run, Compare, Explain };
inline constexpr std::array<StepKind, 4> kSteps{StepKind::Predict, StepKind::Run, StepKind::Compare,
                                                StepKind::Explain};
const char* to_string(StepKind step);  ///< "predict"
const char* title_of(StepKind step);   ///< in English, "Predict"; a page translates it

struct Step {
  Prose text;
  std::vector<std::string> figures;  ///< one figure is shown; if there are more, a switch chooses
  bool recorded = false;  ///< of Run: what was recorded is seen at once, and the learner's runs follow
};

struct Prediction {
  enum class Kind : uint8_t { Draw, Order, Value } kind = Kind::Value;
  std::string ask;
  std::string curve;                              ///< Draw: the curve; it starts at its measured first point
  std::string measure;                            ///< Value: the measure
  double low = 0, high = 1, step = 1, start = 0;  ///< Value: the slider
  std::vector<double> values;                     ///< Value: where the slider can stop; empty: at every step
  bool on_y = false;                              ///< Value: the slider belongs to the figure's y axis, not x
  std::string unit;
  struct Card {
    std::string id, text, measure;
  };
  std::vector<Card> cards;  ///< Order: from the smallest measure to the largest; shown in the order written
  std::string first, last;  ///< Order: names of the ends: "lowest loss", "highest loss"
  double alike = 0;         ///< Order: cards whose five-seed means differ by no more may be in either order
};

/// A number that the learner can change: a field of a run or of a tape, in the prose or below the figure.
struct Knob {
  std::string id{}, run{}, field{}, label{};
  double low = 0, high = 1, step = 1;
  /// Replaces `field` for a knob that fills a slot of the wiring: the knob's number is an index into `choices`.
  std::string slot{};  ///< "before", "q k", "final"
  std::string part{};  ///< "attn" or "ffn" where only that part has the slot; empty: both
  std::vector<std::string> choices{}, names{};  ///< as the wiring writes them; as shown
  double start = 0;
};

struct Puzzle {
  std::string text;
  std::string measure;  ///< solved when this measure of the learner's own run lies in the band
  std::optional<double> low, high;
};

/// A run in the picture that the lesson opens with: its small diagram, and the place lit in it.
struct OpeningRun {
  std::string run;   ///< "A"
  std::string slot;  ///< as the diagram calls it: "layer1/ffn/stream"; see tables.h
};

struct Lesson {
  std::string folder;  ///< the folder of lesson.toml
  int32_t number = 0;
  std::string id, title, question, claim;
  int32_t minutes = 0;
  std::vector<std::string> sources;
  std::vector<LessonRun> runs;    ///< runs with a letter: shown as tiles and in the Lab, with knobs
  std::vector<LessonRun> beside;  ///< runs with a name: only measured for comparison
  std::vector<LessonTape> tapes;
  std::vector<Curve> curves;
  std::vector<Measure> measures;
  std::vector<Check> checks;
  std::vector<Figure> figures;
  std::array<Step, 4> steps;
  Prediction prediction;
  std::vector<Knob> knobs;
  std::string spotlight;  ///< name of a control of the player
  std::optional<Puzzle> puzzle;
  std::vector<OpeningRun> opening;
  std::string language{};                       ///< language of its texts, "de"; empty: English
  const Words* words = &words::language("en");  ///< the words around its texts, in the same language
  std::optional<Challenge> challenge;
  std::optional<Case> closing;     ///< the last page, behind Explain
  std::vector<Thought> thoughts;   ///< that may have led to a wrong prediction
  std::string what_if;             ///< a question that small runs answer in the Lab; empty: none
  std::vector<std::string> reach;  ///< sentences: what was measured at other widths and depths (limits.md)

  const LessonRun* run(std::string_view id) const;  ///< a run of either kind
  bool has_letter(std::string_view id) const;       ///< a run of the first kind
  std::vector<const LessonRun*> all_runs() const;
  std::vector<LessonRun*> all_runs();
  const LessonTape* tape(std::string_view id) const;
  const Curve* curve(std::string_view id) const;
  const Measure* measure(std::string_view id) const;
  const Figure* figure(std::string_view id) const;
  const Knob* knob(std::string_view id) const;
  const Step& step(StepKind kind) const { return steps[static_cast<size_t>(kind)]; }
};

/// Gives a lesson and its case the words around their texts.
void use_words(Lesson& lesson, const Words* words);

/// Whether a figure shows a beta^2 map of the run; `shows_trained_map`: whether one shows the map after training.
bool shows_map(const Lesson& lesson, std::string_view run);
bool shows_trained_map(const Lesson& lesson, std::string_view run);

/// The curves of what the norms on the stream of this walk read, by sub-layer, as a figure draws their divisors
/// (Figure::walk_norms); null where none does.
const std::vector<std::string>* norms_of_walk(const Lesson& lesson, std::string_view walk);
/// Whether a learner can read the curve in the figure, or all that the measure is computed from.
bool shows(const Figure& figure, const Curve& curve);
bool shows(const Lesson& lesson, const Figure& figure, const Measure& measure);

/// A text of everything that decides a measured number, and nothing else: runs, curves, measures.
/// measured.json keeps its hash; another hash means that the numbers belong to another experiment.
std::string definition(const Lesson& lesson);
/// Returns sixteen hexadecimal digits.
std::string hash_text(const std::string& text);

/// Whether the knob fills a slot of the wiring (of every layer, "final" or "embedding") instead of setting a field.
inline bool is_slot(const Knob& knob) { return !knob.slot.empty(); }

/// The number of a knob when the lesson opens: its field's value, or the index of its first choice.
double first_value(const Lesson& lesson, const Knob& knob);
/// The value as shown: "0.004", "LayerNorm".
std::string shown_value(const Knob& knob, double value);

/// The wiring that a run's slot knobs make, as keys and values of the specification. `value` gives a knob's number.
std::map<std::string, std::string> wiring_of_slots(const Lesson& lesson, const std::string& run,
                                                   const std::function<double(const Knob&)>& value);

/// Empty if the run has no slot knobs, or if they make the run's own wiring when the lesson opens; otherwise the
/// reason why not.
Message wrong_slots(const Lesson& lesson, const std::string& run);

}  // namespace normscope::course

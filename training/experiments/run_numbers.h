// The verdict and the numbers of a trained run, which are kept in addition to its record. Lessons, comparisons and
// studies share this one measurement, so that each finds the runs that another has trained; ResultStore keeps it on
// disk.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/stopwatch.h"
#include "training/io/input_value.h"
#include "training/measure/numbers.h"
#include "training/measure/verdict.h"
#include "training/run/run.h"
#include "training/spec/spec.h"

namespace normscope::experiments {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
/// Names the measurement in the store.
inline constexpr const char* kMeasurement = "run 4";

/// Numbers that take time to measure, by name; they are measured only where a study asks for them: one of these, or a
/// number of measurements.def.
using Names = std::set<std::string>;
inline constexpr const char* kLayers = "layers";     ///< fills RunNumbers::frames, start and end
inline constexpr const char* kLeftOut = "left out";  ///< fills left_out
inline constexpr const char* kLast = "last";         ///< fills last, by live measurements at every step

/// Named numbers at one step of a run.
struct Moment {
  std::vector<std::string> names;
  std::vector<double> values;
  double at(std::string_view name) const;  ///< NaN where there is none of that name
};

/// Holds numbers at the steps of ladder() and at the last step: gradient, update and weight norms of the
/// matrices, mean squares of the sub-layers' sums and outputs, total.grad_norm.
struct Frames {
  std::vector<std::string> names;
  std::vector<int32_t> steps;
  std::vector<std::vector<double>> rows;  ///< one for each step
};

/// The rise of the validation loss, in nats, with one layer left out (`layers`) and with the last k layers left out
/// (`top`, k from 1).
struct LeftOutRise {
  std::string stack;  ///< "", "enc.", "dec."
  std::vector<double> layers, top;
};

struct RunNumbers {
  Names measured;  ///< the requested numbers that take time
  /// Failed: `where` has the reason why it could not be trained. Undecided: too few steps (measure/verdict.h).
  Verdict verdict;
  int32_t steps = 0;             ///< trained
  double loss = kUnknown;        ///< mean training loss of the last kWindow steps, nats a symbol
  double level = kUnknown;       ///< unigram entropy: the loss of a model that knows letter frequencies only
  double validation = kUnknown;  ///< nats a target, without label smoothing
  double accuracy = kUnknown;    ///< of a classifier, 0 to 1
  /// Sum over sub-layers of beta^2_ii at initialisation (Liu et al. 2020), of the stack that predicts, as the gradients.
  double beta2 = kUnknown;
  std::string beta2_reason;  ///< why there is none
  /// Norms of dL/dW2 in layer 1 and in the last layer at step kGradientStep.
  double gradient_first = kUnknown, gradient_last = kUnknown;
  /// The main score of the validation at the end: a classifier's accuracy or a parser's UAS, in percent; bits per
  /// character of a model with a memory. Unknown for other models.
  double score = kUnknown;
  std::map<std::string, double> scores;  ///< of the task, by Score::key, and numbers of measurements.def
  double asked = kUnknown;               ///< the number that a part of a study shows; not stored
  /// The losses for a small plot, in nats to four digits. Each is the mean of the next `stride` steps, and
  /// the last one the mean of the rest. There are at most kCurve of them.
  std::vector<double> curve;
  int32_t stride = 1;
  Frames frames;
  Moment start, end;  ///< of measure/step_metrics.h over one batch, before and after training
  Moment last;        ///< the newest value of each number of the history that a study can show
  std::vector<LeftOutRise> left_out;
  double seconds = 0;  ///< of one core, to train and measure; not written into tables of a study

  bool has(const Names& asked) const;
  double score_of(const std::string& key) const;  ///< kUnknown where there is none
  bool failed() const { return verdict == Verdict::Failed; }
  std::string what() const;  ///< "L02.attn output at step 23"; why it could not be trained; else empty

  static constexpr int32_t kWindow = kLossWindow, kGradientStep = 20, kCurve = 400;
  static_assert(kWindow == 25, "results are stored under kMeasurement: another window needs another name");
};

/// Writes the measured numbers.
nlohmann::json to_json(const RunNumbers& numbers);
/// Throws Error for anything else.
RunNumbers numbers_from(const InputValue& json);
/// Whether these are an earlier version's numbers of two stacks: it looked for a name in neither of them, and took a sum
/// of nothing, 0, for measured. A sum that is truly 0 comes with a gradient.
bool looked_in_no_stack(const RunNumbers& numbers, const ModelConfig& model);

/// Measures the numbers of one run. The thread that trains it calls begin(), after_step() after each step, and end();
/// for a run whose state was kept, afterwards() replaces the calls of after_step().
class Meter {
 public:
  explicit Meter(Names asked) { numbers_.measured = std::move(asked); }
  void begin(Run& run);  ///< of a fresh run
  void after_step(const Run& run);
  /// Takes from the history of a finished run the numbers that after_step() would have taken. Throws Error where the
  /// history no longer has them.
  void afterwards(const Run& run);
  RunNumbers end(Run& run);

 private:
  bool asks(const std::string& name) const { return numbers_.measured.contains(name); }

  RunNumbers numbers_;
  std::vector<size_t> places_{};  ///< of `last` in the history
  Stopwatch clock_;
};

/// The steps at which a run's numbers by layer are kept, in addition to the last step.
std::vector<int32_t> ladder();
/// The largest of the numbers whose names match: a star stands for any characters, "critical_rate" for the
/// critical rate and "largest_logit" for all of attention's largest logits. NaN where none is known.
double largest(const Moment& numbers, std::string_view pattern);
/// Whether `largest` can find anything in `last`.
bool is_number_of_the_end(std::string_view pattern);
/// The entry of Names that a study needs so that number_at_end() knows a number: a name of measurements.def, or kLast
/// for a pattern of `largest`. Empty for what every result has, and for what is no number.
std::string measured_for(std::string_view number);
/// A row of end_numbers(), or what `largest` finds in `last`.
double number_at_end(const RunNumbers& run, std::string_view number);
/// Whether Frames can hold the number `name`, or both numbers of "a / b". With `by_layer`: whether Frames, `start` or
/// `end` can hold a name that has L* in place of the layer's number.
bool is_number_of_a_step(const std::string& name, bool by_layer);

/// A number of a whole run, for claims and studies. Some take long to measure, so that they are measured only where a
/// study names them.
struct EndNumber {
  const char *name, *label, *help;
  double (*measure)(Run&) =
      nullptr;  ///< not finite where the run has no such number; changes no bit of the run
  double (*kept)(const RunNumbers&) = nullptr;  ///< where every result has it
  double better = kUnknown;                     ///< 1 where more of it is better, -1 where less is
  double not_finite = kUnknown;                 ///< what a run counts as that was not finite
  const char* needs = "";                       ///< the entry of Names that `kept` is taken from
};

#define MEASUREMENT(number) extern const EndNumber number;
#include "chosen/measurements.def"
#undef MEASUREMENT

/// The core's, then MEASUREMENT(a constant) of measurements.def, which an add-on brings.
std::span<const EndNumber* const> end_numbers();
const EndNumber* end_number(std::string_view name);  ///< null where there is none of that name
/// What is expected in place of a number that no run has at its end.
Message expected_at_end(std::string_view word);

}  // namespace normscope::experiments

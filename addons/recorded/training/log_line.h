// A line of a log (docs/log-format.md) as a value: its kind, and its content.
//
// Promises: a line of a step in its usual shape is read without building a tree, so that a million lines take seconds.
// Every other line goes through training/io/input_value.h, whose errors say what is wrong; both read the same numbers,
// whatever else the line has. Of a step's line only the step itself is required: any other field that cannot be read is
// passed over. Names are views into the line or into the value itself. Called by log_reader.cpp.
#pragma once

#include <deque>
#include <limits>

#include "addons/recorded/training/tensor_names.h"
#include "training/io/input_value.h"
#include "training/measure/numbers.h"
#include "training/spec/spec.h"

namespace normscope::records {

/// A number of a step, with its field and name.
struct LogStat {
  const Number* field = nullptr;  ///< with the field's key
  std::string_view name;
  float value = NAN;
};

/// The run of a line: "A", seed 1. A log of a single run has neither.
struct LogLabel {
  std::string run;
  uint64_t seed = 0;
  bool operator==(const LogLabel&) const = default;
};

/// The highest step of a log: other programs count samples and tokens.
inline constexpr int32_t kLastLogStep = 2'000'000'000;
/// Names of a step, the surest first. The trackers' own "step" counts the calls that logged, so that trainers of Hugging
/// Face and Lightning log theirs beside it.
inline constexpr std::string_view kStepNames[] = {
    "train/global_step", "trainer/global_step", "global_step", "step", "_step", "iteration", "iter"};
inline constexpr std::span<const std::string_view> kDeclaredSteps = std::span(kStepNames).first(3);
inline constexpr size_t kStepRanks = std::size(kStepNames) + 1;  ///< the first is the mapping's name
/// The rank of a step's name, the surest 0; nothing for any other name.
std::optional<size_t> step_rank(std::string_view name, const NameMapping& mapping);
/// The rank of the surest name that meets a test.
template <typename Test>
std::optional<size_t> surest_step(const NameMapping& mapping, const Test& test) {
  if (!mapping.step.empty() && test(std::string_view(mapping.step))) return 0;
  for (size_t rank = 1; rank < kStepRanks; ++rank)
    if (test(kStepNames[rank - 1])) return rank;
  return {};
}

/// The meaning of a scalar's name: a series, or a field and a tensor.
struct ScalarName {
  enum class Of : uint8_t { Other, Loss, Rate, Validation, Tensor } of = Of::Other;
  const Number* field = nullptr;
  std::string_view tensor;  ///< a part of the name
  int32_t rank = 0;         ///< among the names of its series: the lowest in a file counts
};
ScalarName scalar_name(std::string_view name);
/// Whether a name of a training loss begins so.
bool some_name_of_loss(std::string_view beginning);
/// A number that stands where numbers by tensor would is of the whole model: "total.grad_norm".
inline constexpr std::string_view kWholeModel = "total";
/// What the scalars of a file are, by its mapping or by their names. Of several names of a series only the name of the
/// lowest rank counts.
class ScalarNames {
 public:
  /// The mapping outlives it.
  explicit ScalarNames(const NameMapping& mapping) : mapping_(&mapping) {
    best_.fill(std::numeric_limits<int32_t>::max());
  }
  const NameMapping& mapping() const { return *mapping_; }
  ScalarName name(std::string_view name) const;
  /// Whether no name of this series before had a lower rank.
  bool counts(const ScalarName& name) {
    int32_t& best = best_[static_cast<size_t>(name.of)];
    best = std::min(best, name.rank);
    return name.rank == best;
  }

 private:
  const NameMapping* mapping_;
  std::array<int32_t, 5> best_;
};
/// The line of a step. One object is reused for all lines, so that a million lines allocate nothing.
struct LogStep {
  explicit LogStep(const NameMapping& mapping = kNoMapping) : names(mapping) {}

  std::string_view run;
  uint64_t seed = 0;
  int32_t step = -1;
  size_t step_rank = kStepRanks;                 ///< of its name
  std::optional<double> loss, rate, validation;  ///< NaN: the line says that it is not finite
  std::optional<double> seconds;                 ///< since the recording began
  std::optional<double> epoch;
  std::vector<LogStat> stats;
  std::vector<std::string_view> others;  ///< names of numbers that mean nothing here
  std::vector<std::pair<std::string_view, Message>>
      passed;                     ///< fields that cannot be read, and why; the others count
  std::deque<std::string> texts;  ///< unescaped texts that the names view
  ScalarNames names;              ///< of all lines so far
  void clear();
};

/// A header or a result line; missing fields are empty.
struct LogAbout {
  LogLabel label;
  bool is_header = false;
  std::vector<Message> faults;  ///< why members could not be read; the others count
  std::string maker, name, placement, verdict;
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::pair<std::string, std::string>> names;  ///< a mapping: their name, our name
  std::vector<Edit> edits;
  DataIdentity data;
  double unigram = NAN, tokens_per_step = NAN, seconds_per_step = NAN;
};

enum class LineKind : uint8_t { Blank, Step, About };

/// Stores a scalar in the field of its name; `step` keeps a view of the name.
void put(const ScalarName& name, double value, LogStep& step);

/// Writes null for numbers that JSON does not have: NaN, Infinity, and those beyond double.
std::string as_json(std::string_view text);
/// Whether all of a text is a number as JSON or Python writes it. NaN: null, and what is not finite or too large.
bool is_number(std::string_view text, double& out);
/// Reads a step's line that is parsed already. Throws Error where it has no step that can be read.
void read_step(const InputValue& line, LogStep& out);
/// A run's name on one line, shortened for tables.
std::string one_line(std::string_view name);

/// The format of the Python package's logs, whose header has `stream` too; normscope writes kLogFormat.
inline constexpr const char* kStreamFormat = "normscope log 3";
inline constexpr size_t kLongestLine = size_t{16} << 20;  ///< bytes
inline constexpr size_t kMaxStats = 20'000;               ///< of one line

/// Fills `step` or `about`, whichever the line is. Throws Error as "[line 17] ...".
LineKind read_line(std::string_view line, int64_t number, LogStep& step, LogAbout& about);

}  // namespace normscope::records

// What is kept of a trained run. Lessons, comparisons and studies share this one measurement, so
// that each finds the runs that another has trained.
// taking.h measures a Taken; the store keeps it among the results of experiments.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "training/experiments/record.h"

namespace normscope::experiments {

/// Names the measurement in the store.
inline constexpr const char* kTaking = "run 2";

/// What takes time to measure of a run, by name, and is measured only where a study asks for it: one of these, or a
/// number of measurements.h.
using Names = std::set<std::string>;
inline constexpr const char* kLayers = "layers";     ///< frames, start, end
inline constexpr const char* kLeftOut = "left out";  ///< left_out
inline constexpr const char* kLast = "last";         ///< last: the run measures itself at every step

/// Holds one moment's numbers by name.
struct Numbers {
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

/// Holds by how many nats the validation loss rises without one layer (`layers`) and without the last k
/// layers (`top`, k from 1).
struct LeftOutRise {
  std::string stack;  ///< "", "enc.", "dec."
  std::vector<double> layers, top;
};

struct Taken {
  Names measured;                        ///< of what takes time
  Record record;                         ///< verdict, losses, level, when it began to learn
  double validation = kUnknown;          ///< nats a target, without label smoothing
  double accuracy = kUnknown;            ///< of a classifier, 0 to 1
  std::map<std::string, double> scores;  ///< of the task, by Score::key, and numbers of measurements.h
  Frames frames;
  Numbers start, end;  ///< of measure/step_metrics.h over one batch, before and after training
  Numbers last;        ///< the newest value of each number of the history that a study can show
  std::vector<LeftOutRise> left_out;
  double seconds = 0;  ///< of one core, to train and measure; not written into tables of a study
  bool has(const Names& asked) const;
  double score(const std::string& key) const;  ///< kUnknown where there is none
};

/// Writes what was measured.
nlohmann::json to_json(const Taken& taken);
/// Throws Error for anything else.
Taken taken_from(const InputValue& json);

/// The steps at which a run's numbers by layer are kept, the last step apart.
std::vector<int32_t> ladder();
/// Whether a number of a run's history is kept at those steps, `kept_at_moments` at start and end.
bool kept_at_steps(const std::string& name);
bool kept_at_moments(const std::string& name);
/// Whether a number of a run's history is kept in `last`: those of a step and of a moment, attention's
/// largest logits, what is measured of updates, and the critical rate.
bool kept_at_end(const std::string& name);
/// The largest of the numbers whose names match: a star stands for any characters, "critical_rate" for the
/// critical rate and "largest_logit" for all of attention's largest logits. NaN where none is known.
double largest(const Numbers& numbers, std::string_view pattern);
/// Whether `largest` can find anything in `last`.
bool is_number_of_the_end(std::string_view pattern);
/// Whether Frames, `start` or `end` can hold the number `name`, or both numbers of "a /
/// b". With `by_layer`, L* stands in place of the layer's number.
bool is_number_of_a_step(const std::string& name, bool by_layer);

}  // namespace normscope::experiments

// What is kept of a trained run. It is one measurement for all who train runs to measure something of them, sweeps, the
// zoo, lessons and reproductions, so that a run which one of them has trained is found by the others. What takes time to
// measure is a Part, and is measured for those who ask for it. Measured by taking.h; kept among the results of
// experiments.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "training/experiments/record.h"

namespace normscope::experiments {

/// The name of the measurement in the store; and those under which earlier versions kept parts of it.
inline constexpr const char* kTaking = "run 1";
inline constexpr const char* kEarlierTakings[] = {"record 2", "claim 1"};
/// The measurement under which earlier versions kept the states of lessons' runs.
inline constexpr const char* kEarlierStates = "lesson 1";

/// What of a Taken was measured, or is asked for; several are added.
using Parts = uint8_t;
inline constexpr Parts kShares = 1;    ///< Record::beta2 and Record::score
inline constexpr Parts kScores = 2;    ///< validation, accuracy, attachment
inline constexpr Parts kLayers = 4;    ///< frames, start, end
inline constexpr Parts kLeftOut = 8;   ///< left_out
inline constexpr Parts kWritten = 16;  ///< bleu
/// Measured of every run, whoever asks.
inline constexpr Parts kAlways = kShares | kScores;

/// Numbers by name; of one moment.
struct Numbers {
  std::vector<std::string> names;
  std::vector<double> values;
  double at(std::string_view name) const;  ///< NaN where there is none of that name
};

/// Numbers at steps of ladder() and at the last one: gradient, update and weight norms of the matrices, mean squares of
/// the sub-layers' sums and outputs, total.grad_norm.
struct Frames {
  std::vector<std::string> names;
  std::vector<int32_t> steps;
  std::vector<std::vector<double>> rows;  ///< one a step
};

/// Rise of the validation loss, nats, without one layer (layers) and without the last k (top, k from 1).
struct LeftOutRise {
  std::string stack;  ///< "", "enc.", "dec."
  std::vector<double> layers, top;
};

struct Taken {
  Parts parts = 0;               ///< those that were measured
  Record record;                 ///< verdict, losses, level, when it began to learn
  double validation = kUnknown;  ///< nats a target, without label smoothing
  double accuracy = kUnknown;    ///< of a classifier, 0 to 1
  double attachment = kUnknown;  ///< of a parser, UAS of the validation trees, 0 to 100
  double bleu = kUnknown;        ///< of an encoder-decoder; of what, and how: claims/README.md
  Frames frames;
  Numbers start, end;  ///< of measure/step_metrics.h over one batch, before training and after it
  std::vector<LeftOutRise> left_out;
  double seconds = 0;  ///< of a core, to train and measure; no part of what is written of a study
  bool has(Parts asked) const { return (parts & asked) == asked; }
};

/// Of the parts that were measured.
nlohmann::json to_json(const Taken& taken);
/// Reads what earlier versions kept, too: a record alone, or what claims took. Throws Error for what is none.
Taken taken_from(const InputValue& json);

/// Steps at which a run's numbers by layer are kept, beside its last one.
std::vector<int32_t> ladder();
/// Whether a number of a run's history is kept at those steps, and whether one of the moments is.
bool kept_at_steps(const std::string& name);
bool kept_at_moments(const std::string& name);
/// Whether `name` is a number that Frames or the two moments can hold, or two of them as "a / b"; `by_layer`: with L* where
/// the layer's number stands.
bool is_number_of_a_step(const std::string& name, bool by_layer);

}  // namespace normscope::experiments

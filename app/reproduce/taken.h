// What is kept of a trained run so that every line of every claim can be drawn from it: one measurement for all claims,
// whatever they ask, so that a run which two claims share is trained once and a new claim over known runs trains nothing.
// Kept among the results of experiments. Called by plan.h's lines, trainer.h and the tests.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/experiments/record.h"
#include "training/experiments/runner.h"

namespace normscope::reproduce {

using experiments::kUnknown;

/// The name of the measurement in the store.
inline constexpr const char* kTaking = "claim 1";

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
  experiments::Record record;    ///< verdict, losses, level, when it began to learn
  double validation = kUnknown;  ///< nats a target, without label smoothing
  double accuracy = kUnknown;    ///< of a classifier, 0 to 1
  double attachment = kUnknown;  ///< of a parser, UAS of the validation trees, 0 to 100
  double bleu = kUnknown;        ///< of an encoder-decoder; of what, and how: claims/README.md
  Frames frames;
  Numbers start, end;  ///< of measure/step_metrics.h over one batch, before training and after it
  std::vector<LeftOutRise> left_out;
  double seconds = 0;  ///< of a core, to train and measure; no part of what is written of claims
};

nlohmann::json to_json(const Taken& taken);
/// Throws Error for what is none.
Taken taken_from(const InputValue& json);

/// Whether `name` is a number that Frames or the two moments can hold, or two of them as "a / b"; `by_layer`: with L* where
/// the layer's number stands.
bool is_number_of_a_step(const std::string& name, bool by_layer);
/// "a / b" into a and b; b empty for a single name.
std::pair<std::string, std::string> names_in(const std::string& y);

/// Measures a Taken of the run that it accompanies.
std::unique_ptr<experiments::Measurement> make_taking();

}  // namespace normscope::reproduce

// What one run of the zoo came to, and how it is kept among the results of experiments. Called by
// app/zoo/trainer.cpp and app/zoo/summary.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/io/input_value.h"

namespace normscope::zoo {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Diverges: finite, and at the end worse than guessing every symbol alike. Undecided: too few steps for a
/// verdict (measure/plateau.h).
enum class Verdict : uint8_t { Learns, Stuck, Diverges, NotFinite, Undecided, Failed };
const char* to_string(Verdict verdict);

struct Record {
  Verdict verdict = Verdict::Undecided;
  int32_t steps = 0;         ///< trained
  int32_t since = 0;         ///< Learns: first step off the plateau
  std::string what;          ///< NotFinite: "L02.attn output at step 23"; Failed: why it could not be trained
  double loss = kUnknown;    ///< mean training loss of the last kWindow steps, nats a symbol
  double level = kUnknown;   ///< unigram entropy: the loss of a model that knows letter frequencies only
  double beta2 = kUnknown;   ///< sum over sub-layers of beta^2_ii at initialisation (Liu et al. 2020)
  std::string beta2_reason;  ///< why there is none
  /// Norm of dL/dW2 in layer 1 and in the last layer at step kGradientStep.
  double gradient_first = kUnknown, gradient_last = kUnknown;

  static constexpr int32_t kWindow = 25, kGradientStep = 20;
};

nlohmann::json to_json(const Record& record);
/// Throws Error for what is no record.
Record record_from(const InputValue& json);
}  // namespace normscope::zoo

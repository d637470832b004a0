// Holds every value that may change between two replays of one Program, in one plain struct that kernels
// read through a pointer. Whatever is not here (and not in the batch) is structural and frozen by seal(): there is no
// third kind. A test changes each field and demands a changed result.
#pragma once

#include <cstdint>
#include <limits>

namespace normscope {

/// Dropout as an integer decision: an element whose random word >= threshold is kept and scaled.
struct DropoutInputs {
  uint32_t threshold = 0;  ///< p * 2^32; 0 keeps everything
  float scale = 1.0f;      ///< 1 / (1 - p)

  static DropoutInputs of(double probability);
};

enum class DropoutKind : uint8_t { Residual, Attention, Activation };

struct StepInputs {
  uint64_t seed = 0;
  uint32_t step = 1;  ///< 1-based number of the update that this replay performs
  float lr = std::numeric_limits<float>::quiet_NaN();      ///< not given: a program that updates refuses it
  float beta1 = 0.9f, beta2 = 0.98f, eps = 1e-9f;          ///< Adam
  float bias_correction1 = 1.0f, bias_correction2 = 1.0f;  ///< 1 - beta^step, from double on the host
  /// RAdam: the factor r_t of the step (0: no step at all), and whether the step divides by the root of the second
  /// moment (false: un-adapted momentum). 1 and true for Adam.
  float rectification = 1.0f;
  bool adapted = true;
  float momentum = 0.0f;          ///< SGD
  float weight_decay = 0.0f;      ///< decoupled: lr * weight_decay * w is subtracted (AdamW)
  float l2 = 0.0f;                ///< coupled: l2 * w joins the clipped gradient
  float clip = 0.0f;              ///< largest global gradient norm; 0 = off
  float update_bound = 0.0f;      ///< largest step of a matrix as a share of it, by spectral norms (AdamW^2)
  float label_smoothing = 0.0f;   ///< as PyTorch's cross_entropy
  DropoutInputs dropout[3] = {};  ///< indexed by DropoutKind
};

/// Factors of the rate, the weight decay and Adam's epsilon of one parameter. They belong to the
/// model and are as frozen as a shape.
struct StepScale {
  float rate = 1.0f, decay = 1.0f, eps = 1.0f;
  bool operator==(const StepScale&) const = default;
};

}  // namespace normscope

// The logit lens: what a model would say if its output layer read the state of an earlier layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "addons/inside/training/inside.h"
#include "engine/tape/program.h"

namespace normscope {

/// The logits of a replay. `loss` is the value that softmax_xent gave.
class Said {
 public:
  Said(const Program& program, ValueId logits, ValueId loss);
  std::span<const float> row(size_t token) const {
    return std::span(logits_).subspan(token * width_, width_);
  }
  float log_sum(size_t token) const { return log_sums_[token]; }
  /// The loss of each token, in nats; NaN where there is no target.
  std::vector<float> losses(std::span<const int32_t> targets) const;

 private:
  size_t width_;
  std::vector<float> logits_, log_sums_;
};

/// Runs what comes after the last layer on a state. A lens has fewer guesses where the model has fewer
/// symbols.
Inside::Lens lens_of(Store& store, const ModelConfig& model, const Batch& text, const LayerState& state,
                     int32_t guesses);

}  // namespace normscope

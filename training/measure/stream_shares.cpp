#include "training/measure/stream_shares.h"

#include <array>

#include "engine/model/residual.h"

namespace normscope {

void StreamShares::reserve(size_t components, size_t streams, size_t positions) {
  coefficients_.resize(components);
  for (auto& c : coefficients_) c.reserve(streams * positions);
}

void StreamShares::start(size_t streams, size_t positions) {
  streams_ = streams;
  positions_ = positions;
  coefficients_[0].assign(streams * positions, 1.0f);
}

void StreamShares::pass(size_t own, const StreamWeights& carry, const StreamWeights& write) {
  for (size_t c = 0; c < own; ++c)
    for (size_t p = 0; p < positions_; ++p) {
      float* u = &coefficients_[c][p * streams_];
      std::array<float, kMostStreams> next{};
      for (size_t i = 0; i < streams_; ++i)
        for (size_t j = 0; j < streams_; ++j) next[j] += carry.at(p, i, streams_, j) * u[i];
      for (size_t j = 0; j < streams_; ++j) u[j] = next[j];
    }
  coefficients_[own].resize(streams_ * positions_);
  for (size_t p = 0; p < positions_; ++p)
    for (size_t j = 0; j < streams_; ++j) coefficients_[own][p * streams_ + j] = write.at(p, 0, 1, j);
}

void StreamShares::read(size_t component, const StreamWeights& weights, std::span<float> out) const {
  for (size_t p = 0; p < positions_; ++p) {
    out[p] = 0.0f;
    for (size_t i = 0; i < streams_; ++i)
      out[p] += weights.at(p, i, streams_, 0) * coefficients_[component][p * streams_ + i];
  }
}

}  // namespace normscope

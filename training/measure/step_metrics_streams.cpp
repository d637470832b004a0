// The part of LiveMeasurements that follows components through several streams: see step_metrics.h and stream_shares.h.
#include <algorithm>

#include "engine/cpu/measure_rows.h"
#include "engine/model/residual.h"
#include "training/measure/step_metrics.h"

namespace normscope {

int64_t LiveMeasurements::streams_of(const Sublayer& s) const {
  return s.streams == kNone ? 0 : program_->data().values[static_cast<size_t>(s.streams)].shape[2];
}

void LiveMeasurements::make_room_for_streams(size_t positions) {
  size_t most = 0;
  for (const Sublayer& s : sublayers_) most = std::max(most, static_cast<size_t>(streams_of(s)));
  if (most == 0) return;
  if (most <= size_t{kMostStreams}) streams_.reserve(components_.size(), most, positions);
  read_.reserve(most * positions);
  carry_.reserve(most * most * positions);
  write_.reserve(most * positions);
}

StreamWeights LiveMeasurements::weights_of(ValueId value, size_t to, std::vector<float>& host) const {
  const Shape& shape = program_->data().values[static_cast<size_t>(value)].shape;
  const bool shared = shape.rank == 2;
  const auto each = static_cast<size_t>(shared ? shape.size() : shape.size() / (shape[0] * shape[1]));
  load(value, host, shared ? each : each * rows_);
  return {host, to, shared};
}

/// Has the components as they were written, and their coefficients in what is read.
void LiveMeasurements::carry_streams(const Sublayer& s) {
  const auto rows = static_cast<int64_t>(rows_), width = static_cast<int64_t>(width_);
  const size_t own = static_cast<size_t>(s.index_in_stack);
  const bool of_depth = s.carry == kNone;
  const StreamWeights read = weights_of(s.read, 1, read_);
  if (!of_depth) {
    const auto count = static_cast<size_t>(streams_of(s));
    if (s.starts_stack) streams_.start(count, rows_);
    streams_.pass(own, weights_of(s.carry, count, carry_), weights_of(s.write, count, write_));
  }
  components_[own] = branch_;
  total_.assign(y_.size(), 0.0f);
  inverse_sigma_.resize(rows_);  // a coefficient for each row
  cpu::CarryMap map;
  map.inverse_sigma = inverse_sigma_.data();
  map.centre = false;
  for (size_t j = 0; j <= own; ++j) {
    if (of_depth)
      for (size_t p = 0; p < rows_; ++p) inverse_sigma_[p] = read.at(p, j, own + 1, 0);
    else
      streams_.read(j, read, inverse_sigma_);
    x_ = components_[j];
    shares_[j] = cpu::carry_rows(map, x_.data(), total_.data(), rows, width, row_shares_[j].data());
  }
  check_total();
}

/// Writes the mean weight of each stream in what is read.
void LiveMeasurements::number_reads(const Sublayer& s, double* number) const {
  const auto count = static_cast<size_t>(streams_of(s));
  const bool shared = read_.size() == count;
  const size_t positions = shared ? 1 : rows_;
  for (size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (size_t p = 0; p < positions; ++p) sum += static_cast<double>(read_[p * count + i]);
    *number++ = sum / static_cast<double>(positions);
  }
}

}  // namespace normscope

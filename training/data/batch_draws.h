// Shared by tasks that make batches: the random numbers of a row (`BatchDraws`), the example that fills a row, and the
// split that holds examples out for validation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "training/data/task.h"

namespace normscope {

/// Draws the random numbers of one row of one batch: a Philox stream with counter (draw, row and split, step, Batch).
class BatchDraws {
 public:
  /// Steps beyond 2^32 wrap into the key: they never occur in practice, and still differ.
  BatchDraws(uint64_t seed, uint64_t step, Split split, int32_t row)
      : seed_(seed ^ (step >> 32)),
        step_(step),
        site_(static_cast<uint32_t>(row) * 2 + (split == Split::Validation ? 1 : 0)) {}
  /// Uniform in [0, range), 0 < range < 2^32, from 64 random bits (the bias is below range / 2^64).
  uint64_t below(uint64_t range) {
    if (draw_ % 2 == 0) {
      block_ = philox({draw_ / 2, site_, static_cast<uint32_t>(step_), static_cast<uint32_t>(Purpose::Batch)},
                      seed_);
    }
    const size_t half = draw_++ % 2 * 2;
    const uint64_t high = block_[half + 1] * range, low = block_[half] * range;
    return (high + (low >> 32)) >> 32;  // the top of a 64-bit fraction times the range
  }

 private:
  uint64_t seed_, step_;
  uint32_t site_;
  uint32_t draw_ = 0;
  std::array<uint32_t, 4> block_{};
};

/// Calls fill(draws, tokens, targets) for each row of a batch whose rows have `width` positions.
template <typename Fill>
void each_row(uint64_t seed, uint64_t step, Split split, int32_t width, std::span<int32_t> tokens,
              std::span<int32_t> targets, const Fill& fill) {
  const auto T = static_cast<size_t>(width);
  for (size_t row = 0; row < tokens.size() / T; ++row) {
    BatchDraws draws(seed, step, split, static_cast<int32_t>(row));
    fill(draws, tokens.subspan(row * T, T), targets.subspan(row * T, T));
  }
}

/// The index of the example that fills a row of a batch of B rows: drawn at random in training, in file order in
/// validation. An index in validation may lie past the last example: the row is then empty.
inline size_t example_of(uint64_t seed, uint64_t step, Split split, int32_t B, size_t row, size_t examples) {
  if (split == Split::Train) return BatchDraws(seed, step, split, static_cast<int32_t>(row)).below(examples);
  return (step > 0 ? step - 1 : 0) * static_cast<size_t>(B) + row;
}
/// The number of batches of B rows that hold all examples once.
inline int32_t batches_of(size_t examples, int32_t B) {
  const auto rows = static_cast<size_t>(B);
  return static_cast<int32_t>((examples + rows - 1) / rows);
}

/// Takes the last `count` training examples away, for validation.
template <typename T>
std::vector<T> held_out(std::vector<T>& train, size_t count) {
  const auto first = train.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<T> held(std::make_move_iterator(first), std::make_move_iterator(train.end()));
  train.erase(first, train.end());
  return held;
}

/// Throws Error unless B and T are positive and both spans hold B*T numbers.
inline void check_batch(int32_t B, int32_t T, std::span<const int32_t> tokens,
                        std::span<const int32_t> targets) {
  if (B < 1 || T < 1) fail("data", "batch ({},{}): expected at least one row and one position", B, T);
  const size_t size = static_cast<size_t>(B) * static_cast<size_t>(T);
  if (tokens.size() != size || targets.size() != size) {
    fail("data", "batch ({},{}): expected room for {} tokens and targets, got {} and {}", B, T, size,
         tokens.size(), targets.size());
  }
}

}  // namespace normscope

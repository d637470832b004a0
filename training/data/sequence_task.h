// The sequence tasks are copy, reverse and sort as language modelling. The random draws that all tasks share are here
// too.
//
// A row is  x1 .. xn SEP y1 .. yn  with n = T/2 symbols drawn uniformly from 32 and y = x copied, reversed or sorted.
// The model reads the row shifted by one; targets on the input part are -1, so the loss is on y alone. An odd T
// leaves one position at the end, which is ignored too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "training/data/task.h"

namespace normscope {

inline constexpr int32_t kSequenceSymbols = 32;
inline constexpr int32_t kSeparator = 32;  // the symbol after the last one

enum class SequenceRule : uint8_t { Copy, Reverse, Sort };

std::optional<SequenceRule> sequence_rule(std::string_view name);
std::shared_ptr<const Task> make_sequence_task(SequenceRule rule, int32_t context);

/// `BatchDraws` draws the random numbers of one row of one batch: a Philox stream with counter (draw, row and split,
/// step, Batch).
class BatchDraws {
 public:
  BatchDraws(uint64_t seed, uint64_t step, Split split, int32_t row);
  /// `below` is uniform in [0, range), 0 < range < 2^32, from 64 random bits (the bias is below range / 2^64).
  uint64_t below(uint64_t range);

 private:
  uint64_t seed_, step_;
  uint32_t site_;
  uint32_t draw_ = 0;
  std::array<uint32_t, 4> block_{};
};

/// `each_row` calls fill(draws, tokens, targets) for each row of a batch whose rows have `width` positions.
template <typename Fill>
void each_row(uint64_t seed, uint64_t step, Split split, int32_t width, std::span<int32_t> tokens,
              std::span<int32_t> targets, const Fill& fill) {
  const auto T = static_cast<size_t>(width);
  for (size_t row = 0; row < tokens.size() / T; ++row) {
    BatchDraws draws(seed, step, split, static_cast<int32_t>(row));
    fill(draws, tokens.subspan(row * T, T), targets.subspan(row * T, T));
  }
}

/// `example_of` says which of so many examples the row of a batch is: any of them in training, the next one in
/// validation. That may lie behind the last example: then the row is empty.
size_t example_of(uint64_t seed, uint64_t step, Split split, int32_t B, size_t row, size_t examples);
/// `batches_of` is the number of batches of B rows that take all examples, in order.
int32_t batches_of(size_t examples, int32_t B);

/// `held_out` takes the last `count` training examples away, for validation.
template <typename T>
std::vector<T> held_out(std::vector<T>& train, size_t count) {
  const auto first = train.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<T> held(std::make_move_iterator(first), std::make_move_iterator(train.end()));
  train.erase(first, train.end());
  return held;
}

/// `check_batch` throws Error unless B and T are positive and both spans hold B*T numbers.
void check_batch(int32_t B, int32_t T, std::span<const int32_t> tokens, std::span<const int32_t> targets);

}  // namespace normscope

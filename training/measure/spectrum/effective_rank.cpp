// Y Y' and Y' Y have the same eigenvalues but for zeros: the smaller one is computed.
#include "training/measure/spectrum/effective_rank.h"

#include <algorithm>

namespace normscope {
namespace {

/// Adds to sums (n,n) the products of all pairs of the n numbers at x, but for those below the diagonal.
void add_products(const float* x, size_t n, float* sums) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i; j < n; ++j) sums[i * n + j] += x[i] * x[j];
}

/// Fills in what is below the diagonal.
void mirror(std::vector<float>& sums, size_t n) {
  for (size_t i = 1; i < n; ++i)
    for (size_t j = 0; j < i; ++j) sums[i * n + j] = sums[j * n + i];
}

}  // namespace

void EffectiveRankRoom::reserve(size_t tokens, size_t width) {
  const size_t side = std::min(tokens, width);
  gram.reserve(side * side);
  column.reserve(tokens);
}

double effective_rank(std::span<const float> states, size_t tokens, size_t width, EffectiveRankRoom& room) {
  const size_t side = std::min(tokens, width), sequences = states.size() / (tokens * width);
  double sum = 0;
  for (size_t s = 0; s < sequences; ++s) {
    const float* y = &states[s * tokens * width];
    room.gram.assign(side * side, 0.0f);  // within the reserved capacity
    if (tokens < width) {
      room.column.resize(tokens);
      for (size_t c = 0; c < width; ++c) {
        for (size_t t = 0; t < tokens; ++t) room.column[t] = y[t * width + c];
        add_products(room.column.data(), tokens, room.gram.data());
      }
    } else {
      for (size_t t = 0; t < tokens; ++t) add_products(y + t * width, width, room.gram.data());
    }
    mirror(room.gram, side);
    double trace = 0, squares = 0;
    for (size_t i = 0; i < side; ++i) trace += static_cast<double>(room.gram[i * side + i]);
    for (const float v : room.gram) squares += static_cast<double>(v) * static_cast<double>(v);
    sum += trace * trace / squares;
  }
  return sum / static_cast<double>(sequences);
}

}  // namespace normscope

// The ops on several streams and on a sphere, in plain loops: see reference.h.
#pragma once

#include <algorithm>

#include "addons/newer-placements/engine/ops.h"
#include "reference/op_attention.h"

namespace normscope::reference {

/// Computes, at each position of x with parts x_i of `width` numbers and weights w of its own or of all,
///   out_j  =  sum over i of w_ij x_i
template <class S>
Array<S> mix(const Array<S>& x, const Array<S>& w, MixSpec spec, int64_t width) {
  const int64_t n = spec.from, m = spec.to, positions = static_cast<int64_t>(x.size()) / (n * width);
  const int64_t step = static_cast<int64_t>(w.size()) == n * m ? 0 : n * m;
  Array<S> out(at(positions * m * width), S(0.0));
  for (int64_t r = 0; r < positions; ++r)
    for (int64_t j = 0; j < m; ++j)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t k = 0; k < width; ++k)
          out[at((r * m + j) * width + k)] += w[at(r * step + i * m + j)] * x[at((r * n + i) * width + k)];
  return out;
}

template <class S>
Outputs<S> forward(Op<OpKind::Mix>, const Call<S>& c) {
  return {mix<S>(c.numbers(0), c.numbers(1), c.attributes.template as<MixSpec>(), c.shape(0).cols())};
}

/// Divides each line of n numbers by its sum: rows, or columns.
template <class S>
void divide_lines(S* m, int64_t n, bool rows) {
  for (int64_t line = 0; line < n; ++line) {
    const auto place = [&](int64_t i) { return rows ? line * n + i : i * n + line; };
    S sum(0.0);
    for (int64_t i = 0; i < n; ++i) sum += m[place(i)];
    for (int64_t i = 0; i < n; ++i) m[place(i)] = m[place(i)] / sum;
  }
}

/// Computes exp(x) over its sum in runs of n numbers, or with rounds, exp(x) of n x n numbers whose rows and
/// columns are divided by their sums in turn.
template <class S>
Array<S> softmax(const Array<S>& x, SoftmaxSpec spec) {
  const int64_t n = spec.size, group = spec.rounds > 0 ? n * n : n;
  Array<S> out(x);
  for (int64_t first = 0; first < static_cast<int64_t>(x.size()); first += group) {
    S* m = out.data() + first;
    double largest = value_of(m[0]);
    for (int64_t i = 1; i < group; ++i) largest = std::max(largest, value_of(m[i]));
    S sum(0.0);
    for (int64_t i = 0; i < group; ++i) sum += m[i] = exp(m[i] - S(largest));
    for (int64_t i = 0; spec.rounds == 0 && i < group; ++i) m[i] = m[i] / sum;
    for (int32_t k = 0; k < 2 * spec.rounds; ++k) divide_lines(m, n, k % 2 == 0);
  }
  return out;
}

template <class S>
Outputs<S> forward(Op<OpKind::Softmax>, const Call<S>& c) {
  return {softmax<S>(c.numbers(0), c.attributes.template as<SoftmaxSpec>())};
}

template <class S>
Outputs<S> forward(Op<OpKind::RepeatHeads>, const Call<S>& c) {
  const auto spec = c.attributes.template as<RepeatHeadsSpec>();
  return {repeat_heads<S>(c.numbers(0), c.shape(0).cols() / spec.heads, spec.times)};
}

}  // namespace normscope::reference

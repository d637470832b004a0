// Heads that turn, in plain loops: see reference.h.
#pragma once

#include "addons/published/engine/rotary.h"
#include "reference/op_call.h"

namespace normscope::reference {

/// Turns the pairs of each of H heads of x (..,T,D) by the table's row of the position, n cosines and n sines.
template <class S>
Array<S> rotary(const Array<S>& x, const Array<S>& table, int64_t T, int64_t D, int64_t n,
                const RotarySpec& spec) {
  Array<S> out(x);
  const int64_t width = D / spec.heads;
  const bool halves = spec.pairing == RotaryPairing::Halves;
  for (int64_t head = 0; head < static_cast<int64_t>(x.size()) / width; ++head)
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = head / spec.heads % T * 2 * n;
      const S cos = table[at(row + i)], sin = table[at(row + n + i)];
      const size_t a = at(head * width + (halves ? i : 2 * i)), b = a + at(halves ? n : 1);
      out[a] = x[a] * cos - x[b] * sin;
      out[b] = x[b] * cos + x[a] * sin;
    }
  return out;
}

template <class S>
Outputs<S> forward(Op<OpKind::Rotary>, const Call<S>& c) {
  const Shape& x = c.shape(0);
  return {rotary<S>(c.numbers(0), c.numbers(1), x[1], x[2], c.shape(1).cols() / 2,
                    c.attributes.template as<RotarySpec>())};
}

}  // namespace normscope::reference

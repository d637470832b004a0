// The largest logit of each head, in plain loops: see reference.h.
#pragma once

#include "addons/newer-optimizers/engine/qk_clip.h"
#include "reference/op_attention.h"

namespace normscope::reference {

/// Takes, for each head, the largest of all scores that attention sees, before a cap.
template <class S>
Array<S> largest_logits(const Array<S>& q, const Array<S>& k, const AttentionShape& a) {
  Array<S> out(at(a.H), S(-std::numeric_limits<double>::infinity()));
  for (int64_t b = 0; b < a.B; ++b)
    for (int64_t h = 0; h < a.H; ++h)
      for (int64_t t = 0; t < a.Tq; ++t)
        for (int64_t s = 0; s < a.Tk; ++s) {
          if (!a.visible(b, t, s)) continue;
          S sum(0.0);
          for (int64_t j = 0; j < a.width(); ++j) sum += q[a.q(b, t, h, j)] * k[a.k(b, s, h, j)];
          sum = sum * S(a.scale());
          if (value_of(sum) > value_of(out[at(h)])) out[at(h)] = sum;
        }
  return out;
}

template <class S>
Outputs<S> forward(Op<OpKind::LargestLogit>, const Call<S>& c) {
  const auto spec = c.attributes.template as<LargestLogitSpec>();
  AttentionShape a{c.shape(0)[0], spec.heads, c.shape(0)[1], c.shape(1)[1], c.shape(0)[2]};
  a.causal = spec.causal;
  a.key_lengths = c.integers(2);
  a.window = spec.window;
  a.factor = static_cast<double>(spec.scale);
  return {largest_logits<S>(c.numbers(0), repeat_heads<S>(c.numbers(1), a.width(), a.D / c.shape(1)[2]), a)};
}

}  // namespace normscope::reference

// The reference's attention, in plain loops: see reference.h.
#pragma once

#include <algorithm>
#include <limits>

#include "engine/ops/ops.h"
#include "reference/op_call.h"

namespace normscope::reference {

struct AttentionShape {
  int64_t B, H, Tq, Tk, D;
  bool causal = false;
  std::vector<int32_t> key_lengths = {};  ///< (B), or empty
  std::vector<uint8_t> keep = {};         ///< dropout mask (B,H,Tq,Tk), or empty
  double keep_scale = 1.0;
  int64_t window = 0;  ///< keys that a query sees on each side, its own among them; 0: no window
  double cap = 0;      ///< 0: none
  double factor = 0;   ///< of scores; 0: 1 / sqrt(width)
  bool alibi = false;

  int64_t width() const { return D / H; }
  double scale() const { return factor > 0 ? factor : 1.0 / std::sqrt(static_cast<double>(width())); }
  size_t q(int64_t b, int64_t t, int64_t h, int64_t j) const {
    return at((b * Tq + t) * D + h * width() + j);
  }
  size_t k(int64_t b, int64_t t, int64_t h, int64_t j) const {
    return at((b * Tk + t) * D + h * width() + j);
  }
  size_t p(int64_t b, int64_t h, int64_t t, int64_t s) const { return at(((b * H + h) * Tq + t) * Tk + s); }
  bool visible(int64_t b, int64_t t, int64_t s) const {
    return (!causal || s <= t) && (window == 0 || std::abs(t - s) < window) &&
           (key_lengths.empty() || s < key_lengths[at(b)]);
  }
  double kept(size_t index) const { return keep.empty() ? 1.0 : keep[index] ? keep_scale : 0.0; }
};

/// The slopes of Press et al. 2022 as their code has them: of a power of 2, then every other one of twice that.
inline double slope(int64_t head, int64_t heads) {
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  if (head >= power) return slope(2 * (head - power), 2 * power);
  const double first = std::pow(2, -std::pow(2, -(std::log2(static_cast<double>(power)) - 3)));
  return std::pow(first, static_cast<double>(head + 1));
}

template <class S>
struct AttentionResult {
  Array<S> out, probabilities;  ///< probabilities before dropout, zero at masked keys
};

/// Computes, of keys s that query t sees and with the dropout's kept(t,s), for each head
///   p(t,s)  =  exp(z(t,s)) / sum over s' of exp(z(t,s'))
///   out(t)  =  sum over s of p(t,s) kept(t,s) v(s)
/// where z is scale score, or cap tanh(scale score / cap), or with alibi less slope (t - s).
template <class S, class Sizes, class Score>
AttentionResult<S> attend(const Array<S>& v, const Sizes& a, const Score& score) {
  AttentionResult<S> r{Array<S>(at(a.B * a.Tq * a.D), S(0.0)), Array<S>(at(a.B * a.H * a.Tq * a.Tk), S(0.0))};
  for (int64_t b = 0; b < a.B; ++b)
    for (int64_t h = 0; h < a.H; ++h)
      for (int64_t t = 0; t < a.Tq; ++t) {
        double largest = -std::numeric_limits<double>::infinity();
        for (int64_t s = 0; s < a.Tk; ++s) {
          if (!a.visible(b, t, s)) continue;
          S sum(0.0);
          for (int64_t j = 0; j < a.width(); ++j) sum += score(b, h, t, s, j);
          sum = sum * S(a.scale());
          if (a.cap > 0) sum = S(a.cap) * tanh(sum / S(a.cap));
          if (a.alibi) sum += S(slope(h, a.H) * static_cast<double>(s - t));
          r.probabilities[a.p(b, h, t, s)] = sum;
          largest = std::max(largest, value_of(sum));
        }
        S sum(0.0);
        for (int64_t s = 0; s < a.Tk; ++s)
          if (a.visible(b, t, s)) {
            S& p = r.probabilities[a.p(b, h, t, s)];
            p = exp(p - S(largest));
            sum += p;
          }
        for (int64_t s = 0; s < a.Tk; ++s)
          if (a.visible(b, t, s)) {
            S& p = r.probabilities[a.p(b, h, t, s)];
            p /= sum;
            for (int64_t j = 0; j < a.width(); ++j)
              r.out[a.q(b, t, h, j)] += p * S(a.kept(a.p(b, h, t, s))) * v[a.k(b, s, h, j)];
          }
      }
  return r;
}

/// Scores by  q(t) . k(s)
template <class S>
AttentionResult<S> attention(const Array<S>& q, const Array<S>& k, const Array<S>& v,
                             const AttentionShape& a) {
  return attend(v, a, [&](int64_t b, int64_t h, int64_t t, int64_t s, int64_t j) {
    return q[a.q(b, t, h, j)] * k[a.k(b, s, h, j)];
  });
}

/// Adds the dropout of the probabilities, if there is a site for it.
inline void drop(AttentionShape& a, const StepInputs& step, uint32_t site) {
  if (site == 0) return;
  a.keep = kept(a.B * a.H * a.Tq * a.Tk, step, DropoutKind::Attention, site);
  a.keep_scale = scale_of(step, DropoutKind::Attention);
}

/// Writes each of the heads, `width` numbers long, `times` times.
template <class S>
Array<S> repeat_heads(const Array<S>& x, int64_t width, int64_t times) {
  Array<S> out;
  for (size_t head = 0; head < x.size(); head += at(width))
    for (int64_t k = 0; k < times; ++k)
      for (size_t j = 0; j < at(width); ++j) out.push_back(x[head + j]);
  return out;
}

template <class S>
Outputs<S> forward(Op<OpKind::Attention>, const Call<S>& c) {
  const auto spec = c.attributes.template as<AttentionSpec>();
  const Shape& q = c.shape(0);
  AttentionShape a{q[0], spec.heads, q[1], c.shape(1)[1], q[2], spec.causal, c.integers(3)};
  a.window = spec.window;
  a.cap = static_cast<double>(spec.cap);
  a.factor = static_cast<double>(spec.scale);
  a.alibi = spec.alibi;
  drop(a, c.step, spec.dropout_site);
  const auto each = [&](size_t i) { return repeat_heads<S>(c.numbers(i), a.width(), a.D / c.shape(1)[2]); };
  auto r = attention<S>(c.numbers(0), each(1), each(2), a);
  return {r.out, r.probabilities};
}

}  // namespace normscope::reference

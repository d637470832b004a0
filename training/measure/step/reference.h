// The reference is every op of the engine, written a second time as plainly as possible: scalar loops, templated on
// the number type. In double, the tests compare SIMD and CUDA kernels with it, and measure/step/numeric_check takes
// its differences. With Var (tests/reference/var.h) it gives the exact derivative of each formula, which the kernels'
// backward is compared with. Formulas: docs/ops.md. No kernel knows this file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/ops/layer_norm/layer_norm.h"

namespace normscope::reference {

using std::exp;
using std::log;
using std::sqrt;
using std::tanh;

template <class S>
using Array = std::vector<S>;

/// `value_of` is the plain number, which decides branches and maxima and is what is detached. Var has its own.
inline double value_of(double x) { return x; }

inline size_t at(int64_t i) { return static_cast<size_t>(i); }

/// embedding computes out (B,T,D) from tokens (B,T), table (V,D) and positions (>=T,D), which may be empty:
///   out[b,t]  =  scale * table[tokens[b,t]] + positions[t]
template <class S>
Array<S> embedding(const std::vector<int32_t>& tokens, const Array<S>& table, const Array<S>& positions,
                   double scale, int64_t T, int64_t D) {
  Array<S> out(tokens.size() * at(D));
  for (size_t r = 0; r < tokens.size(); ++r)
    for (int64_t j = 0; j < D; ++j) {
      S value = S(scale) * table[at(tokens[r] * D + j)];
      if (!positions.empty()) value += positions[at(static_cast<int64_t>(r) % T * D + j)];
      out[r * at(D) + at(j)] = value;
    }
  return out;
}

/// LinearShape holds the sizes of a product, in which W is (K,N), or (N,K) when transposed:
///   y (M,N)  =  x (M,K) W + b (N)
struct LinearShape {
  int64_t M, K, N;
  bool transposed = false;
  size_t weight(int64_t k, int64_t n) const { return at(transposed ? n * K + k : k * N + n); }
};

template <class S>
Array<S> linear(const Array<S>& x, const Array<S>& w, const Array<S>& b, LinearShape s) {
  Array<S> y(at(s.M * s.N));
  for (int64_t m = 0; m < s.M; ++m)
    for (int64_t n = 0; n < s.N; ++n) {
      S sum = b.empty() ? S(0.0) : b[at(n)];
      for (int64_t k = 0; k < s.K; ++k) sum += x[at(m * s.K + k)] * w[s.weight(k, n)];
      y[at(m * s.N + n)] = sum;
    }
  return y;
}

struct AttentionShape {
  int64_t B, H, Tq, Tk, D;
  bool causal = false;
  std::vector<int32_t> key_lengths = {};  ///< (B), or empty
  std::vector<uint8_t> keep = {};         ///< dropout mask (B,H,Tq,Tk), or empty
  double keep_scale = 1.0;

  int64_t width() const { return D / H; }
  double scale() const { return 1.0 / std::sqrt(static_cast<double>(width())); }
  size_t q(int64_t b, int64_t t, int64_t h, int64_t j) const {
    return at((b * Tq + t) * D + h * width() + j);
  }
  size_t k(int64_t b, int64_t t, int64_t h, int64_t j) const {
    return at((b * Tk + t) * D + h * width() + j);
  }
  size_t p(int64_t b, int64_t h, int64_t t, int64_t s) const { return at(((b * H + h) * Tq + t) * Tk + s); }
  bool visible(int64_t b, int64_t t, int64_t s) const {
    return (!causal || s <= t) && (key_lengths.empty() || s < key_lengths[at(b)]);
  }
  double kept(size_t index) const { return keep.empty() ? 1.0 : keep[index] ? keep_scale : 0.0; }
};

template <class S>
struct AttentionResult {
  Array<S> out, probabilities;  ///< probabilities before dropout, zero at masked keys
};

template <class S>
AttentionResult<S> attention(const Array<S>& q, const Array<S>& k, const Array<S>& v,
                             const AttentionShape& a) {
  AttentionResult<S> r{Array<S>(at(a.B * a.Tq * a.D), S(0.0)), Array<S>(at(a.B * a.H * a.Tq * a.Tk), S(0.0))};
  for (int64_t b = 0; b < a.B; ++b)
    for (int64_t h = 0; h < a.H; ++h)
      for (int64_t t = 0; t < a.Tq; ++t) {
        double largest = -std::numeric_limits<double>::infinity();
        for (int64_t s = 0; s < a.Tk; ++s) {
          if (!a.visible(b, t, s)) continue;
          S score(0.0);
          for (int64_t j = 0; j < a.width(); ++j) score += q[a.q(b, t, h, j)] * k[a.k(b, s, h, j)];
          r.probabilities[a.p(b, h, t, s)] = score * S(a.scale());
          largest = std::max(largest, value_of(r.probabilities[a.p(b, h, t, s)]));
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

/// RelativeShape is that of a segment of Tq positions over Tk keys, the first Tk - Tq of which are a memory.
struct RelativeShape : AttentionShape {
  std::vector<int32_t> memory_lengths = {};  ///< (B), or empty: all of it counts

  int64_t memory() const { return Tk - Tq; }
  int64_t counted(int64_t b) const {
    return memory_lengths.empty() ? memory() : std::clamp<int64_t>(memory_lengths[at(b)], 0, memory());
  }
  bool visible(int64_t b, int64_t t, int64_t s) const {
    return s <= t + memory() && s >= memory() - counted(b);
  }
  /// r() indexes the row of distances that is for query t and key s.
  size_t r(int64_t t, int64_t s, int64_t h, int64_t j) const {
    return at((t + memory() - s) * D + h * width() + j);
  }
};

/// relative_attention takes content and position (B,Tq,D), keys and values (B,Tk,D), and distances (P,D).
template <class S>
AttentionResult<S> relative_attention(const Array<S>& content, const Array<S>& k, const Array<S>& v,
                                      const Array<S>& position, const Array<S>& distances,
                                      const RelativeShape& a) {
  AttentionResult<S> r{Array<S>(at(a.B * a.Tq * a.D), S(0.0)), Array<S>(at(a.B * a.H * a.Tq * a.Tk), S(0.0))};
  for (int64_t b = 0; b < a.B; ++b)
    for (int64_t h = 0; h < a.H; ++h)
      for (int64_t t = 0; t < a.Tq; ++t) {
        double largest = -std::numeric_limits<double>::infinity();
        for (int64_t s = 0; s < a.Tk; ++s) {
          if (!a.visible(b, t, s)) continue;
          S score(0.0);
          for (int64_t j = 0; j < a.width(); ++j)
            score += content[a.q(b, t, h, j)] * k[a.k(b, s, h, j)] +
                     position[a.q(b, t, h, j)] * distances[a.r(t, s, h, j)];
          r.probabilities[a.p(b, h, t, s)] = score * S(a.scale());
          largest = std::max(largest, value_of(r.probabilities[a.p(b, h, t, s)]));
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

/// concat puts the row of b (B,Tb,D) behind that of a (B,Ta,D), in each of `rows` rows.
template <class S>
Array<S> concat(const Array<S>& a, const Array<S>& b, int64_t rows) {
  Array<S> out;
  const size_t each_a = a.size() / at(rows), each_b = b.size() / at(rows);
  for (size_t row = 0; row < at(rows); ++row) {
    for (size_t i = 0; i < each_a; ++i) out.push_back(a[row * each_a + i]);
    for (size_t i = 0; i < each_b; ++i) out.push_back(b[row * each_b + i]);
  }
  return out;
}

template <class S>
struct NormResult {
  Array<S> out, mean, inverse_sigma;
};

/// `AdaNumbers` are AdaNorm's C and k.
struct AdaNumbers {
  double scale = 1, slope = 0.1;
};

/// layer_norm computes all kinds but DyT over rows x of length D, with y = (x - mean) / sqrt(variance + eps):
///   LayerNorm                    out  =  gain * y + bias
///   Simple, the detached kinds   out  =  y
///   AdaNorm                      out  =  C (1 - k y) * y
///   Rms                          out  =  gain * x / sqrt(mean(x²) + eps)
/// What a kind detaches is a plain number here, so that a Var has no derivative through it.
template <class S>
NormResult<S> layer_norm(NormKind kind, const Array<S>& x, const Array<S>& gain, const Array<S>& bias,
                         int64_t D, double eps, const AdaNumbers& ada = {}) {
  const int64_t R = static_cast<int64_t>(x.size()) / D;
  NormResult<S> r{Array<S>(x.size()), Array<S>(at(R), S(0.0)), Array<S>(at(R))};
  for (int64_t i = 0; i < R; ++i) {
    const S* row = x.data() + i * D;
    S mean(0.0), variance(0.0);
    if (kind != NormKind::Rms) {
      for (int64_t j = 0; j < D; ++j) mean += row[j];
      mean /= S(static_cast<double>(D));
    }
    for (int64_t j = 0; j < D; ++j) variance += (row[j] - mean) * (row[j] - mean);
    variance /= S(static_cast<double>(D));
    S inverse_sigma = S(1.0) / sqrt(variance + S(eps));
    if (kind == NormKind::Detach || kind == NormKind::DetachMean) mean = S(value_of(mean));
    if (kind == NormKind::Detach || kind == NormKind::DetachVariance)
      inverse_sigma = S(value_of(inverse_sigma));
    r.mean[at(i)] = mean;
    r.inverse_sigma[at(i)] = inverse_sigma;
    for (int64_t j = 0; j < D; ++j) {
      S y = (row[j] - mean) * r.inverse_sigma[at(i)];
      if (kind == NormKind::AdaNorm) y *= S(ada.scale * (1.0 - ada.slope * value_of(y)));
      if (!gain.empty()) y *= gain[at(j)];
      if (!bias.empty()) y += bias[at(j)];
      r.out[at(i * D + j)] = y;
    }
  }
  return r;
}

/// dyt computes, over rows x of length D,
///   out            =  gain * tanh(alpha x) + bias
///   inverse_sigma  =  sqrt(sum of tanh(alpha x)² / sum of x²)
template <class S>
NormResult<S> dyt(const Array<S>& x, const Array<S>& gain, const Array<S>& bias, S alpha, int64_t D) {
  const int64_t R = static_cast<int64_t>(x.size()) / D;
  NormResult<S> r{Array<S>(x.size()), Array<S>(at(R), S(0.0)), Array<S>(at(R))};
  for (int64_t i = 0; i < R; ++i) {
    S before(0.0), after(0.0);
    for (int64_t j = 0; j < D; ++j) {
      const S e = x[at(i * D + j)], t = tanh(alpha * e);
      before += e * e;
      after += t * t;
      r.out[at(i * D + j)] = gain[at(j)] * t + bias[at(j)];
    }
    r.inverse_sigma[at(i)] = sqrt(after / before);
  }
  return r;
}

template <class S>
Array<S> relu(const Array<S>& x) {
  Array<S> y(x);
  for (S& e : y)
    if (value_of(e) <= 0) e = S(0.0);  // NaN stays NaN
  return y;
}

inline constexpr double kGeluScale = 0.7978845608028654;  // sqrt(2/pi)
inline constexpr double kGeluCubic = 0.044715;

template <class S>
Array<S> gelu(const Array<S>& x) {
  Array<S> y(x);
  for (S& e : y) e = S(0.5) * e * (S(1.0) + tanh(S(kGeluScale) * (e + S(kGeluCubic) * e * e * e)));
  return y;
}

/// scale_at returns the scale of one element of the residual sum; `learned` has 1 or D numbers, or none: the constant.
template <class S>
S scale_at(const Array<S>& learned, double constant, size_t element, int64_t D) {
  if (learned.empty()) return S(constant);
  return learned.size() == 1 ? learned[0] : learned[element % at(D)];
}

/// add computes, over x and f (..,D), whose scales are numbers or rows (see scale_at):
///   out  =  skip * x + branch * f
template <class S>
Array<S> add(const Array<S>& x, const Array<S>& f, const Array<S>& skip, const Array<S>& branch,
             double skip_constant, double branch_constant, int64_t D) {
  Array<S> out(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    out[i] = scale_at(skip, skip_constant, i, D) * x[i] + scale_at(branch, branch_constant, i, D) * f[i];
  return out;
}

/// affine computes, over rows x of length D,
///   out  =  constant * gain * x + shift
/// where number k of gain or shift serves the k-th of as many equal parts of a row.
template <class S>
Array<S> affine(const Array<S>& x, const Array<S>& gain, const Array<S>& shift, double constant, int64_t D) {
  const auto part = [&](const Array<S>& of, size_t i) { return of[i % at(D) * of.size() / at(D)]; };
  Array<S> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    out[i] = S(constant) * x[i];
    if (!gain.empty()) out[i] *= part(gain, i);
    if (!shift.empty()) out[i] += part(shift, i);
  }
  return out;
}

template <class S>
Array<S> dropout(const Array<S>& x, const std::vector<uint8_t>& keep, double keep_scale) {
  Array<S> y(x);
  for (size_t i = 0; i < y.size(); ++i) y[i] = keep[i] ? y[i] * S(keep_scale) : S(0.0);
  return y;
}

/// `counted` is the number of positions of row b that count.
inline int64_t counted(const std::vector<int32_t>& lengths, int64_t b, int64_t T) {
  return lengths.empty() ? T : std::clamp<int64_t>(lengths[at(b)], 0, T);
}

/// mean_pool computes, of x (B,T,D) and with n_b positions of row b that count,
///   out[b,t]  =  1/n_b * sum over s < n_b of x[b,s]
template <class S>
Array<S> mean_pool(const Array<S>& x, const std::vector<int32_t>& lengths, int64_t B, int64_t T, int64_t D) {
  Array<S> out(x.size(), S(0.0));
  for (int64_t b = 0; b < B; ++b)
    for (int64_t j = 0; j < D; ++j) {
      const int64_t n = counted(lengths, b, T);
      S sum(0.0);
      for (int64_t s = 0; s < n; ++s) sum += x[at((b * T + s) * D + j)];
      for (int64_t t = 0; n > 0 && t < T; ++t) out[at((b * T + t) * D + j)] = sum / S(static_cast<double>(n));
    }
  return out;
}

/// row_weights computes the weight of each row in the mean, 0 for rows without a target (target < 0), else
///   w_r / sum of w over the rows with a target
inline Array<double> row_weights(const std::vector<int32_t>& targets, const Array<double>& weights) {
  Array<double> w(targets.size());
  double sum = 0;
  for (size_t r = 0; r < w.size(); ++r)
    sum += w[r] = targets[r] < 0 ? 0.0 : weights.empty() ? 1.0 : weights[r];
  for (double& e : w) e /= sum;
  return w;
}

template <class S>
struct LossResult {
  S loss;
  Array<S> log_sum_exp;
};

/// softmax_xent computes, with p_r the softmax of row r, e the smoothing and w the weights of row_weights,
///   CE_r  =  (1 - e) (-log p_{r,target}) + e mean over v of (-log p_{r,v})
///   loss  =  sum over r of w_r CE_r
template <class S>
LossResult<S> softmax_xent(const Array<S>& logits, const std::vector<int32_t>& targets,
                           const Array<double>& weight, double smoothing) {
  const size_t R = targets.size(), V = logits.size() / R;
  LossResult<S> result{S(0.0), Array<S>(R)};
  for (size_t r = 0; r < R; ++r) {
    const S* row = logits.data() + r * V;
    double largest = value_of(row[0]);
    for (size_t v = 1; v < V; ++v) largest = std::max(largest, value_of(row[v]));
    S sum(0.0), mean(0.0);
    for (size_t v = 0; v < V; ++v) {
      sum += exp(row[v] - S(largest));
      mean += row[v] / S(static_cast<double>(V));
    }
    const S lse = log(sum) + S(largest);
    result.log_sum_exp[r] = lse;
    if (targets[r] < 0) continue;
    result.loss += S(weight[r]) * (S(1 - smoothing) * (lse - row[targets[r]]) + S(smoothing) * (lse - mean));
  }
  return result;
}

}  // namespace normscope::reference

// The reference's ops on rows, element by element or a product, in plain loops: see reference.h.
#pragma once

#include <algorithm>

#include "engine/ops/ops.h"
#include "reference/op_call.h"

namespace normscope::reference {

/// Computes out (B,T,D) from tokens (B,T), table (V,D) and positions (>=T,D), which may be empty:
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

/// A token that is not in the table counts as a row of zeros.
template <class S>
Outputs<S> forward(Op<OpKind::Embedding>, const Call<S>& c) {
  const int64_t width = c.shape(1).cols(), vocabulary = c.shape(1).rows();
  Array<S> table = c.numbers(1);
  table.resize(table.size() + at(width), S(0.0));
  std::vector<int32_t> tokens = c.integers(0);
  for (int32_t& token : tokens)
    if (token < 0 || token >= vocabulary) token = static_cast<int32_t>(vocabulary);
  const auto scale = static_cast<double>(c.attributes.template as<EmbeddingSpec>().scale);
  return {embedding<S>(tokens, table, c.numbers(2), scale, c.shape(0)[1], width)};
}

/// Holds the sizes of a product, in which W is (K,N), or (N,K) when transposed:
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

template <class S>
Outputs<S> forward(Op<OpKind::Linear>, const Call<S>& c) {
  const bool transposed = c.attributes.template as<LinearSpec>().transposed;
  const Shape& w = c.shape(1);
  return {linear<S>(c.numbers(0), c.numbers(1), c.numbers(2),
                    {c.shape(0).rows(), c.shape(0).cols(), transposed ? w[0] : w[1], transposed})};
}

/// Puts the row of b (B,Tb,D) behind the row of a (B,Ta,D), for each of `rows` rows of the batch, or positions.
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
Outputs<S> forward(Op<OpKind::Concat>, const Call<S>& c) {
  const Shape& b = c.shape(1);
  return {
      concat<S>(c.numbers(0), c.numbers(1), c.attributes.template as<ConcatSpec>().parts ? b.rows() : b[0])};
}

// The formulas that the kernels compute, on plain numbers and on Var.
namespace formulas {

template <class S>
S fma(S a, S b, S c) {
  return a * b + c;
}
template <class S>
S nfma(S a, S b, S c) {
  return c - a * b;
}
template <class S>
bool below_zero(S x) {
  return value_of(x) < 0;
}
template <class S>
S zero_if(bool mask, S x) {
  return mask ? S(0.0) : x;
}
#define FORMULA
#include "engine/ops/formulas.h"
#undef FORMULA

}  // namespace formulas

template <class Formula, class S>
Outputs<S> each_value(const Call<S>& c) {
  Formula f;
  if constexpr (requires { typename Formula::Spec; })
    f.spec = c.attributes.template as<typename Formula::Spec>();
  Array<S> y(c.numbers(0));
  for (size_t i = 0; i < y.size(); ++i)
    if constexpr (requires { f.value(y[i]); })
      y[i] = f.value(y[i]);
    else
      y[i] = f.value(y[i], c.numbers(1)[i]);
  return {y};
}

#define ELEMENTWISE(Kind, name, ...)                       \
  template <class S>                                       \
  Outputs<S> forward(Op<OpKind::Kind>, const Call<S>& c) { \
    return each_value<formulas::Kind>(c);                  \
  }
#include "engine/ops/ops.def"

// relu(x), gelu(x) and so on.
#define ACTIVATION(Kind, op, label)                \
  template <class S>                               \
  Array<S> op(Array<S> x) {                        \
    for (S & e : x) e = formulas::Kind{}.value(e); \
    return x;                                      \
  }
#include "engine/ops/ops.def"

/// Returns the scale of one element of the residual sum; `learned` has 1 or D numbers, or none: the constant.
template <class S>
S scale_at(const Array<S>& learned, double constant, size_t element, int64_t D) {
  if (learned.empty()) return S(constant);
  return learned.size() == 1 ? learned[0] : learned[element % at(D)];
}

/// Computes, over x and f (..,D), whose scales are numbers or rows (see scale_at):
///   out  =  skip * x + branch * f
template <class S>
Array<S> add(const Array<S>& x, const Array<S>& f, const Array<S>& skip, const Array<S>& branch,
             double skip_constant, double branch_constant, int64_t D) {
  Array<S> out(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    out[i] = scale_at(skip, skip_constant, i, D) * x[i] + scale_at(branch, branch_constant, i, D) * f[i];
  return out;
}

template <class S>
Outputs<S> forward(Op<OpKind::Add>, const Call<S>& c) {
  const auto spec = c.attributes.template as<AddSpec>();
  return {add<S>(c.numbers(0), c.numbers(1), c.numbers(2), c.numbers(3), static_cast<double>(spec.skip),
                 static_cast<double>(spec.branch), c.shape(0).cols())};
}

/// Computes, over rows x of length D,
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
Outputs<S> forward(Op<OpKind::Affine>, const Call<S>& c) {
  const auto spec = c.attributes.template as<AffineSpec>();
  const auto scaled = [&](const Array<S>& x) {
    return affine<S>(x, c.numbers(1), c.numbers(2), static_cast<double>(spec.constant), c.shape(0).cols());
  };
  const Array<S>& x = c.numbers(0);
  if (!spec.keeps_gradient) return {scaled(x)};
  Array<S> plain(x.size());
  for (size_t i = 0; i < x.size(); ++i) plain[i] = S(value_of(x[i]));
  Array<S> out = scaled(plain);
  for (size_t i = 0; i < x.size(); ++i) out[i] += x[i] - plain[i];
  return {out};
}

template <class S>
Array<S> dropout(const Array<S>& x, const std::vector<uint8_t>& keep, double keep_scale) {
  Array<S> y(x);
  for (size_t i = 0; i < y.size(); ++i) y[i] = keep[i] ? y[i] * S(keep_scale) : S(0.0);
  return y;
}

template <class S>
Outputs<S> forward(Op<OpKind::Dropout>, const Call<S>& c) {
  const auto spec = c.attributes.template as<DropoutSpec>();
  const auto keep = kept(c.shape(0).size(), c.step, spec.kind, spec.site);
  return {dropout<S>(c.numbers(0), keep, scale_of(c.step, spec.kind))};
}

/// The number of positions of row b that count.
inline int64_t counted(const std::vector<int32_t>& lengths, int64_t b, int64_t T) {
  return lengths.empty() ? T : std::clamp<int64_t>(lengths[at(b)], 0, T);
}

/// Computes, of x (B,T,D) and with n_b positions of row b that count,
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

template <class S>
Outputs<S> forward(Op<OpKind::MeanPool>, const Call<S>& c) {
  const Shape& x = c.shape(0);
  return {mean_pool<S>(c.numbers(0), c.integers(1), x[0], x[1], x[2])};
}

/// Computes the weight of each row in the mean, 0 for rows without a target (target < 0), else
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

/// Computes, with p_r the softmax of row r, e the smoothing and w the weights of row_weights,
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

/// A target that is not a symbol is ignored.
template <class S>
Outputs<S> forward(Op<OpKind::SoftmaxXent>, const Call<S>& c) {
  std::vector<int32_t> targets = c.integers(1);
  for (int32_t& target : targets)
    if (target >= c.shape(0).cols()) target = -1;
  Array<double> given;
  for (const S& weight : c.numbers(2)) given.push_back(value_of(weight));
  const Array<double> weights = row_weights(targets, given);
  const auto result =
      softmax_xent<S>(c.numbers(0), targets, weights, static_cast<double>(c.step.label_smoothing));
  return {{result.loss}, result.log_sum_exp, Array<S>(weights.begin(), weights.end())};
}

/// A row of weight 0 is not read.
template <class S>
Outputs<S> forward(Op<OpKind::SquaredError>, const Call<S>& c) {
  const size_t rows = at(c.shape(0).rows()), width = at(c.shape(0).cols());
  Array<double> weights(rows, 1.0);
  for (size_t r = 0; r < c.numbers(2).size(); ++r) weights[r] = value_of(c.numbers(2)[r]);
  double sum = 0;
  for (const double w : weights) sum += w;
  S loss(0.0);
  Array<S> shares;
  for (size_t r = 0; r < rows; ++r) {
    const double share = sum == 0 ? 0 : weights[r] / sum;
    shares.push_back(S(share));
    if (share == 0) continue;
    for (size_t i = r * width; i < (r + 1) * width; ++i) {
      const S error = c.numbers(0)[i] - c.numbers(1)[i];
      loss += S(share / static_cast<double>(width)) * error * error;
    }
  }
  return {{loss}, shares};
}

}  // namespace normscope::reference

// The reference's norms, in plain loops: see reference.h.
#pragma once

#include "engine/ops/ops.h"
#include "reference/op_call.h"

namespace normscope::reference {

template <class S>
struct NormResult {
  Array<S> out, mean, inverse_sigma;
};

template <class S>
struct Statistics {
  S mean, inverse_sigma;
};

/// Computes a row's mean, 0 where the kind is not centred, and  1 / sqrt(variance + eps).
template <class S>
Statistics<S> statistics_of(NormKind kind, const S* row, int64_t D, double eps) {
  S mean(0.0), variance(0.0);
  if (is_centred(kind)) {
    for (int64_t j = 0; j < D; ++j) mean += row[j];
    mean /= S(static_cast<double>(D));
  }
  for (int64_t j = 0; j < D; ++j) variance += (row[j] - mean) * (row[j] - mean);
  variance /= S(static_cast<double>(D));
  return {mean, S(1.0) / sqrt(variance + S(eps))};
}

/// What a kind without statistics makes of u = alpha x + shift: tanh u (DyT), erf u (Derf).
template <class S>
S curve(NormKind kind, S u) {
  return has_shift(kind) ? erf(u) : tanh(u);
}

/// What a kind multiplies y = z / sigma by beside a gain, held constant in the backward pass: AdaNorm's C (1 - k y).
template <class S>
S held_factor(S scale, S slope, S z, S inverse_sigma) {
  return scale * (1 - slope * z * inverse_sigma);
}

/// AdaNorm's C and k.
struct AdaNumbers {
  double scale = 1, slope = 0.1;
};

/// Computes all kinds but DyT and Derf over rows x of length D, with y = (x - mean) / sqrt(variance + eps):
///   LayerNorm                    out  =  gain * y + bias
///   Simple, the detached kinds   out  =  y
///   AdaNorm                      out  =  C (1 - k y) * y
///   Rms                          out  =  gain * x / sqrt(mean(x²) + eps)
///   RmsSimple                    out  =  x / sqrt(mean(x²) + eps)
/// What a kind detaches is a plain number here, so that a Var has no derivative through it: of x, or of `held`
/// (see Call).
template <class S>
NormResult<S> layer_norm(NormKind kind, const Array<S>& x, const Array<S>& gain, const Array<S>& bias,
                         int64_t D, double eps, const AdaNumbers& ada = {},
                         const Array<double>* held = nullptr) {
  const int64_t R = static_cast<int64_t>(x.size()) / D;
  NormResult<S> r{Array<S>(x.size()), Array<S>(at(R)), Array<S>(at(R))};
  Array<double> still(at(D));
  for (int64_t i = 0; i < R; ++i) {
    const S* row = x.data() + i * D;
    auto [mean, inverse_sigma] = statistics_of(kind, row, D, eps);
    Statistics<double> fixed{};
    if (holds_constant(kind)) {
      for (int64_t j = 0; j < D; ++j) still[at(j)] = held ? (*held)[at(i * D + j)] : value_of(row[j]);
      fixed = statistics_of(kind, still.data(), D, eps);
      if (!mean_has_gradient(kind)) mean = S(fixed.mean);
      if (!sigma_has_gradient(kind)) inverse_sigma = S(fixed.inverse_sigma);
    }
    r.mean[at(i)] = mean;
    r.inverse_sigma[at(i)] = inverse_sigma;
    for (int64_t j = 0; j < D; ++j) {
      S y = (row[j] - mean) * inverse_sigma;
      if (!traits_of(kind).gradient_divided) {  // a number, and a derivative times sigma
        const double still_y = value_of(y);
        y = S(still_y) + (y - S(still_y)) * S(1 / value_of(inverse_sigma));
      }
      if (traits_of(kind).has_factor)
        y *= S(held_factor(ada.scale, ada.slope, still[at(j)] - fixed.mean, fixed.inverse_sigma));
      if (!gain.empty()) y *= gain[at(j)];
      if (!bias.empty()) y += bias[at(j)];
      r.out[at(i * D + j)] = y;
    }
  }
  return r;
}

/// Computes a kind without statistics over rows x of length D:
///   out            =  gain * t + bias                t = curve(alpha x + shift)
///   inverse_sigma  =  sqrt(sum of t² / sum of x²)
template <class S>
NormResult<S> squash(NormKind kind, const Array<S>& x, const Array<S>& gain, const Array<S>& bias, S alpha,
                     const Array<S>& shift, int64_t D) {
  const int64_t R = static_cast<int64_t>(x.size()) / D;
  NormResult<S> r{Array<S>(x.size()), Array<S>(at(R), S(0.0)), Array<S>(at(R))};
  for (int64_t i = 0; i < R; ++i) {
    S before(0.0), after(0.0);
    for (int64_t j = 0; j < D; ++j) {
      const S e = x[at(i * D + j)], t = curve(kind, shift.empty() ? alpha * e : alpha * e + shift[0]);
      before += e * e;
      after += t * t;
      r.out[at(i * D + j)] = gain[at(j)] * t + bias[at(j)];
    }
    r.inverse_sigma[at(i)] = sqrt(after / before);
  }
  return r;
}

template <class S>
Outputs<S> forward(Op<OpKind::LayerNorm>, const Call<S>& c) {
  const auto spec = c.attributes.template as<NormSpec>();
  const int64_t D = c.shape(0).cols() / spec.heads;
  Array<S> gain = c.numbers(1);
  for (S& g : gain) g += S(static_cast<double>(spec.gain_offset));
  const auto result =
      has_alpha(spec.kind)
          ? squash<S>(spec.kind, c.numbers(0), gain, c.numbers(2), c.numbers(3).at(0),
                      has_shift(spec.kind) ? c.numbers(4) : Array<S>{}, D)
          : layer_norm<S>(spec.kind, c.numbers(0), gain, c.numbers(2), D, static_cast<double>(spec.eps),
                          {static_cast<double>(spec.scale), static_cast<double>(spec.slope)}, c.held);
  return {result.out, result.mean, result.inverse_sigma};
}

}  // namespace normscope::reference

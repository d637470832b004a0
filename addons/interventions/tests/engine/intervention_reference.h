// The ops of interventions in plain loops, see reference.h: what has no gradient by an op is a plain number there.
#pragma once

#include <cmath>
#include <type_traits>

#include "addons/interventions/engine/rerouted.h"
#include "reference/op_call.h"

namespace normscope::reference {

template <class S>
Outputs<S> forward(Op<OpKind::Amplify>, const Call<S>& c) {
  const int64_t D = c.shape(0).cols();
  Array<S> out(c.numbers(0));
  if constexpr (std::is_same_v<S, double>) return {out};  // what `of` holds changes no value, be it NaN
  for (int64_t r = 0; r < c.shape(0).rows(); ++r) {
    double mean = 0, squares = 0;
    for (int64_t j = 0; j < D; ++j) mean += value_of(c.numbers(1)[at(r * D + j)]) / static_cast<double>(D);
    for (int64_t j = 0; j < D; ++j) {
      const double v = value_of(c.numbers(1)[at(r * D + j)]) - mean;
      squares += v * v / static_cast<double>(D);
    }
    const auto& spec = c.attributes.template as<AmplifySpec>();
    const double factor =
        std::sqrt(squares + static_cast<double>(spec.eps)) / static_cast<double>(spec.divisor);
    for (int64_t j = 0; j < D; ++j) {
      const S x = c.numbers(0)[at(r * D + j)];
      out[at(r * D + j)] = S(value_of(x)) + S(factor) * (x - S(value_of(x)));
    }
  }
  return {out};
}

template <class S>
Outputs<S> forward(Op<OpKind::Centre>, const Call<S>& c) {
  const auto spec = c.attributes.template as<CentreSpec>();
  const int64_t batch = c.shape(0)[0], step = c.shape(0)[1] * c.shape(0)[2];
  Array<S> out(c.numbers(0));
  for (int64_t i = 0; i < step; ++i) {
    S sum(0.0);
    double plain = 0;
    for (int64_t b = 0; b < batch; ++b) {
      sum += c.numbers(0)[at(b * step + i)];
      plain += value_of(c.numbers(0)[at(b * step + i)]);
    }
    // The mean as a number has no derivative; the mean less itself as a number has no value.
    const double share = 1.0 / static_cast<double>(batch);
    S taken(0.0);
    if (spec.value) taken += S(plain * share);
    if constexpr (!std::is_same_v<S, double>)
      if (spec.gradient) taken += (sum - S(plain)) * S(share);
    for (int64_t b = 0; b < batch; ++b) out[at(b * step + i)] = out[at(b * step + i)] - taken;
  }
  return {out};
}

}  // namespace normscope::reference

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
Outputs<S> forward(Op<OpKind::Reweigh>, const Call<S>& c) {
  const auto spec = c.attributes.template as<ReweighSpec>();
  const Shape& shape = c.shape(0);
  const int64_t step = spec.tokens ? shape.cols() : shape[1] * shape.cols(), count = shape.size() / step;
  // With one share for both parts no mean is taken, so that NaN stays in its own row.
  const auto weighed = [](Shares shares, S x, S mean) {
    const S own(static_cast<double>(shares.differing));
    if (shares.common == shares.differing) return own * x;
    return own * (x - mean) + S(static_cast<double>(shares.common)) * mean;
  };
  Array<S> out(c.numbers(0));
  for (int64_t i = 0; i < step; ++i) {
    S mean(0.0);
    for (int64_t k = 0; k < count; ++k)
      mean += c.numbers(0)[at(k * step + i)] * S(1.0 / static_cast<double>(count));
    const S plain_mean(value_of(mean));
    for (int64_t k = 0; k < count; ++k) {
      const S x = c.numbers(0)[at(k * step + i)], plain(value_of(x));
      S& y = out[at(k * step + i)];
      y = weighed(spec.value, plain, plain_mean);  // a number, which has no derivative
      if constexpr (!std::is_same_v<S, double>) y += weighed(spec.gradient, x - plain, mean - plain_mean);
    }
  }
  return {out};
}

}  // namespace normscope::reference

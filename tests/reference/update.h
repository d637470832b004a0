// The reference's probes, clipping and optimizers are in double, as the papers write them.
#pragma once

#include <cmath>

#include "reference/var.h"

namespace normscope::reference {

inline double norm(const Values& v) {
  double sum = 0;
  for (double e : v) sum += e * e;
  return std::sqrt(sum);
}

inline double mean_square(const Values& x) {
  double sum = 0;
  for (double e : x) sum += e * e / static_cast<double>(x.size());
  return sum;
}

inline double variance(const Values& x) {
  double mean = 0, sum = 0;
  for (double e : x) mean += e / static_cast<double>(x.size());
  for (double e : x) sum += (e - mean) * (e - mean) / static_cast<double>(x.size());
  return sum;
}

/// Min(1, bound / total norm); a bound of 0 clips nothing.
inline double clip_factor(double total_norm, double bound) {
  return bound > 0 && total_norm > bound ? bound / total_norm : 1.0;
}

struct UpdateResult {
  Values value, m, v, change;
};

/// The clipped gradient with the coupled decay.
inline Values with_l2(const Values& w, Values g, const StepInputs& s) {
  for (size_t i = 0; i < g.size(); ++i) g[i] += static_cast<double>(s.l2) * w[i];
  return g;
}

/// Kingma and Ba 2015, algorithm 1, with decoupled weight decay (Loshchilov and Hutter 2019), and RAdam's
/// factor and un-adapted steps (Liu et al. 2020, algorithm 2). The gradient is clipped already.
inline UpdateResult adam(const Values& w, const Values& clipped, const Values& m, const Values& v,
                         const StepInputs& s) {
  const Values g = with_l2(w, clipped, s);
  UpdateResult r{w, m, v, Values(w.size())};
  const double b1 = static_cast<double>(s.beta1), b2 = static_cast<double>(s.beta2),
               lr = static_cast<double>(s.lr);
  for (size_t i = 0; i < w.size(); ++i) {
    r.m[i] = b1 * m[i] + (1 - b1) * g[i];
    r.v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
    const double m_hat = r.m[i] / static_cast<double>(s.bias_correction1);
    const double v_hat = r.v[i] / static_cast<double>(s.bias_correction2);
    const double divisor = s.adapted ? std::sqrt(v_hat) + static_cast<double>(s.eps) : 1.0;
    r.change[i] = -lr * (static_cast<double>(s.rectification) * m_hat / divisor +
                         static_cast<double>(s.weight_decay) * w[i]);
    r.value[i] = w[i] + r.change[i];
  }
  return r;
}

/// m = momentum m + g; w -= lr (m + decay w).
inline UpdateResult sgd(const Values& w, const Values& clipped, const Values& m, const StepInputs& s) {
  const Values g = with_l2(w, clipped, s);
  UpdateResult r{w, m, {}, Values(w.size())};
  for (size_t i = 0; i < w.size(); ++i) {
    r.m[i] = static_cast<double>(s.momentum) * m[i] + g[i];
    r.change[i] = -static_cast<double>(s.lr) * (r.m[i] + static_cast<double>(s.weight_decay) * w[i]);
    r.value[i] = w[i] + r.change[i];
  }
  return r;
}

}  // namespace normscope::reference

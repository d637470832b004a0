// Forward-mode dual numbers: v + d·ε with ε² = 0. A reference forward run on them gives the exact directional
// derivative of its output, with no step size to choose; that proves the hand-written reference backward.
#pragma once

#include <cmath>

namespace normscope::reference {

struct Dual {
  double v = 0, d = 0;
  Dual() = default;
  Dual(double value) : v(value) {}  // NOLINT: a constant is a dual number with derivative 0
  Dual(double value, double derivative) : v(value), d(derivative) {}

  Dual& operator+=(Dual o) { return *this = {v + o.v, d + o.d}; }
  Dual& operator-=(Dual o) { return *this = {v - o.v, d - o.d}; }
  Dual& operator*=(Dual o) { return *this = {v * o.v, d * o.v + v * o.d}; }
  Dual& operator/=(Dual o) { return *this = {v / o.v, (d - v / o.v * o.d) / o.v}; }
  friend Dual operator+(Dual a, Dual b) { return a += b; }
  friend Dual operator-(Dual a, Dual b) { return a -= b; }
  friend Dual operator*(Dual a, Dual b) { return a *= b; }
  friend Dual operator/(Dual a, Dual b) { return a /= b; }
  friend Dual operator-(Dual a) { return {-a.v, -a.d}; }
};

inline Dual exp(Dual x) { return {std::exp(x.v), std::exp(x.v) * x.d}; }
inline Dual log(Dual x) { return {std::log(x.v), x.d / x.v}; }
inline Dual sqrt(Dual x) { return {std::sqrt(x.v), x.d / (2 * std::sqrt(x.v))}; }
inline Dual tanh(Dual x) {
  const double t = std::tanh(x.v);
  return {t, (1 - t * t) * x.d};
}

inline double value_of(Dual x) { return x.v; }  // beside that of a double: engine/ops/reference.h

}  // namespace normscope::reference

// Var is a double that remembers how it was computed, so that one sweep backwards gives the derivative of a result with
// respect to every number that it came from (reverse accumulation: Linnainmaa 1970; Karpathy's micrograd is the same on
// two pages). The reference's forward, reference/ops.h, runs on it unchanged: no backward is written
// here, so that the kernels' own are compared with the derivative of the formula itself.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "reference/ops.h"

namespace normscope::reference {

using Values = Array<double>;

/// Keeps what was computed from the numbers that were given to it, in order. The newest one alive records.
class Trace {
 public:
  Trace() : before_(newest()) {
    newest() = this;
    steps_.swap(spare());
  }
  ~Trace() {
    newest() = before_;
    steps_.clear();
    spare().swap(steps_);
  }
  Trace(const Trace&) = delete;

  /// Adds a number that follows numbers a and b with slopes da and db; -1: no such number.
  static int32_t follows(int32_t a, double da, int32_t b = -1, double db = 0) {
    if (a < 0 && b < 0) return -1;  // a constant
    return newest()->add({a, b, da, db});
  }
  int32_t leaf() { return add({-1, -1, 0, 0}); }

  /// Computes the derivatives of sum_i out_weight_i out_i with respect to everything recorded.
  template <class Out>
  void sweep(const std::vector<Out>& out, const Values& out_weight) {
    gradient_.assign(steps_.size(), 0.0);
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i].place >= 0) gradient_[at(out[i].place)] += out_weight[i];
    for (size_t i = steps_.size(); i-- > 0;) {
      const Step& s = steps_[i];
      if (gradient_[i] == 0) continue;  // nor would an infinite slope make anything of it
      if (s.a >= 0) gradient_[at(s.a)] += s.da * gradient_[i];
      if (s.b >= 0) gradient_[at(s.b)] += s.db * gradient_[i];
    }
  }
  double gradient(int32_t place) const { return gradient_[at(place)]; }

 private:
  struct Step {
    int32_t a, b;
    double da, db;
  };
  int32_t add(const Step& step) {
    steps_.push_back(step);
    return static_cast<int32_t>(steps_.size() - 1);
  }
  static Trace*& newest() {
    static thread_local Trace* trace = nullptr;
    return trace;
  }

  /// The memory of the last trace: a product of some size records millions of steps.
  static std::vector<Step>& spare() {
    static thread_local std::vector<Step> steps;
    return steps;
  }

  std::vector<Step> steps_;
  Values gradient_;
  Trace* before_;
};

struct Var {
  double v = 0;
  int32_t place = -1;  ///< in the Trace; -1: a constant

  Var() = default;
  Var(double value) : v(value) {}  // NOLINT: a constant is a Var without a derivative
  Var(double value, int32_t in_trace) : v(value), place(in_trace) {}

  friend Var operator+(Var a, Var b) { return {a.v + b.v, Trace::follows(a.place, 1, b.place, 1)}; }
  friend Var operator-(Var a, Var b) { return {a.v - b.v, Trace::follows(a.place, 1, b.place, -1)}; }
  friend Var operator*(Var a, Var b) { return {a.v * b.v, Trace::follows(a.place, b.v, b.place, a.v)}; }
  friend Var operator/(Var a, Var b) {
    return {a.v / b.v, Trace::follows(a.place, 1 / b.v, b.place, -a.v / (b.v * b.v))};
  }
  friend Var operator-(Var a) { return {-a.v, Trace::follows(a.place, -1)}; }
  Var& operator+=(Var o) { return *this = *this + o; }
  Var& operator-=(Var o) { return *this = *this - o; }
  Var& operator*=(Var o) { return *this = *this * o; }
  Var& operator/=(Var o) { return *this = *this / o; }
};

inline Var exp(Var x) { return {std::exp(x.v), Trace::follows(x.place, std::exp(x.v))}; }
inline Var log(Var x) { return {std::log(x.v), Trace::follows(x.place, 1 / x.v)}; }
inline Var sqrt(Var x) { return {std::sqrt(x.v), Trace::follows(x.place, 0.5 / std::sqrt(x.v))}; }
inline Var erf(Var x) {
  const double slope = 2 / std::sqrt(std::acos(-1.0)) * std::exp(-x.v * x.v);
  return {std::erf(x.v), Trace::follows(x.place, slope)};
}
inline Var tanh(Var x) {
  const double t = std::tanh(x.v);
  return {t, Trace::follows(x.place, 1 - t * t)};
}

inline double value_of(Var x) { return x.v; }  // beside that of a double: reference/ops.h

inline Values values_of(const Array<Var>& x) {
  Values v;
  for (const Var& e : x) v.push_back(e.v);
  return v;
}
/// What the trace is asked for the derivatives of.
inline Array<Var> leaves(Trace& trace, const Values& v) {
  Array<Var> x;
  for (const double e : v) x.emplace_back(e, trace.leaf());
  return x;
}
/// The gradients of leaves, behind sweep().
inline Values gradients(const Trace& trace, const Array<Var>& x) {
  Values g;
  for (const Var& e : x) g.push_back(trace.gradient(e.place));
  return g;
}

}  // namespace normscope::reference

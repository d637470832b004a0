// The ops that compute on one number, or one pair of numbers, at a time: value, and slope with respect to each input.
// The code that runs them applies the chain rule, dx = dout slope(x). The formulas of add-ons follow.
//
// V is a vector of the CPU (elementwise_cpu.cpp), a float of a GPU (elementwise.cu) or a number that remembers
// how it was computed (tests/reference/op_rows.h). Each of these includes this file in its own namespace, where exp,
// tanh, erf, fma(a, b, c) = a b + c and nfma(a, b, c) = c - a b are V's own, and begins the functions with its own
// FORMULA: so there is no include guard. An op with constants has them as Spec.

/// max(x, 0). NaN stays NaN, and a NaN passes the gradient on.
struct Relu {
  template <class V>
  FORMULA V value(V x) const {
    return zero_if(below_zero(x), x);
  }
  /// True where the slope is 0; it is 1 elsewhere.
  template <class V>
  FORMULA auto stops(V x) const {
    return not_above_zero(x);
  }
};

/// x (1 + tanh u) / 2 with u = c (x + a x^3), c = sqrt(2/pi), a = 0.044715 (Hendrycks and Gimpel 2016, the tanh form).
struct Gelu {
  static constexpr float kScale = 0.7978845608028654f, kCubic = 0.044715f;
  template <class V>
  FORMULA V bent(V x) const {
    return tanh(V(kScale) * x * fma(x * x, V(kCubic), V(1)));
  }
  template <class V>
  FORMULA V value(V x) const {
    const V half = x * V(0.5f);
    return fma(half, bent(x), half);
  }
  template <class V>
  FORMULA V slope(V x) const {
    const V t = bent(x), rise = x * nfma(t, t, V(1)) * fma(x * x, V(3 * kScale * kCubic), V(kScale));
    return V(0.5f) * (V(1) + t + rise);
  }
};

/// x / (1 + e^-x) (Elfwing, Uchibe and Doya 2017).
struct Silu {
  template <class V>
  FORMULA V value(V x) const {
    return x / (exp(-x) + V(1));
  }
  template <class V>
  FORMULA V slope(V x) const {
    const V s = V(1) / (exp(-x) + V(1));
    return fma(x * (V(1) - s), s, s);
  }
};

/// c tanh(x / c).
struct SoftCap {
  using Spec = SoftCapSpec;
  Spec spec;
  template <class V>
  FORMULA V value(V x) const {
    return V(spec.cap) * tanh(x / V(spec.cap));
  }
  template <class V>
  FORMULA V slope(V x) const {
    const V t = tanh(x / V(spec.cap));
    return nfma(t, t, V(1));
  }
};

/// a b.
struct Multiply {
  template <class V>
  FORMULA V value(V a, V b) const {
    return a * b;
  }
  template <class V>
  FORMULA V slope(int by, V a, V b) const {
    return by == 0 ? b : a;
  }
};

#include "chosen/formulas.def"

// These tests check the reference itself: its gradients are the derivative of its own forward, which differences
// confirm; its forward has the same values on numbers that remember as on plain ones; and every op has a case.
// test_op_cases.cpp compares the kernels with it.
#include <algorithm>

#include "engine/cpu/backend_cpu.h"
#include "engine/support/op_harness.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

namespace normscope::test {
namespace {

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double distance(Values a, const Values& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return norm_of(a) / norm_of(b);
}

/// Whether an input passes a corner within `step`, where the difference is not a derivative.
bool has_corner(const OpCase& c, const Values& in, double step) {
  return c.corners ||
         (c.op == OpKind::Relu && std::ranges::any_of(in, [&](double x) { return std::abs(x) < 10 * step; }));
}

/// Finds norms that hold a statistic on the way back, whose gradient is not a derivative.
bool holds_a_statistic(const OpCase& c) {
  return c.op == OpKind::LayerNorm && holds_constant(c.attributes.as<NormSpec>().kind);
}

/// Finds the scale that gradients pass as if there were none (GPAS).
bool keeps_gradient(const OpCase& c) {
  return c.op == OpKind::Affine && c.attributes.as<AffineSpec>().keeps_gradient;
}

// Central differences in double have an error of h² times a third derivative, and of 1e-16 / h, for h = 1e-5.
TEST_CASE("reference: gradients equal the differences of its forward", "[reference]") {
  constexpr double kStep = 1e-5;
  size_t compared = 0;
  for (const OpCase& c : op_cases()) {
    INFO(c.name);
    if (static_cast<double>(c.out.size()) * c.terms > 3e5) continue;  // the same code as at smaller sizes
    const Inputs<double> in = inputs_of(c);
    const Values dy = cotangent_of(c, in);
    const std::vector<Values> all = gradients_of(c, in, dy);
    REQUIRE(all.size() == c.in.size());
    for (size_t i = 0; i < c.in.size(); ++i) {
      INFO("input " << i);
      if (!c.in[i].present || !c.in[i].differentiable) continue;
      REQUIRE(all[i].size() == c.in[i].values.size());
      if (has_corner(c, in[i], kStep) || (i == 0 && holds_a_statistic(c)) || c.reroutes) continue;
      if (i == 0 && keeps_gradient(c)) {
        CHECK(all[i] == dy);
        continue;
      }
      Random random(7);
      Values direction;
      for (size_t k = 0; k < in[i].size(); ++k) direction.push_back(random.normal());
      Inputs<double> up(in), down(in);
      for (size_t k = 0; k < in[i].size(); ++k) {
        up[i][k] += kStep * direction[k];
        down[i][k] -= kStep * direction[k];
      }
      const double measured = (dot(dy, c.forward(up)[0]) - dot(dy, c.forward(down)[0])) / (2 * kStep);
      const double size = norm_of(all[i]) * norm_of(direction);
      CHECK(std::abs(measured - dot(direction, all[i])) <= 1e-6 * std::max(size, 1e-3));
      ++compared;
    }
  }
  CHECK(compared > 300);
}

// What is held constant is so by definition: the derivative has the held statistic put in as a number.
TEST_CASE("reference: what a norm detaches is a number on the way back", "[reference]") {
  for (const OpCase& c : norm_cases()) {
    if (!holds_a_statistic(c)) continue;
    INFO(c.name);
    const NormSpec& spec = c.attributes.as<NormSpec>();
    const Inputs<double> in = inputs_of(c);
    const Values dy = cotangent_of(c, in);
    const auto parts = c.forward(in);
    const int64_t D = c.out.cols();
    if (spec.kind == NormKind::Undivided) {
      OpCase divided = c;
      divided.attributes = NormSpec{.kind = NormKind::LayerNorm, .eps = spec.eps};
      const auto own = gradients_of(c, in, dy), plain = gradients_of(divided, in, dy);
      for (size_t i = 0; i < own[0].size(); ++i)
        CHECK(own[0][i] * parts[2][i / static_cast<size_t>(D)] == Approx(plain[0][i]).margin(1e-9));
      CHECK(own[1] == plain[1]);
      continue;
    }
    reference::Trace trace;
    const Array<Var> x = reference::leaves(trace, in[0]);
    Array<Var> out;
    for (int64_t r = 0; r < c.out.size() / D; ++r) {
      Var mean(0.0), variance(0.0);
      const Var* row = &x[reference::at(r * D)];
      for (int64_t j = 0; j < D; ++j) mean += row[j] / Var(static_cast<double>(D));
      for (int64_t j = 0; j < D; ++j)
        variance += (row[j] - mean) * (row[j] - mean) / Var(static_cast<double>(D));
      Var inverse = Var(1.0) / sqrt(variance + Var(static_cast<double>(spec.eps)));
      if (spec.kind == NormKind::Detach || spec.kind == NormKind::DetachMean)
        mean = Var(parts[1][reference::at(r)]);
      if (spec.kind == NormKind::Detach || spec.kind == NormKind::DetachVariance)
        inverse = Var(parts[2][reference::at(r)]);
      for (int64_t j = 0; j < D; ++j) {
        const Var y = (row[j] - mean) * inverse;
        out.push_back(spec.kind == NormKind::AdaNorm ? y * Var(1.5 * (1 - 0.125 * y.v)) : y);
      }
    }
    trace.sweep(out, dy);
    const Values held = reference::gradients(trace, x), right = gradients_of(c, in, dy)[0];
    for (size_t i = 0; i < held.size(); ++i) CHECK(right[i] == Approx(held[i]).margin(1e-9));
  }
}

TEST_CASE("reference: forward on numbers that remember has the same values as on doubles", "[reference]") {
  for (const OpCase& c : op_cases()) {
    INFO(c.name);
    const Inputs<double> in = inputs_of(c);
    Inputs<Var> vars;
    for (const Values& v : in) vars.emplace_back(v.begin(), v.end());
    const Values out = c.forward(in)[0], out_vars = reference::values_of(c.forward(vars)[0]);
    REQUIRE(static_cast<int64_t>(out.size()) == c.out.size());
    CHECK(out == out_vars);
  }
}

// A norm's backward removes two directions; a cotangent of ones or a plain sum would not show that either is dropped.
TEST_CASE("reference: a gradient of the norm without one of its projections is another one", "[reference]") {
  for (const OpCase& c : norm_cases()) {
    const int64_t D = c.out.cols();
    if (D < 15 || has_alpha(c.attributes.as<NormSpec>().kind)) continue;  // DyT and Derf project nothing
    INFO(c.name);
    const Inputs<double> in = inputs_of(c);
    const Values dy = cotangent_of(c, in);
    const Values right = gradients_of(c, in, dy)[0];
    const double eps = static_cast<double>(c.attributes.as<NormSpec>().eps);
    const auto norm = reference::layer_norm<double>(c.attributes.as<NormSpec>().kind, in[0], {}, {}, D, eps);
    Values without_mean(right), without_correlation(right);
    for (size_t r = 0; r < norm.mean.size(); ++r) {
      double mean_c = 0, mean_cy = 0;
      for (size_t j = 0; j < static_cast<size_t>(D); ++j) {
        const size_t i = r * static_cast<size_t>(D) + j;
        const double cotangent = dy[i] * (in[1].empty() ? 1.0 : in[1][j]);
        mean_c += cotangent / static_cast<double>(D);
        mean_cy += cotangent * norm.out[i] / static_cast<double>(D);
      }
      for (size_t j = 0; j < static_cast<size_t>(D); ++j) {
        const size_t i = r * static_cast<size_t>(D) + j;
        without_mean[i] += mean_c * norm.inverse_sigma[r];
        without_correlation[i] += norm.out[i] * mean_cy * norm.inverse_sigma[r];
      }
    }
    const double worst_mean = distance(without_mean, right),
                 worst_correlation = distance(without_correlation, right);
    if (c.attributes.as<NormSpec>().kind != NormKind::Rms) CHECK(worst_mean > 1e-3);
    CHECK(worst_correlation > 1e-3);
  }
}

/// Dq of attention as it is where nothing caps the scores, by its probabilities:
///   dq_t  =  scale * sum over s of P_ts (dy_t v_s - sum over r of P_tr dy_t v_r) k_s
Values query_gradient_without_slope(const OpCase& c, const Inputs<double>& in, const Values& dy,
                                    const Values& p) {
  const auto spec = c.attributes.as<AttentionSpec>();
  const int64_t Tq = c.in[0].shape[1], Tk = c.in[1].shape[1], D = c.in[0].shape[2], width = D / spec.heads;
  const int64_t K = c.in[1].shape[2], times = D / K;
  Values dq(in[0].size(), 0.0);
  for (int64_t row = 0; row < c.in[0].shape[0] * spec.heads * Tq; ++row) {
    const int64_t b = row / (spec.heads * Tq), h = row / Tq % spec.heads, first = h * width;
    const size_t of_query = reference::at((b * Tq + row % Tq) * D + first),
                 of_keys = reference::at(b * Tk * K + h / times * width);
    double mean = 0;
    Values by_key;
    for (int64_t s = 0; s < Tk; ++s) {
      double product = 0;
      for (size_t j = 0; j < reference::at(width); ++j)
        product += dy[of_query + j] * in[2][of_keys + reference::at(s * K) + j];
      by_key.push_back(product);
      mean += p[reference::at(row * Tk + s)] * product;
    }
    for (int64_t s = 0; s < Tk; ++s)
      for (size_t j = 0; j < reference::at(width); ++j)
        dq[of_query + j] += spec.scale_of(width) * p[reference::at(row * Tk + s)] *
                            (by_key[reference::at(s)] - mean) * in[1][of_keys + reference::at(s * K) + j];
  }
  return dq;
}

// What lies beside the formula is farther from it than kernels may be: a window that is one key off, scores
// that do not fall with the distance, a cap of scores before they are scaled, gradients that do not know of the cap.
TEST_CASE("reference: a neighbour of attention's window, cap or scale is another attention", "[reference]") {
  size_t windows = 0, caps = 0, scales = 0, slopes = 0;
  for (const OpCase& c : attention_cases()) {
    INFO(c.name);
    const auto spec = c.attributes.as<AttentionSpec>();
    const int64_t width = c.in[0].shape[2] / spec.heads;
    const Inputs<double> in = inputs_of(c);
    const auto right = c.forward(in);
    const auto off = [&](const AttentionSpec& neighbour) {
      OpCase other = c;
      other.attributes = neighbour;
      return distance(other.forward(in)[0], right[0]);
    };
    const double least = 10 * bound(c.terms);
    if (spec.window > 0 && spec.window < c.in[0].shape[1]) {
      AttentionSpec wider = spec, narrower = spec;
      wider.window += 1;
      narrower.window -= 1;
      CHECK(off(wider) > least);
      if (narrower.window > 0) CHECK(off(narrower) > least);
      ++windows;
    }
    if (spec.scale > 0) {
      AttentionSpec usual = spec;
      usual.scale = 0;
      CHECK(off(usual) > least);
      ++scales;
    }
    if (spec.alibi) {
      AttentionSpec level = spec;
      level.alibi = false;
      CHECK(off(level) > least);
      ++slopes;
    }
    if (spec.cap == 0) continue;
    AttentionSpec before_scale = spec;
    before_scale.cap = static_cast<float>(static_cast<double>(spec.cap) * spec.scale_of(width));
    if (spec.scale_of(width) != 1) CHECK(off(before_scale) > least);
    if (spec.dropout_site != 0) continue;
    const Values dy = cotangent_of(c, in);
    CHECK(distance(query_gradient_without_slope(c, in, dy, right[1]), gradients_of(c, in, dy)[0]) > 0.01);
    ++caps;
  }
  CHECK(windows > 30);
  CHECK(slopes > 7);
  CHECK(caps > 7);
  CHECK(scales > 7);
}

// The kernels' formulas are the reference's too, so their values are held to the definitions.
TEST_CASE("reference: the formulas have the values of their definitions", "[reference]") {
  namespace formulas = reference::formulas;
  for (const double x : {-3.0, -0.5, 0.0, 0.25, 1.0, 2.5}) {
    INFO(x);
    const double phi = 0.5 * std::erfc(-x / std::sqrt(2.0));
    CHECK(formulas::Relu{}.value(x) == std::max(x, 0.0));
    CHECK(formulas::Gelu{}.value(x) == Approx(x * phi).margin(2e-3));  // the tanh form comes that near
    CHECK(formulas::Silu{}.value(x) == Approx(x / (1 + std::exp(-x))));
    CHECK(formulas::SoftCap{{2.0f}}.value(x) == Approx(2 * std::tanh(x / 2)));
    CHECK(formulas::Multiply{}.value(x, 3.0) == 3 * x);
  }
  CHECK(formulas::Gelu{}.value(1.0) == Approx(0.84119199).epsilon(1e-7));
}

TEST_CASE("reference: every op of ops.def has a case", "[reference]") {
  std::set<OpKind> covered;
  for (const OpCase& c : op_cases()) covered.insert(c.op);
  for (int i = 0; i < static_cast<int>(OpKind::Count); ++i) {
    const OpKind op = static_cast<OpKind>(i);
    INFO("op without a case in op_cases*.cpp: " << to_string(op));
    CHECK(covered.contains(op) == traits_of(op).differentiable);  // others have tests of their own
  }
}

// The cross-entropy over as many words as published models have: a float sum of a row loses what small terms add.

/// How far the loss of a row of normal logits is from the same in double.
double off_by(int64_t words, double spread) {
  const auto backend = make_cpu_backend(1);
  Store store(*backend);
  store.declare("x", {1, words}, {Init::Kind::Normal, spread});
  Tape tape(store);
  const ValueId targets = tape.input("targets", {1}, DType::I32);
  const ValueId loss = softmax_xent(tape, "loss", tape.parameter("x"), targets, kNone);
  store.materialize(3);
  Program program = seal(tape, {.loss = loss, .update = kNoOp});
  program.tokens("targets")[0] = 7;
  program.replay({});
  const std::vector<float> x = program.read("x");
  double sum = 0;
  for (const float v : x) sum += std::exp(static_cast<double>(v));
  return program.loss() - (std::log(sum) - static_cast<double>(x[7]));
}

}  // namespace

TEST_CASE("softmax_xent: the loss over 262,144 words is that of double within a float's rounding") {
  for (const double spread : {0.5, 2.0, 4.0})
    for (const int64_t words : {20'000, 49'152, 262'144}) {
      INFO(words << " words, spread " << spread);
      CHECK(std::abs(off_by(words, spread)) < 1.5e-6);
    }
}

}  // namespace normscope::test

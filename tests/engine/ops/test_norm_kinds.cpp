// These tests take Theorem 1 of Xu et al. 2019 ("Understanding and improving layer normalization") as exact identities
// per row: with g = dL/dy, its mean m and population variance v, s = mean(g y), the gradient dx of a row has
//   simple              mean 0        variance (v - s^2) / sigma^2
//   mean detached       mean m/sigma  variance (v - s^2) / sigma^2
//   variance detached   mean 0        variance v / sigma^2
//   both detached       mean m/sigma  variance v / sigma^2
// and AdaNorm is the first with g replaced by C(1 - k y) g. Each kind must satisfy its own line and break its
// neighbours'.
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/ops/ops.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

using namespace normscope;

namespace {

constexpr int64_t kRows = 40, kColumns = 64;

constexpr NormKind kKinds[] = {NormKind::Simple, NormKind::Detach, NormKind::DetachMean,
                               NormKind::DetachVariance, NormKind::AdaNorm};

struct Row {
  double dx_mean, dx_variance, expected_mean, expected_variance, g_mean, s;
  bool mean_holds() const { return std::abs(dx_mean - expected_mean) <= 2e-6 * std::sqrt(expected_variance); }
  bool variance_holds() const {
    return std::abs(dx_variance - expected_variance) <= 1e-5 * expected_variance;
  }
};

/// Gradients of a cross-entropy of the normalised rows, by the engine; and what the theorem expects of
/// them if they are of the claimed kind, in double.
std::vector<Row> rows_of(NormKind computed, NormKind claimed) {
  const NormKind kind = claimed;
  const auto backend = make_cpu_backend(1);
  Store store(*backend);
  store.declare("x", {kRows, kColumns}, {Init::Kind::Normal, 1.7});
  store.declare("w", {kColumns, kColumns}, {Init::Kind::Normal, 0.3});
  Tape tape(store);
  const ValueId targets = tape.input("targets", {kRows}, DType::I32);
  const ValueId y = layer_norm(tape, "norm", computed, tape.parameter("x"), kNone, kNone, 1e-12f);
  const ValueId weights = tape.input("weights", {kRows}, DType::F32);
  // A softmax's own gradient has mean zero in every row; a random matrix in between gives one that does not.
  const ValueId loss =
      softmax_xent(tape, "loss", linear(tape, "logits", y, tape.parameter("w"), kNone), targets, weights);
  store.materialize(3);
  Program program = seal(tape, {.loss = loss, .update = kNoOp});
  for (int64_t r = 0; r < kRows; ++r) {
    program.tokens("targets")[static_cast<size_t>(r)] = static_cast<int32_t>(r * 7 % kColumns);
    program.floats("weights")[static_cast<size_t>(r)] = 1.0f;
  }
  program.replay({});
  const std::vector<float> x = program.read("x"), dx = program.read("x", true), out = program.read("norm");
  const std::vector<float> g = program.read("norm", true), mean = program.read("norm.mean");
  const std::vector<float> inverse_sigma = program.read("norm.inverse_sigma");
  std::vector<Row> rows;
  for (size_t r = 0; r < kRows; ++r) {
    double m = 0, v = 0, s = 0, dm = 0, dv = 0;
    const double inverse = inverse_sigma[r];
    const auto weighted = [&](size_t i) {
      const double n = (x[i] - static_cast<double>(mean[r])) * inverse;
      return kind == NormKind::AdaNorm ? (1 - 0.1 * n) * g[i] : static_cast<double>(g[i]);
    };
    for (size_t i = r * kColumns; i < (r + 1) * kColumns; ++i) {
      m += weighted(i) / kColumns;
      dm += dx[i] / static_cast<double>(kColumns);
      s += weighted(i) * (x[i] - static_cast<double>(mean[r])) * inverse / kColumns;
    }
    for (size_t i = r * kColumns; i < (r + 1) * kColumns; ++i) {
      v += std::pow(weighted(i) - m, 2) / kColumns;
      dv += std::pow(dx[i] - dm, 2) / kColumns;
    }
    const bool mean_free = !mean_has_gradient(kind), sigma_free = !sigma_has_gradient(kind);
    rows.push_back(
        {dm, dv, mean_free ? m * inverse : 0.0, (v - (sigma_free ? 0.0 : s * s)) * inverse * inverse, m, s});
  }
  return rows;
}

}  // namespace

TEST_CASE("norm kinds: Theorem 1 of Xu et al. holds in every row") {
  for (NormKind kind : kKinds) {
    INFO(to_string(kind));
    for (const Row& row : rows_of(kind, kind)) {
      CHECK(row.mean_holds());
      CHECK(row.variance_holds());
    }
  }
}

TEST_CASE("norm kinds: none satisfies another's line of the theorem") {
  for (NormKind computed : kKinds)
    for (NormKind claimed : kKinds) {
      if (claimed == computed) continue;
      INFO(to_string(computed) << " taken for " << to_string(claimed));
      int apart = 0;
      for (const Row& row : rows_of(computed, claimed)) apart += !row.mean_holds() || !row.variance_holds();
      CHECK(apart >= kRows - 2);
    }
}

TEST_CASE("norm kinds: a kind breaks its neighbour's identity") {
  // s is far from zero, so the variance with a detached sigma exceeds the variance of the whole derivative by
  // s^2/sigma^2.
  int apart = 0;
  const std::vector<Row> simple = rows_of(NormKind::Simple, NormKind::Simple),
                         detached = rows_of(NormKind::DetachVariance, NormKind::DetachVariance);
  for (size_t r = 0; r < simple.size(); ++r) apart += detached[r].dx_variance > 1.001 * simple[r].dx_variance;
  CHECK(apart >= kRows / 2);
}

// Theorem 2 of the same paper says that no other factor has a constant mean and an output whose mean is bounded. At a
// fixed width 1 + c (y^2 - 1) is another: docs/theory.md.
TEST_CASE(
    "norm kinds: AdaNorm's output has mean -C k and its factor mean C, and a bent factor is bounded too") {
  constexpr double kBend = 0.1;
  const double most = kBend * (kColumns - 2) / std::sqrt(kColumns - 1.0);
  for (const auto& [scale, slope] : {std::pair{1.0f, 0.1f}, {2.0f, 0.1f}, {0.5f, 0.05f}}) {
    const auto backend = make_cpu_backend(1);
    Store store(*backend);
    store.declare("x", {kRows, kColumns}, {Init::Kind::Normal, 2.0});
    Tape tape(store);
    layer_norm(tape, "norm", NormKind::AdaNorm, tape.parameter("x"), kNone, kNone, 1e-12f, 1,
               {.scale = scale, .slope = slope});
    store.materialize(1);
    Program program = seal(tape, {});
    program.replay({});
    const std::vector<float> z = program.read("norm"), x = program.read("x"),
                             centre = program.read("norm.mean"), inverse = program.read("norm.inverse_sigma");
    for (size_t r = 0; r < kRows; ++r) {
      double mean = 0, factor = 0, bent = 0, bent_output = 0;
      for (size_t i = r * kColumns; i < (r + 1) * kColumns; ++i) {
        const double y =
            (static_cast<double>(x[i]) - static_cast<double>(centre[r])) * static_cast<double>(inverse[r]);
        mean += static_cast<double>(z[i]) / kColumns;
        factor += static_cast<double>(z[i]) / y / kColumns;
        bent += (1 + kBend * (y * y - 1)) / kColumns;
        bent_output += (1 + kBend * (y * y - 1)) * y / kColumns;
      }
      CHECK(mean == Approx(-static_cast<double>(scale * slope)).margin(1e-5));
      CHECK(factor == Approx(static_cast<double>(scale)).epsilon(1e-4));
      CHECK(bent == Approx(1).epsilon(1e-5));
      CHECK(std::abs(bent_output) < most);
    }
  }
}

TEST_CASE("norm kinds: DyT is a tanh of each element by itself, and Derf an erf, with its shift") {
  const auto backend = make_cpu_backend(1);
  Store store(*backend);
  store.declare("x", {kRows, kColumns}, {Init::Kind::Normal, 2.0});
  store.declare("gain", {kColumns}, {Init::Kind::Constant, 3.0});
  store.declare("bias", {kColumns}, {Init::Kind::Constant, 0.25});
  store.declare("alpha", {1}, {Init::Kind::Constant, 0.5});
  store.declare("shift", {1}, {Init::Kind::Constant, 0.3});
  Tape tape(store);
  const ValueId x = tape.parameter("x"), gain = tape.parameter("gain"), bias = tape.parameter("bias"),
                alpha = tape.parameter("alpha"), shift = tape.parameter("shift");
  layer_norm(tape, "norm", NormKind::Derf, x, gain, bias, 1e-5f, 1, {.alpha = alpha, .shift = shift});
  layer_norm(tape, "squash", NormKind::DyT, x, gain, bias, 1e-5f, 1, {.alpha = alpha});
  CHECK_THROWS_WITH(layer_norm(tape, "bare", NormKind::DyT, x, gain, bias, 1e-5f), Catch::Contains("alpha"));
  CHECK_THROWS_WITH(layer_norm(tape, "steep", NormKind::DyT, x, gain, bias, 1e-5f, 1, {.alpha = gain}),
                    Catch::Contains("expected one alpha"));
  CHECK_THROWS_WITH(layer_norm(tape, "still", NormKind::Derf, x, gain, bias, 1e-5f, 1, {.alpha = alpha}),
                    Catch::Contains("takes a shift"));
  CHECK_THROWS_WITH(
      layer_norm(tape, "tanh", NormKind::DyT, x, gain, bias, 1e-5f, 1, {.alpha = alpha, .shift = shift}),
      Catch::Contains("takes no shift"));
  CHECK_THROWS_WITH(
      layer_norm(tape, "wide", NormKind::Derf, x, gain, bias, 1e-5f, 1, {.alpha = alpha, .shift = gain}),
      Catch::Contains("expected one shift"));
  store.materialize(1);
  Program program = seal(tape, {});
  program.replay({});
  const std::vector<float> y = program.read("norm"), in = program.read("x"), squash = program.read("squash"),
                           factor = program.read("norm.inverse_sigma");
  double without_shift = 0, with_tanh = 0;
  for (size_t r = 0; r < kRows; ++r) {
    double before = 0, after = 0;
    for (size_t i = r * kColumns; i < (r + 1) * kColumns; ++i) {
      const double e = static_cast<double>(in[i]), out = static_cast<double>(y[i]),
                   t = std::erf(0.5 * e + 0.3);
      CHECK(squash[i] == Approx(3 * std::tanh(0.5 * e) + 0.25).epsilon(1e-5));
      CHECK(out == Approx(3 * t + 0.25).epsilon(1e-5).margin(4e-7));  // 3 t is rounded to 2^-23 near -0.25
      without_shift = std::max(without_shift, std::abs(out - (3 * std::erf(0.5 * e) + 0.25)));
      with_tanh = std::max(with_tanh, std::abs(out - (3 * std::tanh(0.5 * e + 0.3) + 0.25)));
      before += e * e;
      after += t * t;
    }
    CHECK(static_cast<double>(factor[r]) == Approx(std::sqrt(after / before)).epsilon(1e-5));
  }
  CHECK(without_shift > 0.5);  // neither neighbour is near
  CHECK(with_tanh > 0.1);
}

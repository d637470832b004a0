// These tests bound the error of the vectorised exp, tanh and erf on every instruction set: a dense sweep against
// double, in units of the last place of the exact result. The bounds are those stated in cpu/vector_math.h.
#include <bit>

#include "catch.hpp"
#include "engine/cpu/kernel.h"
#include "engine/cpu/tails.h"
#include "engine/cpu/vector_math.h"
#include "engine/ops/ops.h"
#include "engine/support/op_harness.h"

namespace normscope::test {
namespace {

/// The distance from the exact result in units of the last place of its float.
double ulps(float got, double exact) {
  if (std::isnan(got)) return std::numeric_limits<double>::infinity();
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::abs(static_cast<double>(got) - exact) / std::ldexp(1.0, exponent - 23);
}

/// Every 251st float of both signs up to `limit` in magnitude.
std::vector<float> sweep(float limit) {
  std::vector<float> x;
  const uint32_t last = std::bit_cast<uint32_t>(limit);
  for (uint32_t bits = 0x00800000u; bits <= last; bits += 251) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  return x;
}

template <class Function, class Exact>
double worst_ulps(Function function, Exact exact, float limit) {
  const std::vector<float> x = sweep(limit);
  std::vector<float> y(x.size());
  function(x.data(), y.data(), static_cast<int64_t>(x.size()));
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, ulps(y[i], exact(static_cast<double>(x[i]))));
  return worst;
}

}  // namespace

TEST_CASE("vector exp, tanh and erf: within their ulp over a dense sweep", "[kernels]") {
  for (const std::string& isa : instruction_sets()) {
    use_instruction_set(isa);
    INFO(isa);
    CHECK(worst_ulps(
              cpu::vector_exp, [](double x) { return std::exp(x); }, 87.3f) <= 2.0);
    CHECK(worst_ulps(
              cpu::vector_tanh, [](double x) { return std::tanh(x); }, 30.0f) <= 4.0);
    CHECK(worst_ulps(
              cpu::vector_erf, [](double x) { return std::erf(x); }, 30.0f) <= 2.0);
    // Ends, special values, and every length of a partial vector.
    const float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x = {0.0f, -infinity, infinity, nan, -200.0f, 200.0f, 88.75f, 1.0f};
    for (size_t n = 1; n <= x.size(); ++n) {
      std::vector<float> e(n + 1, 7.0f), t(n + 1, 7.0f), f(n + 1, 7.0f);
      cpu::vector_exp(x.data(), e.data(), static_cast<int64_t>(n));
      cpu::vector_tanh(x.data(), t.data(), static_cast<int64_t>(n));
      cpu::vector_erf(x.data(), f.data(), static_cast<int64_t>(n));
      CHECK(e[n] == 7.0f);
      CHECK(t[n] == 7.0f);
      CHECK(f[n] == 7.0f);
      for (size_t i = 0; i < n; ++i) {
        const double x64 = static_cast<double>(x[i]);
        if (std::isnan(x[i])) {
          CHECK(std::isnan(e[i]));
          CHECK(std::isnan(t[i]));
          CHECK(std::isnan(f[i]));
        } else {
          CHECK(e[i] == Approx(static_cast<float>(std::exp(x64))));
          CHECK(t[i] == Approx(static_cast<float>(std::tanh(x64))));
          CHECK(f[i] == Approx(static_cast<float>(std::erf(x64))));
        }
      }
    }
  }
  use_instruction_set("");
}

// These tests say which instructions follow a product region by region: those behind it that work row by row, unless
// one writes what another region may still read. That the bits stay the same is test_replay's.

namespace {

/// X (rows,cols) W (cols,cols) -> y, relu(y) -> z, and a probe of y.
struct Chain {
  int64_t rows, cols;
  std::vector<float> x = std::vector<float>(static_cast<size_t>(rows * cols)), y = x, z = x;
  std::vector<float> w = std::vector<float>(static_cast<size_t>(cols * cols));
  double stat = 0;

  Tensor tensor(std::vector<float>& v) { return {v.data(), {rows, cols}}; }
  Call product() {
    Call call{};
    call.op = OpKind::Linear;
    call.phase = Phase::Forward;
    call.attributes = LinearSpec{};
    call.in[0] = tensor(x);
    call.in[1] = {w.data(), {cols, cols}};
    call.out = tensor(y);
    return call;
  }
  Call behind(OpKind op, std::vector<float>& from, std::vector<float>& to) {
    Call call{};
    call.op = op;
    call.phase = Phase::Forward;
    call.in[0] = tensor(from);
    call.out = tensor(to);
    if (op == OpKind::Dropout) call.attributes = DropoutSpec{};
    return call;
  }
  Call probe(std::vector<float>& of) {
    Call call{};
    call.op = OpKind::Probe;
    call.phase = Phase::Forward;
    call.in[0] = tensor(of);
    call.stats = &stat;
    return call;
  }
};

cpu::Stages forward_of(const Call& call) { return cpu::kernels_of(call.op).forward(call); }

bool follows(const Call& head, const Call& tail) {
  return cpu::TailFinder(head, forward_of(head)).takes(tail, forward_of(tail));
}

}  // namespace

TEST_CASE("tails: an activation follows a product, and another product does not", "[kernels]") {
  Chain c{48, 32};
  CHECK(follows(c.product(), c.behind(OpKind::Relu, c.y, c.z)));
  CHECK(follows(c.product(), c.behind(OpKind::Dropout, c.y, c.z)));
  CHECK_FALSE(follows(c.product(), c.product()));
  CHECK_FALSE(follows(c.behind(OpKind::Relu, c.x, c.y), c.behind(OpKind::Relu, c.y, c.z)));
}

TEST_CASE("tails: a gate follows a product, on the way back too", "[kernels]") {
  Chain c{48, 32};
  std::vector<float> other(c.x.size()), da(c.x.size()), db(c.x.size()), dz(c.x.size());
  Call gate = c.behind(OpKind::Multiply, c.y, c.z);
  gate.in[1] = c.tensor(other);
  CHECK(follows(c.product(), gate));
  const auto back = [&](Call call, std::vector<float>& dout, std::vector<float>& din) {
    call.phase = Phase::Backward;
    call.dout = c.tensor(dout);
    call.din[0] = c.tensor(din);
    call.write[0] = Write::Assign;
    return call;
  };
  const Call head = back(c.product(), dz, c.z);  // what leaves the gradient of the gate's output
  Call gate_back = back(gate, c.z, da);
  gate_back.din[1] = c.tensor(db);
  gate_back.write[1] = Write::Assign;
  cpu::TailFinder finder(head, cpu::kernels_of(head.op).backward(head));
  CHECK(finder.takes(gate_back, cpu::kernels_of(gate.op).backward(gate_back)));
  gate_back.din[1] = c.tensor(dz);  // what the product still reads
  cpu::TailFinder overwritten(head, cpu::kernels_of(head.op).backward(head));
  CHECK_FALSE(overwritten.takes(gate_back, cpu::kernels_of(gate.op).backward(gate_back)));
}

TEST_CASE("tails: what writes over something that other regions still read waits", "[kernels]") {
  Chain c{48, 32};
  CHECK_FALSE(follows(c.product(), c.behind(OpKind::Relu, c.y, c.x)));  // the product's input
  const Call head = c.product();
  cpu::TailFinder finder(head, forward_of(head));
  const Call first = c.behind(OpKind::Relu, c.y, c.z), second = c.behind(OpKind::Gelu, c.z, c.y);
  CHECK(finder.takes(first, forward_of(first)));
  CHECK_FALSE(finder.takes(second, forward_of(second)));  // what the first one reads
  CHECK_FALSE(finder.takes(first, forward_of(first)));    // and nothing follows that
}

TEST_CASE("tails: a probe in between waits until they are done, if none writes what it reads", "[kernels]") {
  Chain c{48, 32};
  std::vector<float> other(c.x.size());
  const Call head = c.product(), relu = c.behind(OpKind::Relu, c.y, c.z);
  cpu::TailFinder finder(head, forward_of(head));
  CHECK(finder.lets(c.probe(c.y)));
  CHECK(finder.takes(relu, forward_of(relu)));
  cpu::TailFinder overwritten(head, forward_of(head));
  CHECK(overwritten.lets(c.probe(c.z)));
  CHECK_FALSE(overwritten.takes(relu, forward_of(relu)));
}

TEST_CASE("tails: a norm follows only where regions have whole rows", "[kernels]") {
  for (const int64_t cols : {64, 2048}) {
    Chain c{64, cols};
    std::vector<float> mean(64), scale(64);
    Call norm = c.behind(OpKind::LayerNorm, c.y, c.z);
    norm.attributes = NormSpec{.kind = NormKind::Simple};
    norm.saved[0] = {mean.data(), {64}};
    norm.saved[1] = {scale.data(), {64}};
    Call head = c.product();
    const cpu::Stages stages = forward_of(head);
    head.extra = stages.plans;
    const bool whole = stages.stage[stages.count - 1].region(head, 0).cols == cols;
    CHECK(whole == (cols == 64));
    CHECK(follows(head, norm) == whole);
    CHECK(follows(head, c.behind(OpKind::Relu, c.y, c.z)));
  }
}

}  // namespace normscope::test

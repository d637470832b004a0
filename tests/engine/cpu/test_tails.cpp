// These tests say which instructions follow a product region by region: those behind it that work row by row, unless
// one writes what another region may still read. That the bits stay the same is test_replay's.
#include "catch.hpp"
#include "engine/cpu/kernel.h"
#include "engine/cpu/tails.h"
#include "engine/ops/ops.h"

namespace normscope::test {
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

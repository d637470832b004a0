// This test runs a block of a newer transformer, whose ops follow products region by region: grouped queries that are
// turned by their position, a gated feed-forward network, a gain that is stored as its difference from one, and capped
// logits. And the values of two activations.
#include <algorithm>

#include "addons/published/engine/rotary.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/ops/ops.h"
#include "engine/support/op_harness.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

namespace normscope::test {
namespace {

constexpr int64_t kB = 2, kT = 33, kD = 32, kF = 80, kV = 17;

struct Block {
  std::unique_ptr<Backend> backend;
  Store store;
  Tape tape;
  std::unique_ptr<Program> program;

  Block(int threads, RotaryPairing pairing, bool reuse)
      : backend(make_cpu_backend(threads)), store(*backend), tape(store) {
    record(pairing);
    store.materialize(7);
    program = std::make_unique<Program>(
        seal(tape, {.loss = tape.find("loss"), .update = OpKind::Sgd, .reuse_bytes = reuse}));
    fill();
  }

  ValueId parameter(const std::string& name, Shape shape, bool trainable = true) {
    store.declare(name, shape, {Init::Kind::Normal, 0.3}, trainable);
    return tape.parameter(name);
  }
  ValueId project(const std::string& name, ValueId x, int64_t out) {
    return linear(tape, name, x, parameter(name + ".w", {tape.shape(x).cols(), out}), kNone);
  }

  void record(RotaryPairing pairing) {
    const ValueId x = parameter("x", {kB, kT, kD}), turns = parameter("turns", {kT + 3, 6}, false);
    const NormExtras offset{.gain_offset = 1};
    const ValueId h =
        layer_norm(tape, "norm", NormKind::Rms, x, parameter("gain", {kD}), kNone, 1e-5f, 1, offset);
    const ValueId q = rotary(tape, "q.turned", project("q", h, kD), turns, {4, pairing});
    const ValueId k = rotary(tape, "k.turned", project("k", h, kD / 2), turns, {2, pairing});
    const ValueId v = project("v", h, kD / 2);
    const ValueId heads = attention(tape, "heads", q, k, v, kNone, {.heads = 4, .causal = true});
    const ValueId y = add(tape, "sum", x, project("o", heads, kD));
    const ValueId gate = silu(tape, "gate.silu", project("gate", y, kF));
    const ValueId hidden = multiply(tape, "hidden", gelu_erf(tape, "up.gelu", project("up", y, kF)), gate);
    const ValueId z = add(tape, "sum.2", y, project("down", hidden, kD));
    const ValueId square = multiply(tape, "square", z, z);
    const ValueId logits = soft_cap(tape, "capped", project("logits", square, kV), 3.0f);
    softmax_xent(tape, "loss", logits, tape.input("targets", {kB, kT}, DType::I32), kNone);
  }

  void fill() {
    const auto targets = program->tokens("targets");
    for (size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<int32_t>(5 * i % kV);
  }

  std::vector<float> state() const {
    std::vector<float> all;
    for (int32_t p = 0; p < static_cast<int32_t>(store.parameters().size()); ++p)
      std::ranges::copy(store.read(p), std::back_inserter(all));
    return all;
  }
};

StepInputs inputs_at(uint32_t step) { return StepInputs{.step = step, .lr = 0.3f}; }

std::vector<float> state_after_steps(int threads, RotaryPairing pairing, bool reuse, bool one_by_one) {
  Block block(threads, pairing, reuse);
  for (uint32_t step = 1; step <= 4; ++step) {
    if (!one_by_one) {
      block.program->replay(inputs_at(step));
      continue;
    }
    for (size_t i = 0; i < block.program->data().instructions.size(); ++i)
      block.program->executable().run(i, i + 1, inputs_at(step));
  }
  return block.state();
}

}  // namespace

TEST_CASE("gated block: one instruction after the other gives the bits of region by region, on any threads") {
  for (const RotaryPairing pairing : {RotaryPairing::Halves, RotaryPairing::Neighbours}) {
    const std::vector<float> expected = state_after_steps(1, pairing, false, true);
    for (const int threads : {1, 3})
      for (const bool reuse : {false, true})
        CHECK(same_bits(expected, state_after_steps(threads, pairing, reuse, false)));
  }
  CHECK_FALSE(same_bits(state_after_steps(1, RotaryPairing::Halves, false, false),
                        state_after_steps(1, RotaryPairing::Neighbours, false, false)));
}

TEST_CASE("gated block: it learns, and the table of angles stays as it was") {
  Block block(2, RotaryPairing::Halves, false);
  const int32_t turns = block.store.find("turns");
  const std::vector<float> before = block.store.read(turns);
  block.program->replay(inputs_at(1));
  const double first = block.program->loss();
  for (uint32_t step = 2; step <= 30; ++step) block.program->replay(inputs_at(step));
  CHECK(block.program->loss() < 0.9 * first);
  CHECK(same_bits(before, block.store.read(turns)));
  CHECK(block.program->data().plan.gradient_offset[static_cast<size_t>(block.tape.find("turns"))] ==
        kNoOffset);
}

TEST_CASE("activations of published models: the formulas have the values of their definitions",
          "[reference]") {
  namespace formulas = reference::formulas;
  for (const double x : {-3.0, -0.5, 0.0, 0.25, 1.0, 2.5}) {
    INFO(x);
    CHECK(formulas::GeluErf{}.value(x) == Approx(x * 0.5 * std::erfc(-x / std::sqrt(2.0))).epsilon(1e-6));
    CHECK(formulas::Relu2{}.value(x) == Approx(x > 0 ? x * x : 0));
  }
}

}  // namespace normscope::test

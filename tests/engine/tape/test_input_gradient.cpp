// The gradient of an input: what a loss says about the batch itself, as an adversarial example or a generator asks.
#include "engine/engine.h"
#include "engine/support/helpers.h"

namespace normscope::test {
namespace {

/// A network that reads its input twice, with a loss that differs in every row.
struct InputNet {
  explicit InputNet(bool gradient, int threads = 1, SealOptions options = {}, bool trains = true)
      : backend(make_cpu_backend(threads)) {
    x = tape.input("x", {kRows, kWidth}, DType::F32, {.gradient = gradient});
    const ValueId classes = tape.input("classes", {kRows}, DType::I32);
    ValueId h = x;
    if (trains) h = multiply(tape, "gated", silu(tape, "silu", linear(tape, "hidden", x, kWidth)), x);
    loss = softmax_xent(tape, "loss", h, classes);
    store.materialize(3);
    options.loss = loss;
    program = std::make_unique<Program>(seal(tape, options));
    for (size_t i = 0; i < program->floats("x").size(); ++i)
      program->floats("x")[i] = static_cast<float>(static_cast<int>(i * 37 % 61) - 30) / 16;
    for (int32_t r = 0; r < kRows; ++r) program->tokens("classes")[static_cast<size_t>(r)] = r % kWidth;
  }
  double loss_at(size_t i, float x_i) {
    const float before = program->floats("x")[i];
    program->floats("x")[i] = x_i;
    program->replay({});
    program->floats("x")[i] = before;
    return program->loss();
  }

  static constexpr int32_t kRows = 7, kWidth = 5;
  std::shared_ptr<Backend> backend;
  Store store{*backend};
  Tape tape{store};
  ValueId x, loss;
  std::unique_ptr<Program> program;
};

void check_differences(InputNet& net) {
  net.program->replay({});
  const std::vector<float> gradient = net.program->read("x", true);
  constexpr float kStep = 1.0f / 64;
  for (size_t i = 0; i < gradient.size(); ++i) {
    INFO("number " << i);
    const float at = net.program->floats("x")[i];
    const double by_differences = (net.loss_at(i, at + kStep) - net.loss_at(i, at - kStep)) / (2 * kStep);
    CHECK(static_cast<double>(gradient[i]) == Approx(by_differences).epsilon(2e-3).margin(2e-5));
  }
}

}  // namespace

TEST_CASE("input gradient: it is the difference of the loss, also of an input that is read twice") {
  InputNet net(true, 1, {.update = kNoOp});
  check_differences(net);
}

TEST_CASE("input gradient: a tape without parameters has one") {
  InputNet net(true, 1, {.update = kNoOp}, false);
  check_differences(net);
  CHECK(net.program->stat("total.grad_norm") == 0);  // of the parameters
}

TEST_CASE("input gradient: any number of threads gives the same bits") {
  InputNet one(true, 1, {.update = kNoOp});
  one.program->replay({});
  for (const int threads : {2, 3}) {
    InputNet other(true, threads, {.update = kNoOp});
    other.program->replay({});
    CHECK(same_bits(one.program->read("x", true), other.program->read("x", true)));
  }
}

TEST_CASE("input gradient: it changes no bit of a step, and stays readable where memory is used again") {
  InputNet without(false), with(true), shared(true, 1, {.reuse_bytes = true});
  for (uint32_t t = 1; t <= 3; ++t) {
    for (InputNet* net : {&without, &with, &shared}) net->program->replay(Adam{}.step(t));
    for (const char* name : {"hidden.w", "hidden.b"}) {
      CHECK(same_bits(with.program->read(name, true), without.program->read(name, true)));
      CHECK(same_bits(shared.program->read(name), without.program->read(name)));
    }
    CHECK(same_bits(with.program->read("x", true), shared.program->read("x", true)));
  }
}

}  // namespace normscope::test

// Any scalar can be the loss: a sum of two, a mean of two, a square that a probe measures beside it.
#include "engine/cpu/backend_cpu.h"
#include "engine/ops/ops.h"
#include "engine/support/helpers.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"
#include "training/run/network.h"

namespace normscope::test {
namespace {

/// Two classifiers of the same tokens over one table.
struct TwoHeads {
  static constexpr int64_t B = 2, T = 3, D = 5, V = 7;
  std::unique_ptr<Backend> backend = make_cpu_backend(2);
  Store store{*backend};
  Tape tape{store};
  ValueId first = kNone, second = kNone, sum = kNone, mean = kNone;

  TwoHeads() {
    store.declare("table", {V, D}, {Init::Kind::Normal, 0.5});
    store.declare("head", {V, D}, {Init::Kind::Normal, 0.5});
    const ValueId tokens = tape.input("tokens", {B, T}, DType::I32),
                  targets = tape.input("targets", {B, T}, DType::I32), table = tape.parameter("table");
    const ValueId x = embedding(tape, "x", tokens, table, kNone, 1.0f);
    first = softmax_xent(tape, "first", linear(tape, "tied", x, table, kNone, true), targets, kNone);
    second = softmax_xent(tape, "second", linear(tape, "own", x, tape.parameter("head"), kNone, true),
                          targets, kNone);
    sum = add(tape, "sum", first, second);
    mean = add(tape, "mean", first, second, {0.5f}, {0.5f});
    store.materialize(3);
  }

  Program run(ValueId loss) {
    Program program = seal(tape, {.loss = loss, .update = kNoOp});
    for (int32_t i = 0; i < B * T; ++i) {
      program.tokens("tokens")[static_cast<size_t>(i)] = (3 * i + 1) % V;
      program.tokens("targets")[static_cast<size_t>(i)] = (5 * i + 2) % V;
    }
    program.replay({});
    return program;
  }
};

}  // namespace

TEST_CASE("loss: a sum and a mean of two losses send their gradients to both", "[seal]") {
  TwoHeads model;
  const Program first = model.run(model.first), second = model.run(model.second), sum = model.run(model.sum),
                mean = model.run(model.mean);
  CHECK(sum.loss() == Approx(first.loss() + second.loss()).epsilon(1e-6));
  CHECK(mean.loss() == Approx(sum.loss() / 2).epsilon(1e-6));
  CHECK(sum.stat("first") == first.loss());
  CHECK(sum.stat("second") == second.loss());
  const auto a = first.read("table", true), b = second.read("table", true), s = sum.read("table", true),
             m = mean.read("table", true);
  double size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double expected = static_cast<double>(a[i]) + static_cast<double>(b[i]);
    CHECK(static_cast<double>(s[i]) == Approx(expected).margin(1e-6));
    CHECK(static_cast<double>(m[i]) == Approx(expected / 2).margin(1e-6));
    size += std::abs(expected);
  }
  CHECK(size > 0.1);  // two gradients of zero would add up as well
  CHECK(first.stat("table.grad_norm") > 0);
  CHECK(sum.stat("head.grad_norm") == Approx(second.stat("head.grad_norm")).epsilon(1e-6));
}

TEST_CASE("loss: the mean square that a probe measures can be differentiated", "[seal]") {
  constexpr int64_t kSize = 37;
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  Store store(*backend);
  store.declare("p", {1, kSize}, {Init::Kind::Normal, 1.5});
  Tape tape(store);
  const ValueId p = tape.parameter("p"), row = affine(tape, "row", p, 1.0f, kNone, kNone);
  const ValueId squares = linear(tape, "squares", row, p, kNone, true);  // (1,1): the sum of p^2
  const ValueId loss = affine(tape, "loss of p", squares, 1.0f / kSize, kNone, kNone);
  tape.probe({"p.mean_square", ProbeSpec{ProbeKind::MeanSquare}, row, false, 0});
  store.materialize(3);
  Program program = seal(tape, {.loss = loss, .update = kNoOp});
  program.replay({});
  CHECK(program.loss() == Approx(program.stat("p.mean_square")).epsilon(1e-6));
  CHECK(program.loss() > 1);
  const auto value = program.read("p"), gradient = program.read("p", true);
  for (size_t i = 0; i < value.size(); ++i)
    CHECK(static_cast<double>(gradient[i]) ==
          Approx(2 * static_cast<double>(value[i]) / kSize).epsilon(1e-5).margin(1e-7));
}

TEST_CASE("loss: whatever it is, it is checked for numbers that are not finite, once", "[seal]") {
  // Catches a check that looks for one op instead of the loss: it would name a sum of two twice.
  TwoHeads model;
  for (const ValueId loss : {model.first, model.sum}) {
    const Program program = model.run(loss);
    int named = 0;
    for (const FiniteCheck& check : finite_checks(program.data())) {
      if (check.stat != program.data().loss_stat) continue;
      CHECK(check.tensor == "loss");
      ++named;
    }
    CHECK(named == 1);
  }
}

TEST_CASE("loss: more than one number is refused", "[seal]") {
  TwoHeads model;
  const std::string text = error_of([&] { model.run(model.tape.find("tied")); });
  CHECK(test::contains(text, "the loss tied has 42 numbers: expected one"));
}

}  // namespace normscope::test

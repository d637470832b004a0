// What a program needs lives as long as the program, in whatever order backend, store, tape and programs end or are
// moved; and a backend serves two threads. The address sanitizer sees what a use after an end would read, the thread
// sanitizer what two threads would touch at once.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <thread>

#include "engine/engine.h"
#include "engine/support/helpers.h"

namespace normscope::test {
namespace {

ValueId record_net(Tape& t, int64_t width) {
  const ValueId x = t.input("x", {6, 8}), y = t.input("y", {6}, DType::I32);
  return softmax_xent(t, "loss", linear(t, "o", relu(t, "r", linear(t, "h", x, width)), 3), y);
}

void fill(Program& program) {
  std::span<float> x = program.floats("x");
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) / 6 - 1;
  for (size_t i = 0; i < 6; ++i) program.tokens("y")[i] = static_cast<int32_t>(i % 3);
}

/// Backend, store, tape, a program that trains and one whose values are in the arena.
struct Five {
  std::optional<std::shared_ptr<Backend>> backend{make_cpu_backend(2)};
  std::optional<Store> store{**backend};
  std::optional<Tape> tape{*store};
  std::optional<Program> training, forward;

  Five() {
    const ValueId loss = record_net(*tape, 16);
    store->materialize(1);
    training.emplace(seal(*tape, {.loss = loss}));
    forward.emplace(seal(*tape, {.loss = loss, .backward = false, .reuse_bytes = true}));
    fill(*training);
    fill(*forward);
  }

  void end(int which) {
    switch (which) {
      case 0:
        return backend.reset();
      case 1:
        return store.reset();
      case 2:
        return tape.reset();
      case 3:
        return training.reset();
      default:
        return forward.reset();
    }
  }

  void move() {
    const auto moved = [](auto& object) {
      if (!object) return;
      auto other = std::move(*object);
      object.emplace(std::move(other));
    };
    moved(backend);
    moved(store);
    moved(tape);
    moved(training);
    moved(forward);
  }

  /// Uses what is left; the loss before the step, from whichever program there is.
  std::optional<double> use(uint32_t step) {
    if (tape) CHECK(seal(*tape, {.backward = false}).data().nodes.size() == 4);
    if (store) CHECK(store->clone().read(0).size() == 8 * 16);
    std::optional<double> loss;
    if (forward) {
      forward->replay({});
      loss = forward->loss();
    }
    if (training) {
      training->replay(Adam{.lr = 0.01f}.step(step));
      loss = training->loss();
      CHECK(training->read("h.w").size() == 8 * 16);
    }
    return loss;
  }
};

}  // namespace

TEST_CASE("lifetime: five objects end in any order, moved or not", "[lifetime]") {
  std::array<double, 5> expected{};
  {
    Five all;
    for (uint32_t step = 1; step <= 5; ++step) expected[step - 1] = *all.use(step);
  }
  for (const bool moves : {false, true}) {
    std::array<int, 5> order{};
    std::iota(order.begin(), order.end(), 0);
    do {
      Five all;
      bool trained = true;  // so far, step by step: the weights are those of `expected`
      for (uint32_t step = 1; step <= 5; ++step) {
        if (moves) all.move();
        trained = trained && (step == 1 || all.training);
        const std::optional<double> loss = all.use(step);
        if (loss && trained) CHECK(*loss == expected[step - 1]);
        all.end(order[step - 1]);
      }
    } while (std::ranges::next_permutation(order).found);
  }
}

TEST_CASE("lifetime: a program takes the place of another", "[lifetime]") {
  Five all, others;
  *all.training = std::move(*others.training);
  *all.forward = std::move(*others.forward);
  others.end(1);
  CHECK(all.use(1).has_value());
}

TEST_CASE("lifetime: a store that is moved keeps its programs", "[lifetime]") {
  Five all;
  all.training->replay(Adam{.lr = 0.01f}.step(1));
  const Store moved = std::move(*all.store);
  all.training->replay(Adam{.lr = 0.01f}.step(2));
  CHECK(same_bits(moved.read(0), all.training->read("h.w")));
}

TEST_CASE("lifetime: two threads replay programs of one backend, to the bits of one thread", "[lifetime]") {
  constexpr uint32_t kSteps = 200;
  const auto loss_alone = [] {
    Five all;
    for (uint32_t step = 1; step <= kSteps; ++step) all.training->replay(Adam{.lr = 0.01f}.step(step));
    return all.training->loss();
  }();
  const auto backend = make_cpu_backend(2);
  std::array<double, 2> losses{};
  const auto train = [&](double& loss) {
    Store store(*backend);
    Tape tape(store);
    const ValueId value = record_net(tape, 16);
    store.materialize(1);
    Program program = seal(tape, {.loss = value});
    fill(program);
    for (uint32_t step = 1; step <= kSteps; ++step) program.replay(Adam{.lr = 0.01f}.step(step));
    loss = program.loss();
  };
  {
    const std::jthread other([&] { train(losses[1]); });
    train(losses[0]);
  }
  CHECK(losses[0] == loss_alone);
  CHECK(losses[1] == loss_alone);
}

}  // namespace normscope::test

// A multilayer perceptron tells two half moons apart. Half-way it is saved, and a second one goes on from the file: both
// end with the same bits.
#include <cmath>
#include <cstdio>

#include "engine/engine.h"

using namespace normscope;

namespace {

constexpr int kRows = 64;

/// Records the network on a batch of points, and returns its loss.
ValueId record(Tape& tape, int rows) {
  const ValueId points = tape.input("points", {rows, 2}), moons = tape.input("moons", {rows}, DType::I32);
  const ValueId a = relu(tape, "a", linear(tape, "fc1", points, 16));
  const ValueId b = relu(tape, "b", linear(tape, "fc2", a, 16));
  return softmax_xent(tape, "loss", linear(tape, "logits", b, 2), moons);
}

/// Draws points of two half circles that reach into each other. The batch of a number is always the same.
void fill(Program& program, uint32_t batch) {
  const auto points = program.floats("points");
  const auto moons = program.tokens("moons");
  for (size_t r = 0; r < moons.size(); ++r) {
    const double half_turn = random_word(r, site_of("angle"), batch, Purpose::Batch, 1) * 0x1p-32 * M_PI;
    const double spread = random_word(r, site_of("spread"), batch, Purpose::Batch, 1) * 0x1p-32 * 0.4 - 0.2;
    moons[r] = static_cast<int32_t>(r % 2);
    const double side = moons[r] == 0 ? 1 : -1, radius = 1 + spread;
    points[2 * r] = static_cast<float>(side * (radius * std::cos(half_turn) - 0.5));
    points[2 * r + 1] = static_cast<float>(side * (radius * std::sin(half_turn) - 0.25));
  }
}

/// Returns how many rows of the program's batch are told right, after a replay without an update.
int count_right(Program& program) {
  program.replay(StepInputs{});
  const auto logits = program.read("logits");
  const auto moons = program.tokens("moons");
  int right = 0;
  for (size_t r = 0; r < moons.size(); ++r) right += (logits[2 * r + 1] > logits[2 * r]) == (moons[r] == 1);
  return right;
}

}  // namespace

int main() {
  Store store = make_cpu_store(/*seed=*/1);
  Tape tape(store), test_tape(store);
  const ValueId loss = record(tape, kRows);
  record(test_tape, 1000);
  Program program = seal(tape, {.loss = loss});  // by Adam, unless .update says otherwise
  Program test = seal(test_tape, {});            // forward alone

  for (uint32_t step = 1; step <= 200; ++step) {
    if (step == 101) save(store, "mlp.safetensors");
    fill(program, step);
    program.replay(Adam{.lr = 0.01f});
  }
  fill(test, 0);
  std::printf("step %u  loss %.4f  right %d of 1000\n", store.steps(), program.loss(), count_right(test));

  Store second = make_cpu_store(/*seed=*/2);
  Tape second_tape(second);
  const ValueId second_loss = record(second_tape, kRows);
  load(second, "mlp.safetensors");  // weights, Adam's moments and the number of steps
  Program resumed = seal(second_tape, {.loss = second_loss});
  while (second.steps() < 200) {
    fill(resumed, second.steps() + 1);
    resumed.replay(Adam{.lr = 0.01f});
  }
  const bool same = store.read(store.find("fc1.w")) == second.read(second.find("fc1.w"));
  std::printf("step %u  loss %.4f  %s weights\n", second.steps(), resumed.loss(),
              same ? "the same" : "other");
}

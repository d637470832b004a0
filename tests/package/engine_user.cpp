// This is somebody else's program, which uses the engine alone: a small network learns four rows by heart.
#include <cstdio>

#include "engine/engine.h"

int main() {
  using namespace normscope;
  const auto backend = make_cpu_backend();
  Store store(*backend);
  Tape tape(store);
  const ValueId x = tape.input("x", {4, 2}), classes = tape.input("classes", {4}, DType::I32);
  const ValueId hidden = relu(tape, "relu", linear(tape, "hidden", x, 16));
  const ValueId loss = softmax_xent(tape, "loss", linear(tape, "logits", hidden, 2), classes);
  store.materialize(/*seed=*/1);
  Program program = seal(tape, {.loss = loss});
  for (uint32_t t = 1; t <= 200; ++t) {
    for (int row = 0; row < 4; ++row) {  // exclusive or
      program.floats("x")[2 * row] = row & 1 ? 1.0f : -1.0f;
      program.floats("x")[2 * row + 1] = row & 2 ? 1.0f : -1.0f;
      program.tokens("classes")[row] = row == 1 || row == 2;
    }
    program.replay(Adam{.lr = 0.02f}.step(t));
  }
  std::printf("step 200  loss %.4f\n", program.loss());
  return program.loss() < 0.1f ? 0 : 1;
}

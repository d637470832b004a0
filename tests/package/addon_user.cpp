// This is somebody else's program with an add-on of their own: addons/cube, an activation outside the checkout.
#include <cstdio>

#include "engine/engine.h"

int main() {
  using namespace normscope;
  Store store = make_cpu_store(/*seed=*/1);
  Tape tape(store);
  const ValueId x = tape.input("x", {1, 1}, DType::F32, {.gradient = true}), zero = tape.input("zero", {1, 1});
  const ValueId loss = mean_squared_error(tape, "loss", cube(tape, "cube", x), zero);  // x^6
  Program program = seal(tape, {.loss = loss, .update = kNoOp});
  program.floats("x")[0] = 2;
  program.floats("zero")[0] = 0;
  program.replay({});
  const float slope = program.read("x", true)[0];
  std::printf("6 times 2^5 is %.4f\n", slope);
  return slope == 192 ? 0 : 1;
}

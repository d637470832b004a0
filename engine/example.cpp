// The engine on one page: a network of two layers learns which of three classes a row of numbers belongs to.
#include <cstdio>

#include "engine/engine.h"

using namespace normscope;

namespace {

/// Draws rows of random numbers; the class says which of the first three is the largest.
void fill(std::span<float> x, std::span<int32_t> classes, uint32_t step) {
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(random_word(i, site_of("x"), step, Purpose::Batch, 1)) * 0x1p-31f - 1.0f;
  for (size_t r = 0; r < classes.size(); ++r) {
    const float* row = &x[r * x.size() / classes.size()];
    classes[r] = row[0] > row[1] ? (row[0] > row[2] ? 0 : 2) : (row[1] > row[2] ? 1 : 2);
  }
}

}  // namespace

int main() {
  // Record: each call checks shapes and appends a node. Nothing is computed.
  Store store = make_cpu_store(/*seed=*/1);
  Tape tape(store);
  const ValueId x = tape.input("x", {64, 8}), classes = tape.input("classes", {64}, DType::I32);
  const ValueId hidden = relu(tape, "relu", layer_norm(tape, "norm", linear(tape, "hidden", x, 32)));
  const ValueId loss = softmax_xent(tape, "loss", linear(tape, "logits", hidden, 3), classes);
  probe_mean_square(tape, "hidden.mean_square", hidden);

  // Seal: backward and update are added, parameters get their values, and every instruction its kernels.
  Program program = seal(tape, {.loss = loss});  // by Adam, unless .update says otherwise

  // Replay: what changes from step to step is in the batch or in the step's inputs, and nowhere else.
  for (uint32_t t = 1; t <= 20; ++t) {
    fill(program.floats("x"), program.tokens("classes"), t);
    program.replay(Adam{.lr = 0.02f});
    std::printf("step %2u  loss %.4f  gradient of hidden.w %.4f\n", t, program.loss(),
                program.stat("hidden.w.grad_norm"));
  }
}

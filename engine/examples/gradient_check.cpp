// Is the backward pass right? The gradient that it gives for each weight is compared with what the loss itself does when
// that weight is moved a little, up and down.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/engine.h"

using namespace normscope;

int main() {
  Store store = make_cpu_store(/*seed=*/1);
  Tape tape(store);
  const ValueId x = tape.input("x", {8, 6}), classes = tape.input("classes", {8}, DType::I32);
  const ValueId hidden = gelu(tape, "gelu", layer_norm(tape, "norm", linear(tape, "hidden", x, 10)));
  const ValueId loss = softmax_xent(tape, "loss", linear(tape, "logits", hidden, 3), classes);
  Program program = seal(tape, {.loss = loss, .update = kNoOp});  // gradients, and nothing moves
  for (size_t i = 0; i < 48; ++i) program.floats("x")[i] = std::sin(static_cast<float>(i));
  for (size_t r = 0; r < 8; ++r) program.tokens("classes")[r] = static_cast<int32_t>(r % 3);
  program.replay({});

  // A float32 loss is good to about 1e-7, so a step h has an error of some 1e-7 / h beside that of the curve, h^2.
  const float h = 1.0f / 64;
  for (const ParameterInfo& parameter : store.parameters()) {
    const int32_t index = store.find(parameter.name);
    const std::vector<float> weights = store.read(index), gradient = program.read(parameter.name, true);
    double worst = 0, largest = 1e-6;  // of gradients
    for (size_t i = 0; i < weights.size(); ++i) {
      double losses[2];
      for (const int up : {0, 1}) {
        std::vector<float> moved = weights;
        moved[i] += up ? h : -h;
        store.write(index, moved);
        program.replay({});
        losses[up] = program.loss();
      }
      const double by_differences = (losses[1] - losses[0]) / (2.0 * h);
      worst = std::max(worst, std::abs(by_differences - static_cast<double>(gradient[i])));
      largest = std::max(largest, std::abs(by_differences));
    }
    store.write(index, weights);
    program.replay({});
    std::printf("%-12s off by %.5f of the largest gradient%s\n", parameter.name.c_str(), worst / largest,
                worst < 0.01 * largest ? "" : ": wrong");
  }
}

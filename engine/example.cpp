// The engine on one page: a network of two layers learns which of three classes a row of numbers belongs to.
// Declare parameters, record a tape once, seal it into a program, replay it. Built and run by the tests.
#include <fmt/format.h>

#include <cmath>

#include "engine/core/philox.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/ops/activations/activations.h"
#include "engine/ops/layer_norm/layer_norm.h"
#include "engine/ops/linear/linear.h"
#include "engine/ops/probe/probe.h"
#include "engine/ops/softmax_xent/softmax_xent.h"
#include "engine/tape/program.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

using namespace normscope;

namespace {

constexpr int32_t kRows = 64, kInputs = 8, kHidden = 32, kClasses = 3, kSteps = 20;

/// Draws rows of random numbers; the class says which of the first three is the largest.
void fill(std::span<float> x, std::span<int32_t> targets, uint32_t step) {
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(random_word(i, site_of("x"), step, Purpose::Batch, 1)) * 0x1p-31f - 1.0f;
  for (size_t r = 0; r < targets.size(); ++r) {
    const float* row = &x[r * kInputs];
    targets[r] = row[0] > row[1] ? (row[0] > row[2] ? 0 : 2) : (row[1] > row[2] ? 1 : 2);
  }
}

}  // namespace

int main() {
  const std::unique_ptr<Backend> backend = make_cpu_backend();

  // Declare: parameters by name. The name and the seed decide the initial values; nothing else does.
  Store store(*backend);
  store.declare("w1", {kInputs, kHidden}, {Init::Kind::Normal, 0.35});
  store.declare("gain", {kHidden}, {Init::Kind::Constant, 1.0});
  store.declare("bias", {kHidden}, {Init::Kind::Zeros});
  store.declare("w2", {kHidden, kClasses}, {Init::Kind::Normal, 0.18});

  // Record: each call checks shapes and appends a node. Nothing is computed.
  Tape tape(store);
  const ValueId x = tape.input("x", {kRows, kInputs}, DType::F32);
  const ValueId targets = tape.input("targets", {kRows}, DType::I32);
  const ValueId hidden = linear(tape, "hidden", x, tape.parameter("w1"), kNone);
  const ValueId normed = layer_norm(tape, "norm", NormKind::LayerNorm, hidden, tape.parameter("gain"),
                                    tape.parameter("bias"), 1e-5f);
  const ValueId logits = linear(tape, "logits", relu(tape, "relu", normed), tape.parameter("w2"), kNone);
  const ValueId loss = softmax_xent(tape, "loss", logits, targets, kNone);
  tape.probe({"hidden.mean_square", ProbeSpec{ProbeKind::MeanSquare}, hidden});
  store.materialize(/*seed=*/1);

  // Seal: backward and update are added, the memory is planned, every instruction is bound to its kernels.
  Program program = seal(tape, {.loss = loss, .update = OpKind::Adam});

  // Replay: what changes from step to step is in the batch or in StepInputs, and nowhere else.
  for (uint32_t step = 1; step <= kSteps; ++step) {
    fill(program.floats("x"), program.tokens("targets"), step);
    StepInputs inputs;
    inputs.step = step;
    inputs.lr = 0.02f;
    inputs.bias_correction1 = 1 - std::pow(inputs.beta1, static_cast<float>(step));
    inputs.bias_correction2 = 1 - std::pow(inputs.beta2, static_cast<float>(step));
    program.replay(inputs);
    fmt::print("step {:2}  loss {:.4f}  gradient of w1 {:.4f}  mean square {:.3f}\n", step, program.loss(),
               program.stat("w1.grad_norm"), program.stat("hidden.mean_square"));
  }
}

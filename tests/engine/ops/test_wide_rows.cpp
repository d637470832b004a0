// The cross-entropy over as many words as published models have: a float sum of a row loses what small terms add.
#include "catch.hpp"
#include "engine/core/philox.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/ops/ops.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

/// How far the loss of a row of normal logits is from the same in double.
double off_by(int64_t words, double spread) {
  const auto backend = make_cpu_backend(1);
  Store store(*backend);
  store.declare("x", {1, words}, {Init::Kind::Normal, spread});
  Tape tape(store);
  const ValueId targets = tape.input("targets", {1}, DType::I32);
  const ValueId loss = softmax_xent(tape, "loss", tape.parameter("x"), targets, kNone);
  store.materialize(3);
  Program program = seal(tape, {.loss = loss, .update = kNoOp});
  program.tokens("targets")[0] = 7;
  program.replay({});
  const std::vector<float> x = program.read("x");
  double sum = 0;
  for (const float v : x) sum += std::exp(static_cast<double>(v));
  return program.loss() - (std::log(sum) - static_cast<double>(x[7]));
}

}  // namespace

TEST_CASE("softmax_xent: the loss over 262,144 words is that of double within a float's rounding") {
  for (const double spread : {0.5, 2.0, 4.0})
    for (const int64_t words : {20'000, 49'152, 262'144}) {
      INFO(words << " words, spread " << spread);
      CHECK(std::abs(off_by(words, spread)) < 1.5e-6);
    }
}

}  // namespace normscope

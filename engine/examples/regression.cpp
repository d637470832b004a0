// A regression: a small network learns y = sin(3a) + b^2 from 200 rows in batches of 64, of which the last one of an
// epoch has only 8. Then it says how its output answers to a and to b.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/engine.h"

using namespace normscope;

namespace {

constexpr size_t kRows = 200, kBatch = 64;

/// Records the network on rows (a, b), and returns its output.
ValueId record(Tape& tape, ValueId x) {
  const ValueId first = silu(tape, "first", linear(tape, "fc1", x, 32));
  return linear(tape, "out", silu(tape, "second", linear(tape, "fc2", first, 32)), 1);
}

/// Returns a or b of a row, a number between -1 and 1.
float feature(size_t row, size_t column) {
  return static_cast<float>(random_word(row * 2 + column, site_of("x"), 0, Purpose::Batch, 1)) * 0x1p-31f - 1;
}

}  // namespace

int main() {
  Store store = make_cpu_store(/*seed=*/1);
  Tape tape(store);
  const ValueId out = record(tape, tape.input("x", {kBatch, 2}));
  const ValueId y = tape.input("y", {kBatch, 1}), weights = tape.input("weights", {kBatch});
  const ValueId loss = mean_squared_error(tape, "loss", out, y, weights);
  Program program = seal(tape, {.loss = loss});

  for (int epoch = 1; epoch <= 300; ++epoch) {
    double sum = 0;
    for (size_t first = 0; first < kRows; first += kBatch) {
      const size_t rows = std::min(kBatch, kRows - first);
      program.fill_rows(static_cast<int64_t>(rows));  // only these count
      for (size_t r = 0; r < rows; ++r) {
        const float a = feature(first + r, 0), b = feature(first + r, 1);
        program.floats("x")[2 * r] = a;
        program.floats("x")[2 * r + 1] = b;
        program.floats("y")[r] = std::sin(3 * a) + b * b;
      }
      program.replay(Adam{.lr = 3e-3f});
      sum += program.loss() * static_cast<double>(rows);
    }
    if (epoch % 100 == 0) std::printf("epoch %d  mean squared error %.5f\n", epoch, sum / kRows);
  }

  // What is differentiated may be any number: here the output itself, with respect to its input. Nothing is trained.
  Tape one_row(store);
  const ValueId asked = record(one_row, one_row.input("x", {1, 2}, DType::F32, {.gradient = true}));
  Program slope = seal(one_row, {.loss = asked, .update = kNoOp});
  for (const float at : {-0.5f, 0.0f, 0.5f}) {
    slope.floats("x")[0] = slope.floats("x")[1] = at;
    slope.replay({});
    const auto d = slope.read("x", /*gradient=*/true);
    std::printf(
        "at (%4.1f, %4.1f)  d out/da %5.2f, of the function %5.2f;  d out/db %5.2f, of the function %5.2f\n",
        at, at, d[0], 3 * std::cos(3 * at), d[1], 2 * at);
  }
}

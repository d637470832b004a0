// A probe of one's own: how many units of a layer are dead, that is, give zero for every row of the batch? The engine
// measures means and mean squares itself. What it does not know is read after a replay, in place.
#include <cmath>
#include <cstdio>
#include <vector>

#include "engine/engine.h"

using namespace normscope;

namespace {

constexpr int kRows = 64, kUnits = 128;

/// Counts the units, columns of `of`, that are zero in all rows.
class DeadUnits {
 public:
  DeadUnits(const Program& program, ValueId of) : program_(program), of_(of), numbers_(kRows * kUnits) {}
  int count() {
    program_.read_part(of_, numbers_);  // allocates nothing: it may run at every step
    int dead = 0;
    for (size_t unit = 0; unit < kUnits; ++unit) {
      bool alive = false;
      for (size_t row = 0; row < kRows; ++row) alive |= numbers_[row * kUnits + unit] > 0;
      dead += !alive;
    }
    return dead;
  }

 private:
  const Program& program_;
  ValueId of_;
  std::vector<float> numbers_;
};

/// Trains at a rate, and prints what the engine's probe and ours see.
void train(float rate) {
  Store store = make_cpu_store(/*seed=*/1);
  Tape tape(store);
  const ValueId x = tape.input("x", {kRows, 8}), classes = tape.input("classes", {kRows}, DType::I32);
  const ValueId hidden = relu(tape, "hidden.out", linear(tape, "hidden", x, kUnits));
  const ValueId loss = softmax_xent(tape, "loss", linear(tape, "logits", hidden, 3), classes);
  probe_mean_square(tape, "hidden.mean_square", hidden);
  Program program = seal(tape, {.loss = loss});
  DeadUnits dead(program, hidden);
  for (uint32_t step = 1; step <= 100; ++step) {
    for (size_t i = 0; i < kRows * 8; ++i)
      program.floats("x")[i] =
          static_cast<float>(random_word(i, site_of("x"), step, Purpose::Batch, 1)) * 0x1p-31f - 1;
    for (size_t r = 0; r < kRows; ++r) {
      const float* row = &program.floats("x")[r * 8];
      program.tokens("classes")[r] = row[0] > row[1] ? 0 : row[1] > row[2] ? 1 : 2;
    }
    program.replay(Adam{.lr = rate});
    if (step == 1 || step == 100)
      std::printf("rate %.2f  step %3u  loss %6.3f  mean square %8.3f  dead units %d of %d\n", rate, step,
                  program.loss(), program.stat("hidden.mean_square"), dead.count(), kUnits);
  }
}

}  // namespace

int main() {
  train(0.01f);
  train(1.0f);
}

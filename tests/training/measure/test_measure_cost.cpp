// These tests print what the measurements of every step cost: normscope_training_tests "[.bench]". It is processor time
// of one thread, which a busy machine does not stretch.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/model/transformer.h"
#include "engine/tape/seal.h"
#include "training/measure/initial_analysis.h"
#include "training/measure/look.h"

using namespace normscope;

namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Trained {
  Trained(const ModelConfig& config, bool probes)
      : backend(make_cpu_backend(1)), store(*backend), tape(store) {
    model = record_transformer(tape, config, {.batch = 16, .sequence = config.sequence, .probes = probes});
    store.materialize(3);
    program = std::make_unique<Program>(seal(tape, {.loss = model.loss}));
    const Batch batch = random_batch(config, 16, config.sequence, 9);
    std::copy(batch.tokens.begin(), batch.tokens.end(), program->tokens("tokens").begin());
    std::copy(batch.targets.begin(), batch.targets.end(), program->tokens("targets").begin());
  }
  double step() {
    const double begin = thread_seconds();
    program->replay({.seed = 1, .lr = 1e-4f});
    return thread_seconds() - begin;
  }

  std::unique_ptr<Backend> backend;
  Store store;
  Tape tape;
  ModelValues model;
  std::unique_ptr<Program> program;
};

}  // namespace

TEST_CASE("cost of measuring every step", "[.bench][slow]") {
  ModelConfig config;  // of the Lab's first comparison
  config.vocabulary = 29;
  for (Placement placement : {Placement::Post, Placement::Pre}) {
    set_placement(config, placement);
    Trained with(config, true), without(config, false);
    Batch row(1, config.sequence);
    for (size_t t = 0; t < row.tokens.size(); ++t) row.tokens[t] = static_cast<int32_t>(t % 29);
    Look sequence(with.store, config, row);
    std::vector<double> numbers(sequence.layout().size());
    double bare = 1, probed = 1, measured = 1;  // seconds, the least of all: what others do can only add
    for (int i = 0; i < 25; ++i) {
      bare = std::min(bare, without.step());
      probed = std::min(probed, with.step());
      const double begin = thread_seconds();
      sequence.measure(numbers);
      measured = std::min(measured, thread_seconds() - begin);
    }
    fmt::print("{}: step {:.2f} ms, probes {:.1f} %, measurements {:.1f} %\n", to_string(placement),
               1e3 * bare, 100 * (probed / bare - 1), 100 * measured / bare);
    std::fflush(stdout);
    CHECK(std::all_of(numbers.begin(), numbers.end(), [](double v) { return std::isfinite(v); }));
  }
}

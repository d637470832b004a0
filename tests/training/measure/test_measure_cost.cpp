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
#include "training/measure/update_metrics.h"

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
    program = std::make_unique<Program>(seal(tape, {.loss = model.loss, .clip = true}));
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
    UpdateMeasurements updates(with.program->data());
    std::vector<double> changes(updates.layout().size());
    double bare = 1, probed = 1, measured = 1,
           updated = 1;  // seconds, the least of all: what others do can only add
    for (int i = 0; i < 25; ++i) {
      bare = std::min(bare, without.step());
      const double start = thread_seconds();
      updates.before();
      const double kept = thread_seconds() - start;
      probed = std::min(probed, with.step());
      const double begin = thread_seconds();
      updates.after(*with.program, {}, changes);
      const double between = thread_seconds();
      updated = std::min(updated, between - begin + kept);
      sequence.measure(numbers);
      measured = std::min(measured, thread_seconds() - between);
    }
    fmt::print("{}: step {:.2f} ms, probes {:.1f} %, measurements {:.1f} %, updates {:.2f} %\n",
               to_string(placement), 1e3 * bare, 100 * (probed / bare - 1), 100 * measured / bare,
               100 * updated / bare);
    std::fflush(stdout);
    for (const auto* all : {&numbers, &changes})
      CHECK(std::all_of(all->begin(), all->end(), [](double v) { return std::isfinite(v); }));
  }
}

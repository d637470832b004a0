// These tests print what the measurements of every step cost: normscope_training_tests "[.bench]". It is processor time
// of one thread, which a busy machine does not stretch.
#include <time.h>

#include <algorithm>

#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/model/residual.h"
#include "engine/model/transformer.h"
#include "engine/ops/ops.h"
#include "engine/support/named_placements.h"
#include "engine/tape/seal.h"
#include "training/measure/initial_analysis.h"
#include "training/measure/look.h"
#include "training/measure/spectrum.h"
#include "training/measure/token_metrics.h"
#include "training/measure/update_metrics.h"

using namespace normscope;

namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

enum class ProbeSet { Nothing, Streams, Everything };

struct TrainingStep {
  TrainingStep(const ModelConfig& config, ProbeSet probed)
      : backend(make_cpu_backend(1)), store(*backend), tape(store) {
    model = record_transformer(
        tape, config, {.batch = 16, .sequence = config.sequence, .probes = probed == ProbeSet::Everything});
    if (probed == ProbeSet::Streams && !stream_layout(config.stack()).over_depth()) probe_streams();
    store.materialize(3);
    std::vector<ValueId> kept;
    if (probed == ProbeSet::Everything) kept = heard_values(tape);
    program =
        std::make_unique<Program>(seal(tape, {.loss = model.loss, .clip = true, .kept_gradients = kept}));
    const Batch batch = random_batch(config, 16, config.sequence, 9);
    std::ranges::copy(batch.tokens, program->tokens("tokens").begin());
    std::ranges::copy(batch.targets, program->tokens("targets").begin());
  }
  /// Asks for the gradient of each of several streams, and for nothing else.
  void probe_streams() {
    for (const SublayerValues& s : model.sublayers) {
      const int32_t count = s.second != kNone ? 2 : s.streams == kNone ? 0 : streams_of(s);
      for (int32_t i = 1; i <= count; ++i) {
        const bool apart = s.second != kNone;
        const ProbeSpec part{ProbeKind::MeanSquare, apart ? 0 : i - 1, apart ? 1 : count};
        tape.probe({s.name + ".stream." + std::to_string(i) + ".gradient_square", part,
                    apart ? (i == 1 ? s.output : s.second) : s.streams, true, 1, kNone});
        ++asked;
      }
    }
  }
  int32_t streams_of(const SublayerValues& s) const {
    return static_cast<int32_t>(tape.value(s.streams).shape[2]);
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
  int32_t asked = 0;  ///< gradients of streams
};

ModelConfig first_comparison() {
  ModelConfig config;
  config.vocabulary = 29;
  return config;
}

Batch one_row(const ModelConfig& config) {
  Batch row(1, config.sequence);
  for (size_t t = 0; t < row.tokens.size(); ++t) row.tokens[t] = static_cast<int32_t>(t % 29);
  return row;
}

/// What the effective ranks of the last measured sequence take by themselves.
double seconds_of_ranks(const Look& look, EffectiveRankRoom& room, double& sum) {
  std::vector<std::vector<float>> states;
  for (const SublayerValues& s : look.values().sublayers) states.push_back(look.read(s.output));
  const Shape& shape = look.shape(look.values().sublayers.front().output);
  const double begin = thread_seconds();
  for (const std::vector<float>& y : states)
    sum += effective_rank(y, static_cast<size_t>(shape[1]), static_cast<size_t>(shape[2]), room);
  return thread_seconds() - begin;
}

}  // namespace

TEST_CASE("cost of measuring every step", "[.bench][slow]") {
  ModelConfig config = first_comparison();
  for (Placement placement : {Placement::Post, Placement::Pre}) {
    set_placement(config, placement);
    TrainingStep with(config, ProbeSet::Everything), without(config, ProbeSet::Nothing);
    Look sequence(with.store, config, one_row(config));
    EffectiveRankRoom room;
    double ranks = 1, sum = 0;
    std::vector<double> numbers(sequence.layout().size());
    UpdateMeasurements updates(with.program->data());
    std::vector<double> changes(updates.layout().size());
    TokenMeasurements tokens(with.program->data());
    std::vector<double> differences(tokens.layout().size());
    double bare = 1, probed = 1, measured = 1, updated = 1,
           told = 1;  // seconds, the least of all: what others do can only add
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
      const double apart = thread_seconds();
      tokens.measure(*with.program, differences);
      told = std::min(told, thread_seconds() - apart);
      ranks = std::min(ranks, seconds_of_ranks(sequence, room, sum));
    }
    fmt::print(
        "{}: step {:.2f} ms, probes {:.1f} %, measurements {:.1f} %, of these effective ranks {:.2f} %, "
        "updates {:.2f} %, differences between tokens {:.2f} %\n",
        to_string(placement), 1e3 * bare, 100 * (probed / bare - 1), 100 * measured / bare,
        100 * ranks / bare, 100 * updated / bare, 100 * told / bare);
    CHECK(std::isfinite(sum));
    std::fflush(stdout);
    for (const auto* all : {&numbers, &changes})
      CHECK(std::ranges::all_of(*all, [](double v) { return std::isfinite(v); }));
  }
}

TEST_CASE("cost of several streams and of their gradients", "[.bench][slow]") {
  ModelConfig config = first_comparison();
  set_placement(config, Placement::Pre);
  TrainingStep pre(config, ProbeSet::Nothing);
  for (Placement placement :
       test::known({"resi-dual", "siamese", "hyper", "mhc", "mhc-lite", "attn-res", "depth-average"})) {
    set_placement(config, placement);
    TrainingStep bare(config, ProbeSet::Nothing), streams(config, ProbeSet::Streams),
        all(config, ProbeSet::Everything);
    Look sequence(all.store, config, one_row(config));
    std::vector<double> numbers(sequence.layout().size());
    double one = 1, several = 1, gradients = 1, probed = 1, measured = 1;  // seconds, the least of all
    for (int i = 0; i < 25; ++i) {
      one = std::min(one, pre.step());
      several = std::min(several, bare.step());
      gradients = std::min(gradients, streams.step());
      probed = std::min(probed, all.step());
      const double begin = thread_seconds();
      sequence.measure(numbers);
      measured = std::min(measured, thread_seconds() - begin);
    }
    fmt::print(
        "{}: step {:.2f} of Pre-LN's ({:.2f} ms); of its own step {} gradients of streams {:.2f} %, "
        "all probes {:.1f} %, measurements {:.1f} %\n",
        to_string(placement), several / one, 1e3 * several, streams.asked, 100 * (gradients / several - 1),
        100 * (probed / several - 1), 100 * measured / several);
    std::fflush(stdout);
    CHECK(std::ranges::all_of(numbers, [](double v) { return std::isfinite(v); }));
    CHECK(std::isfinite(streams.program->stats().back()));
  }
}

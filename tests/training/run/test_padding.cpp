// These tests have rows of unequal length: padding that nobody sees, in encoder-decoders and classifiers, in losses,
// gradients, measurements and Admin's profile.
#include "training/measure/look.h"
#include "training/measure/step_metrics.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

/// An encoder-decoder over one Store, recorded for a batch of any shape.
struct Both {
  explicit Both(Placement placement = Placement::Pre) : backend(make_cpu_backend(2)), store(*backend) {
    config.architecture = Architecture::EncoderDecoder;
    set_placement(config, placement);
  }
  Program program(const BatchShape& shape) {
    Tape tape(store);
    values = record_transformer(tape, config, record_options(shape, true));
    if (!store.materialized()) store.materialize(5);
    return seal(tape, {.loss = values.loss, .update = kNoOp});
  }
  ModelConfig config = tiny_config({.vocabulary = 19, .sequence = 14});
  std::unique_ptr<Backend> backend;
  Store store;
  ModelValues values;
};

int32_t symbol(size_t row, size_t t, uint32_t what) {
  return static_cast<int32_t>(random_word(row * 64 + t, what, 1, Purpose::Batch, 3) % 18 + 1);
}

/// Writes rows of the given lengths; what is beyond them is `rest` in both tokens and source.
void fill(Program& program, const BatchShape& shape, const std::vector<int32_t>& source,
          const std::vector<int32_t>& target, int32_t rest) {
  const BatchView to = inputs_of(program, shape);
  const auto T = static_cast<size_t>(shape.length), S = static_cast<size_t>(shape.source_length);
  for (size_t r = 0; r < static_cast<size_t>(shape.rows); ++r) {
    for (size_t t = 0; t < S; ++t)
      to.source[r * S + t] = t < static_cast<size_t>(source[r]) ? symbol(r, t, 1) : rest;
    for (size_t t = 0; t < T; ++t) {
      const bool counts = t < static_cast<size_t>(target[r]);
      to.tokens[r * T + t] = counts ? symbol(r, t, 2) : rest;
      to.targets[r * T + t] = counts ? symbol(r, t, 3) : -1;
    }
    if (shape.padded) {
      to.key_lengths[r] = source[r];
      to.target_lengths[r] = target[r];
    }
  }
}

// Demands the same live measurements of the last replays of two programs.
void check_same(LiveMeasurements& before, LiveMeasurements& after) {
  std::vector<double> x(before.layout().size()), y(after.layout().size());
  REQUIRE(x.size() == y.size());
  before.measure(x);
  after.measure(y);
  for (size_t i = 0; i < x.size(); ++i) {
    INFO(before.layout()[i].name);
    CHECK(y[i] == Approx(x[i]).epsilon(1e-4).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("padding: padded rows count as the same rows without padding") {
  for (Placement placement : {Placement::Pre, Placement::Post}) {
    Both both(placement);
    const BatchShape tight{3, 7, 5, false}, wide{3, 12, 9, true};
    Program a = both.program(tight), b = both.program(wide);
    const std::vector<int32_t> five(3, 5), seven(3, 7);
    fill(a, tight, five, seven, 0);
    fill(b, wide, five, seven, 17);
    a.replay({});
    b.replay({});
    CHECK(b.loss() == Approx(a.loss()).epsilon(1e-6));
    for (const ParameterInfo& p : both.store.parameters()) {
      if (p.name.ends_with(".bk")) continue;  // zero by symmetry
      INFO(p.name);
      CHECK(relative_difference(b.read(p.name, true), a.read(p.name, true)) < 1e-4);
    }
    REQUIRE(a.data().stats.size() == b.data().stats.size());
    int probes = 0;
    for (size_t i = 0; i < a.data().stats.size(); ++i) {
      const std::string& name = a.data().stats[i].name;
      REQUIRE(name == b.data().stats[i].name);
      if (!name.ends_with("mean_square")) continue;
      INFO(name);
      CHECK(b.stats()[i] == Approx(a.stats()[i]).epsilon(1e-5));
      ++probes;
    }
    CHECK(probes == 20);
  }
}

TEST_CASE("padding: a padded classifier counts as the same rows without padding, by either pooling") {
  for (const Pooling pooling : {Pooling::First, Pooling::Mean}) {
    Both model;
    model.config.architecture = Architecture::Encoder;
    model.config.classes = 3;
    model.config.pooling = pooling;
    const BatchShape tight{3, 7, 0, false}, wide{3, 12, 0, true};
    Program a = model.program(tight);
    LiveMeasurements before(a, model.values, model.config);
    Program b = model.program(wide);
    LiveMeasurements after(b, model.values, model.config);
    const auto fill_rows = [&](Program& program, const BatchShape& shape, int32_t rest) {
      const BatchView to = inputs_of(program, shape);
      const auto T = static_cast<size_t>(shape.length);
      for (size_t r = 0; r < 3; ++r)
        for (size_t t = 0; t < T; ++t) {
          to.tokens[r * T + t] = t < 7 ? symbol(r, t, 1) : rest;
          to.targets[r * T + t] = t == 0 ? static_cast<int32_t>(r) : -1;
        }
      for (int32_t& length : to.key_lengths) length = 7;
    };
    fill_rows(a, tight, 0);
    a.replay({});
    std::vector<double> stats, numbers;
    for (const int32_t rest : {0, 17}) {
      fill_rows(b, wide, rest);
      b.replay({});
      CHECK(b.loss() == Approx(a.loss()).epsilon(1e-6));
      for (const ParameterInfo& p : model.store.parameters()) {
        if (p.name.ends_with(".bk")) continue;  // zero by symmetry
        INFO(p.name);
        CHECK(relative_difference(b.read(p.name, true), a.read(p.name, true)) < 1e-4);
      }
      for (size_t i = 0; i < a.data().stats.size(); ++i) {
        const std::string& name = a.data().stats[i].name;
        INFO(name);
        if (name.ends_with("mean_square")) CHECK(b.stats()[i] == Approx(a.stats()[i]).epsilon(1e-5));
      }
      check_same(before, after);
    }
    const std::vector<float> logits = b.read("logits");
    const size_t row = logits.size() / 3;
    for (size_t i = 0; i + 3 < row; ++i)  // the mean is the same at every position; the states are not
      if (pooling == Pooling::Mean) CHECK(logits[i] == logits[i + 3]);
  }
}

TEST_CASE("padding: live measurements leave the padding of both stacks out") {
  Both both;
  const BatchShape tight{2, 7, 5, false}, wide{2, 12, 9, true};
  Program a = both.program(tight);
  LiveMeasurements before(a, both.values, both.config);
  Program b = both.program(wide);
  LiveMeasurements after(b, both.values, both.config);
  const std::vector<int32_t> five(2, 5), seven(2, 7);
  fill(a, tight, five, seven, 0);
  fill(b, wide, five, seven, 17);
  a.replay({});
  b.replay({});
  check_same(before, after);
}

TEST_CASE("padding: what stands in the padding changes nothing, not by a bit") {
  Both both;
  const BatchShape wide{4, 12, 9, true};
  Program program = both.program(wide);
  const std::vector<int32_t> source = {5, 9, 1, 0}, target = {7, 3, 12, 0};  // the last row is empty
  std::vector<double> stats;
  std::vector<float> gradient;
  for (int32_t rest : {0, 17}) {
    fill(program, wide, source, target, rest);
    program.replay({});
    CHECK(std::isfinite(program.loss()));
    const std::vector<double> now(program.stats().begin(), program.stats().end());
    // Padding positions of the decoder do meet their own gradient-free rows, so compare what is measured and learned.
    if (stats.empty()) {
      stats = now;
      gradient = program.read("enc.L01.attn.wq", true);
    }
    for (size_t i = 0; i < now.size(); ++i) {
      INFO(program.data().stats[i].name);
      CHECK(now[i] == Approx(stats[i]).epsilon(1e-9));
    }
    CHECK(same_bits(program.read("enc.L01.attn.wq", true), gradient));
  }
}

TEST_CASE("padding: a batch of mixed lengths is the weighted mean of its rows") {
  Both both;
  const BatchShape wide{3, 12, 9, true};
  Program program = both.program(wide);
  const std::vector<int32_t> source = {5, 9, 2}, target = {7, 3, 12};
  double expected = 0, count = 0;
  for (size_t row = 0; row < 3; ++row) {
    std::vector<int32_t> s(3, 0), t(3, 0);
    s[row] = source[row];
    t[row] = target[row];
    fill(program, wide, s, t, 0);
    program.replay({});
    expected += program.loss() * target[row];
    count += target[row];
  }
  fill(program, wide, source, target, 0);
  program.replay({});
  CHECK(program.loss() == Approx(expected / count).epsilon(1e-6));
}

TEST_CASE("padding: Admin profiles each stack by itself") {
  Both both(Placement::Admin);
  const BatchShape shape{4, 12, 9, true};
  Program program = both.program(shape);
  const std::vector<int32_t> source = {5, 9, 3, 8}, target = {7, 3, 12, 10};
  fill(program, shape, source, target, 17);
  const BatchView in = inputs_of(program, shape);
  const auto omega = profile_admin(both.store, both.config, record_options(shape, false),
                                   {in.tokens, in.source, in.key_lengths, in.target_lengths});
  REQUIRE(omega.size() == 2 * 2 + 2 * 3);
  CHECK(omega[0] == 1.0);
  CHECK(omega[4] == 1.0);  // the decoder's first
  program.replay({});
  const auto variance_of = [&](ValueId value, const std::vector<int32_t>& lengths) {
    const std::vector<float> x = program.read(program.data().values[static_cast<size_t>(value)].name);
    const size_t row = x.size() / 4;
    std::vector<double> seen;
    for (size_t r = 0; r < 4; ++r)
      for (size_t i = 0; i < static_cast<size_t>(lengths[r]) * 24; ++i)
        seen.push_back(static_cast<double>(x[r * row + i]));
    return variance(seen);
  };
  for (size_t i = 0; i + 1 < omega.size(); ++i) {
    if (i == 3) continue;  // the chain starts over
    const SublayerValues& s = both.values.sublayers[i];
    const auto& lengths = i < 4 ? source : target;
    CHECK(omega[i + 1] * omega[i + 1] ==
          Approx(omega[i] * omega[i] * variance_of(s.input, lengths) + variance_of(s.branch, lengths))
              .epsilon(1e-4));
  }
}

}  // namespace normscope::test

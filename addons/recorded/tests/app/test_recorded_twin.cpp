// A run recorded by PyTorch has the curves of the engine's run of the same weights and batches.
// tests/fixtures/make.py made the log. The engine's own run is also saved and read as a recorded one.
#include <algorithm>

#include "addons/recorded/training/log_reader.h"
#include "addons/recorded/training/recorded_run.h"
#include "app/support/program.h"
#include "engine/cpu/backend_cpu.h"
#include "training/data/task.h"
#include "training/measure/look.h"
#include "training/run/run.h"

namespace normscope::records {
using test::Folder;

namespace {

RunSpec twin_spec() {
  RunSpec spec = test::tiny_spec("pre", 200);
  for (const auto& [key, value] : {std::pair("train.batch", "8"), std::pair("train.lr", "2e-3"),
                                   std::pair("train.warmup", "0"), std::pair("data.name", "sort")})
    set_field(spec, key, value);
  return spec;
}

/// The largest |a - b| / |b| over the steps that both have.
double apart(const Series& a, const Series& b) {
  double most = 0;
  size_t compared = 0, at = 0;
  for (size_t i = 0; i < a.steps.size(); ++i) {
    while (at < b.steps.size() && b.steps[at] < a.steps[i]) ++at;
    if (at == b.steps.size() || b.steps[at] != a.steps[i] || std::isnan(a.values[i])) continue;
    ++compared;
    most = std::max(most, std::abs(static_cast<double>(a.values[i]) - b.values[at]) / std::abs(b.values[at]));
  }
  return compared > 0 ? most : INFINITY;
}

// Tolerances: one rounding is 6e-8. The loss is a mean over 64 targets after some ten roundings deep, and 200 steps of
// Adam at 2e-3 neither damp nor blow up what differs: measured 4e-7 for loss and hidden states, 4e-6 for gradients,
// which are sums of terms of either sign. Allowed is 25 times that, for other orders of a sum on other processors. An
// update is a difference of weights a hundred times its size, in PyTorch's recorder: 1e-3. A wrong batch or a rate 1 %
// off is beyond 1e-2 within a few steps.
TEST_CASE("what PyTorch recorded lies on the engine's run of the same weights and batches") {
  const RecordedFile file = read_recorded(NORMSCOPE_SOURCE_DIR "/addons/recorded/tests/fixtures/pre.jsonl");
  CHECK(file.broken == 0);
  REQUIRE(file.runs.size() == 1);
  const Recording& recorded = file.runs[0];
  CHECK(recorded.name == "Pre-LN in PyTorch");
  CHECK(recorded.maker.starts_with("PyTorch "));
  CHECK(recorded.layers == 2);
  CHECK(recorded.missing.empty());  // every name is known without a mapping

  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const RunSpec spec = twin_spec();
  Run run(spec, make_task(spec.data), *backend);
  for (int32_t i = 0; i < 200; ++i) run.step();
  const History &ours = *run.history(), &theirs = *recorded.seeds[0].history;
  CHECK(theirs.loss().steps == ours.loss().steps);
  CHECK(apart(theirs.loss(), ours.loss()) < 1e-5);
  CHECK(apart(theirs.rate(), ours.rate()) < 1e-6);
  size_t gradients = 0;
  for (const StatInfo& stat : theirs.layout()) {
    INFO(stat.name);
    REQUIRE(ours.find(stat.name) >= 0);
    const double tolerance = stat.name.ends_with(".update_norm") ? 1e-3
                             : stat.name.ends_with(".grad_norm") ? 1e-4
                                                                 : 1e-5;
    CHECK(apart(theirs.series(theirs.find(stat.name)), ours.series(ours.find(stat.name))) < tolerance);
    gradients += stat.name.ends_with(".grad_norm");
  }
  CHECK(gradients == 2 * 6 + 2);
}

TEST_CASE("a saved run opens as a recorded one, with the names of its numbers") {
  const Folder folder;
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const RunSpec spec = twin_spec();
  Run run(spec, make_task(spec.data), *backend);
  for (int32_t i = 0; i < 5; ++i) run.step();
  run.validation_loss();
  run.save(folder.file("run.safetensors"));
  const RecordedFile file = read_recorded(folder.file("run.safetensors"));
  REQUIRE(file.runs.size() == 1);
  const Recording& saved = file.runs[0];
  CHECK(saved.maker == "normscope");
  CHECK(saved.name == default_name(run.spec()));
  CHECK(saved.placement == "pre");
  CHECK(saved.data.unit == make_task(spec.data)->unit());  // its line is named as the Lab names it
  CHECK(saved.seeds[0].origin.seed == spec.seed);
  CHECK(saved.layers == 2);
  CHECK(saved.seeds[0].said == "not decided");
  CHECK(saved.missing.empty());
  REQUIRE(saved.spec);
  CHECK(field_values(*saved.spec) == field_values(run.spec()));
  const History &ours = *run.history(), &theirs = *saved.seeds[0].history;
  REQUIRE(theirs.layout().size() == ours.layout().size());
  CHECK(theirs.loss().values == ours.loss().values);
  CHECK(theirs.validation().values == ours.validation().values);
  for (const char* stat : {"L02.ffn.w1.grad_norm", "L01.ffn.sum.mean_square", "L01.attn.wq.update_norm"})
    CHECK(theirs.series(theirs.find(stat)).values == ours.series(ours.find(stat)).values);
}

// A run that the Python package recorded has the stream under the engine's names, whatever its modules are called.
// tests/fixtures/twins.py made the logs.

Recording recorded(const std::string& name) {
  const RecordedFile file = read_recorded(NORMSCOPE_SOURCE_DIR "/addons/recorded/tests/fixtures/" + name);
  CHECK(file.broken == 0);
  REQUIRE(file.runs.size() == 1);
  return file.runs[0];
}

/// The largest |a - b| / |b| over the steps, infinite where one of them lacks a number.
double factor_apart(const Series& a, const Series& b) {
  if (a.steps != b.steps) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < a.values.size(); ++i)
    if (!std::isnan(b.values[i]))
      most = std::max(most, static_cast<double>(std::abs(a.values[i] - b.values[i])) /
                                std::abs(static_cast<double>(b.values[i])));
  return most;
}

// Two programs of the same numbers in another order: 1e-7 apart in forward passes, and after 40 steps of Adam, which
// divides by the root of small gradients, 1e-3 in their norms. The bias of W_K has no gradient but roundings.
TEST_CASE("a model of one's own is recorded as its twin with names that are known") {
  const Recording own = recorded("own.jsonl"), known = recorded("hf.jsonl");
  for (const Recording* run : {&own, &known}) {
    CHECK(run->placement == "pre");
    CHECK(run->layers == 2);
    CHECK(run->missing.empty());  // every name is known, without a mapping
  }
  CHECK(factor_apart(own.seeds[0].history->loss(), known.seeds[0].history->loss()) < 1e-5);
  const auto names = [](const Recording& run) {
    std::vector<std::string> all;
    for (const StatInfo& stat : run.seeds[0].history->layout()) all.push_back(stat.name);
    std::ranges::sort(all);
    return all;
  };
  CHECK(names(own) == names(known));
  for (const std::string& name : names(own)) {
    if (name.find(".bk.") != name.npos) continue;
    INFO(name);
    const Series a = own.seeds[0].history->series(own.seeds[0].history->find(name)),
                 b = known.seeds[0].history->series(known.seeds[0].history->find(name));
    CHECK(factor_apart(a, b) < 1e-3);
  }
}

TEST_CASE("what is recorded of a stream has the names of the engine's own measurements") {
  const Recording own = recorded("own.jsonl");
  for (const char* name : {"L01.attn.branch.variance", "L02.ffn.branch.variance", "L01.attn.input.variance",
                           "L02.ffn.sum.mean_square", "beta2.1.1", "beta2.4.4", "L02.attn.wq.grad_norm",
                           "L01.ffn.w2.update_norm", "L01.attn.before.gain.weight_norm",
                           "emb.tokens.grad_norm", "emb.positions.grad_norm"})
    CHECK(own.seeds[0].history->find(name) >= 0);
}

// The shares that are derived from a recorded line are those that the engine measures by carrying every component
// through the stream.

constexpr const char* kHead = "{\"format\":\"normscope log 3\"}\n";

/// An untrained model whose measurements became a line of a log, as a recorder would have written it.
struct LoggedModel {
  explicit LoggedModel(Placement placement) : backend(make_cpu_backend(1)) {
    config.layers = 3;
    config.d_model = 256;
    config.heads = 4;
    config.feed_forward = 40;
    config.sequence = 11;
    config.vocabulary = 17;
    set_placement(config, placement);
    Store store(*backend);
    Tape tape(store);
    record_transformer(tape, config, {.batch = 1, .sequence = config.sequence});
    store.materialize(3);
    Batch text(1, config.sequence);
    text.tokens = text.targets = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
    Look look(store, config, text);
    numbers = look.measure();
    for (const StatInfo& stat : look.layout()) names.push_back(stat.name);
  }
  double operator[](const std::string& name) const {
    const auto at = std::ranges::find(names, name);
    REQUIRE(at != names.end());
    return numbers[static_cast<size_t>(at - names.begin())];
  }
  /// Three numbers of each residual sum; without `missing`.
  std::string line(const std::string& missing = "") const {
    std::string fields[3];
    for (int i = 1; i <= 2 * config.layers; ++i) {
      const std::string name = fmt::format("L{:02}.{}", (i + 1) / 2, i % 2 == 1 ? "attn" : "ffn");
      const auto put = [&](std::string& field, const std::string& key, double value) {
        if (key != missing) field += fmt::format("{}\"{}\":{}", field.empty() ? "" : ",", key, value);
      };
      put(fields[0], name, (*this)[name + ".branch.variance"]);
      put(fields[1], name, (*this)[name + ".input.variance"]);
      put(fields[2], fmt::format("beta2.{}.{}", i, i), (*this)[fmt::format("beta2.{}.{}", i, i)]);
    }
    return fmt::format(
        "{{\"step\":1,\"loss\":1,\"branch_variance\":{{{}}},\"input_variance\":{{{}}},\"share\":{{{}}}}}\n",
        fields[0], fields[1], fields[2]);
  }

  ModelConfig config;
  std::unique_ptr<Backend> backend;
  std::vector<double> numbers;
  std::vector<std::string> names;
};

double number_of(const Recording& run, const std::string& name) {
  const int32_t at = run.seeds[0].history->find(name);
  return at < 0 ? NAN : static_cast<double>(run.seeds[0].history->series(at).values.at(0));
}

Recording read(const std::string& text) {
  LogReader reader("a.jsonl");
  reader.take(kHead + text);
  REQUIRE(reader.file().broken == 0);
  return reader.file().runs.at(0);
}

}  // namespace

// Where no norm stands on the stream the recursion is exact, up to roundings of the variances, of which each row adds
// three: measured 3e-7. A norm there divides each token by its own deviation; at width 256 and initialisation these
// differ by a few per cent, which adds up over six of them: measured 0.14 (at width 24: 0.37). With the neighbour's
// factor, or one off in I, most are wrong by more than a half.
TEST_CASE("shares of what is older: those of the engine, exactly without norms on the stream") {
  for (const auto& [placement, allowed] : {std::pair{Placement::Pre, 1e-5},
                                           {Placement::Sandwich, 1e-5},
                                           {Placement::ResPost, 1e-5},
                                           {Placement::SimpleNorm, 1e-5},
                                           {Placement::Post, 0.2},
                                           {Placement::DeepNorm, 0.2},
                                           {Placement::Keel, 0.2}}) {
    const LoggedModel model(placement);
    const Recording run = read(model.line());
    for (int i = 1; i <= 2 * model.config.layers; ++i)
      for (int j = 0; j <= i; ++j) {
        const std::string name = j == i ? fmt::format("beta2.{}.sum", i) : fmt::format("beta2.{}.{}", i, j);
        INFO(label(placement) << " " << name);
        CHECK(std::abs(number_of(run, name) / model[name] - 1) < allowed);
      }
  }
}

TEST_CASE("shares of what is older: none from a line that lacks a number, or says them itself") {
  const LoggedModel model(Placement::Pre);
  CHECK(std::isnan(number_of(read(model.line("beta2.3.3")), "beta2.2.1")));
  // What rests on a missing variance is unknown, and what does not is there.
  const Recording lacking = read(model.line("L02.attn"));
  CHECK_FALSE(std::isnan(number_of(lacking, "beta2.2.1")));
  CHECK(std::isnan(number_of(lacking, "beta2.3.1")));
  std::string own = model.line();
  own.insert(own.find("\"beta2.1.1\""), "\"beta2.2.1\":0.5,");
  CHECK(number_of(read(own), "beta2.2.1") == 0.5);
  CHECK(std::isnan(number_of(read(own), "beta2.1.0")));
}

TEST_CASE("shares of what is older: not of a model beyond all depth") {
  std::string share;
  for (size_t i = 1; i <= OlderShares::kMaxSublayers + 1; ++i)
    share += fmt::format("{}\"beta2.{}.{}\":0.5", i == 1 ? "" : ",", i, i);
  const Recording run = read("{\"step\":1,\"loss\":1,\"share\":{" + share + "}}\n");
  CHECK(run.seeds[0].history->find("beta2.1.0") < 0);
  CHECK(run.seeds[0].history->find("beta2.97.97") >= 0);
}

}  // namespace normscope::records

// A run recorded by PyTorch has the curves of the engine's run of the same weights and batches.
// tests/fixtures/make.py made the log. The engine's own run is also saved and read as a recorded one.
#include "catch.hpp"

#include "addons/recorded/training/recorded_run.h"
#include "app/support/program.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/helpers.h"
#include "test_paths.h"
#include "training/data/task.h"
#include "training/run/run.h"
#include "training/spec/spec.h"
#include "training/support/tiny.h"

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

}  // namespace

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

}  // namespace normscope::records

// A run that the Python package recorded has the stream under the engine's names, whatever its modules are called.
// tests/fixtures/twins.py made the logs.

namespace normscope::records {
namespace {

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

}  // namespace

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

}  // namespace normscope::records

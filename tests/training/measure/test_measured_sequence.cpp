// The sequence that beta^2 and the other live measurements are taken on is the same at every step and for every run, so
// that only the weights can move the numbers.
#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "training/measure/look.h"
#include "training/run/evaluate.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

std::vector<float> frame_at(const Run& run, int32_t step) {
  std::vector<float> all;
  int32_t found = 0;
  REQUIRE(run.history()->frame(step, all, found));
  REQUIRE(found == step);
  return all;
}

/// Has the live numbers of a run at a step, in the layout's order. Those of its update follow, which are of the
/// step's batch.
std::vector<float> live_at(const Run& run, int32_t step) {
  const std::vector<float> all = frame_at(run, step);
  const std::vector<StatInfo>& layout = run.history()->layout();
  const auto end = std::find_if(layout.begin(), layout.end(),
                                [](const StatInfo& stat) { return stat.name.ends_with(".spike_ratio"); });
  return {all.begin() + run.history()->find("L01.attn.token_cosine"), all.begin() + (end - layout.begin())};
}

}  // namespace

TEST_CASE("measured sequence: with weights that stand still every number stands still", "[measured]") {
  RunSpec spec = small_spec("post");
  set_field(spec, "train.lr", "1e-30");  // far below the spacing of any weight that is not zero
  const auto run = make_run(spec);
  steps(*run, 4);
  const Series loss = run->history()->loss();
  CHECK(loss.values[0] != loss.values[1]);  // the batches do change
  for (int32_t step = 2; step <= 4; ++step) CHECK(same_bits(live_at(*run, step), live_at(*run, 1)));
}

TEST_CASE("measured sequence: seed, batch size and text to come do not choose it", "[measured]") {
  RunSpec wide = small_spec("pre");
  set_field(wide, "train.batch", "7");
  const auto a = make_run(small_spec("pre")), b = make_run(wide);
  a->step();
  b->step();
  CHECK(same_bits(live_at(*a, 1), live_at(*b, 1)));
  const auto other = make_run(small_spec("pre", 2));  // another network on the same sequence
  const Batch one = measured_row(a->task(), 16), two = measured_row(other->task(), 16);
  CHECK(one.tokens == two.tokens);
}

TEST_CASE("measured sequence: a step's numbers are of the weights that its gradient is of", "[measured]") {
  const auto run = make_run(small_spec("post"));
  Look sequence(run->store(), run->spec().model, measured_row(run->task(), 16));
  for (int32_t step = 1; step <= 3; ++step) {
    const std::vector<double> before = sequence.measure();
    run->step();
    const std::vector<float> recorded = live_at(*run, step);
    REQUIRE(recorded.size() == before.size());
    for (size_t i = 0; i < before.size(); ++i) CHECK(recorded[i] == static_cast<float>(before[i]));
    CHECK(static_cast<float>(sequence.measure()[0]) != recorded[0]);
    CHECK(sequence.residual() < 1e-5);
  }
}

TEST_CASE("measured sequence: both stacks of a translation", "[measured]") {
  RunSpec spec = small_spec("pre");
  set_field(spec, "model.architecture", "encoder-decoder");
  set_field(spec, "data.name", "translation");
  const auto run = make_run(spec);
  steps(*run, 2);
  for (const char* name : {"enc.beta2.4.sum", "dec.beta2.6.sum"})  // 2 layers: 2 and 3 sub-layers each
    CHECK(std::isfinite(frame_at(*run, 2).at(static_cast<size_t>(run->history()->find(name)))));
  Look sequence(run->store(), run->spec().model, measured_row(run->task(), 16));
  sequence.measure();
  CHECK(sequence.residual() < 1e-5);
}

}  // namespace normscope::test

// Any step of a run is reached again, bit for bit, from its keyframes, its edits and its seed.
#include <unistd.h>

#include <filesystem>
#include <set>

#include "catch.hpp"
#include "engine/core/error.h"
#include "training/run/keyframes.h"
#include "training/support/small_runs.h"

using namespace normscope;
using namespace normscope::test;

TEST_CASE(
    "a run at an earlier step is the run as it was: weights, moments, losses, with edits and forks before it",
    "[keyframes]") {
  const auto run = make_run(small_spec("post"));
  steps(*run, 15);
  run->edit("train.lr", "0.002");
  steps(*run, 16);
  RunSpec moved = run->spec();
  set_field(moved, "model.placement", "pre");
  const auto forked = run->fork(moved);
  steps(*forked, 24);  // at 55
  forked->edit("train.lr", "0.0005");
  steps(*forked, 5);
  CHECK(forked->keyframes() == std::vector<int32_t>{40, 60});
  for (int32_t step : {0, 14, 15, 16, 31, 32, 40, 47, 55, 60}) {
    INFO("step " << step);
    const auto original =
        make_run(small_spec("post"));  // trained straight to the step, with the edits made so far
    std::vector<Edit> edits;
    for (const Edit& edit : forked->edits())
      if (edit.step <= step) edits.push_back(edit);
    original->schedule_edits(edits);
    steps(*original, step);
    const auto again = forked->at(step);
    CHECK(again->steps_done() == (step >= 60 ? 60 : step >= 40 ? 40 : 0));
    steps(*again, step - again->steps_done());
    CHECK(first_difference(original->store(), again->store()) == "");
    CHECK(again->learning_since() == original->learning_since());
    CHECK(again->edits() == original->edits());
    CHECK(again->history()->loss().steps.empty());
    // and on from there
    steps(*original, 3);
    steps(*again, 3);
    CHECK(first_difference(original->store(), again->store()) == "");
    CHECK(again->history()->loss().steps == std::vector<int32_t>{step + 1, step + 2, step + 3});
    CHECK(
        same_bits({static_cast<float>(original->mean_loss(20))}, {static_cast<float>(again->mean_loss(20))}));
  }
  CHECK_THROWS_AS(forked->at(61), Error);
  CHECK_THROWS_AS(forked->at(-1), Error);
}

TEST_CASE("keyframes keep their budget, the newest, and thin with age", "[keyframes]") {
  const auto run = make_run(small_spec("pre"));
  const size_t one = 3 * run->store().size() * sizeof(float) + sizeof(Keyframe);
  Keyframes frames;
  frames.set_budget(8 * one);
  for (int32_t step = 1; step <= 2000; ++step) frames.after_step(step, 0, run->store(), {});
  CHECK(frames.bytes() <= 8 * one);
  const std::vector<int32_t> kept = frames.steps();
  REQUIRE(kept.size() == 8);
  CHECK(kept.back() == 2000);
  CHECK(kept.front() <= 1000);
  CHECK(kept[7] - kept[6] < kept[1] - kept[0]);
  CHECK(frames.before(kept.front() - 1) == nullptr);
  CHECK(frames.before(kept[3] + 1)->step == kept[3]);
  frames.set_budget(one);
  CHECK(frames.steps().size() <= 1);
  frames.set_budget(0);
  CHECK(frames.steps().empty());
}

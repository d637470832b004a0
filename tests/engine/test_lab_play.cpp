// A step of a Lab's run on a copy: the run does not notice, and the copy is the step that the run then takes.
#include "catch.hpp"
#include "engine/helpers.h"
#include "engine/lab/played_step.h"
#include "lab_runs.h"

namespace normscope::test {
namespace lab_play {
namespace {

LabOptions one_thread() {
  LabOptions options = quiet();
  options.threads = 1;
  options.sample_text = false;
  options.validation_every = 0;
  return options;
}

}  // namespace

TEST_CASE("lab: a run whose steps are copied and played has the losses of one that is left alone, to the bit",
          "[lab][tape]") {
  Lab lab(one_thread());
  lab.post(lab::ReplaceRuns{.runs = {small_spec("post"), small_spec("pre")}, .play = false});
  for (const int32_t step : {2, 5, 9}) {
    lab.post(lab::PlayStep{1});
    lab.post(lab::PlayTo{step});
    const auto view = rest(lab);
    REQUIRE(view->played);
    view->played->player->seek(view->played->player->size());
  }
  const auto view = lab.view();
  CHECK(view->message.empty());
  CHECK(same_bits(losses(view->runs[0]), alone(small_spec("post"), 9)));
  CHECK(same_bits(losses(view->runs[1]), alone(small_spec("pre"), 9)));
}

TEST_CASE("lab: the copy is the step that the run takes next", "[lab][tape]") {
  Lab lab(one_thread());
  lab.post(lab::ReplaceRuns{.runs = {small_spec("post"), small_spec("pre")}, .play = false});
  lab.post(lab::PlayTo{4});
  lab.wait_idle();
  lab.post(lab::PlayStep{1});
  auto view = rest(lab);
  REQUIRE(view->played);
  PlayedStep& played = *view->played;
  CHECK(played.letter == 'B');
  CHECK(played.step == 5);
  CHECK(played.number == 1);
  CHECK(*played.spec == *view->runs[1].spec);
  CHECK_FALSE(played.source_spec);
  played.player->seek(played.player->size());
  lab.post(lab::StepOnce{});
  view = rest(lab);
  CHECK(losses(view->runs[1]).at(4) == static_cast<float>(played.player->program().loss()));
  lab.post(lab::PlayStep{7});
  CHECK_FALSE(rest(lab)->message.empty());
}

TEST_CASE("lab: a fork's copy says what it was forked from", "[lab][tape]") {
  Lab lab(one_thread());
  lab.post(lab::ReplaceRuns{.runs = {small_spec("post")}, .play = false});
  lab.post(lab::PlayTo{3});
  const auto before = rest(lab);
  lab.post(request(*before, 0, "pre"));
  lab.wait_idle();
  lab.post(lab::PlayStep{1});
  const auto view = rest(lab);
  REQUIRE(view->played);
  CHECK(view->played->letter == 'D');
  CHECK(view->played->source == 'A');
  REQUIRE(view->played->source_spec);
  CHECK(*view->played->source_spec == *view->runs[0].spec);
}

}  // namespace lab_play
}  // namespace normscope::test

// These tests play a step of a Lab's run on a copy: the run does not notice, and then takes the same step.
#include "catch.hpp"
#include "engine/cpu/isa.h"
#include "engine/support/helpers.h"
#include "isa_scope.h"
#include "training/run/footprint.h"
#include "training/session/played_step.h"
#include "training/spec/limits.h"
#include "training/support/lab_runs.h"

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
  LabOf lab({small_spec("post"), small_spec("pre")}, one_thread());
  for (const int32_t step : {2, 5, 9}) {
    lab.post(session::PlayStep{1});
    const auto view = view_after(lab, session::PlayTo{step});
    REQUIRE(view->played);
    view->played->player->seek(view->played->player->size());
  }
  const auto view = lab.view();
  CHECK(view->message.empty());
  CHECK(same_bits(losses(view->runs[0]), alone(small_spec("post"), 9)));
  CHECK(same_bits(losses(view->runs[1]), alone(small_spec("pre"), 9)));
}

TEST_CASE("lab: the copy is the step that the run takes next", "[lab][tape]") {
  LabOf lab({small_spec("post"), small_spec("pre")}, one_thread());
  view_after(lab, session::PlayTo{4});
  const session::Ticket asked = lab.post(session::PlayStep{1});
  auto view = rest(lab);
  REQUIRE(view->played);
  PlayedStep& played = *view->played;
  CHECK(played.letter == 'B');
  CHECK(played.step == 5);
  CHECK(played.ticket == asked);
  CHECK(*played.spec == *view->runs[1].spec);
  CHECK_FALSE(played.source_spec);
  played.player->seek(played.player->size());
  view = view_after(lab, session::StepOnce{});
  CHECK(losses(view->runs[1]).at(4) == static_cast<float>(played.player->program().loss()));
  CHECK_FALSE(view_after(lab, session::PlayStep{7})->message.empty());
}

TEST_CASE("lab: a copy of a step clears no message, and who asked for it is answered", "[lab][tape]") {
  LabOf lab({small_spec("post")}, one_thread());
  auto view = view_after(lab, session::EditField{.run = 0, .key = "no.such", .value = "1"});
  const std::string message = view->message;
  REQUIRE_FALSE(message.empty());
  const session::Ticket first = lab.post(session::PlayStep{0});
  view = rest(lab);
  CHECK(view->message == message);
  CHECK(view->played->ticket == first);
  const session::Ticket refused = lab.post(session::PlayStep{7});
  view = rest(lab);
  CHECK(view->answered == refused);
  CHECK(session::refusal(view->answers, refused) == view->message);
  CHECK(view->message != message);
  const session::Ticket last = lab.post(session::PlayStep{0});
  view = rest(lab);
  CHECK(view->played->ticket == last);
  CHECK(session::refusal(view->answers, last).empty());
  CHECK(view->message.empty());  // it was of the refused one
}

TEST_CASE("lab: what a copy of a step takes is said of one that keeps every gradient", "[lab][tape]") {
  const auto run = make_run(small_spec("post"));
  const RunSpec& spec = run->spec();
  const BatchShape shape =
      run->task().shape(spec.seed, 1, Split::Train, spec.train.batch, spec.model.sequence);
  const Footprint whole = footprint_of(spec.model, shape, shared_backend(), false),
                  reused = footprint_of(spec.model, shape, shared_backend(), true);
  REQUIRE(reused.gradients < whole.gradients);
  CHECK(played_bytes(spec, run->task(), shared_backend()) ==
        3 * (whole.parameters + whole.optimizer) +
            2 * (whole.activations + whole.gradients + whole.workspace));
}

TEST_CASE("lab: a copy that cannot be held is refused in one line", "[lab][tape]") {
  LabOptions options = one_thread();
  options.memory = estimated_bytes(small_spec("post")) + 1;
  Lab lab(options);
  REQUIRE(
      view_after(lab, session::ReplaceRuns{.runs = {small_spec("post")}, .play = false})->message.empty());
  const session::Ticket asked = lab.post(session::PlayStep{0});
  const auto view = rest(lab);
  CHECK_FALSE(view->played);
  CHECK(session::refusal(view->answers, asked) == view->message);
  CHECK(test::contains(view->message, "copying a step"));
  CHECK_FALSE(test::contains(view->message, "\n"));
}

// On SSE4 every number of the broken step is finite, and only squares overflow, which a run's measurements are of.
TEST_CASE("lab: of a broken run the step is handed out at which it broke, as often as it is asked for",
          "[lab][tape]") {
  const std::string isa = GENERATE(from_range(cpu::available_isas()));
  INFO(isa);
  const test::IsaScope scope(isa);
  Lab lab(one_thread());
  RunSpec spec = small_spec("none");
  set_field(spec, "train.optimizer", "sgd");
  set_field(spec, "train.lr", "100");
  auto view = view_after(lab, session::ReplaceRuns{.runs = {spec}, .play = true});
  REQUIRE(view->runs[0].state == RunState::NonFinite);
  for (int time = 0; time < 2; ++time) {
    const session::Ticket asked = lab.post(session::PlayStep{0});
    view = rest(lab);
    REQUIRE(view->played);
    CHECK(view->played->ticket == asked);
    CHECK(view->played->player->seek_not_finite());
  }
}

TEST_CASE("lab: a fork's copy says what it was forked from", "[lab][tape]") {
  LabOf lab({small_spec("post")}, one_thread());
  const auto before = view_after(lab, session::PlayTo{3});
  view_after(lab, request(*before, 0, "pre"));
  const auto view = view_after(lab, session::PlayStep{1});
  REQUIRE(view->played);
  CHECK(view->played->letter == 'D');
  CHECK(view->played->source == 'A');
  REQUIRE(view->played->source_spec);
  CHECK(*view->played->source_spec == *view->runs[0].spec);
}

}  // namespace lab_play
}  // namespace normscope::test

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
  Lab lab(one_thread());
  lab.post(session::ReplaceRuns{.runs = {small_spec("post"), small_spec("pre")}, .play = false});
  for (const int32_t step : {2, 5, 9}) {
    lab.post(session::PlayStep{1});
    lab.post(session::PlayTo{step});
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
  lab.post(session::ReplaceRuns{.runs = {small_spec("post"), small_spec("pre")}, .play = false});
  lab.post(session::PlayTo{4});
  lab.wait_idle();
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
  lab.post(session::StepOnce{});
  view = rest(lab);
  CHECK(losses(view->runs[1]).at(4) == static_cast<float>(played.player->program().loss()));
  lab.post(session::PlayStep{7});
  CHECK_FALSE(rest(lab)->message.empty());
}

TEST_CASE("lab: a copy of a step clears no message, and who asked for it is answered", "[lab][tape]") {
  Lab lab(one_thread());
  lab.post(session::ReplaceRuns{.runs = {small_spec("post")}, .play = false});
  lab.post(session::EditField{.run = 0, .key = "no.such", .value = "1"});
  auto view = rest(lab);
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
  lab.post(session::ReplaceRuns{.runs = {small_spec("post")}, .play = false});
  REQUIRE(rest(lab)->message.empty());
  const session::Ticket asked = lab.post(session::PlayStep{0});
  const auto view = rest(lab);
  CHECK_FALSE(view->played);
  CHECK(session::refusal(view->answers, asked) == view->message);
  CHECK(view->message.find("copying a step") != std::string::npos);
  CHECK(view->message.find('\n') == std::string::npos);
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
  lab.post(session::ReplaceRuns{.runs = {spec}, .play = true});
  auto view = rest(lab);
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
  Lab lab(one_thread());
  lab.post(session::ReplaceRuns{.runs = {small_spec("post")}, .play = false});
  lab.post(session::PlayTo{3});
  const auto before = rest(lab);
  lab.post(request(*before, 0, "pre"));
  lab.wait_idle();
  lab.post(session::PlayStep{1});
  const auto view = rest(lab);
  REQUIRE(view->played);
  CHECK(view->played->letter == 'D');
  CHECK(view->played->source == 'A');
  REQUIRE(view->played->source_spec);
  CHECK(*view->played->source_spec == *view->runs[0].spec);
}

}  // namespace lab_play
}  // namespace normscope::test

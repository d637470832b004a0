// These tests cover the Lab: lockstep, commands, forks and their undo, texts; and none of it changes what a run
// computes.
#include "catch.hpp"

#include <unistd.h>

#include <numeric>

#include "engine/cpu/isa.h"
#include "engine/support/helpers.h"
#include "isa_scope.h"
#include "training/run/footprint.h"
#include "training/session/lab.h"
#include "training/session/played_step.h"
#include "training/spec/limits.h"
#include "training/support/lab_runs.h"

using namespace normscope;
using namespace normscope::test;

namespace {

struct File {
  explicit File(const std::string& text)
      : path((std::filesystem::temp_directory_path() /
              ("normscope-lab-" + std::to_string(::getpid()) + ".txt"))
                 .string()) {
    std::ofstream(path) << text;
  }
  ~File() { std::filesystem::remove(path); }
  std::string path;
};

}  // namespace

TEST_CASE("runs go in lockstep to the budget, each as it would alone", "[lab]") {
  Lab lab(quiet());
  const auto view = view_after(lab, session::ReplaceRuns{three(), {}, true});
  CHECK(view->message == "");
  CHECK(view->step == 60);
  CHECK_FALSE(view->playing);
  CHECK_FALSE(view->busy);
  REQUIRE(view->runs.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(view->runs[i].letter == static_cast<char>('A' + i));
    CHECK(view->runs[i].step == 60);
    CHECK(same_bits(losses(view->runs[i]), alone(three()[i], 60)));
    CHECK(view->runs[i].writes.size() == 8);
    CHECK(view->runs[i].skip_scales.size() == 4);
    CHECK(std::isfinite(view->runs[i].validation_loss));
    CHECK(view->runs[i].history->validation().steps == std::vector<int32_t>{25, 50, 60});
  }
  CHECK(view->runs[1].name == "Post-LN, warm-up 10");
  CHECK(view->unit == "letter");
  CHECK(view->unigram_entropy == Approx(small_task()->unigram_entropy()));
  CHECK(view->entropy_rate > 0.5);
  CHECK(view->seconds_per_step > 0);
  for (const RunView& run : view->runs) CHECK(run.seconds_per_step > 0);
}

TEST_CASE("pause, one step, play to a step and on: the same bits", "[lab]") {
  Lab lab(quiet());
  CHECK(view_after(lab, session::ReplaceRuns{three(), {}, false})->step == 0);
  CHECK(lab.view()->runs[0].badge == "paused");
  CHECK(lab.view()->runs[0].writes.size() == 8);
  CHECK(view_after(lab, session::StepOnce{})->step == 1);
  lab.post(session::StepOnce{});
  CHECK(view_after(lab, session::StepOnce{})->step >= 2);  // two steps asked for in one breath may be one
  CHECK(view_after(lab, session::PlayTo{20})->step == 20);
  CHECK_FALSE(lab.view()->playing);
  const std::vector<float> so_far =
      losses(lab.view()->runs[0]);  // fewer than 25: all of them are shown as one
  CHECK(lab.view()->runs[0].loss == std::accumulate(so_far.begin(), so_far.end(), 0.0) / 20);
  lab.post(session::Play{});
  const int32_t paused = view_after(lab, session::Pause{})->step;
  CHECK(paused >= 20);
  const auto view = view_after(lab, session::Play{});
  CHECK(view->step == 60);
  for (size_t i = 0; i < 3; ++i) CHECK(same_bits(losses(view->runs[i]), alone(three()[i], 60)));
}

TEST_CASE("what is shown at a step is a function of specification and step", "[lab]") {
  Lab first(quiet()), second(quiet());
  first.post(session::ReplaceRuns{three(), {}, true});
  first.post(session::Pause{});
  first.post(session::PlayTo{30});
  second.post(session::ReplaceRuns{three(), {}, false});
  view_after(second, session::PlayTo{17});
  second.post(session::PlayTo{30});
  const auto a = rest(first), b = rest(second);
  REQUIRE(a->step == 30);
  REQUIRE(b->step == 30);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(a->runs[i].writes == b->runs[i].writes);
    CHECK(a->runs[i].loss == b->runs[i].loss);
    CHECK(a->runs[i].badge == b->runs[i].badge);
    CHECK(a->runs[i].validation_loss == b->runs[i].validation_loss);
  }
}

TEST_CASE("reset starts over with the present settings; a new seed is another one", "[lab]") {
  LabOf lab(three());
  view_after(lab, session::PlayTo{10});
  lab.post(session::EditField{0, "train.lr", "0.001"});
  view_after(lab, session::PlayTo{20});
  CHECK(view_after(lab, session::Reset{false})->step == 0);
  CHECK(lab.view()->runs[0].edits.empty());
  lab.post(session::PlayTo{15});
  RunSpec changed = small_spec("post");
  set_field(changed, "train.lr", "0.001");
  auto view = rest(lab);
  CHECK(same_bits(losses(view->runs[0]), alone(changed, 15)));
  CHECK(same_bits(losses(view->runs[2]), alone(small_spec("pre"), 15)));
  lab.post(session::Reset{true});
  view = view_after(lab, session::PlayTo{15});
  for (const RunView& run : view->runs) CHECK(run.spec->seed == 2);
  CHECK(same_bits(losses(view->runs[2]), alone(small_spec("pre", 2), 15)));
}

TEST_CASE("live edits are events that replay bitwise", "[lab]") {
  Lab lab(quiet());
  lab.post(session::ReplaceRuns{three(), {}, true});
  lab.post(session::EditField{1, "train.lr", "0.002"});
  view_after(lab, session::EditField{-1, "train.clip", "0.5"});
  CHECK(view_after(lab, session::SetBudget{90})->step == 60);  // a longer budget waits for play
  lab.post(session::EditField{0, "train.warmup", "70"});
  const auto view = view_after(lab, session::Play{});
  CHECK(view->step == 90);
  CHECK(view->budget == 90);
  CHECK(view->runs[1].edits.size() == 2);
  CHECK(view->runs[0].edits.back() == Edit{61, "train.warmup", "70"});
  for (size_t i = 0; i < 3; ++i)
    CHECK(same_bits(losses(view->runs[i]), alone(three()[i], 90, view->runs[i].edits)));
}

TEST_CASE("a structural edit restarts that run, which catches up", "[lab]") {
  LabOf lab(three());
  view_after(lab, session::PlayTo{20});
  auto view = view_after(lab, session::EditField{0, "model.placement", "sandwich"});
  CHECK(view->step == 20);
  CHECK(view->runs[0].step == 20);
  CHECK(view->runs[0].letter == 'A');
  CHECK(same_bits(losses(view->runs[0]), alone(small_spec("sandwich"), 20)));
  CHECK(same_bits(losses(view->runs[1]), alone(three()[1], 20)));
  CHECK(view->runs[0].writes.size() == 8);
  view = view_after(lab, session::EditField{-1, "model.d_model", "32"});
  CHECK(view->step == 0);
  for (const RunView& run : view->runs) CHECK(run.spec->model.d_model == 32);
  lab.post(session::EditField{1, "data.name", "reverse"});  // belongs to all
  view = rest(lab);
  for (const RunView& run : view->runs) CHECK(run.spec->data.name == "reverse");
  CHECK(view->entropy_rate >= 0);
}

TEST_CASE("a fork starts from the present weights and equals its replay", "[lab]") {
  LabOf lab(three());
  auto view = view_after(lab, session::PlayTo{20});
  view = view_after(lab, request(*view, 0, "pre"));
  REQUIRE(view->runs.size() == 4);
  CHECK(view->runs[3].letter == 'D');
  CHECK(view->runs[3].step == 20);
  CHECK(view->runs[3].forked_from == 0);
  CHECK(view->runs[3].fork_step == 20);
  CHECK(view->runs[3].fork_note == "norms moved");
  CHECK(view->runs[3].name == "Pre-LN, no warm-up");
  CHECK(std::isnan(view->runs[3].loss));  // it has none of its own yet
  view = view_after(lab, session::PlayTo{40});
  const auto replay = alone(small_spec("post"), 40, view->runs[3].edits);
  CHECK(same_bits(losses(view->runs[3]), std::vector<float>(replay.begin() + 20, replay.end())));
  CHECK(same_bits(losses(view->runs[0]), alone(small_spec("post"), 40)));
}

TEST_CASE("a fork from step 0 catches up", "[lab]") {
  LabOf lab(three());
  lab.post(session::PlayTo{20});
  const auto view = view_after(lab, request(*rest(lab), 1, "pre", true));
  REQUIRE(view->runs.size() == 4);
  CHECK(view->runs[3].step == 20);
  CHECK(view->runs[3].fork_step == 0);
  CHECK(view->runs[3].edits.empty());
  RunSpec spec = small_spec("post-warmup");
  set_field(spec, "model.placement", "pre");
  CHECK(same_bits(losses(view->runs[3]), alone(spec, 20)));
}

TEST_CASE("another fork replaces D; undo brings the former back, caught up; redo the later", "[lab]") {
  LabOf lab(three());
  lab.post(session::PlayTo{10});
  lab.post(request(*rest(lab), 0, "pre"));
  lab.post(session::PlayTo{15});
  lab.post(request(*rest(lab), 0, "sandwich"));
  auto view = view_after(lab, session::PlayTo{25});
  CHECK(get_field(*view->runs[3].spec, "model.placement") == "sandwich");
  const auto later = losses(view->runs[3]);
  view = view_after(lab, session::RemoveFork{});
  REQUIRE(view->runs.size() == 4);
  CHECK(get_field(*view->runs[3].spec, "model.placement") == "pre");
  CHECK(view->runs[3].step == 25);
  const auto replay = alone(small_spec("post"), 25, view->runs[3].edits);
  CHECK(same_bits(losses(view->runs[3]), std::vector<float>(replay.begin() + 10, replay.end())));
  CHECK(view_after(lab, session::RemoveFork{})->runs.size() == 3);
  lab.post(session::RemoveFork{});  // nothing left to undo
  CHECK(rest(lab)->runs.size() == 3);
  view_after(lab, session::PlayTo{30});
  lab.post(session::RestoreFork{});
  lab.post(session::RestoreFork{});
  lab.post(session::RestoreFork{});  // nothing left to redo
  view = rest(lab);
  REQUIRE(view->runs.size() == 4);
  CHECK(get_field(*view->runs[3].spec, "model.placement") == "sandwich");
  CHECK(view->runs[3].step == 30);
  const auto caught_up = losses(view->runs[3]);
  CHECK(same_bits(
      std::vector<float>(caught_up.begin(), caught_up.begin() + static_cast<std::ptrdiff_t>(later.size())),
      later));
}

TEST_CASE("D can be forked and edited itself, and stays D through a reset", "[lab]") {
  LabOf lab(three());
  lab.post(session::PlayTo{5});
  lab.post(request(*rest(lab), 0, "pre"));
  auto view = view_after(lab, request(*rest(lab), 3, "sandwich"));
  REQUIRE(view->runs.size() == 4);
  CHECK(view->runs[3].forked_from == 0);
  lab.post(session::EditField{3, "train.lr", "0.001"});
  lab.post(session::Reset{false});
  view = view_after(lab, session::PlayTo{6});
  REQUIRE(view->runs.size() == 4);
  CHECK(view->runs[3].letter == 'D');
  RunSpec spec = small_spec("sandwich");
  set_field(spec, "train.lr", "0.001");
  CHECK(same_bits(losses(view->runs[3]), alone(spec, 6)));
  CHECK(view_after(lab, session::ReplaceRuns{three(), {}, false})->runs.size() == 3);
}

TEST_CASE("a run that is not finite halts alone", "[lab]") {
  std::vector<RunSpec> specs = three();
  specs[0] = small_spec("none");
  set_field(specs[0], "train.optimizer", "sgd");
  set_field(specs[0], "train.lr", "100");
  Lab lab(quiet());
  auto view = view_after(lab, session::ReplaceRuns{specs, {}, true});
  CHECK(view->step == 60);
  CHECK(view->runs[0].state == RunState::NonFinite);
  CHECK(view->runs[0].step < 60);
  CHECK_THAT(view->runs[0].badge, Catch::StartsWith("not finite at step "));
  CHECK_THAT(view->runs[0].note, Catch::StartsWith("first in "));
  CHECK(view->runs[2].step == 60);
  view = view_after(lab, request(*view, 0, "pre"));
  CHECK(view->runs.size() == 3);
  CHECK_THAT(view->message, Catch::Contains("not finite"));
  lab.post(session::ReplaceRuns{{specs[0]}, {}, true});  // nothing is left to do
  view = rest(lab);
  CHECK(view->step < 60);
  CHECK_FALSE(view->playing);
}

TEST_CASE("commands that cannot be are answered and change nothing", "[lab]") {
  Lab lab(quiet());
  lab.post(session::Play{});
  lab.post(session::Reset{true});
  lab.post(session::RemoveFork{});
  CHECK(view_after(lab, session::EditField{0, "train.lr", "1"})->runs.empty());
  lab.post(session::ReplaceRuns{{}, {}, true});
  CHECK_THAT(rest(lab)->message, Catch::Contains("no runs"));
  lab.post(session::ReplaceRuns{three(), {}, false});
  view_after(lab, session::PlayTo{5});
  const auto refused = [&](const std::string& part) {
    const auto view = rest(lab);
    CHECK_THAT(view->message, Catch::Contains(part));
    CHECK(view->step == 5);
    CHECK(view->runs.size() == 3);
  };
  lab.post(session::EditField{0, "model.d_model", "15"});
  refused("multiple");
  lab.post(session::EditField{-1, "train.lr", "fast"});
  refused("[train.lr] 'fast'");
  lab.post(session::EditField{7, "train.lr", "1"});
  refused("there is no run 7");
  lab.post(session::EditField{0, "train.warmpu", "1"});
  refused("did you mean");
  lab.post(session::EditField{0, "data.text", "/nowhere/at/all.txt"});
  refused("all.txt");
  lab.post(session::LoadText{"/nowhere/at/all.txt"});
  refused("all.txt");
  std::vector<RunSpec> broken = three();
  broken[1].model.d_model = 15;
  lab.post(session::ReplaceRuns{broken, {}, true});
  refused("multiple");
  session::ForkRequest fork = request(*lab.view(), 0, "pre");
  fork.source = 9;
  lab.post(fork);
  refused("there is no run 9");
  CHECK(view_after(lab, session::Play{})->step == 60);
  CHECK(lab.view()->message == "");
  lab.post(session::Play{});  // the end of a budget is not a wall: as many steps again
  CHECK(rest(lab)->step == 120);
  CHECK(lab.view()->budget == 120);
  CHECK(lab.view()->message == "");
}

TEST_CASE("all runs together stay within memory; those kept for undo give way first", "[lab]") {
  const std::vector<RunSpec> two = {small_spec("post"), small_spec("pre")};
  const int64_t each = estimated_bytes(two[0]);
  LabOptions options = quiet();
  options.memory = 4 * each;
  Lab lab(options);
  lab.post(session::ReplaceRuns{two, {}, false});
  lab.post(session::PlayTo{5});
  lab.post(session::EditField{1, "model.activation", "gelu"});  // three: the former B is kept for undo
  lab.post(session::PlayTo{9});
  // It comes back and catches up, and the other one is kept.
  CHECK(view_after(lab, session::EditField{1, "model.activation", "relu"})->step == 9);
  lab.post(session::EditField{1, "model.norm", "rms"});
  lab.post(session::EditField{1, "model.norm", "simple"});  // a fifth: the oldest goes
  CHECK(rest(lab)->message == "");
  std::vector<RunSpec> four(4, small_spec("post"));
  for (size_t i = 0; i < four.size(); ++i) four[i].model.d_model *= 2;
  const auto refused = view_after(lab, session::ReplaceRuns{four, {}, false});
  CHECK_THAT(refused->message, Catch::Contains("of this size needs about") && Catch::Contains("beside"));
  CHECK(refused->runs.size() == 2);
  CHECK(refused->step == 9);
}

TEST_CASE("a text of one's own restarts all on it; a bad one leaves all as it is", "[lab]") {
  LabOf lab(three());
  view_after(lab, session::PlayTo{5});
  {
    const File empty("");
    const auto view = view_after(lab, session::LoadText{empty.path});
    CHECK(view->message != "");
    CHECK(view->step == 5);
    CHECK(view->data_name == "built-in sentences");
  }
  std::string text;
  for (int i = 0; i < 400; ++i) text += "to be or not to be, that is the question. ";
  const File good(text);
  const auto view = view_after(lab, session::LoadText{good.path});
  CHECK(view->message == "");
  CHECK(view->step == 0);
  CHECK(view->data_name == std::filesystem::path(good.path).filename().string());
  CHECK(view->unit == "character");
  CHECK(view->entropy_rate == 0);
  CHECK(view_after(lab, session::PlayTo{3})->runs[0].step == 3);
}

// These tests play a step of a Lab's run on a copy: the run does not notice, and then takes the same step.

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

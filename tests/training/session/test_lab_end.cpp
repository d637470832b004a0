// These tests cover what comes after the first budget: forks that bring steps of their own, play at the end, resets
// that are undone, and a history that is not relabelled.
#include "catch.hpp"
#include "skip.h"
#include "training/session/lab_trainer.h"
#include "training/support/lab_runs.h"

using namespace normscope;
using namespace normscope::test;

namespace {

session::ForkRequest dragged(const LabView& view, int32_t source, const std::string& placement,
                             int32_t step = -1) {
  session::ForkRequest fork = request(view, source, placement);
  fork.train = true;
  fork.step = step;
  return fork;
}

std::vector<std::string> events(const RunView& run, RunEvent::Kind kind) {
  std::vector<std::string> texts;
  for (const RunEvent& event : run.history->events())
    if (event.kind == kind) texts.push_back(event.text);
  return texts;
}

}  // namespace

TEST_CASE("a fork at the end of the budget trains, as many steps again, and finished runs stay as they are",
          "[lab][end]") {
  Lab lab(quiet());
  REQUIRE(view_after(lab, session::ReplaceRuns{three(), {}, true})->step == 60);
  const auto view = view_after(lab, dragged(*lab.view(), 0, "pre"));
  CHECK(view->message == "");
  CHECK(view->budget == 120);
  CHECK(view->step == 120);
  REQUIRE(view->runs.size() == 4);
  for (const RunView& run : view->runs) CHECK(run.step == (run.letter == 'D' ? 120 : 60));
  const std::vector<float> own = losses(view->runs[3]);
  REQUIRE(own.size() == 60);
  CHECK(mean(own, 50, 10) < mean(own, 0, 10));  // it visibly learns
  // Undone and made again, it takes its steps along.
  CHECK(view_after(lab, session::RemoveFork{})->runs.size() == 3);
  CHECK(lab.view()->step == 60);
  CHECK(lab.view()->budget == 60);
  CHECK(view_after(lab, session::RestoreFork{})->step == 120);
  CHECK(lab.view()->runs[3].step == 120);
  // More steps are for all, and nothing was lost on the way.
  CHECK(view_after(lab, session::Play{})->step == 180);
  for (const RunView& run : lab.view()->runs) CHECK(run.step == 180);
  CHECK(losses(lab.view()->runs[0]) == alone(three()[0], 180));
}

TEST_CASE("a session keeps where its runs end", "[lab][end]") {
  const auto folder = std::filesystem::temp_directory_path() / "normscope-test-lab-own-ends";
  std::filesystem::remove_all(folder);
  LabOf lab(three());
  view_after(lab, session::PlayTo{40});
  view_after(lab, dragged(*lab.view(), 0, "pre"));
  view_after(lab, session::SaveSession{folder.string()});
  Lab other(quiet());
  CHECK(view_after(other, session::RestoreSession{folder.string(), true})->message == "");
  CHECK(other.view()->step == 100);
  for (const RunView& run : other.view()->runs) CHECK(run.step == (run.letter == 'D' ? 100 : 60));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a fork has no loss before a step of its own", "[lab][end]") {
  LabOf lab(three());
  view_after(lab, session::PlayTo{40});
  const auto view = view_after(lab, request(*lab.view(), 0, "pre"));
  CHECK(view->runs[0].loss > 0);
  CHECK(std::isnan(view->runs[3].loss));
  const auto later = view_after(lab, session::StepOnce{});
  CHECK(later->runs[3].loss == Approx(losses(later->runs[3]).back()));
}

TEST_CASE("a warm-up that is over restarts the run and is no edit of it", "[lab][end]") {
  LabOf lab(three());
  view_after(lab, session::PlayTo{30});
  const auto view = view_after(lab, session::EditField{1, "train.warmup", "20"});  // it was 10
  CHECK(test::contains(view->message, "B from step 0 again"));
  CHECK(view->step == 30);
  CHECK(view->runs[1].edits.empty());
  RunSpec longer = three()[1];
  set_field(longer, "train.warmup", "20");
  CHECK(losses(view->runs[1]) == alone(longer, 30));
  // A longer one than that is an edit, and so is one of a decay that no step has read.
  CHECK(view_after(lab, session::EditField{1, "train.warmup", "40"})->runs[1].edits.size() == 1);
  CHECK(view_after(lab, session::EditField{0, "train.decay_end", "200"})->runs[0].edits.size() == 1);
}

TEST_CASE("runs of one name are told apart by what they differ in", "[lab][end]") {
  LabOf lab({small_spec("post"), small_spec("pre"), small_spec("pre")});
  const auto names = [&] {
    std::vector<std::string> names;
    for (const RunView& run : rest(lab)->runs) names.push_back(run.name);
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(names() == Names{"Post-LN, no warm-up", "Pre-LN, no warm-up", "Pre-LN, no warm-up"});  // they are one
  lab.post(session::EditField{2, "train.lr", "0.001"});
  CHECK(names() == Names{"Post-LN, no warm-up", "Pre-LN, learning rate 0.003, no warm-up",
                         "Pre-LN, learning rate 0.001, no warm-up"});
  lab.post(session::EditField{0, "model.placement", "pre"});
  lab.post(session::EditField{0, "model.feed_forward", "24"});
  const Names three_pre = names();
  CHECK(std::set<std::string>(three_pre.begin(), three_pre.end()).size() == 3);
}

TEST_CASE("a fork brings no more than its own steps, and takes them along when it is undone at once",
          "[lab][end]") {
  LabOf lab(three());
  view_after(lab, session::PlayTo{40});
  lab.post(dragged(*lab.view(), 0, "pre"));  // paused by hand: it trains all the same
  auto view = rest(lab);
  CHECK(view->budget == 100);
  CHECK(view->step == 100);
  lab.post(session::ReplaceRuns{three(), {}, false});
  view_after(lab, session::PlayTo{40});
  session::ForkRequest shy = request(*lab.view(), 0, "pre");
  lab.post(shy);  // a script's: nothing starts
  view = rest(lab);
  CHECK(view->step == 40);
  CHECK(view->budget == 60);
  // From step 0 it has its steps within the budget.
  session::ForkRequest anew = dragged(*view, 0, "pre");
  anew.from_start = true;
  view = view_after(lab, anew);
  CHECK(view->budget == 60);
  CHECK(view->runs[3].step == 60);
  CHECK(losses(view->runs[3]).size() == 60);
}

TEST_CASE("a fork from an earlier step is that step's, trains alone and then with the others", "[lab][end]") {
  Lab lab(quiet());
  view_after(lab, session::ReplaceRuns{three(), {}, true});
  lab.post(session::EditField{0, "train.lr", "0.0001"});  // of step 61 on: no part of what was
  RunSpec then = *rest(lab)->runs[0].spec;
  set_field(then, "train.lr", get_field(three()[0], "train.lr"));
  session::ForkRequest fork = dragged(*lab.view(), 0, "pre", 30);
  fork.spec = then;
  set_field(fork.spec, "model.placement", "pre");
  const auto view = view_after(lab, fork);
  REQUIRE(view->message == "");
  REQUIRE(view->runs.size() == 4);
  const RunView& d = view->runs[3];
  CHECK(d.fork_step == 30);
  CHECK(d.fork_note == "norms moved");
  CHECK(view->budget == 90);
  CHECK(d.step == 90);
  for (const Edit& edit : d.edits) CHECK(edit.step == 31);
  const std::vector<float> whole = alone(small_spec("post"), 90, d.edits);
  CHECK(losses(d) == std::vector<float>(whole.begin() + 30, whole.end()));
}

TEST_CASE("play at the end goes on for as many steps again, also after a session was restored",
          "[lab][end]") {
  const auto folder = std::filesystem::temp_directory_path() / "normscope-test-lab-end";
  std::filesystem::remove_all(folder);
  LabOf lab(three());
  lab.post(session::SetBudget{20});
  CHECK(view_after(lab, session::Play{})->step == 20);
  CHECK(view_after(lab, session::Play{})->step == 40);
  CHECK(lab.view()->portion == 20);
  CHECK(view_after(lab, session::StepOnce{})->step == 41);
  CHECK(lab.view()->budget == 60);
  CHECK(view_after(lab, session::Play{})->step == 60);
  view_after(lab, session::SaveSession{folder.string()});
  Lab other(quiet());
  CHECK(view_after(other, session::RestoreSession{folder.string(), false})->message == "");
  CHECK(other.view()->step == 60);
  CHECK(view_after(other, session::Play{})->step == 80);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a run that stays above the level is not stuck at it, and a fork of it is not stuck at all",
          "[lab][end]") {
  RunSpec spec = small_spec("post");
  set_field(spec, "train.lr", "0.000001");
  const auto run = make_run(spec);
  steps(*run, 170);
  REQUIRE(run->state() == RunState::Stuck);
  const auto stuck = [](const Run& of) {
    std::string text;
    for (const RunEvent& event : of.history()->events())
      if (event.kind == RunEvent::Kind::Stuck) text = event.text;
    return text;
  };
  CHECK_THAT(stuck(*run), Catch::Contains("stuck above"));
  RunSpec moved = run->spec();
  set_field(moved, "model.placement", "pre");
  const auto fork = run->fork(moved);
  CHECK(fork->state() != RunState::Stuck);
  steps(*fork, 100);
  CHECK(fork->state() != RunState::Stuck);
  CHECK(stuck(*fork) == "");
  steps(*fork, 60);
  CHECK(fork->state() == RunState::Stuck);
}

TEST_CASE("a run is named by what it began as; what was changed is an event of its step", "[lab][end]") {
  LabOf lab(three());
  lab.post(session::EditField{0, "train.warmup", "20"});  // before its first step: it was always so
  CHECK(rest(lab)->runs[0].name == "Post-LN, warm-up 20");
  CHECK(lab.view()->runs[0].spec->train.schedule.warmup == 20);
  view_after(lab, session::PlayTo{12});
  const auto view = view_after(lab, session::EditField{1, "train.warmup", "99"});
  CHECK(view->runs[1].name == "Post-LN, warm-up 10");
  CHECK(view->runs[1].spec->train.schedule.warmup == 99);
  CHECK(events(view->runs[1], RunEvent::Kind::Edited) == std::vector<std::string>{"warm-up 10 → 99"});
}

TEST_CASE("changes of one field between two steps are one, and none when it is back", "[lab][end]") {
  LabOf lab(three());
  view_after(lab, session::PlayTo{10});
  for (const char* rate : {"0.001", "0.002", "0.004"}) lab.post(session::EditField{0, "train.lr", rate});
  auto view = rest(lab);
  REQUIRE(view->runs[0].edits.size() == 1);
  CHECK(view->runs[0].edits[0].step == 11);
  CHECK(view->runs[0].spec->train.schedule.peak == 0.004f);
  CHECK(events(view->runs[0], RunEvent::Kind::Edited).size() == 1);
  lab.post(session::EditField{0, "train.clip", "1"});
  view = view_after(lab, session::EditField{0, "train.lr", get_field(*view->runs[1].spec, "train.lr")});
  REQUIRE(view->runs[0].edits.size() == 1);
  CHECK(view->runs[0].edits[0].key == "train.clip");
  CHECK(view->runs[0].spec->train.schedule.peak == view->runs[1].spec->train.schedule.peak);
  CHECK(events(view->runs[0], RunEvent::Kind::Edited).size() == 1);
  // What it computes is what its edits say.
  view = view_after(lab, session::PlayTo{20});
  CHECK(losses(view->runs[0]) == alone(small_spec("post"), 20, view->runs[0].edits));
}

TEST_CASE("a reset puts the runs aside and is undone, also one after the other", "[lab][end]") {
  LabOf lab(three());
  std::vector<std::shared_ptr<const History>> first;
  const auto trained = [&](int32_t to) {
    view_after(lab, session::PlayTo{to});
    return lab.view()->runs[1].history;
  };
  const auto a = trained(20);
  CHECK(view_after(lab, session::Reset{false})->step == 0);
  const auto b = trained(7);
  lab.post(session::Reset{false});
  const auto c = trained(3);
  const auto shown = [&] { return rest(lab)->runs[1].history; };
  lab.post(session::ExchangeReset{true});
  CHECK(shown() == b);
  CHECK(lab.view()->step == 7);
  lab.post(session::ExchangeReset{true});
  CHECK(shown() == a);
  CHECK(lab.view()->step == 20);
  lab.post(session::ExchangeReset{true});  // there is none before
  CHECK_THAT(rest(lab)->message, Catch::Contains("not kept"));
  CHECK(shown() == a);
  lab.post(session::ExchangeReset{false});
  CHECK(shown() == b);
  lab.post(session::ExchangeReset{false});
  CHECK(shown() == c);
  CHECK(lab.view()->step == 3);
  CHECK(view_after(lab, session::PlayTo{5})->runs[1].step == 5);
}

TEST_CASE("what a run wrote is kept with its step", "[lab][end]") {
  LabOf lab(three());
  for (int32_t step : {10, 20}) {
    view_after(lab, session::PlayTo{step});
  }
  const auto view = rest(lab);
  REQUIRE(view->runs[0].samples);
  const auto& samples = *view->runs[0].samples;
  REQUIRE(samples.size() >= 2);
  CHECK(samples[samples.size() - 2].step == 10);
  CHECK(samples.back().step == 20);
  CHECK(samples.back().text == view->runs[0].writes);
}

TEST_CASE("runs keep the letters that they are given, through a reset, a restart and a session",
          "[lab][end]") {
  const auto folder = std::filesystem::temp_directory_path() / "normscope-test-lab-letters";
  std::filesystem::remove_all(folder);
  const auto letters = [](Lab& lab) {
    std::string letters;
    for (const RunView& run : rest(lab)->runs) letters += run.letter;
    return letters;
  };
  Lab lab(quiet());
  lab.post(session::ReplaceRuns{{small_spec("post"), small_spec("pre")}, {}, false, false, "AC"});
  CHECK(letters(lab) == "AC");
  CHECK(view_after(lab, session::PlayTo{2})->step == 2);
  lab.post(session::Reset{false});
  CHECK(letters(lab) == "AC");
  lab.post(session::ExchangeReset{true});
  CHECK(letters(lab) == "AC");
  CHECK(lab.view()->step == 2);
  lab.post(session::EditField{-1, "run.seed", "7"});
  CHECK(letters(lab) == "AC");
  lab.post(request(*lab.view(), 1, "post"));
  CHECK(letters(lab) == "ACD");
  lab.post(session::Reset{true});
  CHECK(letters(lab) == "ACD");
  view_after(lab, session::SaveSession{folder.string()});
  Lab other(quiet());
  other.post(session::RestoreSession{folder.string(), false});
  CHECK(letters(other) == "ACD");
  other.post(session::RemoveFork{});
  other.post(request(*rest(other), 0, "pre"));
  CHECK(letters(other) == "ACD");
  lab.post(session::ReplaceRuns{three(), {}, false});
  CHECK(letters(lab) == "ABC");
  CHECK(view_after(lab,
                   session::ReplaceRuns{{small_spec("post"), small_spec("pre")}, {}, false, false, "CD"})
            ->message.empty());
  CHECK(letters(lab) == "CD");
  lab.post(session::ReplaceRuns{three(), {}, false});
  for (const char* wrong : {"A", "CA", "AA", "AE", "ABC"}) {
    INFO(wrong);
    CHECK(test::contains(
        view_after(lab,
                   session::ReplaceRuns{{small_spec("post"), small_spec("pre")}, {}, false, false, wrong})
            ->message,
        "expected as many of A to D, ascending"));
    CHECK(letters(lab) == "ABC");
  }
  std::filesystem::remove_all(folder);
}

#ifdef __linux__
TEST_CASE("a restored session reads each of its checkpoints once", "[lab][end]") {
  const auto read_so_far = [] {
    std::ifstream io("/proc/self/io");
    std::string name;
    uint64_t bytes = 0;
    io >> name >> bytes;
    return name == "rchar:" ? bytes : 0;
  };
  if (read_so_far() == 0) SKIP_CASE("this system does not tell how much a program reads");
  const auto folder = std::filesystem::temp_directory_path() / "normscope-test-lab-once";
  std::filesystem::remove_all(folder);
  LabOf lab(three());
  view_after(lab, session::PlayTo{3});
  view_after(lab, session::SaveSession{folder.string()});
  uint64_t size = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) size += file.file_size();
  LabTrainer trainer({.threads = 1, .sample_text = false});
  const uint64_t before = read_so_far();
  trainer.carry_out(session::RestoreSession{folder.string(), false});
  CHECK_FALSE(trainer.empty());
  CHECK(read_so_far() - before < size * 3 / 2);
  std::filesystem::remove_all(folder);
}
#endif

// Undo as values: what a change made goes back, what came since stays. And in a Lab: whatever is taken back and made
// again, each run has the losses that it would have alone.
#include <random>

#include "training/session/undo.h"
#include "training/support/lab_runs.h"

using namespace normscope;
using namespace normscope::test;
using session::Session, session::ShownRun, session::UndoLog;

namespace {

ShownRun run_of(char letter, const char* placement, uint64_t take, int32_t end = 60) {
  static std::map<std::string, std::shared_ptr<const RunSpec>> origins;
  auto& origin = origins[placement];
  if (!origin) origin = std::make_shared<const RunSpec>(small_spec(placement));
  ShownRun run{{letter}, origin};
  run.take = take;
  run.end = end;
  return run;
}

Session two_runs() {
  Session now;
  now.runs = {run_of('A', "post", 1), run_of('B', "pre", 2)};
  now.portion = 60;
  return now;
}

/// "A post 60 11:train.lr=0.1 | D pre 120", with the step.
std::string text_of(const Session& now) {
  std::string text = fmt::format("{} of {}{}:", now.step, now.portion, now.playing ? " playing" : "");
  for (const ShownRun& run : now.runs) {
    text += fmt::format(" {}{} {}", run.letter, run.take, run.end);
    for (const Edit& edit : run.edits) text += fmt::format(" {}:{}={}", edit.step, edit.key, edit.value);
  }
  return text;
}

/// Takes the newest change back, or makes it again, as the Lab does.
void step(UndoLog& log, bool undo, Session& now) {
  const auto to = log.next(undo, now);
  if (!to) return;
  const Session left = std::exchange(now, *to);
  log.stepped(undo, left, now);
}

}  // namespace

TEST_CASE("an edit goes back, and the training since stays; made again it is the same edit") {
  Session now = two_runs();
  now.step = 10;
  const Session before = now;
  now.runs[0].edits = {{11, "train.lr", "0.1"}};
  UndoLog log;
  REQUIRE(log.note(before, now, false, 0));
  now.step = 40;
  now.playing = true;
  step(log, true, now);
  CHECK(text_of(now) == "40 of 60 playing: A1 60 B2 60");
  CHECK_FALSE(log.can_undo());
  now.step = 50;
  step(log, false, now);
  CHECK(text_of(now) == "50 of 60 playing: A1 60 11:train.lr=0.1 B2 60");
}

TEST_CASE("a fork goes with its steps and its play, and comes back with them") {
  Session now = two_runs();
  now.step = 60;
  const Session before = now;
  now.runs.push_back(run_of('D', "sandwich", 3, 120));
  now.playing = true;
  UndoLog log;
  REQUIRE(log.note(before, now, false, 0));
  now.step = 120;
  now.playing = false;
  const Session left = now;
  step(log, true, now);
  CHECK(text_of(now) == "120 of 60: A1 60 B2 60");  // the Lab then ends where its longest run ends
  step(log, false, now);
  CHECK(text_of(now) == text_of(left));
}

TEST_CASE("a fork that replaced another is exchanged for it") {
  Session now = two_runs();
  now.runs.push_back(run_of('D', "sandwich", 3));
  const Session before = now;
  now.runs[2] = run_of('D', "pre", 4);
  UndoLog log;
  log.note(before, now, false, 0);
  step(log, true, now);
  CHECK(text_of(now) == text_of(before));
}

TEST_CASE(
    "a budget that more steps have raised since is no longer the change's, and the one below goes back") {
  UndoLog log;
  Session now = two_runs();
  Session before = now;
  now.runs[1].edits = {{1, "train.lr", "0.1"}};
  log.note(before, now, false, 0);
  before = now;
  for (ShownRun& run : now.runs) run.end = 90;
  log.note(before, now, false, 0);
  for (ShownRun& run : now.runs) run.end = 150;
  step(log, true, now);
  CHECK(text_of(now) == "0 of 60: A1 150 B2 150");
  CHECK_FALSE(log.can_undo());
}

TEST_CASE("what began everything anew brings all back, its step too, each time as it was left") {
  UndoLog log;
  Session now = two_runs();
  now.step = 20;
  const Session before = now;
  now.runs = {run_of('A', "post", 5), run_of('B', "pre", 6)};
  now.step = 0;
  log.note(before, now, true, 0);
  now.step = 7;
  step(log, true, now);
  CHECK(text_of(now) == "20 of 60: A1 60 B2 60");
  now.step = 25;
  step(log, false, now);
  CHECK(text_of(now) == "7 of 60: A5 60 B6 60");
  step(log, true, now);
  CHECK(text_of(now) == "25 of 60: A1 60 B2 60");
}

TEST_CASE("a press is one entry, and none where it came back to where it began") {
  UndoLog log;
  const Session start = two_runs();
  Session now = start;
  const auto drag = [&](const char* rate, uint64_t gesture) {
    const Session before = now;
    now.runs[0].edits = {{1, "train.lr", rate}};
    log.note(before, now, false, gesture);
  };
  drag("0.1", 1);
  drag("0.2", 1);
  drag("0.3", 2);
  step(log, true, now);
  CHECK(now.runs[0].edits.front().value == "0.2");
  drag("0.4", 2);  // the press goes on after the undo: a change of its own
  step(log, true, now);
  CHECK(now.runs[0].edits.front().value == "0.2");
  drag("0.5", 3);
  const Session before = now;
  now.runs[0].edits.front().value = "0.2";
  CHECK(log.note(before, now, false, 3));
  step(log, true, now);
  CHECK(text_of(now) == text_of(start));
  CHECK_FALSE(log.note(now, now, false, 0));
  CHECK(log.can_redo());  // nothing was changed, so all can still be made again
}

TEST_CASE("whatever is changed, taken back and made again, each run is the run that it would be alone") {
  const unsigned seed = GENERATE(range(1u, 6u));
  INFO(seed);
  Lab lab(quiet());
  lab.post(session::ReplaceRuns{{small_spec("post"), small_spec("pre")}, {}, false});
  rest(lab);
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto check = [&] {
    const auto view = rest(lab);
    INFO(view->message);
    for (const RunView& run : view->runs) {
      const std::vector<float> whole = alone(*run.origin, run.step, run.edits), shown = losses(run);
      REQUIRE(shown.size() <= whole.size());  // a fork's history may begin with it
      CHECK(same_bits(shown, {whole.end() - static_cast<std::ptrdiff_t>(shown.size()), whole.end()}));
    }
    return view;
  };
  const auto told = [&] {
    const auto view = check();
    std::string text = fmt::format("{}", view->budget);
    for (const RunView& run : view->runs)
      text += fmt::format("\n{} {}", run.letter, settings_text(*run.origin, run.edits));
    return text;
  };
  const std::string start = told();
  const auto change = [&](int32_t run) -> session::Command {
    switch (pick(6)) {
      case 0:
        return session::EditField{run, "model.placement", pick(2) ? "pre" : "post"};
      case 1:
        return session::EditField{-1, "run.seed", std::to_string(1 + pick(3))};
      case 2:
        return session::SetBudget{40 + 10 * pick(3)};
      case 3:
        return request(*lab.view(), run, pick(2) ? "sandwich" : "none");
      case 4:
        return session::Reset{};
      default:
        return session::EditField{run, "train.lr", pick(2) ? "0.001" : "0.01"};
    }
  };
  for (int i = 0; i < 24; ++i) {
    lab.post(change(pick(2)));
    if (pick(3) == 0) {
      lab.post(session::PlayTo{rest(lab)->step + 1 + pick(4)});
      check();
    }
    if (pick(4) == 0) {
      lab.post(session::Undo{});
      check();
      if (pick(2)) lab.post(session::Redo{});
      check();
    }
  }
  lab.post(session::EditField{-1, "train.clip", "0.25"});
  const std::string end = told();
  int changes = 0;
  for (; lab.view()->can_undo; ++changes) {
    lab.post(session::Undo{});
    check();
  }
  CHECK(told() == start);
  CHECK(changes > 5);
  for (int i = 0; i < changes; ++i) lab.post(session::Redo{});
  CHECK(told() == end);
  CHECK_FALSE(lab.view()->can_redo);
}

TEST_CASE("a run that is not kept any more is trained on from its newest keyframe before the change") {
  LabOptions options = quiet();
  options.kept_bytes = 0;  // the newest four stay, without keyframes
  Lab lab(options);
  lab.post(session::ReplaceRuns{{small_spec("post"), small_spec("pre")}, {}, false});
  lab.post(session::PlayTo{45});
  rest(lab);
  lab.post(session::EditField{0, "train.lr", "0.002"});
  lab.post(session::PlayTo{50});
  rest(lab);
  for (const char* placement : {"pre", "sandwich", "none", "pre", "sandwich", "none"})
    lab.post(request(*lab.view(), 1, placement));
  for (int i = 0; i < 20 && rest(lab)->runs[0].edits.size() == 1; ++i) lab.post(session::Undo{});
  const auto view = rest(lab);
  INFO(view->message);
  CHECK(view->message.empty());  // it does not begin at step 0
  REQUIRE(view->runs.size() == 2);
  CHECK(view->step == 50);
  CHECK(view->runs[0].edits.empty());
  for (const RunView& run : view->runs) CHECK(same_bits(losses(run), alone(*run.origin, 50, run.edits)));
  lab.post(session::Redo{});
  const auto again = rest(lab);
  CHECK(again->runs[0].edits.size() == 1);
  CHECK(same_bits(losses(again->runs[0]), alone(*again->runs[0].origin, 50, again->runs[0].edits)));
}

TEST_CASE("networks that a run keeps for undo change nothing of what it does when it is back") {
  // D is changed at rest, at the step of its fork: every network is made of the weights that the last step left.
  Lab lab(quiet());
  lab.post(session::ReplaceRuns{{small_spec("post"), small_spec("pre")}, {}, false});
  lab.post(session::PlayTo{7});
  rest(lab);
  lab.post(request(*lab.view(), 0, "sandwich"));
  rest(lab);
  lab.post(request(*lab.view(), 0, "none"));
  rest(lab);
  lab.post(session::Undo{});  // D comes back
  rest(lab);
  lab.post(request(*lab.view(), 2, "post"));  // and is forked once more
  lab.post(session::PlayTo{12});
  const auto view = rest(lab);
  REQUIRE(view->runs.size() == 3);
  const RunView& fork = view->runs[2];
  const std::vector<float> whole = alone(*fork.origin, fork.step, fork.edits), shown = losses(fork);
  CHECK(fork.step == 12);
  CHECK(same_bits(shown, {whole.end() - static_cast<std::ptrdiff_t>(shown.size()), whole.end()}));
}

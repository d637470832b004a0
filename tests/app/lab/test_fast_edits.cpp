// These tests have a user who is faster than the trainer: whatever is edited, refused, taken back and made again while
// a network is being built, one undo takes back one edit.
#include <condition_variable>
#include <mutex>

#include "app/shell/screens.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "app/view/pending_edits.h"

namespace normscope::fixture {

using namespace session;

/// Holds the trainer just after it has shown that it is busy, as a large network would.
class Gate {
 public:
  explicit Gate(Lab& lab) : lab_(lab) {
    lab_.on_change([this] {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !shut_; });
    });
  }
  ~Gate() {
    set(false);
    lab_.on_change({});
  }
  void set(bool shut) {
    {
      const std::lock_guard lock(mutex_);
      shut_ = shut;
    }
    changed_.notify_all();
  }

 private:
  Lab& lab_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool shut_ = false;
};

inline std::string layers(const LabView& view, size_t run = 0) {
  return get_field(*view.runs.at(run).spec, "model.layers");
}

inline std::vector<RunSpec> one_tiny_run() {
  return {test::with_fields(fixture::small_runs(1).front(), {{"model.d_model", "4"},
                                                             {"model.feed_forward", "4"},
                                                             {"model.heads", "1"},
                                                             {"model.sequence", "4"},
                                                             {"train.batch", "1"}})};
}

/// A Lab without a screen.
struct Hand {
  explicit Hand(LabOptions options = fixture::quiet_lab()) : lab(std::move(options)) {
    lab.post(ReplaceRuns{one_tiny_run(), {}, false});
    rest();
  }
  void rest() {
    gate.set(false);
    lab.wait_idle();
    view = lab.view();
  }
  Ticket give(const Command& command, uint64_t gesture = 0) {
    return lab.post(command, {.gesture = gesture});
  }
  void step(bool undo) { lab.post(undo ? Command(Undo{}) : Command(Redo{})); }

  std::shared_ptr<const LabView> view;
  Lab lab;
  Gate gate{lab};
};

}  // namespace normscope::fixture

namespace normscope::test_fast_edits {

using namespace session;
using fixture::Gate, fixture::Hand, fixture::layers, fixture::one_tiny_run;

namespace {

/// What the session should come to: the same hand over a trainer that answers at once.
struct Expectation {
  struct Entry {
    int before, after;
  };
  int layers = 1, newest = 1;
  std::vector<Entry> done, undone;

  void undo() {
    if (done.empty()) return;
    layers = done.back().before;
    undone.push_back(done.back());
    done.pop_back();
  }
  void redo() {
    if (undone.empty()) return;
    layers = undone.back().after;
    done.push_back(undone.back());
    undone.pop_back();
  }
};

/// Reads a script: 'e' edits, 'x' is refused, 'u' undoes, 'y' makes again, '.' lets the trainer answer.
void play(Hand& hand, const std::string& script) {
  INFO(script);
  Expectation expected;
  expected.layers = expected.newest = std::stoi(layers(*hand.view));
  const int start = expected.layers;
  hand.gate.set(true);
  for (const char action : script) {
    if (action == 'e') {
      hand.give(EditField{0, "model.layers", std::to_string(++expected.newest)});
      expected.undone.clear();
      expected.done.push_back({expected.layers, expected.newest});
      expected.layers = expected.newest;
    } else if (action == 'x') {
      hand.give(EditField{0, "model.heads", "3"});
    } else if (action == 'u') {
      hand.step(true);
      expected.undo();
    } else if (action == 'y') {
      hand.step(false);
      expected.redo();
    } else {
      hand.rest();
      hand.gate.set(true);
    }
  }
  hand.rest();
  CHECK(layers(*hand.view) == std::to_string(expected.layers));
  // One at a time, back to the start.
  while (!expected.done.empty()) {
    CHECK(hand.view->can_undo);
    hand.step(true);
    hand.rest();
    expected.undo();
    CHECK(layers(*hand.view) == std::to_string(expected.layers));
  }
  CHECK_FALSE(hand.view->can_undo);
  CHECK(layers(*hand.view) == std::to_string(start));
  hand.give(ForgetChanges{});
}

/// All texts of so many of these letters.
std::vector<std::string> scripts(const std::string& letters, size_t length) {
  std::vector<std::string> all{""};
  for (size_t i = 0; i < length; ++i) {
    std::vector<std::string> longer;
    for (const std::string& one : all)
      for (const char letter : letters) longer.push_back(one + letter);
    all = std::move(longer);
  }
  return all;
}

}  // namespace

TEST_CASE("three quick edits of a deep model are taken back one by one, whatever has been answered") {
  fixture::LiveDriver lab(fixture::small_runs(12));
  Gate gate(lab.lab);
  gate.set(true);
  const auto edit = [&](const char* value) {
    lab.state.session.asked.emplace_back(EditField{0, "model.layers", value});
    lab.driver.frames(1);
  };
  // Two are being built, the third comes after the trainer has shown several times that it is busy.
  edit("13");
  edit("14");
  lab.driver.frames(4);
  edit("15");
  lab.driver.key("Ctrl+Z");
  gate.set(false);
  lab.settle();
  CHECK(layers(lab.view()) == "14");
  lab.key("Ctrl+Z");
  CHECK(layers(lab.view()) == "13");
  lab.driver.key("Ctrl+Shift+Z");
  lab.key("Ctrl+Shift+Z");
  CHECK(layers(lab.view()) == "15");
  for (const char* before : {"14", "13", "12"}) {
    lab.key("Ctrl+Z");
    CHECK(layers(lab.view()) == before);
  }
  CHECK_FALSE(lab.state.session.can_undo());
}

TEST_CASE(
    "edits one view after the other, each while the one before is being built, are taken back one by one") {
  Hand hand;
  std::vector<std::string> was;
  for (int i = 0; i < 6; ++i) {
    was.push_back(layers(*hand.view));
    hand.give(EditField{0, "model.layers", std::to_string(2 + i)});
    if (i % 2 == 0) continue;
    // As a frame in the middle sees it: the newest view, whatever has been answered by then.
    hand.view = hand.lab.view();
  }
  hand.rest();
  for (int i = 5; i >= 0; --i) {
    hand.step(true);
    hand.rest();
    CHECK(layers(*hand.view) == std::to_string(1 + i));
  }
}

TEST_CASE("fast edits, refusals, undo and redo come to what a slow hand comes to, in every order") {
  Hand hand;
  for (const std::string& script : scripts("exu.", 5)) play(hand, script);
  for (const std::string& script : scripts("euy", 5)) play(hand, script);
  for (const std::string& script : scripts("uy.", 3)) play(hand, "ee" + script + "e");
}

TEST_CASE("a message of something else is taken for no refusal, and a refusal is found among the answers") {
  const test::Folder folder;
  LabOptions options = fixture::quiet_lab();
  options.autosave = folder.write("file", "no folder") + "/autosave";
  options.autosave_every = 0;
  Hand hand(options);
  for (const std::string& script : scripts("exu.", 3)) play(hand, script);
  hand.rest();
  const Ticket good = hand.give(EditField{0, "model.layers", "2"});
  const Ticket bad = hand.give(LoadText{folder.file("not there.txt")});
  const Ticket last = hand.give(EditField{0, "train.lr", "0.001"});
  hand.rest();
  CHECK(hand.view->answered == last);
  CHECK(refusal(hand.view->answers, good).empty());
  CHECK(test::contains(refusal(hand.view->answers, bad), "not there.txt"));
  CHECK(refusal(hand.view->answers, last).empty());
}

TEST_CASE("a drag over a slow trainer is one entry, and so are budgets and forks what they were") {
  Hand hand;
  hand.gate.set(true);
  for (const char* rate : {"0.001", "0.002", "0.004"}) hand.give(EditField{-1, "train.lr", rate}, 1);
  for (const int budget : {70, 80, 90}) hand.give(SetBudget{budget}, 2);
  hand.give(SetBudget{100});
  ForkRequest fork;
  fork.spec = *hand.view->runs[0].spec;
  set_field(fork.spec, "model.placement", "pre");
  hand.give(fork);
  fork.source = 7;  // refused: what is taken back is the fork before
  hand.give(fork);
  hand.step(true);
  hand.rest();
  CHECK(hand.view->runs.size() == 1);
  CHECK(hand.view->budget == 100);
  hand.step(true);
  hand.rest();
  CHECK(hand.view->budget == 90);
  hand.step(true);
  hand.rest();
  CHECK(hand.view->budget == 60);
  hand.step(true);
  hand.rest();
  CHECK(hand.view->runs[0].spec->train.schedule.peak == 0.003f);
  CHECK_FALSE(hand.view->can_undo);
}

TEST_CASE("a press is one entry, whatever it changes, and ends where something was taken back") {
  Hand hand;
  const bool answered = GENERATE(false, true);
  const auto state = [&] {
    return fmt::format("{} {} {}", get_field(*hand.view->runs[0].spec, "train.lr"), layers(*hand.view),
                       hand.view->budget);
  };
  const std::string start = state();
  const auto drag = [&](const Command& command, uint64_t gesture) {
    hand.give(command, gesture);
    if (answered) hand.rest();
  };
  const auto step = [&](bool undo, const std::string& to) {
    hand.step(undo);
    hand.rest();
    CHECK(state() == to);
  };
  drag(EditField{0, "train.lr", "0.01"}, 1);
  drag(EditField{0, "model.layers", "2"}, 1);
  drag(SetBudget{70}, 1);
  drag(EditField{0, "train.lr", "0.02"}, 1);
  drag(EditField{0, "train.lr", "0.03"}, 2);
  hand.rest();
  CHECK(state() == "0.03 2 70");
  step(true, "0.02 2 70");
  step(true, start);
  CHECK_FALSE(hand.view->can_undo);
  step(false, "0.02 2 70");
  drag(EditField{0, "train.lr", "0.04"}, 1);
  hand.rest();
  step(true, "0.02 2 70");
  step(true, start);
}

TEST_CASE("a setting of all runs that is asked of one is shown in all before the trainer has answered") {
  const auto view = fixture::trained_view({"post", "pre"}, 1, "run.seed", "3", 0);
  const auto [key, value] = GENERATE(
      table<std::string, std::string>({{"run.seed", "7"}, {"data.name", "copy"}, {"train.warmup", "9"}}));
  INFO(key);
  view::PendingEdits pending;
  const Command asked = EditField{1, key, value};
  pending.note(*view, std::span(&asked, 1));
  const LabView then = pending.applied(*view);
  CHECK(get_field(*then.runs[1].spec, key) == value);
  CHECK((get_field(*then.runs[0].spec, key) == value) == (key != "train.warmup"));
}

TEST_CASE("what was refused leaves what can be made again") {
  Hand hand;
  hand.give(EditField{0, "model.layers", "2"});
  hand.rest();
  hand.step(true);
  hand.rest();
  REQUIRE(hand.view->can_redo);
  hand.give(EditField{0, "model.heads", "3"});
  hand.give(EditField{0, "model.heads", "5"});
  hand.rest();
  CHECK(hand.view->can_redo);
  CHECK_FALSE(hand.view->can_undo);
  hand.step(false);
  hand.rest();
  CHECK(layers(*hand.view) == "2");
}

TEST_CASE("runs that replace all others are one entry, and refused ones are none") {
  Hand hand;
  const auto steps_to = [&](bool back, const std::string& to) {
    hand.step(back);
    hand.rest();
    CHECK(layers(*hand.view) == to);
  };
  hand.give(EditField{0, "model.layers", "2"});
  hand.rest();
  std::vector<RunSpec> wrong = one_tiny_run();
  wrong[0].model.heads = 3;
  hand.give(ReplaceRuns{wrong, {}, false});
  hand.rest();
  steps_to(true, "1");
  CHECK_FALSE(hand.view->can_undo);
  steps_to(false, "2");
  hand.give(ReplaceRuns{one_tiny_run(), {}, false});
  hand.rest();
  CHECK(layers(*hand.view) == "1");
  for (int time = 0; time < 2; ++time) {
    steps_to(true, "2");
    steps_to(true, "1");
    CHECK_FALSE(hand.view->can_undo);
    steps_to(false, "2");
    steps_to(false, "1");
    CHECK_FALSE(hand.view->can_redo);
  }
}

TEST_CASE("what a round that failed left unanswered is refused, and leaves no entry") {
  Hand hand;
  std::atomic<int> failures{1};
  hand.lab.on_change([&] {
    if (failures-- > 0) fail("test", "nobody can be told");
  });
  const Ticket lost = hand.give(EditField{0, "model.layers", "2"});
  hand.rest();
  CHECK(hand.view->answered == lost);
  CHECK(test::contains(refusal(hand.view->answers, lost), "nobody can be told"));
  CHECK(layers(*hand.view) == "1");
  CHECK_FALSE(hand.view->can_undo);
}

}  // namespace normscope::test_fast_edits

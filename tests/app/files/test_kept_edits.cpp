// These tests look at what is kept of a hand's edits: the disk never has a session with an edit and without what takes
// it back, and what the trainer could not carry out leaves no entry.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/support/fast_hand.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "training/session/session_file.h"
#include "training/support/lab_runs.h"

namespace normscope::test_kept_edits {

using namespace session;
using fixture::Hand, fixture::layers;

namespace {

/// The number of layers of a kept session, and the log that came with it.
struct Kept {
  std::string layers;
  shell::UndoLog log;
};

Kept kept_in(const std::string& folder) {
  Lab lab(fixture::quiet_lab());
  test::view_after(lab, RestoreSession{folder, false});
  const std::shared_ptr<const LabView> view = lab.view();
  Kept kept{view->runs.empty() ? view->message : layers(*view), {}};
  if (view->sidecar && !view->sidecar->empty())
    kept.log.restore(InputValue::parse(*view->sidecar, "undo log"));
  return kept;
}

}  // namespace

TEST_CASE("an edit of a session at rest is kept with what takes it back, from the first save on") {
  using Clock = std::chrono::steady_clock;
  constexpr auto kEvery = std::chrono::milliseconds(1000), kSoon = std::chrono::milliseconds(150);
  bool in_time = false;
  for (int attempt = 0; attempt < 10 && !in_time; ++attempt) {  // on a machine that is busy elsewhere
    const test::Folder folder;
    LabOptions options = fixture::quiet_lab();
    options.autosave = folder.file("session");
    options.autosave_every = std::chrono::duration<double>(kEvery).count();
    Hand hand(options);
    const auto saved = [&](int64_t before) {
      for (int i = 0; i < 1000 && session_generation(options.autosave) == before; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return session_generation(options.autosave);
    };
    const int64_t first = saved(0);
    std::this_thread::sleep_for(kEvery + kSoon);  // now the next save is due at once
    const auto asked = Clock::now();
    hand.give(EditField{0, "model.layers", "2"});
    hand.lab.wait_idle();
    hand.keep();  // what a frame does that shows the answer
    in_time = Clock::now() - asked < kSoon;
    REQUIRE(saved(first) > first);
    const Kept kept = kept_in(options.autosave);
    in_time = in_time && Clock::now() - asked < kEvery;  // the second save is not there yet
    if (!in_time) continue;
    CHECK(kept.layers == "2");
    CHECK(kept.log.can_undo());
  }
  CHECK(in_time);
}

TEST_CASE("of a session that took another's place only its own edits are kept") {
  const test::Folder folder;
  Hand hand;
  hand.log.stash_in(folder.file("replaced"));
  hand.give(EditField{0, "model.layers", "2"});
  hand.rest();
  CHECK(hand.log.to_json()["done"].size() == 1);
  ReplaceRuns other{fixture::one_tiny_run(), {}, false};
  other.stash = hand.log.next_slot();
  hand.give(other);
  hand.rest();
  CHECK(hand.log.to_json()["done"].empty());
  hand.give(EditField{0, "model.layers", "3"});
  hand.rest();
  CHECK(hand.log.to_json()["done"].size() == 1);
}

TEST_CASE("an edit that was answered after the last frame is kept with what takes it back") {
  const test::Folder folder;
  LabOptions options = fixture::quiet_lab();
  options.autosave = folder.file("session");
  {
    auto hand = std::make_unique<Hand>(options);
    Hand& at_end = *hand;
    hand->lab.at_end([&at_end] { at_end.keep(); });
    hand->give(EditField{0, "model.layers", "2"});
    hand->lab.wait_idle();
    // What is not begun when it ends is no edit.
    hand->gate.set(true);
    hand->give(EditField{0, "model.layers", "3"});
    hand->lab.quit();
  }
  Kept kept = kept_in(options.autosave);
  CHECK(kept.layers == "2");
  std::vector<Command> commands;
  char selected = 'A';
  REQUIRE(kept.log.undo(commands, selected));
  REQUIRE(commands.size() == 1);
  REQUIRE(std::holds_alternative<SetSpec>(commands[0]));
  CHECK(get_field(*std::get<SetSpec>(commands[0]).spec, "model.layers") == "1");
  CHECK_FALSE(kept.log.can_undo());
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
  CHECK_FALSE(hand.log.can_undo());
}

}  // namespace normscope::test_kept_edits

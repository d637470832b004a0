// These tests use the Tape screen by name, window-less, over a step of a real run: the head under the mouse, numbers
// that are the engine's. Keys, rows and menus: ../stories/tape.txt.
#include <algorithm>

#include "addons/tape-screen/app/shown.h"
#include "addons/tape-screen/tests/app/tape_fixture.h"
#include "addons/tape-screen/training/memory_map.h"
#include "addons/tape-screen/training/tensor_summary.h"
#include "app/support/well_formed.h"

using namespace normscope;
using namespace normscope::tape_screen;
using fixture::TapeDriver;

namespace tape_screen_test {
namespace {

const Instruction& at_head(TapeDriver& t) { return t.facts().program.instructions[t.screen().head()]; }

}  // namespace

TEST_CASE("tape screen: Ctrl+T copies the step as the command prints it") {
  TapeDriver t;
  t.driver.key("Ctrl+T");
  CHECK(t.state.shell.clipboard == to_string(t.facts().fold, t.facts().roof, true));
  CHECK(t.state.notice == "copied: the step as text");
}

TEST_CASE("tape screen: the head is dragged on the track and on the timeline") {
  TapeDriver t;
  const size_t fold = t.screen().head();
  const ui::Rect first = t.driver.control("tape/row/emb").rect;
  const ui::Rect head = t.driver.control("tape/head").rect;
  t.driver.drag_by("tape/head", {0, first.centre().y - head.centre().y});
  t.rest();
  CHECK(at_head(t).name == "emb");
  CHECK(at_head(t).phase == Phase::Forward);
  const ui::Rect bar = t.driver.control("tape/timeline").rect;
  t.driver.drag_by("tape/timeline", {bar.w * 0.45f, 0}, "", 4, {0.5f, 0.5f});
  t.rest();
  CHECK(t.screen().head() > fold);
}

TEST_CASE("tape screen: numbers shown are the engine's") {
  TapeDriver t;
  t.key("Right");
  const auto view = t.lab.view();
  REQUIRE(view->played);
  t.screen().worker().wait();
  const InstructionView& shown = t.shown();
  REQUIRE_FALSE(shown.writes.empty());
  StepPlayer& player = *view->played->player;  // the worker rests
  REQUIRE(player.position() == shown.instruction + 1);
  for (const ShownTensor& tensor : shown.writes)
    CHECK(tensor.summary.norm == summarise(player.read(tensor.id)).norm);
  REQUIRE(t.screen().state()->checked);
  CHECK(t.screen().state()->checked->node == shown.node);
}

TEST_CASE("tape screen: Space plays to the end, one instruction after the other") {
  TapeDriver t;
  t.key("Home");
  t.driver.key("Space");
  CHECK(t.screen().playing());
  size_t before = t.screen().head();
  for (int i = 0; i < 5000 && t.screen().playing(); ++i) {
    t.driver.frames(1);
    CHECK(t.screen().head() >= before);
    before = t.screen().head();
    if (t.screen().busy()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  CHECK_FALSE(t.screen().playing());
  CHECK(at_head(t).phase == Phase::Update);
}

TEST_CASE("tape screen: Follow takes the newest step, and the head stays") {
  TapeDriver t;
  t.key("Right");
  const size_t head = t.screen().head();
  t.click("tape/follow");
  t.train(3);
  t.rest();
  CHECK(t.facts().step == 4);
  CHECK(t.screen().head() == head);
  CHECK(t.shown().step == t.facts().number);
}

TEST_CASE("tape screen: a restored session brings its run and its instruction, whatever was shown before") {
  TapeDriver t;
  REQUIRE(t.facts().letter == 'A');
  const ScreenSettings kept{{"run", "B"}, {"head", "3"}};
  t.screen().restore(kept);
  CHECK(t.screen().kept() == kept);
  t.rest();
  t.rest();
  CHECK(t.facts().letter == 'B');
  CHECK(t.screen().head() == nearest_listed(listed_instructions(t.facts().program), 3));
  CHECK(fixture::setting(t.screen().kept(), "run") == "B");
}

TEST_CASE("tape screen: the picture of the fold has every op of the step, whatever is closed on the screen") {
  TapeDriver t;
  const std::string svg = fold_svg(t.facts());
  CHECK(test::well_formed(svg));
  CHECK_FALSE(test::contains(svg, "nan"));
  CHECK(test::contains(svg, "the fold: loss "));
  for (const FoldLine& line : t.facts().fold.lines) {
    INFO(line.name);
    CHECK(test::contains(svg, "<g><title>" + line.name + ": "));
  }
}

// The Tape screen says of an embedding how many tokens it looks up, also where their rows are joined.

TEST_CASE("tape panels: a parser's embedding looks up the features of every state") {
  const std::vector<std::string> presets = preset_names();
  if (std::ranges::find(presets, "parser") == presets.end()) return;  // an add-on's
  const RunSpec spec = test::with_fields(
      preset_run("parser"),
      {{"model.layers", "1"}, {"model.d_model", "4"}, {"model.feed_forward", "8"}, {"train.batch", "32"}});
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const Run run(spec, make_task(spec.data), *backend);
  const std::unique_ptr<StepPlayer> player = run.play_next();
  const auto& all = player->data().instructions;
  const auto found = std::ranges::find_if(
      all, [](const Instruction& it) { return it.phase == Phase::Forward && it.op == OpKind::Embedding; });
  REQUIRE(found != all.end());
  const auto at = static_cast<size_t>(found - all.begin());
  player->seek(at + 1);
  const std::string sentence = tape_screen::shown_of(*player, at).sentence;
  INFO(sentence);
  CHECK(sentence.starts_with("It looks up " + ui::grouped(32 * run.spec().model.sequence) + " tokens"));
}

}  // namespace tape_screen_test

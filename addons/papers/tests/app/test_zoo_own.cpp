// These tests cover the learner's own wiring as an entry of the zoo.
#include <filesystem>
#include <fstream>
#include <string>

#include "addons/papers/app/zoo/own.h"
#include "addons/papers/app/zoo/zoo.h"
#include "app/support/player_driver.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/support/helpers.h"
#include "training/support/tiny.h"

namespace normscope::test_zoo_own {
namespace {

using namespace course;
using namespace normscope::lessons;
using fixture::PlayerDriver;
using test::contains;

std::string refusal_of_zoo(const std::string& json) {
  return test::error_of([&] { zoo::parse_own(json, "zoo.json"); }, "");
}

}  // namespace

TEST_CASE("an own entry is kept once, read again, and trained beside the others", "[zoo]") {
  const test::Folder folder;
  const std::string path = folder.file("deep/zoo.json");
  CHECK(zoo::own_path(folder.file("deep/lessons.json")) == path);
  CHECK(zoo::read_own(path).empty());
  const std::vector<std::string> set{"model.placement=none", "wiring.L*=before=ln branch=scalar:0.2"};
  CHECK(zoo::enter(path, set) == "own-1");
  CHECK(zoo::enter(path, set) == "own-1");
  CHECK(zoo::enter(path, {"model.placement=none", "wiring.L*=after=rms", "wiring.final=ln"}) == "own-2");
  const std::vector<sweep::StudyRow> own = zoo::read_own(path);
  REQUIRE(own.size() == 2);
  CHECK(own[0].set == set);
  CHECK(own[0].title == "L* before=ln branch=scalar:0.2");
  CHECK(own[1].title == "L* after=rms, final=ln");
  CHECK_THROWS_AS(zoo::enter("", set), Error);
  CHECK_THROWS_AS(zoo::enter(path, {"wiring.L*=befor=ln"}), Error);

  const sweep::StudyFile chosen = zoo::study_of({.only = "post,own", .seeds = 1}, own);
  REQUIRE(chosen.parts.size() == 2);
  CHECK(chosen.parts[1].rows[0].name == "own-1");
  const std::vector<experiments::StudyRun> runs = sweep::study_of(chosen).runs;
  REQUIRE(runs.size() == 6);  // without and with warm-up
  CHECK(get_field(runs[2].run.spec, "wiring.L*.ffn") == "before=ln branch=scalar:0.2");
  CHECK(get_field(runs[2].run.spec, "wiring.final") == "none");
  CHECK_THROWS_AS(zoo::study_of({.only = "own-1"}), Error);  // the file has none

  CHECK(contains(refusal_of_zoo("{\"entries\": [{\"name\": \"post\", \"set\": [\"train.lr=1\"]}]}"),
                 "own- and a number"));
  CHECK(contains(refusal_of_zoo("{\"entries\": [{\"name\": \"own-1\", \"set\": [\"train.lrr=1\"]}]}"),
                 "own-1: "));
  CHECK(contains(refusal_of_zoo("{\"entries\": [{\"name\": \"own-1\", \"set\": []}]}"), "entries[0].set"));
  CHECK(contains(refusal_of_zoo("[]"), "zoo.json"));
}

TEST_CASE("own entries with any numbers leave one for the next, which can be read again", "[zoo]") {
  const test::Folder folder;
  const auto entered_beside = [&](const std::string& name) {
    const std::string path =
        folder.write("zoo.json", "{\"entries\": [{\"name\": \"" + name + "\", \"set\": [\"train.lr=1\"]}]}");
    const std::string entered = zoo::enter(path, {"model.placement=none", "wiring.L*=after=rms"});
    const std::vector<sweep::StudyRow> own = zoo::read_own(path);
    REQUIRE(own.size() == 2);
    CHECK(own[1].name == entered);
    return entered;
  };
  CHECK(entered_beside("own-1") == "own-2");
  CHECK(entered_beside("own-99999") == "own-1");
  for (const char* huge : {"own-100000", "own-99999999999999999999"})
    CHECK_THROWS_WITH(entered_beside(huge), Catch::Contains("own- and a number of at most 5 digits"));
}

TEST_CASE("the command knows own entries, and says in one line what is wrong with their file", "[zoo]") {
  const test::Folder folder;
  zoo::enter(folder.file("normscope/zoo.json"), {"model.placement=none", "wiring.L*=after=rms"});
  const std::string data = "env XDG_DATA_HOME=" + folder.file("");
  const test::Outcome list = test::run_program("zoo --list --only own", data);
  CHECK(list.code == 0);
  CHECK(contains(list.out, "own-1 "));
  CHECK(contains(list.out, "wiring.L*=after=rms"));
  std::ofstream(folder.file("normscope/zoo.json")) << "{ not json";
  const test::Outcome damaged = test::run_program("zoo --list", data);
  CHECK(damaged.code == 3);
  CHECK(test::is_one_error_line(damaged));
}

TEST_CASE("a placement of one's own is an entry of the zoo, which trains it", "[zoo]") {
  const test::Folder folder;
  std::filesystem::create_directories(folder.path / "placements");
  folder.write("placements/mine.toml",
               "name = \"mine\"\nlabel = \"My own\"\nsublayer = \"before=ln after=ln\"\n");
  const std::string own =
      "env XDG_DATA_HOME=" + folder.file("data") + " NORMSCOPE_PLACEMENTS=" + folder.file("placements");
  const test::Outcome list = test::run_program("zoo --list --only own", own);
  CHECK(list.code == 0);
  CHECK(contains(list.out, "mine "));
  CHECK(contains(list.out, "My own"));
  CHECK(contains(list.out, "model.placement=mine"));
  const test::Outcome trained = test::run_program(
      "zoo --depth 2 --seeds 1 --warmup 2 --steps 4 --only mine,post" + test::tiny_options(0), own);
  CHECK(trained.code == 0);
  CHECK(contains(trained.out, "\nmine "));
  CHECK(test::run_program("zoo --list --only mine", "env XDG_DATA_HOME=" + folder.file("data")).code == 2);
}

TEST_CASE("the learner wires a run, runs it again and enters it in the zoo", "[player]") {
  const test::Folder folder;
  const std::string path = folder.file("lessons.json");
  int learned = 0;
  Changes ran;
  PlayerDriver p(path, {1600, 1000}, 1, [&](const Lesson&, MeasureState& state) {
    learned += state.changes.contains("D");
    ran = state.changes;
  });
  p.open("after-the-papers", StepKind::Explain);
  CHECK_FALSE(p.driver.control("lesson/keep").enabled);
  CHECK(p.driver.value("lesson/drag/stream") == "nothing");
  p.focus("lesson/drag/stream");
  p.key("Right");
  CHECK(p.driver.value("lesson/drag/stream") == "LayerNorm");
  CHECK_FALSE(p.driver.control("lesson/keep").enabled);  // not measured yet
  p.click("lesson/again");
  CHECK(learned == 1);
  p.click("lesson/keep");
  const std::vector<sweep::StudyRow> own = zoo::read_own(folder.file("zoo.json"));
  REQUIRE(own.size() == 1);
  CHECK(own[0].set == std::vector<std::string>{"model.placement=none",
                                               "wiring.L*=before=ln after=ln stream=ln", "wiring.final=ln"});
  CHECK(p.says("own-1"));
  CHECK_FALSE(p.driver.control("lesson/keep").enabled);
  CHECK(p.ui.registry().find("lesson/kept"));
  // Once it has a name the same wiring runs again.
  const Changes entered = ran;
  p.click("lesson/again");
  CHECK(learned == 2);
  CHECK(ran == entered);
  CHECK(p.driver.value("lesson/drag/stream") == "LayerNorm");
}

TEST_CASE("the button that enters a wiring keeps apart from the one that runs it again", "[player]") {
  for (const ui::Vec size : {ui::Vec{1600, 1000}, {1280, 800}, {1024, 600}}) {
    INFO(size.x);
    PlayerDriver p("", size);
    p.open("after-the-papers", StepKind::Explain);
    const ui::Rect zoo = p.driver.control("lesson/keep").rect;
    CHECK(p.driver.control("lesson/again").rect.y - zoo.bottom() >= 6);
    CHECK(zoo.y - p.driver.control("lesson/puzzle").rect.bottom() >= 6);
  }
}

}  // namespace normscope::test_zoo_own

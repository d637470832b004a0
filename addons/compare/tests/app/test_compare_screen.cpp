// These tests use the Compare screen by hand: baseline, cursor, places, files that are opened and grow, what is
// exported, and that a frame in which nothing changed computes nothing.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "addons/compare/tests/app/compare_driver.h"
#include "app/support/program.h"
#include "app/support/text_faults.h"
#include "catch.hpp"

using namespace normscope;
using namespace shell;
using fixture::a_log, fixture::CompareDriver;
using test::contains;

TEST_CASE("compare screen: figures and table become files, with the numbers that they are made of") {
  const test::Pictures folder;
  CompareDriver compare;
  for (const char* figure :
       {"compare/loss", "compare/difference", "compare/map/A", "compare/loupe", "compare/end"})
    for (const char* format : {"svg", "png", "csv"}) {
      compare.click(fmt::format("{}/menu", figure));
      const size_t before = compare.saved.size();
      compare.click(fmt::format("{}/menu/{}", figure, format));
      INFO(figure << " " << format);
      REQUIRE(compare.saved.size() == before + 1);
      const view::SavePlot& save = compare.saved.back();
      REQUIRE(save.plots->size() == 1);
      // Its cursor and its sentence are those on the screen.
      const std::string name = figure;
      if (name != "compare/end" && name != "compare/loupe") CHECK(save.plots->front().cursor.has_value());
      const bool own = std::string(format) == "csv" && name != "compare/loss" && name != "compare/loupe";
      CHECK(save.csv.empty() == !own);
    }
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("")))
    files += entry.file_size() > 100 ? 1 : 0;
  CHECK(files == 15);
}

TEST_CASE("compare screen: what was compared travels with the session, and damage is left out") {
  const test::Folder folder;
  const std::string path = folder.write("port.jsonl", a_log(10));
  CompareDriver compare;
  compare.open(path);
  compare.driver.key("A");
  compare.key("W");
  const compare_screen::KeptChoice kept = compare.screen().kept_choice();
  CHECK(kept.baseline == 'A');
  CHECK(kept.matrix == 1);
  CHECK(kept.files[4].path == path);
  const std::string rows = window_rows(compare.state.screens, compare.state.parts);

  AppState other;
  show_window(other.screens, other.session, other.parts, rows);
  CHECK(fixture::made_screen<compare_screen::CompareScreen>(other, Screen::Compare).kept_choice() == kept);
  CHECK(other.screens.shown == Screen::Compare);
  AppState damaged;
  show_window(damaged.screens, damaged.session, damaged.parts,
              R"({"bookmarks": [7], "selected": "A", "screens": 3, "screen": "compare"})");
  CHECK(damaged.screens.shown == Screen::Lab);
  CHECK(damaged.screens.lab.transport().bookmarks == std::vector<int>{7});
}

TEST_CASE("compare screen: a session that is opened keeps no file of the one before") {
  const test::Folder folder;
  CompareDriver compare;
  const compare_screen::KeptChoice before = compare.screen().kept_choice();
  compare.open(folder.write("port.jsonl", a_log(10)));
  CHECK(compare.screen().kept_choice() != before);
  compare.screen().choose(before);
  CHECK(compare.screen().kept_choice() == before);
}

TEST_CASE("comparing: what did not change is not computed again, and what is wrong is a line") {
  compare_screen::Comparing comparing({});
  int asked = 0;
  const auto none = [&] {
    ++asked;
    return std::vector<compare::Compared>{};
  };
  const auto first = comparing.newest("data", "choice", {}, none);
  REQUIRE(first);
  CHECK(contains(first->error, "0 runs"));
  CHECK(comparing.newest("data", "choice", {}, none) == first);
  CHECK(asked == 1);
  CHECK(comparing.newest("data", "other", {}, none) != first);
  CHECK(asked == 2);
}

TEST_CASE("compare screen: the loss of a run at a step is the number that the Lab shows") {
  auto view = std::make_shared<LabView>(*fixture::lab_view());
  CompareDriver compare(view);
  for (const RunView& run : view->runs) {
    const std::string number = fmt::format("{:.2f}", run.loss);
    CHECK(contains(compare.driver.value(fmt::format("compare/run/{}", run.letter)), "loss " + number));
    CHECK(contains(compare.driver.value(fmt::format("compare/end/{}", run.letter)), number));
  }
}

TEST_CASE("comparing and following on threads: what is ready is shown, and the bell is rung for it") {
  const test::Folder folder;
  std::atomic<int> rung{0};
  const auto ring = [&] { ++rung; };
  records::FollowedFile file(folder.write("port.jsonl", a_log(5)), ring);
  for (int i = 0; i < 1000 && file.now()->version == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(file.now()->file.runs.size() == 1);

  compare_screen::Comparing comparing(ring);
  std::shared_ptr<const compare_screen::Shown> shown;
  const auto none = [] { return std::vector<compare::Compared>{}; };
  for (int i = 0; i < 1000 && !shown; ++i) {
    shown = comparing.newest("data", "choice", {}, none);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  REQUIRE(shown);
  CHECK(rung >= 2);
  // A rest before the next one is cut short by the hand, and by the end.
  comparing.newest("more data", "choice", {}, none);
  comparing.newest("more data", "another choice", {}, none);
}

TEST_CASE("compare screen: a frame of four runs that did not change costs no comparison") {
  CompareDriver compare(fixture::lab_view({.fork = true}));
  compare.driver.frames(5);
  const auto time = [&](int frames) {
    const auto begin = std::chrono::steady_clock::now();
    compare.driver.frames(frames);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / frames;
  };
  const double rest = time(20);
  INFO("seconds a frame: " << rest);
  CHECK(rest < 0.1);
}

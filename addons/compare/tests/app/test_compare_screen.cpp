// These tests use the Compare screen by hand: baseline, cursor, places, files that are opened and grow, what is
// exported, and that a frame in which nothing changed computes nothing.
#include "catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "addons/compare/app/screen/compare_screen.h"
#include "app/files/small_window.h"
#include "app/shell/parts/linked.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/support/made_screen.h"
#include "app/support/program.h"
#include "app/support/text_faults.h"
#include "engine/support/helpers.h"

using namespace normscope;
using namespace shell;
using fixture::LabDriver;
using test::contains;

namespace {

/// Begins on the third tab.
struct CompareDriver : LabDriver {
  explicit CompareDriver(std::shared_ptr<const LabView> view = fixture::lab_view(),
                         ui::Vec size = {1600, 1000})
      : LabDriver(std::move(view), size) {
    driver.click("app/tab/compare");
    driver.move_to(ui::Vec{4, 4});
    driver.frames(3);
  }
  compare_screen::CompareScreen& screen() {
    return fixture::made_screen<compare_screen::CompareScreen>(state, Screen::Compare);
  }
  void open(const std::string& path) {
    screen().open(path, *state.session.view);
    driver.frames(3);
  }
};

std::string log_line(int step, double loss) {
  return fmt::format("{{\"run\":\"port\",\"seed\":7,\"step\":{},\"loss\":{}}}\n", step, loss);
}

std::string a_log(int steps) {
  std::string log;
  for (int step = 1; step <= steps; ++step) log += log_line(step, 3.0 - 0.001 * step);
  return log;
}

}  // namespace

TEST_CASE("compare screen: a click and a letter choose the baseline, and every difference is to it") {
  CompareDriver compare;
  CHECK(contains(compare.driver.value("compare/run/B"), "baseline"));
  CHECK_FALSE(contains(compare.driver.value("compare/run/A"), "baseline"));
  compare.click("compare/run/A", {0.4f, 0.4f});
  CHECK(contains(compare.driver.value("compare/run/A"), "baseline"));
  CHECK(contains(compare.driver.value("compare/place/B"), "B and A"));
  compare.key("C");
  CHECK(contains(compare.driver.value("compare/run/C"), "baseline"));
  CHECK(contains(compare.driver.value("compare/place/A"), "A and C"));
  CHECK(compare.ui.registry().find("compare/place/C") == nullptr);
  // There is no run D: its letter chooses nothing.
  compare.key("D");
  CHECK(contains(compare.driver.value("compare/run/C"), "baseline"));
}

TEST_CASE("compare screen: of two runs the first is the baseline until another is chosen") {
  auto two = std::make_shared<LabView>(*fixture::lab_view());
  two->runs.pop_back();
  CompareDriver compare(two);
  CHECK(contains(compare.driver.value("compare/run/A"), "baseline"));
  compare.key("B");
  CHECK(contains(compare.driver.value("compare/run/B"), "baseline"));
}

TEST_CASE("compare screen: one cursor with the Lab; a parting place moves it, P goes on to the next") {
  CompareDriver compare;
  std::optional<int>& cursor = compare.state.screens.lab.transport().pinned_step;
  cursor = 100;
  compare.driver.frames(2);
  const std::string at_100 = compare.driver.value("compare/run/B");
  cursor = 20;
  compare.driver.frames(2);
  CHECK(compare.driver.value("compare/run/B") != at_100);
  compare.click("compare/place/A");
  REQUIRE(cursor);
  const int place = *cursor;
  // The timeline has a ring there.
  const std::string ring = fmt::format("{} A parts from B", place);
  bool found = false;
  for (const ui::Control& c : compare.ui.registry().all())
    found = found || (c.name.starts_with("timeline/event") && c.value == ring);
  CHECK(found);
  CHECK(contains(compare.driver.value("compare/place/A"), fmt::format("at step {}", place)));
  CHECK(contains(compare.driver.value("compare/loupe"), "of A"));
  compare.key("Shift+Right");
  CHECK(cursor == place + 10);
  compare.key("B");  // the baseline, and no bookmark
  CHECK(compare.state.screens.lab.transport().bookmarks.empty());
}

TEST_CASE("compare screen: the threshold decides where runs part") {
  CompareDriver compare;
  const std::string before = compare.driver.value("compare/place/A");
  compare.click("compare/factor");
  compare.driver.key("Ctrl+A");
  compare.driver.type("100");
  compare.key("Enter");
  CHECK(compare.driver.value("compare/place/A") != before);
  CHECK(compare.screen().kept_choice().factor == 100);
}

TEST_CASE("compare screen: a log stands in the free place, is followed while it grows, and can be left out") {
  const test::Folder folder;
  const std::string path = folder.write("port.jsonl", a_log(40));
  CompareDriver compare;
  compare.open(path);
  // The cursor stands at a step that it never reached.
  CHECK(contains(compare.driver.value("compare/run/E"), "loss –"));
  compare.state.screens.lab.transport().pinned_step = 40;
  compare.driver.frames(2);
  CHECK(contains(compare.driver.value("compare/run/E"), "loss 2."));
  CHECK(contains(compare.driver.value("compare/missing"), "E:"));
  CHECK(contains(compare.driver.value("compare/map/lacks"), "E: gradient size"));
  for (const std::string& fault : fixture::text_faults(compare.ui)) FAIL_CHECK(fault);
  const std::string before = compare.driver.value("compare/end/E");
  std::ofstream(path, std::ios::app) << log_line(41, 90.0);
  compare.driver.frames(3);
  CHECK(compare.driver.value("compare/end/E") != before);
  CHECK_FALSE(contains(compare.driver.value("compare/missing"), "took the place"));
  std::string longer;
  for (int step = 1; step <= 60; ++step) longer += log_line(step, 4.0 - 0.001 * step);
  folder.write("port.jsonl", longer);
  compare.driver.frames(3);
  CHECK(contains(compare.driver.value("compare/missing"), "E: another run took the place of the one before"));
  CHECK(fixture::text_faults(compare.ui).empty());
  compare.click("compare/run/E/replace");
  compare.click("compare/run/E/replace/none");
  CHECK(compare.ui.registry().find("compare/run/E") == nullptr);
}

TEST_CASE(
    "compare screen: lines of a log that cannot be read are counted on the run's card and below the table") {
  const test::Folder folder;
  CompareDriver compare;
  compare.open(folder.write("torn.jsonl", a_log(40) + "{\"step\":41,\"loss\":[]}\ntorn\n"));
  CHECK(contains(compare.driver.value("compare/missing"),
                 "E: 2 of 42 lines of its log cannot be read and are left out; "
                 "line 41: loss is a list of 0"));
  bool badge = false;
  for (const ui::TextRecord& text : compare.ui.texts()) badge = badge || text.text == "2 lines unread";
  CHECK(badge);
  for (const std::string& fault : fixture::text_faults(compare.ui)) FAIL_CHECK(fault);
}

TEST_CASE("compare screen: a file that is none is one line with its name, and its card stays empty") {
  const test::Folder folder;
  const std::string path = folder.write("no.jsonl", "{\"step\": }\nnothing\n");
  CompareDriver compare;
  compare.open(path);
  const std::string fault = compare.driver.value("compare/fault/E");
  CHECK(contains(fault, "no.jsonl: line 1"));
  CHECK_FALSE(test::contains(fault, "\n"));
  CHECK(compare.ui.registry().find("compare/run/E") == nullptr);
  CHECK(contains(compare.driver.value("compare/run/B"), "baseline"));
}

TEST_CASE("compare screen: one run alone asks for another, and the list of a place asks for a file") {
  auto alone = std::make_shared<LabView>(*fixture::lab_view());
  alone->runs.resize(1);
  CompareDriver compare(alone);
  CHECK(contains(compare.driver.value("compare/none"), "Open a run"));
  for (const std::string& fault : fixture::text_faults(compare.ui)) FAIL_CHECK(fault);
  compare.click("compare/run/B/replace");
  compare.click("compare/run/B/replace/file");
  CHECK(compare.ui.popup_open("app/file"));
}

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

TEST_CASE("compare screen: five seeds are trained by the Lab") {
  CompareDriver compare;
  compare.click("compare/seeds");
  CHECK(compare.last<session::CheckSeeds>());
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

TEST_CASE("compare screen: every setting that differs is a click away, in the compact layout too") {
  CompareDriver compare;
  compare.click("compare/settings");
  CHECK(compare.ui.popup_open("compare/settings/all"));
  CompareDriver small(fixture::lab_view(), {1024, 600});
  small.click("compare/run/A/replace");
  small.click("compare/run/A/replace/settings");
  CHECK(small.ui.popup_open("compare/settings/all"));
  CHECK(fixture::text_faults(small.ui).empty());
}

TEST_CASE("comparing: what did not change is not computed again, and what is wrong is a line") {
  compare_screen::Comparing comparing({});
  int asked = 0;
  const auto none = [&] {
    ++asked;
    return std::vector<records::Recording>{};
  };
  const auto first = comparing.newest("data", "choice", {}, none);
  REQUIRE(first);
  CHECK(contains(first->error, "0 runs"));
  CHECK(comparing.newest("data", "choice", {}, none) == first);
  CHECK(asked == 1);
  CHECK(comparing.newest("data", "other", {}, none) != first);
  CHECK(asked == 2);
}

TEST_CASE("compare screen: a log takes no run's place and no run's letter; where there is no room it asks") {
  const test::Folder folder;
  CompareDriver compare(fixture::lab_view({.fork = true}));
  const auto log = [&](int i) { return folder.write(fmt::format("port-{}.jsonl", i), a_log(20 + i)); };
  for (int i = 0; i < 4; ++i) compare.open(log(i));
  CHECK(compare.screen().kept_choice().files[3].path.empty());  // D stands where it stood
  CHECK(contains(compare.driver.value("compare/run/D"), "Fork of A"));
  CHECK(contains(compare.driver.value("compare/run/E"), "port-0"));
  CHECK(contains(compare.driver.value("compare/run/H"), "port-3"));
  for (const std::string& fault : fixture::text_faults(compare.ui)) FAIL_CHECK(fault);
  compare.open(log(4));
  REQUIRE(compare.ui.popup_open("compare/where"));
  for (const std::string& fault : fixture::text_faults(compare.ui)) FAIL_CHECK(fault);
  compare.click("compare/where/none");
  CHECK_FALSE(compare.ui.popup_open("compare/where"));
  CHECK(compare.screen().kept_choice().files[4].path.ends_with("port-0.jsonl"));

  compare.open(log(5));
  compare.click("compare/where/2");
  CHECK(compare.screen().kept_choice().files[1].path.ends_with("port-5.jsonl"));
  CHECK(contains(compare.driver.value("compare/run/B"), "port-5"));
  // Escape asks no further.
  compare.open(log(6));
  REQUIRE(compare.ui.popup_open("compare/where"));
  compare.key("Escape");
  CHECK_FALSE(compare.ui.popup_open("compare/where"));
  for (const std::string& fault : fixture::text_faults(compare.ui)) FAIL_CHECK(fault);
}

TEST_CASE("compare screen: recorded runs stand alone from A on, more than four, and each can be taken out") {
  const test::Folder folder;
  for (const ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1366, 768}, ui::Vec{1024, 600}}) {
    INFO(size.x);
    CompareDriver compare(std::make_shared<LabView>(), size);
    for (int i = 0; i < 8; ++i) {
      compare.open(folder.write(fmt::format("port-{}.jsonl", i), a_log(20 + i)));
      for (const std::string& fault : fixture::text_faults(compare.ui)) FAIL_CHECK(fault);
    }
    for (int i = 0; i < 8; ++i)
      CHECK(contains(compare.driver.value(fmt::format("compare/run/{}", static_cast<char>('A' + i))),
                     fmt::format("port-{}", i)));
    CHECK(contains(compare.driver.value("compare/run/A"), "baseline"));
    compare.click("compare/run/C/remove");
    CHECK_FALSE(compare.ui.registry().find("compare/run/C"));
    CHECK(compare.ui.registry().find("compare/run/D"));
    compare.open(folder.write("next.jsonl", a_log(9)));  // a place is free again
    CHECK(contains(compare.driver.value("compare/run/C"), "next"));
  }
}

TEST_CASE("compare screen: a log's long name and its own settings are shown") {
  const test::Folder folder;
  const std::string head =
      "{\"format\":\"normscope log 2\",\"maker\":\"PyTorch 2.4\",\"name\":\"hyper-connections with two streams and "
      "a peri norm\",\"settings\":{\"streams\":\"2\",\"width\":\"64\"}}\n";
  CompareDriver compare;
  compare.open(folder.write("hc.jsonl", head + a_log(40)));
  CHECK(contains(compare.driver.value("compare/run/E"), "hyper-connections"));
  CHECK(compare.driver.value("compare/setting/E/own") == "streams 2, width 64");
  CHECK(compare.driver.value("compare/setting/A/own") == "–");
  CHECK(contains(compare.driver.value("compare/setting/E/data"), "not in its log"));
  bool drawn = false;
  for (const ui::TextRecord& text : compare.ui.texts()) drawn = drawn || text.text.starts_with("hyper-conn");
  CHECK(drawn);
  for (const std::string& fault : fixture::text_faults(compare.ui)) FAIL_CHECK(fault);
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
  const auto none = [] { return std::vector<records::Recording>{}; };
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

// A link carries how the Compare screen is set, without its files.

using namespace link;
using fixture::LiveDriver;

TEST_CASE("links of comparisons are read back as they were written") {
  for (const panels::MetricInfo& metric : panels::metrics())
    for (int i = 0; i < 6; ++i) {
      const compare_screen::KeptChoice choice{static_cast<char>('A' + i % 4), i % 3, i, metric.metric,
                                              1.5 * (1 + i)};
      LinkedView view;
      view.runs.push_back({'A', preset_run("pre"), {}});
      view.screen = Screen::Compare;
      view.settings = settings_of(choice);
      CHECK(compare_screen::choice_from(read_link(link_fragment(view)).settings) == choice);
    }
}

TEST_CASE("a comparison in a link names no file and stands on its own screen") {
  const std::pair<std::string, const char*> refused[] = {
      {"1&screen=lab&compare.baseline=A&end", "expected screen=compare"},
      {"1&screen=compare&compare.factor=nan&end", "from 1.01"},
      {"1&screen=compare&compare.baseline=E&end", "from A to D"},
      {"1&screen=compare&compare.file=0:0:E:/etc/passwd&end", "is unknown"},
      {"1&screen=compare&compare.align=3&end", "from 0 to 2"},
      {"1&screen=compare&compare.metric=beauty&end", "a quantity"},
      {"1&screen=compare&compare.align=1&compare.align=2&end", "twice"}};
  for (const auto& [text, why] : refused) {
    INFO(text);
    const std::string said = test::error_of([&] { read_link(text); }, "");
    CHECK(test::contains(said, why));
    CHECK_FALSE(test::contains(said, "\n"));
  }
}

TEST_CASE("Compare opens as it was set; files that it had open stay") {
  LiveDriver from, to;
  const auto screen = [](LiveDriver& lab) -> compare_screen::CompareScreen& {
    return fixture::made_screen<compare_screen::CompareScreen>(lab.state, Screen::Compare);
  };
  compare_screen::KeptChoice choice{'A', 1, 2, panels::Metric::TokenCosine, 8};
  screen(from).choose(choice);
  from.state.screens.shown = Screen::Compare;
  compare_screen::KeptChoice of_before;
  const test::Folder folder;
  of_before.files = {{folder.file("run.jsonl")}};
  screen(to).choose(of_before);
  of_before = screen(to).kept_choice();
  CHECK(shell::open_link(
      to.state, link_fragment(shell::linked_view(from.state.session, from.state.screens, from.state.look))));
  to.settle();
  CHECK(to.state.screens.shown == Screen::Compare);
  choice.files = of_before.files;
  CHECK(screen(to).kept_choice() == choice);
  CHECK(screen(to).kept_choice().files[0].path == folder.file("run.jsonl"));
}

// A log that is opened stands in Compare.

using fixture::made_screen;
using fixture::SmallWindow;

namespace {

constexpr const char* kLog =
    "{\"run\":\"A\",\"seed\":1,\"step\":1,\"loss\":4.1,\"lr\":0.003}\n"
    "{\"run\":\"A\",\"seed\":1,\"step\":2,\"loss\":4.0,\"lr\":0.003}\n";

}  // namespace

TEST_CASE("a training log is no text: dropped or named it stands in Compare, and the runs stay") {
  for (const bool dropped : {false, true}) {
    INFO((dropped ? "dropped" : "typed"));
    SmallWindow window;
    const std::string log = window.folder.write("log.jsonl", kLog);
    const std::string text = window.view().runs[0].spec->data.text_path;
    if (dropped) {
      window.drop(log);
      window.settle();
      window.settle();
    } else {
      window.prompt("Ctrl+O", log);
    }
    window.settle();
    CHECK_FALSE(window.asks());
    CHECK(window.state.screens.shown == Screen::Compare);
    CHECK(window.state.notice.empty());  // Compare shows it, or still asks where it shall stand
    CHECK(window.view().runs[0].spec->data.text_path == text);
    const auto files =
        made_screen<compare_screen::CompareScreen>(window.state, Screen::Compare).kept_choice().files;
    CHECK(std::any_of(files.begin(), files.end(), [&](const auto& file) { return file.path == log; }));
  }
}

// These tests use the Compare screen by hand: baseline, cursor, places, files that are opened and grow, what is
// exported, that a frame in which nothing changed computes nothing, and runs that train while they are compared.
#include <algorithm>

#include "addons/compare/app/figures.h"
#include "addons/compare/tests/app/compare_driver.h"
#include "addons/compare/tests/app/compared_runs.h"
#include "addons/recorded/training/log_reader.h"
#include "app/shell/screens.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"

using namespace normscope;
using namespace shell;
using namespace compare;
using fixture::a_log, fixture::CompareDriver, test::contains;

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

TEST_CASE(
    "compare screen: runs that begin after logs were opened stand beside them, under their own letters") {
  const test::Folder folder;
  const auto none = std::make_shared<LabView>();
  CompareDriver compare(none);
  compare.open(folder.write("one.jsonl", a_log(10)));
  compare.open(folder.write("two.jsonl", a_log(10, 4)));
  const auto paths = [&] {
    std::string text;
    for (const compare_screen::KeptFile& file : compare.screen().kept_choice().files)
      text += file.path.empty() ? "-" : file.path.ends_with("one.jsonl") ? "1" : "2";
    return text;
  };
  CHECK(paths() == "12------");
  compare.state.session.view = fixture::lab_view();
  compare.driver.frames(3);
  CHECK(paths() == "----12--");
  for (const char* run : {"A", "B", "C", "E", "F"}) {
    INFO(run);
    CHECK(compare.ui.registry().find(fmt::format("compare/run/{}", run)));
  }
  // A log that takes a run's place by hand stays there.
  compare.screen().choose({.files = {{folder.file("one.jsonl")}}});
  compare.driver.frames(3);
  CHECK(paths() == "1-------");
}

TEST_CASE("compare screen: a verdict stands on a card from its own step on") {
  CompareDriver compare(fixture::lab_view());
  const auto badge = [&](int step) {
    compare.state.screens.lab.transport().pinned_step = step;
    compare.driver.frames(3);
    return compare.page();
  };
  const std::string end = badge(214), early = badge(20);
  CHECK(contains(end, "stuck"));
  CHECK(contains(end, "since 46"));
  CHECK_FALSE(contains(early, "since 46"));
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
  std::shared_ptr<const compare_screen::ComparisonView> shown;
  const auto none = [] { return std::vector<records::Recording>{}; };
  for (int i = 0; i < 1000 && !shown; ++i) {
    shown = comparing.newest("data", "choice", {}, none);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  REQUIRE(shown);
  CHECK(rung >= 2);
  // A rest before the next one is cut short by the user, and by the end.
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
  for (const panels::Metric metric : panels::metrics())
    for (int i = 0; i < 6; ++i) {
      const compare_screen::KeptChoice choice{static_cast<char>('A' + i % 4), i % 3, i, metric,
                                              1.5 * (1 + i)};
      LinkedView view;
      view.runs.push_back({'A', preset_run("pre"), {}});
      view.screen = Screen::Compare;
      view.settings = settings_of(choice);
      CHECK(compare_screen::choice_from(read_link(link_fragment(view)).settings) == choice);
    }
}

TEST_CASE("Compare opens as it was set; files that it had open stay") {
  LiveDriver from, to;
  const auto screen = [](LiveDriver& lab) -> compare_screen::CompareScreen& {
    return fixture::made_screen<compare_screen::CompareScreen>(lab.state, Screen::Compare);
  };
  compare_screen::KeptChoice choice{'A', 1, 2, &kTokenCosine, 8};
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

namespace {

std::shared_ptr<LabView> with_reruns(int32_t seeds) {
  auto view = std::make_shared<LabView>(*fixture::lab_view());
  for (RunView& run : view->runs) {
    auto spread = std::make_shared<RunSpread>();
    spread->seeds = seeds;
    for (int32_t i = 1; i <= seeds; ++i) {
      auto losses = std::make_shared<std::vector<float>>();
      for (int32_t step = 1; step <= view->step; ++step)
        losses->push_back(static_cast<float>(fixture::loss_at(run.letter - 'A', step) + 0.01 * i));
      spread->each.push_back({run.spec->seed + static_cast<uint64_t>(i), losses});
    }
    run.spread = spread;
  }
  return view;
}

}  // namespace

TEST_CASE("live: a run of a session is compared under its own letter, with its reruns as further seeds") {
  const auto view = with_reruns(4);
  LiveRuns live;
  CHECK_FALSE(live.take(*view, 'D'));
  std::vector<Recording> runs;
  for (const char letter : {'A', 'C'}) runs.push_back(*live.take(*view, letter));
  CHECK(runs[1].letter == 'C');
  CHECK(runs[1].seeds.size() == 5);
  CHECK(runs[1].seeds.front().origin.seed == view->runs[2].spec->seed);
  const Comparison all = compare::compare(runs, {.baseline = 1});
  CHECK(all.letter(1) == 'C');
  CHECK(all.colour(1) == 2);
  REQUIRE(all.differences[0].against == Against::SameSeed);
  CHECK(all.differences[0].at_end.size() == 5);
  CHECK(all.differences[0].words() == "worse, 5 of 5");
  // Every seed lies 0.01 above the one before: their band is 0.04 wide around its mean.
  const Difference& own = all.differences[1];
  CHECK(own.band_high - own.band_low == Approx(0.04).margin(1e-4));
  // A history of losses alone is made once.
  CHECK(live.take(*view, 'A')->seeds[1].history == runs[0].seeds[1].history);
}

TEST_CASE(
    "live: an edited fork is compared by the wiring that trains, and not by the one that it began with") {
  auto view = std::make_shared<LabView>(*fixture::lab_view({.fork = true}));
  RunView& fork = view->runs[3];
  fork.origin = view->runs[0].spec;
  fork.edits = edits_between(*fork.origin, *fork.spec, 151);
  LiveRuns live;
  const Comparison all = compare::compare({*live.take(*view, 'A'), *live.take(*view, 'D')});
  const auto value = [&](const std::string& key) -> std::optional<std::string> {
    for (const Setting& setting : all.settings)
      if (setting.key == key) return setting.values[1];
    return {};
  };
  CHECK(value("model.placement") == "custom");
  CHECK(value("edits") == "12 norms moved at 150");
  CHECK(*all.runs[1].spec == *fork.spec);
}

TEST_CASE("live: a run has its own tokens a second, and none where there is no clock") {
  const auto view = with_reruns(1);
  view->runs[0].seconds_per_step = 0.25;
  LiveRuns live;
  const RunSpec& spec = *view->runs[0].spec;
  const double tokens = static_cast<double>(spec.train.batch) * spec.model.sequence;
  const auto speed_of = [&](bool clock) {
    const Comparison all = compare::compare({*live.take(*view, 'A', clock), *live.take(*view, 'B', clock)});
    const EndRow& row = all.rows[all.rows[0].run == 0 ? 0 : 1];
    return row.tokens_per_second;
  };
  CHECK(speed_of(true) == Approx(tokens / 0.25));
  CHECK(std::isnan(speed_of(false)));
}

TEST_CASE("live: reruns without gradients leave the map and the first place to the seed that has them") {
  const auto view = with_reruns(2);
  LiveRuns live;
  Recording other = compared::theirs("port", nullptr);
  other.seeds.front().history = view->runs[0].history;
  const Comparison all = compare::compare({*live.take(*view, 'B'), other});
  REQUIRE(all.places[1].against == Against::Seeds);
  CHECK(all.places[1].lacks.empty());
  CHECK(all.maps[1].lacks.empty());
  CHECK(all.places[1].parts);
}

TEST_CASE("live: the key changes with what was measured, and with nothing else") {
  auto view = std::make_shared<LabView>(*fixture::lab_view());
  auto history = compared::history(3);
  view->runs[0].history = history;
  const std::string before = live_key(*view, 'A');
  CHECK(live_key(*view, 'D').empty());
  view->version += 1;
  view->playing = !view->playing;
  CHECK(live_key(*view, 'A') == before);
  const std::vector<double> stats(history->layout().size(), 1.0);
  history->append(4, 3, 1e-3, stats);
  CHECK(live_key(*view, 'A') != before);
}

TEST_CASE(
    "loupe: the matrices of the layer where a run parts, around that step, and nothing of the baseline") {
  const auto change = [](const std::string& stat, int32_t step, double value) {
    return stat == "L02.attn.wk.grad_norm" && step >= 20 ? 10 * value : value;
  };
  const Comparison all = compare::compare({compared::ours("one", {compared::history(40)}),
                                           compared::ours("other", {compared::history(40, 1, change)})});
  CHECK(loupe_of(all, 0).layer == 0);
  const Loupe loupe = loupe_of(all, 1);
  REQUIRE(loupe.layer == 2);
  CHECK(loupe.matrices.size() == 3);
  REQUIRE(loupe.steps.size() == kLoupeSteps);
  CHECK(loupe.steps.front() == 19);
  const auto row = std::ranges::find(loupe.matrices, "W_K") - loupe.matrices.begin();
  CHECK(loupe.at(static_cast<size_t>(row), 0) == 1);
  CHECK(loupe.at(static_cast<size_t>(row), 1) == Approx(10).epsilon(1e-4));
}

TEST_CASE("loupe: numbers stand under their own steps where a history was thinned") {
  // Each norm has its extremes at steps of its own, and those are what a thinned history keeps of it.
  const auto made = [](double factor) {
    const auto change = [factor](const std::string& stat, int32_t step, double value) {
      const int32_t prime = stat.ends_with("wq.grad_norm") ? 7 : stat.ends_with("wk.grad_norm") ? 11 : 13;
      return value * (step % prime == 0 ? 3 : 1) * (1 + 1e-4 * step) * (step >= 300 ? factor : 1);
    };
    auto thinned = compared::history(400, 1, change);
    thinned->set_budget(size_t{20} << 10);
    return thinned;
  };
  const auto one = made(1), other = made(10);
  const Comparison all = compare::compare({compared::ours("one", {one}), compared::ours("other", {other})});
  const FirstPlace& place = all.places[1];
  REQUIRE(place.parts);
  const Loupe loupe = loupe_of(all, 1);
  CHECK(std::ranges::count(loupe.steps, place.step) == 1);
  size_t known = 0, unknown = 0;
  for (size_t m = 0; m < loupe.matrices.size(); ++m)
    for (size_t c = 0; c < loupe.steps.size(); ++c) {
      const double ratio = loupe.at(m, c);
      if (std::isfinite(ratio)) CHECK(ratio == Approx(loupe.steps[c] >= 300 ? 10 : 1).epsilon(1e-4));
      (std::isfinite(ratio) ? known : unknown) += 1;
    }
  CHECK(known > 0);
  CHECK(unknown > 0);  // else nothing was thinned, and this test says nothing
}

TEST_CASE("followed file: one look that fails takes nothing away, and the next one that succeeds clears it") {
  const test::Folder folder;
  const std::string text = "{\"step\":1,\"loss\":3.0}\n";
  const std::string path = folder.write("run.jsonl", text);
  records::FollowedFile file(path, {});
  REQUIRE(file.now()->file.runs.size() == 1);
  std::filesystem::remove(path);
  const uint64_t failed = file.now()->version;
  CHECK(failed == 2);
  CHECK(test::contains(file.now()->error, "run.jsonl"));
  CHECK(file.now()->file.runs.size() == 1);
  CHECK(file.now()->version == failed);  // said once
  folder.write("run.jsonl", text);
  CHECK(file.now()->error.empty());
  CHECK(file.now()->file.runs.size() == 1);
}

TEST_CASE("followed file: a log is read while it grows; what is no log says so in one line with its file") {
  const test::Folder folder;
  const std::string path = folder.write("run.jsonl", "{\"step\":1,\"loss\":3.0}\n");
  records::FollowedFile file(path, {});
  REQUIRE(file.now()->file.runs.size() == 1);
  const uint64_t version = file.now()->version;
  CHECK(version == 1);
  const auto history = file.now()->file.runs[0].seeds[0].history;
  std::ofstream(path, std::ios::app) << "{\"step\":2,\"loss\":2.9}\n";
  CHECK(file.now()->version == version + 1);
  CHECK(file.now()->file.runs[0].seeds[0].history->last_step() == 2);

  // A line that cannot be read takes nothing from the others; a file of such lines alone is not a log.
  std::ofstream(path, std::ios::app) << "not a line\n";
  CHECK(file.now()->file.broken == 1);
  CHECK(file.now()->error.empty());
  records::FollowedFile other(folder.write("other.jsonl", "not a line\n"), {});
  CHECK(test::contains(other.now()->error, "other.jsonl"));

  records::FollowedFile absent(folder.file("absent.jsonl"), {});
  CHECK(test::contains(absent.now()->error, "absent.jsonl"));
  CHECK_FALSE(test::contains(absent.now()->error, "\n"));
  CHECK(absent.now()->version == 1);
}

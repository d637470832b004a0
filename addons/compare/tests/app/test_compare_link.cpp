// A link carries how the Compare screen is set, without its files.
#include "addons/compare/app/screen/compare_screen.h"
#include "app/shell/parts/linked.h"
#include "app/support/live_lab.h"
#include "app/support/made_screen.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/support/helpers.h"

using namespace normscope;
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

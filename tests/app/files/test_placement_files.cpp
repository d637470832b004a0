// These tests cover placement files where people meet them: on the command line, in the window's lists, and saved from
// the diagram.
#include <regex>

#include "addons.h"
#include "app/files/small_window.h"
#include "app/grid/axis.h"
#include "app/shell/palette.h"
#include "app/support/program.h"
#include "app/window/window_memory.h"
#include "catch.hpp"
#include "training/files/placement_file.h"
#include "training/support/tiny.h"

namespace normscope::test::test_placement_files {
namespace {

using fixture::SmallWindow;

constexpr const char* kMine =
    "name = \"mine\"\nlabel = \"My own\"\nsublayer = \"before=ln after=ln\"\n[layers]\nL02.attn = \"stream=ln\"\n";

/// A folder of a user's placements for this program and for those that it starts.
struct OwnPlacements {
  ~OwnPlacements() { forget_added_placements(); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(folder.path / "own");
    folder.write("own/" + name, text);
  }
  Folder folder;
  Variable place{"NORMSCOPE_PLACEMENTS", folder.file("own")};
};

std::string placement_in(const SmallWindow& window, size_t run) {
  return get_field(*window.state.session.view->runs[run].spec, "model.placement");
}

}  // namespace

TEST_CASE("placement files: the command line takes one by name and keeps its wiring, not its name") {
  const OwnPlacements own;
  own.write("mine.toml", kMine);
  const Folder out;
  const std::string log = out.file("run.jsonl"), saved = out.file("run.safetensors");
  const Outcome trained =
      run_program("train --preset post" + tiny_options() + " --set model.placement=mine --steps 3 --log '" +
                  log + "' --save '" + saved + "'");
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.out, "My own"));
  CHECK(contains(read_all(log), "\"wiring.L02.attn\""));
  CHECK(run_program("train --preset mine" + tiny_options() + " --steps 1").code == 0);
  CHECK(
      run_program("train --preset post" + tiny_options() + " --steps 4 --edit 2:model.placement=mine").code ==
      0);
  CHECK(contains(run_program("train --help").out, "mine"));
  const Variable none("NORMSCOPE_PLACEMENTS");
  const Outcome resumed = run_program("train --resume '" + saved + "' --steps 5");
  CHECK(resumed.code == 0);
  const Outcome unknown = run_program("train --preset mine --steps 1");
  CHECK(unknown.code == 2);
}

TEST_CASE("placement files: runs side by side are called by the placement's name, where its file is") {
  if (!has_command("compare")) return;
  const OwnPlacements own;
  own.write("mine.toml", kMine);
  own.write("other.toml", "name = \"other\"\nlabel = \"Another\"\nsublayer = \"before=ln\"\n");
  const Folder out;
  const std::string mine = out.file("mine.jsonl"), other = out.file("other.jsonl");
  for (const auto& [preset, log] : {std::pair{"mine", mine}, {"other", other}})
    REQUIRE(run_program(fmt::format("train --preset {}{} --steps 3 --log '{}'", preset, tiny_options(), log))
                .code == 0);
  const std::string command = "compare '" + mine + "' '" + other + "'";
  const Outcome named = run_program(command);
  CHECK(named.code == 0);
  CHECK(std::regex_search(named.out, std::regex("placement +My own +≠ Another\n")));
  CHECK_FALSE(contains(named.out, "wiring."));
  const Variable none("NORMSCOPE_PLACEMENTS");
  CHECK(contains(run_program(command).out, "wiring."));
}

TEST_CASE("placement files: a configuration finds those beside it, and says which one is wrong") {
  const Folder folder;
  std::filesystem::create_directory(folder.path / "placements");
  folder.write("placements/mine.toml", kMine);
  const std::string config = folder.write(
      "runs.toml", kTiny + "[run.A]\nmodel.placement = \"mine\"\n[run.B]\nmodel.placement = \"pre\"\n");
  const Outcome trained = run_program("train --config '" + config + "' --steps 2");
  CHECK(trained.code == 0);
  CHECK(run_program("train --config '" + config + "' --steps 2 --set B:model.placement=mine").code == 0);
  folder.write("placements/other.toml", "name = \"other\"\nsublayer = \"sideways\"\n");
  const Outcome refused = run_program("train --config '" + config + "' --steps 2");
  CHECK(refused.code == 2);
  CHECK(is_one_error_line(refused));
  CHECK(contains(refused.err, "placements/other.toml:2: [sublayer] 'sideways'"));
}

TEST_CASE("placement files: a broken one of the user's own is a line, and the program goes on") {
  const OwnPlacements own;
  own.write("broken.toml", "name = \"broken\"\nsublayer = \"before=nl\"\n");
  own.write("mine.toml", kMine);
  const Outcome trained = run_program("train --preset mine" + tiny_options() + " --steps 1");
  CHECK(trained.code == 0);
  CHECK(is_one_error_line(trained));
  CHECK(contains(trained.err, "broken.toml:2: [sublayer] 'before=nl'"));
  shell::AppState state;
  window::WindowMemory(true).put(state);
  CHECK(contains(state.notice, "broken.toml:2: [sublayer]"));
  CHECK(added_placements().size() == 1);
}

TEST_CASE("placement files: the window's lists, the palette and a sweep offer one") {
  const OwnPlacements own;
  own.write("mine.toml", kMine);
  CHECK(load_placements(placements_folder()).empty());
  SmallWindow window;
  window.click("diagram/preset-more");
  REQUIRE(window.ui.registry().find("diagram/preset-more/My own"));
  window.click("diagram/preset-more/My own");
  REQUIRE(window.view().runs.size() == 3);
  CHECK(placement_in(window, 2) == "mine");
  const auto named = [&] {
    for (const shell::PaletteItem& item : shell::palette_items(window.ui, {}, {}, &window.view()))
      if (item.preset && is_added(*item.preset)) return item.title;
    return std::string();
  };
  CHECK(contains(named(), "My own"));
  const auto axis = grid::axis_from("model.placement=all", preset_run("post"));
  CHECK(axis.values.size() == std::size(kPresets) + 1);
  // The line that reproduces the runs does not name it: it is for other machines too.
  CHECK_FALSE(contains(write_config(session_of(window.view())), "\"mine\""));
}

TEST_CASE(
    "placement files: what stands in the diagram is saved under a name and stands in the list at once") {
  const OwnPlacements own;
  SmallWindow window;
  window.state.session.asked.emplace_back(session::EditField{0, "wiring.L02.attn", "before=ln after=ln"});
  window.settle();
  window.click("diagram/preset-more");
  window.driver.click("diagram/preset-more/save");
  window.driver.frames(4);
  REQUIRE(window.asks());
  CHECK(window.driver.value("app/file/path") == own.folder.file("own/my-placement.toml"));
  const StackWiring shown = diagram::shown_stack(window.state.screens.lab.diagram(), window.view())->stack;
  const auto type = [&](const std::string& path) {
    window.driver.key("Ctrl+A");
    window.type(path);
    window.key("Enter");
  };
  type(own.folder.file("own/post.toml"));  // a name of the program's
  REQUIRE(window.asks());
  CHECK(contains(window.says(), "'post' is taken"));
  CHECK_FALSE(std::filesystem::exists(own.folder.file("own/post.toml")));
  type(own.folder.file("own/dragged"));
  CHECK_FALSE(window.asks());
  const std::string text = read_all(own.folder.file("own/dragged.toml"));
  INFO(text);
  CHECK(preset_stack(parse_placement(text, "dragged.toml").row(), NormKind::LayerNorm, {true, 2, 0}) ==
        shown);
  REQUIRE(added_placements().size() == 1);
  CHECK(window.driver.value("diagram/preset-more") == "dragged");  // what stands there is that placement now
}

}  // namespace normscope::test::test_placement_files

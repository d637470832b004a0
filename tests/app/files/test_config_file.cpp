// These tests cover configuration files: what is written reads back equal, and every way a file can be wrong names
// file, line and key.
#include "app/grid/axis.h"
#include "app/window/window_memory.h"
#include "engine/support/helpers.h"
#include "folder.h"
#include "training/files/config_file.h"
#include "training/files/placement_file.h"
#include "training/files/places.h"
#include "training/io/toml.h"
#include "training/support/tiny.h"

using namespace normscope;
using namespace normscope::test;

namespace {

void check_equal(const std::vector<ConfigRun>& a, const std::vector<ConfigRun>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].letter == b[i].letter);
    CHECK(field_values(a[i].spec) == field_values(b[i].spec));
    CHECK(a[i].edits == b[i].edits);
  }
}

std::vector<ConfigRun> round_trip(const std::vector<ConfigRun>& runs) {
  const std::string text = write_config(runs);
  INFO(text);
  return parse_config(text, "written.toml");
}

TEST_CASE("an empty configuration is one run with the defaults") {
  const auto runs = parse_config("", "empty.toml");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].letter == 'A');
  CHECK(runs[0].spec == RunSpec());
}

TEST_CASE("a single run is read from its tables, whatever their order in the file") {
  const auto runs = parse_config(R"(
[wiring]
L02.attn = "before=ln"
[data]
name = "sort"
[model]
placement = "pre"
layers = 3
d_model = 32
sequence = 32
norm = "rms"
tied = false
[train]
lr = 1e-3
warmup = 10
beta2 = 0.999
[run]
name = "mine"
seed = 7
edits = [{ step = 40, key = "train.warmup", value = 50 }, { step = 20, key = "train.lr", value = 1e-4 }]
)",
                                 "lab.toml");
  REQUIRE(runs.size() == 1);
  const RunSpec& spec = runs[0].spec;
  CHECK(spec.name == "mine");
  CHECK(spec.seed == 7);
  CHECK(spec.model.layers == 3);
  CHECK(spec.model.decoder.layers.size() == 3);
  CHECK(spec.model.decoder.layers[0].attention.before == NormKind::Rms);
  CHECK(spec.model.decoder.layers[1].attention.before == NormKind::LayerNorm);
  CHECK(spec.model.decoder.final == NormKind::Rms);
  CHECK_FALSE(spec.model.tied_output);
  CHECK(spec.train.schedule.peak == 1e-3f);
  CHECK(spec.train.beta2 == 0.999f);
  CHECK(spec.data.name == "sort");
  CHECK(spec.data.context == 32);
  REQUIRE(runs[0].edits.size() == 2);
  CHECK(runs[0].edits[0] == Edit{20, "train.lr", "0.0001"});
  CHECK(runs[0].edits[1] == Edit{40, "train.warmup", "50"});
}

TEST_CASE("several runs share what stands outside their tables") {
  const auto runs = parse_config(R"(
[run]
seed = 3
[model]
layers = 2
[train]
warmup = 100
[run.A]
name = "first"
train.warmup = 0
[run.C]
model.placement = "pre"
)",
                                 "lab.toml");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].letter == 'A');
  CHECK(runs[0].spec.name == "first");
  CHECK(runs[0].spec.train.schedule.warmup == 0);
  CHECK(runs[1].letter == 'C');
  CHECK(runs[1].spec.train.schedule.warmup == 100);
  CHECK(runs[1].spec.seed == 3);
  CHECK(placement_of(runs[1].spec.model.stack(), context_of(runs[1].spec.model, true)) == Placement::Pre);
}

TEST_CASE("what is written reads back equal") {
  SECTION("one run, every preset") {
    for (const std::string& name : preset_names()) {
      INFO(name);
      const std::vector<ConfigRun> runs{{'A', preset_run(name), {}}};
      check_equal(runs, round_trip(runs));
    }
  }
  SECTION("several runs with edits, a custom wiring and a name that needs escaping") {
    std::vector<ConfigRun> runs;
    for (RunSpec& spec : default_comparison({}, 5))
      runs.push_back({static_cast<char>('A' + runs.size()), spec, {}});
    runs.push_back(
        {'D',
         runs[0].spec,
         {{214, "train.lr", "0.001"}, {230, "train.schedule", "linear"}, {240, "wiring.L01.ffn", "none"}}});
    runs[3].spec.name = "tab\t, \"quotes\", back\\slash, \xCE\xA9";
    set_field(runs[3].spec, "wiring.L03.attn", "before=ln");
    set_field(runs[3].spec, "train.milestones", "10,20");
    set_field(runs[1].spec, "train.lr", "1");
    set_field(runs[2].spec, "data.name", "copy");
    check_equal(runs, round_trip(runs));
  }
  SECTION("through a file") {
    const Folder folder;
    const std::vector<ConfigRun> runs{{'A', preset_run("admin"), {}}};
    save_config(folder.file("a.toml"), runs);
    check_equal(runs, read_config(folder.file("a.toml")));
  }
}

TEST_CASE("a text of any character reads back equal, and stands in the file as TOML allows it") {
  for (int c = 1; c < 0x80; ++c) {
    INFO(c);
    std::vector<ConfigRun> runs(1);
    runs[0].letter = 'A';
    runs[0].spec.name = std::string("a") + static_cast<char>(c) + "b";
    check_equal(runs, round_trip(runs));
    const std::string written = toml_string(runs[0].spec.name);
    const bool control = c < 0x20 || c == 0x7f;  // TOML 1.0: these are escaped
    CHECK((written.find(static_cast<char>(c)) == written.npos) == control);
  }
}

TEST_CASE("a text is looked for beside its configuration") {
  const std::string text = "[data]\ntext = \"mine.txt\"\n";
  CHECK(parse_config(text, "lab.toml", "/books")[0].spec.data.text_path == "/books/mine.txt");
  CHECK(parse_config(text, "lab.toml")[0].spec.data.text_path == "mine.txt");
  CHECK(parse_config(text, "lab.toml")[0].spec.data.name == "text");
  CHECK(parse_config("[data]\ntext = \"/a/b.txt\"\n", "lab.toml", "/books")[0].spec.data.text_path ==
        "/a/b.txt");
}

TEST_CASE("a configuration from Windows: lines end with CR LF, and a path has a drive and backslashes") {
  const std::string text = "[model]\nplacement = \"pre\"\n[data]\ntext = 'C:\\Texts of Zo\u00eb\\new.txt'\n";
  std::string windows;
  for (const char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  check_equal(parse_config(windows, "lab.toml"), parse_config(text, "lab.toml"));
  const auto runs = parse_config(windows, "lab.toml");
  CHECK(runs[0].spec.data.text_path == "C:\\Texts of Zo\u00eb\\new.txt");
  check_equal(round_trip(runs), runs);
  CHECK(last_separator("C:\\texts\\a.txt", "/\\") == 8);
  CHECK(last_separator("C:/texts/a.txt") == 8);
  CHECK(last_separator("a.txt") == std::string::npos);
}

TEST_CASE("a configuration that cannot be read says so") {
  CHECK_THROWS_WITH(read_config("/nonexistent/lab.toml"),
                    "/nonexistent/lab.toml: no such file: check the path");
  CHECK_THROWS_WITH(
      read_config(std::filesystem::temp_directory_path().string()),
      Catch::Matchers::EndsWith("is a folder, not a regular file: expected a configuration in TOML"));
}

TEST_CASE("edits as text") {
  CHECK(parse_edit("214:lr=1e-3") == Edit{214, "train.lr", "1e-3"});
  CHECK(parse_edit("10:train.warmup=50") == Edit{10, "train.warmup", "50"});
  for (const char* bad : {"", "214", "214:lr", "x:lr=1", "-1:lr=1", "lr=1", "214=lr:1"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_edit(bad), Error);
  }
  CHECK_THROWS_WITH(parse_edit("3:data.seed=2"), Catch::Contains("no run goes on with other data"));
  CHECK_THROWS_WITH(check_edit(RunSpec(), {3, "data.name", "mood"}),
                    Catch::Contains("no run goes on with other data"));
  CHECK_THROWS_AS(check_edit(RunSpec(), {3, "train.rat", "1"}), Error);
  CHECK_THROWS_AS(check_edit(RunSpec(), {3, "train.lr", "much"}), Error);
  CHECK_NOTHROW(check_edit(RunSpec(), {3, "wiring.L03.attn", "before=ln"}));
}

// Placement files of the user's own. In the window: stories/files.txt; on the command line: answers/command-line.txt.

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

}  // namespace

TEST_CASE("placement files: a broken one of the user's own is a notice of the window") {
  const OwnPlacements own;
  own.write("broken.toml", "name = \"broken\"\nsublayer = \"before=nl\"\n");
  own.write("mine.toml", kMine);
  shell::AppState state;
  window::WindowMemory(true).put(state);
  CHECK(contains(state.notice, "broken.toml:2: [sublayer]"));
  CHECK(added_placements().size() == 1);
}

TEST_CASE("placement files: a sweep of all placements has one, and the saved runs do not name it") {
  const OwnPlacements own;
  own.write("mine.toml", kMine);
  CHECK(load_placements(placements_folder()).empty());
  CHECK(grid::axis_from("model.placement=all", preset_run("post")).values.size() == std::size(kPresets) + 1);
  const std::vector<ConfigRun> runs{{'A', test::with_fields({}, {{"model.placement", "mine"}}), {}}};
  CHECK_FALSE(contains(write_config(runs), "\"mine\""));  // it is for other machines too
}

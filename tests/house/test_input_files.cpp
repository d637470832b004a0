// These tests bring the app's files to the gate: each field of measured.json, progress, settings and session below and
// above its range, of a wrong type and missing; lessons and configurations nested beyond measure; one way in for all.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "app/course/check.h"
#include "app/course/figures.h"
#include "app/course/prose.h"
#include "app/course/reader.h"
#include "app/lesson-player/progress.h"
#include "app/shell/app_state.h"
#include "app/shell/session_window.h"
#include "app/shell/settings.h"
#include "app/tex/tex.h"
#include "engine/support/helpers.h"
#include "refusals/refusals.h"
#include "training/experiments/run_numbers.h"
#include "training/files/config_file.h"
#include "training/io/input_kinds.h"
#include "training/io/toml.h"

// The .cpp and .h files of a floor with their texts, for tests that look for words in all of them.

namespace normscope::test {

/// Maps "app/ui/paint.cpp" to the file's text.
inline std::map<std::string, std::string> sources(const std::string& floor) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(NORMSCOPE_SOURCE_DIR) / floor)) {
    const std::string name = entry.path().lexically_relative(NORMSCOPE_SOURCE_DIR).generic_string();
    if (name.ends_with(".cpp") || name.ends_with(".h")) found[name] = read_all(entry.path());
  }
  return found;
}

}  // namespace normscope::test

using namespace normscope;
using namespace shell;
using test::contains, test::error_of;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string repeated(std::string_view part, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += part;
  return text;
}

/// The processor's, not the clock's: the machine may be busy.
double seconds(const auto& act) {
  const std::clock_t begin = std::clock();
  act();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

const std::string kLessons = NORMSCOPE_SOURCE_DIR "/lessons";

TEST_CASE("files: every field of measured.json", "[gate]") {
  const course::Lesson lesson = course::read_lesson(kLessons + "/06-dependency");
  const Json good = Json::parse(test::read_all(kLessons + "/06-dependency/measured.json"));
  REQUIRE(course::parse_results(good.dump(), "m", lesson));
  for (const std::vector<std::string>& row : test::refusals("fields-of-measured")) {
    Json json = good;
    json[Json::json_pointer(row[0])] = Json::parse(row[1]);
    CHECK(error_of([&] { course::parse_results(json.dump(), "measured.json", lesson); }) ==
          fmt::format("[measured.json] {}", row[2]));
  }
  for (const char* key : {"seeds", "level", "measures", "curves"}) {
    Json json = good;
    json.erase(key);
    CHECK(error_of([&] { course::parse_results(json.dump(), "m", lesson); }) ==
          fmt::format("[m] {} is missing", key));
  }
  CHECK(error_of([&] { course::parse_results("[]", "m", lesson); }) ==
        "[m] the whole is a list of 0: expected an object with definition");
  CHECK(contains(error_of([&] { course::parse_results("{\"a", "m", lesson); }), "[m] is damaged"));
  Json wide = good;
  wide["maps"]["B end"][11] = std::vector<double>(100'000, 1);
  CHECK(contains(error_of([&] { course::parse_results(wide.dump(), "m", lesson); }),
                 "maps.B end[11] is a list of 100000: expected a list of 1 to 13"));
  // Whatever a map holds, its picture stays inside its cells.
  course::Results results = *course::parse_results(good.dump(), "m", lesson);
  for (auto& [name, map] : results.maps) map.back().resize(100'000, 1);
  course::FigureData data;
  data.reference = &results;
  for (const course::Figure& figure : lesson.figures)
    CHECK_NOTHROW(course::figure_plot(lesson, figure, data));
}

TEST_CASE("files: every field of the progress, which never prevents a start", "[gate]") {
  const std::string lesson =
      R"({"lessons": {"a": {"step": 2, "committed": true, "skipped": false, "done": false, "drawn": [1, 2.5],
          "order": ["x", "y"], "value": 3, "said": "s", "measured": "m", "score": "r"}}})";
  const auto read = lesson_player::parse_progress(lesson, "p");
  CHECK(read.at("a").step == 2);
  CHECK(read.at("a").drawn == std::vector<double>{1, 2.5});
  CHECK(lesson_player::parse_progress(R"({"lessons": {"b": {}}})", "p").at("b") ==
        lesson_player::LessonProgress{});
  for (const std::vector<std::string>& row : test::refusals("fields-of-progress")) {
    Json json = Json::parse(lesson);
    json["lessons"]["a"][row[0]] = Json::parse(row[1]);
    CHECK(error_of([&] { lesson_player::parse_progress(json.dump(), "p"); }) ==
          fmt::format("[p] lessons.a.{}{}{}", row[0], row[2][0] == '[' ? "" : " ", row[2]));
  }
  for (const char* text : {"", "[]", "{}", "{\"lessons\": 7}", "\xff"})
    CHECK_THROWS_AS(lesson_player::parse_progress(text, "p"), Error);

  const test::Folder folder;
  for (const char* kept : {"lessons.json.bad", "lessons.json.bad-2"}) {
    const std::string path = folder.write("lessons.json", "[]");
    lesson_player::Progress progress(path);
    CHECK(progress.notice() ==
          fmt::format("[{}] the whole is a list of 0: expected an object with lessons; kept as {}, and the "
                      "course begins anew",
                      path, folder.file(kept)));
    progress.of("a").step = 1;
    progress.save();
    CHECK(fs::exists(path));
    CHECK(test::read_all(folder.file(kept)) == "[]");
  }
}

TEST_CASE("files: every field of the settings, which never prevent a start", "[gate]") {
  for (const std::vector<std::string>& row : test::refusals("fields-of-settings")) {
    const bool height = contains(row[0], "height");
    Message complaint;
    const Settings read = parse_settings((height ? "\n" : "\nheight = 900\n") + row[0], "s.toml", complaint);
    CHECK(complaint == fmt::format("s.toml:{}: {}", height ? 2 : 3, row[1]));
    CHECK(read.height == (height ? 1000 : 900));  // what is right holds
    CHECK(read.scale == 1);
  }
  Message complaint;
  parse_settings("splits = [0, 0]\n", "s.toml", complaint);
  CHECK(contains(complaint, "s.toml:1: splits is another kind of value: expected a list of"));

  const test::Folder folder;
  const std::string path = folder.file("settings.toml");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const ReadSettings pipe = read_settings(path);
  CHECK(pipe.settings == Settings{});
  CHECK(pipe.notice ==
        fmt::format("{0}: is a pipe, not a regular file: expected settings in TOML; kept as {0}.bad, "
                    "the default holds",
                    path));
  folder.write("settings.toml", repeated("# long\n", 200'000));
  CHECK(contains(read_settings(path).notice,
                 "is too large (1.4 MB): expected at most 1 MB; kept as " + path + ".bad-2"));
}

TEST_CASE("files: the window's rows of a session", "[gate]") {
  AppState state;
  const auto bookmarks = [&](const std::string& text) {
    show_window(state.screens, state.session, state.parts, text);
    return state.screens.lab.transport().bookmarks;
  };
  CHECK(bookmarks(R"({"bookmarks": [20, 10], "selected": "B"})") == std::vector<int>{10, 20});
  CHECK(state.screens.lab.diagram().selected == 'B');
  for (const char* wrong : {R"({"bookmarks": [-1]})", R"({"bookmarks": [2147483647]})", R"({"bookmarks": 7})",
                            R"({"bookmarks": [], "selected": "z"})", "[]", ""})
    CHECK(bookmarks(wrong).empty());
  CHECK(state.screens.lab.diagram().selected == 'A');
}

TEST_CASE("files: the record of a run", "[gate]") {
  experiments::RunNumbers record;
  record.steps = 300;
  const Json good = to_json(record);
  const auto says = [](const Json& json) {
    return error_of([&] { experiments::numbers_from(InputValue::parse(json.dump(), "r")); });
  };
  CHECK(says(good) == "no error");
  for (const std::vector<std::string>& row : test::refusals("fields-of-numbers")) {
    Json json = good;
    json[row[0]] = Json::parse(row[1]);
    CHECK(says(json) == fmt::format("[r] {}", row[2]));
  }
}

TEST_CASE("files: formulas are limited in depth and length, not by the stack", "[gate]") {
  const auto says = [](const std::string& tex) { return error_of([&] { tex::parse(tex); }); };
  CHECK(says(repeated("\\hat ", 20) + "x") == "no error");
  CHECK(says(repeated("{", 20) + "x" + repeated("}", 20)) == "no error");
  for (const char* part : {"\\hat ", "{", "\\frac", "\\sqrt", "\\left(", "a_{", "\\sqrt[", "^{"}) {
    const std::string message = says(repeated(part, 1000) + "x");
    CHECK(contains(message, "nested too deeply: expected at most 64 levels"));
    CHECK(message.size() < 400);
  }
  CHECK(
      contains(says(repeated("\\hat ", 60'000) + "x"), "300001 bytes: expected a formula of at most 10000"));
}

TEST_CASE("files: prose is read in time that grows with its length", "[gate]") {
  const auto time = [](const std::string& text) {
    return seconds([&] { course::parse_prose(text, "p.md"); });
  };
  const std::string line = "word *and* $x$ more\n";
  time(repeated(line, 1000));
  const double once = time(repeated(line, 10'000)), more = time(repeated(line, 80'000));
  CHECK(more < 24 * once + 0.05);  // eight times the text; quadratic time would be 64
  CHECK(course::parse_prose("a\n\nb {A}\n", "p").blocks.size() == 2);
  CHECK(error_of([] { course::parse_prose("a\n\nb {nothing}\n", "p.md"); }).starts_with("p.md:3: "));
}

TEST_CASE("files: TOML is limited in depth before it is parsed", "[gate]") {
  const auto says = [](const std::string& text) { return error_of([&] { parse_toml(text, "t"); }); };
  CHECK(says("a" + repeated(".a", 16) + " = 1\n") == "no error");
  CHECK(says("a" + repeated(".a", 17) + " = 1\n") == "t:1: a key of more than 16 parts: expected fewer");
  CHECK(says("x = 1\n[a" + repeated(".a", 200'000) + "]\n") ==
        "t:2: a key of more than 16 parts: expected fewer");
  CHECK(contains(says("a = " + repeated("[", 300'000)), "more than 20000 tables and lists"));
  CHECK(contains(says("a = " + repeated("[", 1000)), "not valid TOML"));
  // Dots in texts and comments are none of a key's.
  const std::string dots(100, '.');
  CHECK(says("a = \"" + dots + "\\\"" + dots + "\" # " + dots + "\nb = '" + dots + "'\nc = \"\"\"\n" + dots +
             "\n" + dots + "\"\"\"\nd = '''" + dots + "'''\n") == "no error");
  CHECK(says("a = \"\"\"\n\n\"\"\"\nb" + repeated(".b", 17) + " = 1\n") ==
        "t:4: a key of more than 16 parts: expected fewer");
  CHECK(says(repeated("x", 100'000) + "\n").size() < 400);
  CHECK(error_of([&] {
          parse_config("[run]\nname = [\"" + std::string(100'000, 'x') + "\"]\n", "c");
        }).size() < 600);
}

TEST_CASE("files: a course survives what lies beside its lessons", "[gate]") {
  const test::Folder folder;
  const fs::path path = folder.file("lessons");
  fs::copy(kLessons, path, fs::copy_options::recursive);
  const size_t count = course::read_course(kLessons).lessons.size();
  fs::create_symlink("09-circle", path / "09-circle");
  fs::create_symlink("nowhere", path / "10-nowhere");
  REQUIRE(::mkfifo((path / "11-pipe").c_str(), 0600) == 0);
  course::Course course = course::read_course(path.string());
  CHECK(course.lessons.size() == count);
  REQUIRE_FALSE(course.broken.empty());
  CHECK(course.broken[0].error == (path / "09-circle").string() + ": Too many levels of symbolic links");
  for (const char* file : {"lesson.toml", "predict.md"}) {
    const fs::path one = path / "02-warm-up" / file;
    fs::rename(one, path / "kept");
    for (const char* device : {"/dev/zero", "../11-pipe"}) {
      fs::create_symlink(device, one);
      course = course::read_course(path.string());
      CHECK(course.lessons.size() + 1 == count);
      CHECK(contains(course.broken.at(course.broken.size() - 1).error, "not a regular file"));
      fs::remove(one);
    }
    fs::rename(path / "kept", one);
  }
  CHECK(course::read_course(folder.file("none")).broken.size() == 1);
}

TEST_CASE("files: a configuration of 256 layers comes back equal, and soon", "[gate]") {
  std::vector<ConfigRun> runs;
  for (const char letter : {'A', 'B'}) {
    ConfigRun run;
    run.letter = letter;
    set_field(run.spec, "model.architecture", "encoder-decoder");
    set_field(run.spec, "data.name", "translation");
    set_field(run.spec, "model.layers", "256");
    set_field(run.spec, "wiring.dec.L200.attn", letter == 'A' ? "before=ln" : "before=rms");
    runs.push_back(run);
  }
  const double time = seconds([&] {
    const auto again = parse_config(write_config(runs), "c.toml");
    REQUIRE(again.size() == 2);
    CHECK(again[0].spec == runs[0].spec);
    CHECK(again[1].spec == runs[1].spec);
  });
  CHECK(time < 1.5);  // some tenths of a second; searching for each key it took several
}

TEST_CASE("files: the limits that are stated are those that hold", "[gate]") {
  const std::string page = test::read_all(NORMSCOPE_SOURCE_DIR "/docs/files.md");
  const auto limit = [](uint64_t bytes) {
    return bytes % 1'000'000'000 == 0 ? fmt::format("{} GB", bytes / 1'000'000'000)
                                      : fmt::format("{} MB", bytes / 1'000'000);
  };
  const std::pair<const char*, InputKind> rows[] = {{"text to learn", input::kText},
                                                    {"pairs, labels, sentences", input::kTable},
                                                    {"configuration", input::kConfig},
                                                    {"placement", input::kPlacement},
                                                    {"`session.toml`", input::kSession},
                                                    {"`lesson.toml`", input::kLesson},
                                                    {"a lesson's Markdown", input::kProse},
                                                    {"`measured.json`", input::kMeasured},
                                                    {"`lessons.json`", input::kProgress},
                                                    {"`settings.toml`", input::kSettings},
                                                    {"settings of the desktop", input::kDesktop},
                                                    {"script", input::kScript},
                                                    {"stored result", input::kResult},
                                                    {"page for the claim table", input::kPage}};
  for (const auto& [what, kind] : rows) {
    INFO(what);
    const size_t row = page.find(fmt::format("\n| {}", what));
    REQUIRE(row != page.npos);
    const std::string line = page.substr(row + 1, page.find('\n', row + 1) - row - 1);
    CHECK(contains(line, fmt::format("| {} |", limit(kind.limit))));
  }
}

TEST_CASE("files: nothing but the gate opens a file to read", "[gate]") {
  // What the system provides under /proc and /sys is not a file that somebody gives.
  const std::vector<std::string> own = {"engine/io/input_file.cpp", "engine/core/machine.cpp",
                                        "engine/cpu/isa.cpp", "addons/bench/app/scaling.cpp",
                                        // the lock of a temporary file of its own, nothing of its content
                                        "engine/io/output_file.cpp"};
  const auto opens = [](std::string_view line) {
    for (const char* word : {"ifstream", "std::fstream", "std::filebuf", "O_RDONLY"})
      if (contains(line, word)) return true;
    return contains(line, "fopen(") && contains(line, ", \"r");
  };
  size_t files = 0;
  for (const char* room : {"engine", "training", "app", "addons", "platforms"})
    for (const auto& [name, text] : test::sources(room)) {
      if (contains(name, "/tests/")) continue;  // of an add-on, no part of the program
      ++files;
      if (std::ranges::find(own, name) != own.end()) continue;
      std::istringstream lines(text);
      int number = 0;
      for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.starts_with("#include") || line.find("/dev/null") != line.npos ||
            line.find("O_DIRECTORY") != line.npos)  // of a folder, to make a rename last
          continue;
        if (opens(line)) FAIL_CHECK(name << ":" << number << ": " << line);
      }
    }
  CHECK(files > 200);
}

// What a source may not have, as words that are looked for in all of them.

using namespace normscope::test;

/// Lists the sources of a floor that have the word.
std::vector<std::string> sources_with(const std::string& floor, const std::string& word) {
  const auto all = sources(floor);
  CHECK(all.size() > 50);
  std::vector<std::string> found;
  for (const auto& [name, text] : all)
    if (contains(text, word)) found.push_back(name);
  return found;
}

}  // namespace

TEST_CASE("sources: a screen asks for the clipboard, and the shell alone writes to it") {
  const std::vector<std::string> writers = sources_with("app", "ImGui::SetClipboardText");
  CHECK_FALSE(writers.empty());
  for (const std::string& name : writers) {
    INFO(name);
    CHECK(name.starts_with("app/shell/"));
  }
}

TEST_CASE("sources: nothing lives as long as its thread") {
  // With GCC for Windows the memory of a thread's own objects is freed before they are destroyed.
  for (const char* floor : {"engine", "training", "app"}) CHECK(sources_with(floor, "thread_local").empty());
}

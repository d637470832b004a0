// These tests open files as versions before the one codec (training/spec/codec.h) wrote them: they open and mean the
// same, and what they hold comes back from the files of today.
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/course/check/check.h"
#include "app/course/check/limits.h"
#include "app/course/reader.h"
#include "app/lessons/progress.h"
#include "app/shell/app_state.h"
#include "app/shell/session_sidecar.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "test_paths.h"
#include "training/experiments/record.h"
#include "training/session/lab_session.h"
#include "training/spec/codec.h"

using namespace normscope;
using namespace shell;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

const std::string kKept = NORMSCOPE_SOURCE_DIR "/tests/fixtures/kept/";

/// `window_of` is what a window has of a session, in words.
Json window_of(const std::string& sidecar) {
  AppState state;
  apply_sidecar(state.screens, state.session, sidecar);
  return {{"bookmarks", state.screens.lab.transport().bookmarks},
          {"selected", std::string(1, state.screens.lab.diagram().selected)},
          {"undo", state.session.undo.to_json()},
          {"screen", static_cast<int>(state.screens.shown)}};
}

}  // namespace

TEST_CASE("kept: a session of before opens with its stashed fork, bookmarks and undo") {
  const std::string text = test::read_all(kKept + "session.json");
  const SavedSession before = parse_session(text, "session.json");
  CHECK(before.runs.size() == 3);
  REQUIRE(before.stash.size() == 1);
  CHECK(before.stash[0].letter == 'D');
  CHECK(before.stash[0].place == "redo");
  CHECK(before.stash[0].fork_step == 30);
  CHECK(before.portion == 60);
  const Json window = window_of(before.sidecar);
  CHECK(window["bookmarks"] == Json::parse("[24, 30]"));
  CHECK(window["undo"]["done"].size() == 1);
  CHECK(window["undo"]["undone"].size() == 1);
  CHECK(window["undo"]["specs"].size() == 3);

  const Json old = Json::parse(text);
  Json now = old;  // as it is written today, by hand
  now.erase("companion");
  now["sidecar"] = Json::parse(old["companion"].get<std::string>());
  now["sidecar"]["undo"] = Json::parse(now["sidecar"]["undo"].get<std::string>());
  now["stash"] = now["aside"];
  now.erase("aside");
  const SavedSession same = parse_session(now.dump(), "session.json");
  CHECK(same.runs == before.runs);
  CHECK(same.stash == before.stash);
  CHECK(window_of(same.sidecar) == window);
}

TEST_CASE("kept: what a session keeps today has no text in a text") {
  const test::Folder folder;
  AppState state;
  const SavedSession before = parse_session(test::read_all(kKept + "session.json"), "session.json");
  apply_sidecar(state.screens, state.session, before.sidecar);
  SessionImage image;
  image.step = 42;
  image.budget = image.portion = 60;
  image.sidecar = sidecar_text(state.screens.lab, state.session.undo);
  auto& run = image.entries.emplace_back();
  run.file = "A.safetensors";
  run.hold = 7;
  auto& none = image.entries.emplace_back();
  none.place = "undo";
  none.empty = true;
  SessionWriter(folder.file("session")).write(image);

  const std::string text = test::read_all(folder.file("session/session.json"));
  const Json json = Json::parse(text);
  CHECK(json["sidecar"]["bookmarks"] == Json::parse("[24, 30]"));
  CHECK(json["sidecar"]["undo"]["done"][0]["redo"][0][0] == "edit");
  CHECK(json["stash"] == Json::parse(R"([{"place": "undo", "empty": true}])"));
  CHECK_FALSE(json["runs"][0].contains("score"));
  const SavedSession again = parse_session(text, "session.json");
  CHECK(again.runs.at(0).hold == 7);
  CHECK(again.portion == 60);
  CHECK(window_of(again.sidecar) == window_of(before.sidecar));
}

TEST_CASE("kept: the progress of before, with numbers that were not finite") {
  const test::Folder folder;
  const std::string text = test::read_all(kKept + "lessons.json");
  const auto before = lessons::parse_progress(text, "lessons.json");
  CHECK(before.at("warm-up").done);
  CHECK(before.at("warm-up").words.size() == 3);
  const lessons::LessonProgress& first = before.at("first-steps");
  CHECK(first.drawn == std::vector<double>{1.5, 0});
  CHECK(first.tries == std::vector<course::Try>{{"model.placement=none", kNever}, {"train.lr=0.01", 2.25}});

  lessons::Progress progress(folder.write("lessons.json", text));
  progress.save();
  const std::string now = test::read_all(folder.file("lessons.json"));
  CHECK(lessons::parse_progress(now, "lessons.json") == before);
  CHECK(Json::parse(now)["lessons"]["first-steps"] ==
        Json::parse(R"({"drawn": [1.5, 0.0], "tries": [{"set": "model.placement=none", "loss": "inf"},
                                                       {"set": "train.lr=0.01", "loss": 2.25}]})"));
}

TEST_CASE("kept: what the window of an earlier version left in the home is found by this one") {
  size_t homes = 0;
  for (const auto& left : fs::directory_iterator(NORMSCOPE_SOURCE_DIR "/tests/fixtures/homes")) {
    INFO(left.path().string());
    ++homes;
    const test::Folder home;
    fs::copy(left.path(), home.path, fs::copy_options::recursive | fs::copy_options::overwrite_existing);

    const ReadSettings settings = read_settings(home.file("config/normscope/settings.toml"));
    CHECK(settings.existed);
    CHECK(settings.notice.empty());
    CHECK(settings.settings.scale == 1.1);

    const std::string progress = home.file("data/normscope/lessons.json");
    const auto learned = lessons::parse_progress(test::read_all(progress), "lessons.json");
    CHECK(learned.at("five-minutes").committed);
    CHECK(std::abs(learned.at("five-minutes").value - 0.9) < 1e-9);
    lessons::Progress again(progress);
    CHECK(again.notice().empty());
    again.save();
    CHECK(lessons::parse_progress(test::read_all(progress), "lessons.json") == learned);

    const std::vector<EndedSession> sessions = ended_sessions(home.file("state/normscope"));
    REQUIRE(sessions.size() == 1);
    CHECK(sessions[0].crashed);
    fixture::LiveDriver lab;
    lab.ask(session::RestoreSession{sessions[0].path, false});
    CHECK(lab.view().message.empty());
    CHECK(lab.view().step == 80);
    REQUIRE(lab.view().runs.size() == 1);
    CHECK(lab.view().runs[0].history->loss().values.size() == 80);
    lab.train(5);
    CHECK(lab.view().step == 85);
  }
  CHECK(homes > 0);
}

TEST_CASE("kept: measures, limits and records of before, with numbers that were not finite") {
  const course::Lesson lesson = course::read_lesson(NORMSCOPE_SOURCE_DIR "/lessons/06-dependency");
  Json measured = Json::parse(test::read_all(lesson.folder + "/measured.json"));
  measured["level"] = "never";
  measured["curves"]["sum_pre"]["mean"][0] = nullptr;
  const auto results = course::parse_results(measured.dump(), "measured.json", lesson);
  REQUIRE(results);
  CHECK(results->level == kNever);
  CHECK(std::isnan(results->curves.at("sum_pre").mean[0]));

  const test::Folder folder;
  const auto lines = course::read_limits(folder.write(
      "limits.jsonl",
      R"({"definition":"d","lesson":"l","numbers":"n","seed":2,"setting":"s","values":{"a":"never","b":null,"c":1}})"
      "\n{\"definition\": \"cut o\n"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].seed == 2);
  CHECK(lines[0].values.at("a") == kNever);
  CHECK(std::isnan(lines[0].values.at("b")));
  CHECK(lines[0].values.at("c") == 1);

  experiments::Record record;
  record.loss = kNever;
  record.curve = {kNever, 1};
  const Json json = to_json(record);
  CHECK(json["loss"] == "inf");
  const experiments::Table table{experiments::run_columns(), {experiments::run_row(1, record)}};
  CHECK(to_json(table)[0]["loss"].is_null());
  CHECK(experiments::record_from(InputValue::parse(json.dump(), "r")).curve == record.curve);
  Json old = json;
  old["curve"][0] = nullptr;
  CHECK(std::isnan(experiments::record_from(InputValue::parse(old.dump(), "r")).curve[0]));
}

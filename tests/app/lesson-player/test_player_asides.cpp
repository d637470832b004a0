// These tests use what is beside the four steps, by mouse and by keyboard: sentences to complete, the review of all
// predictions, the challenge and the session that it leaves.
#include "app/support/exercise_lesson.h"
#include "app/support/player_driver.h"
#include "app/support/text_faults.h"
#include "app/view/glossary.h"
#include "training/files/config_file.h"
#include "training/support/lab_runs.h"

namespace normscope::test_player_asides {
namespace {

using namespace course;
using namespace normscope::lessons;
using fixture::PlayerDriver;
using fixture::RecordedMeasurer;

/// The small lesson for a course; its run ends below the line with Pre-LN, and nowhere else.
struct TaskDriver : PlayerDriver {
  explicit TaskDriver(const std::string& progress = "", ui::Vec size = {1600, 1000})
      : PlayerDriver("", size) {
    Course course;
    course.lessons.push_back(fixture::parsed_exercise());
    state.screens.lessons.player = std::make_shared<Player>(
        std::move(course),
        std::make_unique<RecordedMeasurer>(
            &started,
            [](const Lesson&, MeasureState& measured) {
              const auto it = measured.changes.find("A");
              const bool pre = it != measured.changes.end() && it->second.contains("model.placement") &&
                               it->second.at("model.placement") == "pre";
              measured.curves["loss_A"] = {{1, 2, 3, 4}, {4, 3, 3, pre ? 1.25 : 2.75}};
            }),
        progress);
    driver.frames(3);
  }
  void to_challenge(bool keyboard) {
    open("task", StepKind::Compare);
    press("lesson/next", keyboard);
    driver.frames(2);
    REQUIRE(player().page() == PageKind::Challenge);
  }
  void choose(const std::string& field, const std::string& label, int down, bool keyboard) {
    const std::string name = "lesson/challenge/" + field;
    if (keyboard) {
      focus(name);
      for (int i = 0; i < down; ++i) driver.key("Down");
    } else {
      click(name);
      driver.click(name + "/" + label);
    }
    driver.frames(2);
    REQUIRE(driver.value(name) == label);
  }
  const LessonProgress& kept() { return player().progress("task"); }
};

/// The name of the button of a word.
std::string button_of(const Say& say, size_t sentence, const std::string& word) {
  const std::vector<std::string> words = offered(say);
  const auto at = std::ranges::find(words, word) - words.begin();
  return fmt::format("lesson/say/{}/{}", sentence + 1, at + 1);
}

void check_no_overlap(PlayerDriver& p, const std::string& where) {
  INFO(where);
  CHECK(fixture::overlaps(p.ui) == std::vector<std::string>{});
  CHECK(p.ui.registry().duplicates().empty());
  for (const ui::Control& c : p.ui.registry().all()) {
    INFO(where << ": " << c.name);
    CHECK_FALSE(c.help.empty());
  }
}

}  // namespace

TEST_CASE("sentences are completed, wrong words say why, by mouse and by keyboard", "[player]") {
  for (const bool keyboard : {false, true}) {
    PlayerDriver p;
    for (const Lesson& lesson : p.player().course().lessons) {
      if (lesson.says.empty()) continue;
      INFO(lesson.id << (keyboard ? ", keyboard" : ", mouse"));
      p.open(lesson.id, StepKind::Explain);
      p.press("lesson/next", keyboard);
      p.driver.frames(2);
      REQUIRE(p.player().page() == PageKind::Say);
      CHECK(p.shows("What you should now be able to say"));
      for (size_t i = 0; i < lesson.says.size(); ++i) {
        const Say& say = lesson.says[i];
        for (const Say::Wrong& wrong : say.others) {
          p.press(button_of(say, i, wrong.word), keyboard);
          p.driver.frames(2);
          CHECK(p.driver.value(fmt::format("lesson/say/{}", i + 1)) == "No. " + wrong.why);
          CHECK(p.player().progress(lesson.id).words[i] == wrong.word);
        }
        p.press(button_of(say, i, say.word), keyboard);
        p.driver.frames(2);
        CHECK(p.driver.value(fmt::format("lesson/say/{}", i + 1)) == "Right.");
        CHECK(p.shows("All three are right.") == (i + 1 == lesson.says.size()));
      }
      CHECK_FALSE(p.player().progress(lesson.id).done);
      p.press("lesson/next", keyboard);
      // A drawing cannot be made by opening a later step: it counts as skipped.
      CHECK(p.player().progress(lesson.id).done == (lesson.prediction.kind != Prediction::Kind::Draw));
    }
  }
}

TEST_CASE("what was said is there again after a start, and words of another version are not", "[player]") {
  const test::Folder folder;
  const std::string path = folder.file("lessons.json");
  {
    TaskDriver p(path);
    p.open("task", StepKind::Explain);
    p.driver.click("lesson/next");
    p.driver.click("lesson/say/1/2");
    p.driver.click("lesson/say/3/1");
  }
  TaskDriver p(path);
  CHECK(p.kept().words == std::vector<std::string>{"blue", "", "dry"});
  p.player().progress("task").words[2] = "a word that was offered once";
  p.open("task", StepKind::Explain);
  p.click("lesson/step/say");
  CHECK(p.driver.value("lesson/say/1") == "Right.");
  CHECK(p.driver.value("lesson/say/2").empty());
  CHECK(p.driver.value("lesson/say/3").empty());
}

TEST_CASE("the review lets a lesson be skipped, and Tab brings its last row into sight", "[player]") {
  PlayerDriver p("", {1024, 600});
  p.open("warm-up", StepKind::Predict);
  p.click("lesson/skip");
  p.click("lesson/course");
  p.click("lesson/review");
  REQUIRE(p.player().page() == PageKind::Review);
  CHECK(p.driver.value("lesson/review/row/warm-up").starts_with("skipped | "));
  const std::string last = "lesson/review/" + p.player().course().lessons.back().id;
  CHECK(p.driver.control(last).rect.bottom() > 600);
  p.focus(last);
  p.driver.frames(3);
  CHECK(p.driver.control(last).rect.bottom() < 600 - 56);
  CHECK(p.driver.control(last).rect.y > 48);
}

TEST_CASE("a challenge is won by the run that ends below its line, by mouse and by keyboard", "[player]") {
  for (const bool keyboard : {false, true}) {
    INFO((keyboard ? "keyboard" : "mouse"));
    const test::Folder folder;
    TaskDriver p(folder.file("lessons.json"));
    p.to_challenge(keyboard);
    CHECK(p.shows("Below 2"));
    CHECK(p.shows("after 4 steps"));
    CHECK_FALSE(p.driver.control("lesson/challenge/train").enabled);  // nothing was changed yet
    CHECK(p.driver.value("lesson/challenge/score") == "0");
    const auto train = [&] {
      p.press("lesson/challenge/train", keyboard);
      p.driver.frames(3);
    };
    // A wrong way costs a training, and is no way.
    p.choose("train.warmup", "2", 1, keyboard);
    train();
    CHECK(p.says("Your run ends at 2.75: not below the line."));
    CHECK(p.kept().tries == std::vector<Try>{{"train.warmup=2", 2.75}});
    CHECK_FALSE(p.ui.registry().find("lesson/challenge/lab"));
    p.press("lesson/challenge/hint", keyboard);
    p.driver.frames(2);
    CHECK(p.says("Hint 1: First."));
    CHECK_FALSE(p.shows("Second."));
    CHECK(p.driver.value("lesson/challenge/score") == "0");
    // A right one.
    p.choose("model.placement", "Pre-LN", 1, keyboard);
    train();
    CHECK(p.says("Your run ends at 1.25: below the line."));
    REQUIRE(p.kept().tries.size() == 2);
    CHECK(p.kept().tries[1] == Try{"model.placement=pre train.warmup=2", 1.25});
    CHECK(p.driver.value("lesson/challenge/score") == std::to_string(40 - 2 * 5 - 5));
    train();  // the same once more costs nothing and brings nothing
    CHECK(p.kept().tries.size() == 2);
    // The run is kept, with the start beside it.
    const std::vector<ConfigRun> runs = read_config(folder.file("lessons/task.toml"));
    REQUIRE(runs.size() == 2);
    CHECK(get_field(runs[0].spec, "model.placement") == "post");
    CHECK(get_field(runs[1].spec, "model.placement") == "pre");
    CHECK(get_field(runs[1].spec, "train.warmup") == "2");
    CHECK(runs[1].spec.train.steps == 4);
    CHECK(runs[1].letter == 'B');
    // On: the end of the lesson is open to all, won or not.
    p.press("lesson/next", keyboard);
    p.driver.frames(2);
    CHECK(p.player().step() == StepKind::Explain);
    CHECK(p.player().page() == PageKind::Explain);
  }
}

TEST_CASE("tries and hints of a challenge are there again after a start; in safe mode nothing is written",
          "[player]") {
  const test::Folder folder;
  for (const bool safe : {false, true}) {
    const std::string path = safe ? "" : folder.file("lessons.json");
    {
      TaskDriver p(path);
      p.to_challenge(false);
      p.driver.click("lesson/challenge/hint");
      p.choose("model.placement", "Pre-LN", 1, false);
      p.click("lesson/challenge/train");
      CHECK(p.shows("Kept as ") == !safe);
      CHECK(p.driver.value("lesson/challenge/score") == "30");
    }
    TaskDriver p(path);
    CHECK(p.kept().tries.size() == (safe ? 0 : 1));
    CHECK(p.kept().hints == (safe ? 0 : 1));
  }
  TaskDriver p;
  p.to_challenge(false);
  CHECK(p.driver.value("lesson/challenge/score") == "0");
}

TEST_CASE("terms of the challenge show their entries: in its text, on its choices and for what is chosen",
          "[player]") {
  PlayerDriver p;
  p.open("eighteen-layers", StepKind::Compare);
  p.click("lesson/next");
  REQUIRE(p.player().page() == PageKind::Challenge);
  for (const char* id : {"placement", "init", "norm", "warm-up", "learning-rate", "stream"}) {
    INFO(id);
    CHECK(p.ui.registry().find(std::string("term/") + id));
  }
  const auto entry = [&](const char* id) {
    p.driver.frames(3);
    CHECK(p.driver.value("app/glossary/entry") == normscope::view::find_term(id)->text);
    p.key("Escape");
  };
  p.driver.click("term/init");
  entry("init");
  p.focus("lesson/challenge/model.placement");
  p.driver.key("F1");
  entry("placement");
  // What stands there, and after a choice what was chosen.
  const auto explains = [&](const char* field, const char* id) {
    const std::string help = p.driver.control(std::string("lesson/challenge/") + field).help;
    return help.find(normscope::view::find_term(id)->text) != std::string::npos;
  };
  CHECK(explains("model.placement", "post-ln"));
  CHECK(explains("model.norm", "norm"));
  p.focus("lesson/challenge/model.placement");
  for (const char* id : {"pre-ln", "sandwich", "deepnorm", "admin", "rezero", "no-norm"}) {
    INFO(id);
    p.key("Down");
    CHECK(explains("model.placement", id));
  }
  p.focus("lesson/challenge/model.norm");
  for (const char* id : {"rmsnorm", "detachnorm"}) {
    INFO(id);
    p.key("Down");
    CHECK(explains("model.norm", id));
  }
  check_no_overlap(p, "challenge");
}

TEST_CASE("one button of the challenge is yellow: training while there is something new to train",
          "[player]") {
  using Names = std::vector<std::string>;
  TaskDriver p;
  const Names buttons{"lesson/challenge/train", "lesson/challenge/hint", "lesson/challenge/lab", "lesson/lab",
                      "lesson/next"};
  p.to_challenge(false);
  CHECK(p.yellow(buttons) == Names{"lesson/next"});
  p.choose("model.placement", "Pre-LN", 1, false);
  CHECK(p.yellow(buttons) == Names{"lesson/challenge/train"});
  p.driver.click("lesson/challenge/train");
  CHECK(p.yellow(buttons) == Names{"lesson/next"});
  p.choose("train.warmup", "2", 1, false);
  CHECK(p.yellow(buttons) == Names{"lesson/challenge/train"});
}

TEST_CASE("the ways of a challenge that were found open in the Lab, beside the start", "[player]") {
  TaskDriver p;
  Lab lab({.threads = 1, .live_text = false});
  p.state.session.lab = &lab;
  p.to_challenge(false);
  p.choose("model.placement", "Pre-LN", 1, false);
  p.click("lesson/challenge/train");
  p.driver.click("lesson/challenge/lab");
  test::view_after(lab, session::Pause{});
  const auto view = lab.view();
  CHECK(view->message == "");
  REQUIRE(view->runs.size() == 2);
  CHECK(get_field(*view->runs[0].origin, "model.placement") == "post");
  CHECK(get_field(*view->runs[1].origin, "model.placement") == "pre");
  CHECK(p.state.screens.shown == Screen::Lab);
  p.state.session.lab = nullptr;
}

TEST_CASE("what stands beside the steps fits every window, and no text overlaps another", "[player]") {
  for (const ui::Vec size : {ui::Vec{1600, 1000}, {1440, 900}, {1024, 600}}) {
    TaskDriver task("", size);
    task.to_challenge(false);
    const std::string window = fmt::format("{:.0f}", size.x);
    check_no_overlap(task, "challenge " + window);
    PlayerDriver p("", size);
    for (const Lesson& lesson : p.player().course().lessons) {
      if (lesson.says.empty()) continue;
      p.open(lesson.id, StepKind::Explain);
      p.click("lesson/next");
      check_no_overlap(p, lesson.id + " " + window);
      if (!lesson.challenge) continue;
      p.click("lesson/step/challenge");
      check_no_overlap(p, lesson.id + " challenge " + window);
    }
    if (p.ui.registry().find("lesson/course")) p.click("lesson/course");
    p.click("lesson/review");
    check_no_overlap(p, "review " + window);
  }
}

}  // namespace normscope::test_player_asides

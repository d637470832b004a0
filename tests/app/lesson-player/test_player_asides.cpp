// These tests use what is beside the four steps, by mouse and by keyboard: the case at the end, the review of all
// predictions, the challenge and the session that it leaves.
#include <algorithm>

#include "app/course/tables.h"
#include "app/headless/raster.h"
#include "app/support/task_driver.h"
#include "app/support/text_faults.h"
#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "training/files/config_file.h"
#include "training/support/lab_runs.h"

namespace normscope::test_player_asides {
namespace {

using namespace course;
using namespace normscope::lesson_player;
using fixture::PlayerDriver, fixture::RecordedMeasurer, fixture::TaskDriver;

void check_no_overlap(PlayerDriver& p, const std::string& where) {
  INFO(where);
  CHECK(fixture::overlaps(p.ui) == std::vector<std::string>{});
  CHECK(p.ui.registry().duplicates().empty());
  for (const ui::Control& c : p.ui.registry().all()) {
    INFO(where << ": " << c.name);
    CHECK_FALSE(c.help.empty());
  }
}

/// What lies below a small window comes into sight with the focus.
void check_brought(PlayerDriver& p, const std::string& name) {
  CHECK(p.driver.control(name).rect.bottom() > 600);
  p.focus(name);
  p.driver.frames(3);
  CHECK(p.driver.control(name).rect.bottom() < 600 - 56);
  CHECK(p.driver.control(name).rect.y > 48);
}

TEST_CASE(
    "a case is decided and trained, and every answer is told what is behind it, by mouse and by keyboard",
    "[player]") {
  for (const bool keyboard : {false, true}) {
    for (const Lesson& lesson : fixture::shipped_course().lessons) {
      if (!lesson.closing) continue;
      const Case& closing = *lesson.closing;
      for (size_t answer = 0; answer < closing.kept.size(); ++answer) {
        INFO(lesson.id << (keyboard ? ", keyboard: " : ", mouse: ") << closing.kept[answer]);
        PlayerDriver p;
        p.open(lesson.id, StepKind::Explain);
        p.press("lesson/next", keyboard);
        p.driver.frames(2);
        REQUIRE(p.player().page() == PageKind::Case);
        CHECK_FALSE(p.driver.control("lesson/case/train").enabled);
        CHECK_FALSE(p.driver.control("lesson/next").enabled);
        p.decide(answer, keyboard);
        CHECK(p.driver.value("lesson/case") ==
              (answer == 0 ? "Right. " : "No. ") + reason_of(closing, answer));
        CHECK(p.says("The author's sentence"));
        CHECK_FALSE(p.says("it came out otherwise"));
        CHECK(p.player().progress(lesson.id).answer == closing.kept[answer]);
        CHECK_FALSE(p.player().progress(lesson.id).done);
        p.press("lesson/next", keyboard);
        // A drawing cannot be made by opening a later step: it counts as skipped.
        CHECK(p.player().progress(lesson.id).done == (lesson.prediction.kind != Prediction::Kind::Draw));
      }
    }
  }
}

/// Has come as far with a case as the test says.
class HandMeasurer : public Measurer {
 public:
  explicit HandMeasurer(std::shared_ptr<MeasureState>& state) : state_(state) {}
  void start(const Lesson& lesson, const Changes&) override {
    ++starts;
    state_ = std::make_shared<MeasureState>();
    state_->lesson = lesson.id;
    state_->running = true;
    state_->doing = "rising, step 2 of 4";
    state_->growing = {"rate"};
    state_->curves["rate"] = {{1, 2}, {0.005, 0.01}};
  }
  void stop() override {
    state_->running = false;
    state_->stopped = true;
  }
  std::shared_ptr<const MeasureState> state() const override { return state_; }

  int starts = 0;

 private:
  std::shared_ptr<MeasureState>& state_;
};

TEST_CASE("a case trains before the learner's eyes, its answer is locked, and her sentence is kept",
          "[player]") {
  auto training = std::make_shared<MeasureState>();
  TaskDriver p;
  auto measurer = std::make_unique<HandMeasurer>(training);
  HandMeasurer& hand = *measurer;
  Course course;
  course.lessons.push_back(fixture::parsed_exercise());
  p.state.screens.lessons.player = std::make_shared<Player>(
      std::move(course), std::make_unique<RecordedMeasurer>(&p.started), "lessons.json", std::move(measurer));
  p.open("task", StepKind::Explain);
  p.click("lesson/next");
  CHECK(p.says("Choose an answer, and it is trained before your eyes."));
  p.click(p.answer_button(2));
  CHECK(p.says("It is trained at once, before your eyes; your answer stays."));
  p.click(p.answer_button(1));  // the last click counts until it is trained
  CHECK(p.player().progress("task").answer.empty());
  p.click("lesson/case/sentence");
  p.driver.type("because it begins so");
  p.click("lesson/case/train");
  CHECK(hand.starts == 1);
  CHECK(p.says("Training: rising, step 2 of 4"));
  CHECK_FALSE(p.says("your answer stays"));
  CHECK(p.shows("The case is being trained"));
  CHECK_FALSE(p.driver.control("lesson/next").enabled);
  CHECK_FALSE(p.ui.registry().find("lesson/case"));  // no verdict yet
  CHECK_FALSE(p.says("The author's sentence"));
  const LessonProgress kept = p.player().progress("task");
  CHECK(kept.answer == "As in the first step");
  CHECK(kept.sentence == "because it begins so");
  p.click(p.answer_button(0));
  CHECK(p.player().progress("task").answer == "As in the first step");

  const auto found = [&](std::vector<double> rate) {
    training = std::make_shared<MeasureState>(*training);
    training->running = false;
    training->done = true;
    training->curves["rate"] = {{1, 2, 3, 4}, std::move(rate)};
    p.driver.frames(3);
  };
  found({0.005, 0.01, 0.01, 0.01});
  CHECK(p.says("Measured, rate of the last step: 0.01."));
  CHECK(p.driver.value("lesson/case") == "No. There it is half as large.");
  CHECK(p.says("Behind its warm-up the rate stays where it is."));
  CHECK(p.says("because the warm-up is over"));
  CHECK(p.driver.control("lesson/next").enabled);
  CHECK_FALSE(p.says("it came out otherwise"));
  found({0.005, 0.005, 0.005, 0.005});  // as if this start were another
  CHECK(p.says("With the random starts of this course it came out otherwise: The full rate"));

  // Left while it trains, it is trained again when the page is opened.
  hand.stop();
  p.driver.frames(2);
  CHECK(hand.starts == 2);
}

TEST_CASE("the review lets a lesson be skipped, and Tab brings its last row into sight", "[player]") {
  PlayerDriver p("", {1024, 600});
  p.open("warm-up", StepKind::Predict);
  p.click("lesson/skip");
  p.click("lesson/course");
  p.click("lesson/review");
  REQUIRE(p.player().page() == PageKind::Review);
  CHECK(p.driver.value("lesson/review/row/warm-up").starts_with("skipped | "));
  check_brought(p, "lesson/review/" + p.player().course().lessons.back().id);
}

TEST_CASE("what stands beside the steps fits every window, and no text overlaps another", "[player]") {
  for (const ui::Vec size : {ui::Vec{1600, 1000}, {1440, 900}, {1024, 600}}) {
    TaskDriver task(size);
    task.to_challenge();
    const std::string window = fmt::format("{:.0f}", size.x);
    check_no_overlap(task, "challenge " + window);
    PlayerDriver p("", size);
    for (const Lesson& lesson : p.player().course().lessons) {
      if (!lesson.closing) continue;
      p.open(lesson.id, StepKind::Explain);
      p.click("lesson/next");
      check_no_overlap(p, lesson.id + " " + window);
      p.decide(1, true);  // the keyboard brings into sight what a small window hides
      check_no_overlap(p, lesson.id + " trained, " + window);
      if (!lesson.challenge) continue;
      p.click("lesson/step/challenge");
      check_no_overlap(p, lesson.id + " challenge " + window);
    }
    if (p.ui.registry().find("lesson/course")) p.click("lesson/course");
    p.click("lesson/review");
    check_no_overlap(p, "review " + window);
  }
}

// The last page of the course, and how far a claim reaches at the end of a lesson: numbers of five seeds, rings that
// open lessons, a fold.

namespace fs = std::filesystem;
using lesson_player::PageKind;

const std::string kCourse = std::string(NORMSCOPE_SOURCE_DIR) + "/lessons";

TEST_CASE("the last page in a small window: Tab brings a ring into sight") {
  PlayerDriver p("", {1024, 600});
  p.click("lesson/course");
  p.driver.click("lesson/why");
  p.driver.frames(30);
  std::vector<std::string> rings;
  for (const ui::Control& control : p.ui.registry().all())
    if (control.name.starts_with("lesson/ring/")) rings.push_back(control.name);
  check_brought(p, rings.back());
}

TEST_CASE("every lesson is behind a sentence of the last page, or has no part in the story") {
  const Course course = read_course(kCourse, "");
  REQUIRE(course.why);
  std::set<std::string> named;
  for (const Block& block : course.why->blocks)
    for (const Inline& piece : block.inlines)
      if (piece.kind == Inline::Kind::Lesson) named.insert(piece.text);
  // How a network computes, what a norm does to one row, and what inside a norm matters are told by themselves.
  for (const Lesson& lesson : course.lessons) {
    const bool apart =
        lesson.id == "five-minutes" || lesson.id == "norm-gradient" || lesson.id == "inside-layernorm";
    INFO(lesson.id);
    CHECK(named.contains(lesson.id) != apart);
  }
}

TEST_CASE("the last page has the same numbers and rings in every language") {
  const auto marks = [](const Course& course) {
    std::multiset<std::string> all;
    for (const Block& block : course.why->blocks)
      for (const Inline& piece : block.inlines)
        if (piece.kind != Inline::Kind::Text) all.insert(piece.text);
    return all;
  };
  const Course english = read_course(kCourse, ""), german = read_course(kCourse, "de");
  REQUIRE((english.why && german.why));
  CHECK(english.why->file != german.why->file);
  CHECK(marks(english) == marks(german));
}

TEST_CASE("a last page that names what the course has not is left out, and said by line") {
  const fs::path folder = "last_page_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::copy(kCourse + "/08-norm-gradient", folder / "08-norm-gradient", fs::copy_options::recursive);
  for (const auto& [text, wrong] :
       {std::pair<std::string, std::string>{"One.\n\n{band norm-gradient.nothing}\n",
                                            "so-why.md:3: 'norm-gradient.nothing'"},
        {"{band exponent}\n", "so-why.md:1: 'exponent'"},
        {"{value norm-gradient.exponent}\n", "so-why.md:1: 'norm-gradient.exponent'"}}) {
    std::ofstream(folder / "so-why.md") << text;
    const Course course = read_course(folder.string(), "");
    CHECK(course.lessons.size() == 1);
    CHECK_FALSE(course.why);
    REQUIRE(course.broken.size() == 1);
    INFO(course.broken[0].error);
    CHECK(test::contains(course.broken[0].error, wrong));
  }
  std::ofstream(folder / "so-why.md") << "{lesson norm-gradient} {band norm-gradient.exponent}\n";
  CHECK(read_course(folder.string(), "").why);
  // What is about a lesson that the folder lacks is left out, in the window and on the page of the report.
  std::ofstream(folder / "so-why.md")
      << "One.\n\nTwo {lesson nowhere}.\n\nThree {band warm-up.shortest}.\n\nFour {lesson norm-gradient}.\n";
  const Course fewer = read_course(folder.string(), "");
  CHECK(fewer.broken.empty());
  REQUIRE(fewer.why);
  CHECK(fewer.why->blocks.size() == 2);
  REQUIRE(why_pages(fewer).size() == 1);
  CHECK(why_pages(fewer)[0].second.find("One.") == 0);
  CHECK_FALSE(test::contains(why_pages(fewer)[0].second, "Two"));
  CHECK(test::contains(why_pages(fewer)[0].second, "Four [(8)](norm-gradient.html)"));
  fs::remove(folder / "so-why.md");
  const Course without = read_course(folder.string(), "");
  CHECK((without.broken.empty() && !without.why));
  fs::remove_all(folder);
}

// These tests play the capstone by mouse and by keyboard: a slow start does not bring eighteen layers below the line,
// each of the four measured ways does; score, hints and the session that is left.

/// Gives a stack the result of a measured way, or of the slow start, where it has the same settings; any
/// other stays where the start does.
void as_measured(const Lesson& lesson, MeasureState& state) {
  if (!lesson.challenge) return;
  const Challenge& task = *lesson.challenge;
  const RunSpec mine = spec_of(lesson, task.run, 1, state.changes);
  std::vector<Challenge::Way> known = task.ways;
  known.push_back({"B", "end_B"});
  for (const Challenge::Way& way : known) {
    const RunSpec& there = lesson.run(way.run)->spec;
    const auto same = [&](const Challenge::Choice& choice) {
      return get_field(mine, choice.field) == get_field(there, choice.field);
    };
    if (std::ranges::all_of(task.choices, same))
      state.curves[lesson.measure(task.measure)->curve] = state.curves.at(lesson.measure(way.measure)->curve);
  }
}

void choose(PlayerDriver& p, const Challenge::Choice& choice, const std::string& value, bool keyboard) {
  const std::string name = "lesson/challenge/" + choice.field, now = p.driver.value(name);
  long from = -1, to = -1;
  for (size_t i = 0; i < choice.values.size(); ++i) {
    if (choice.values[i].text == now) from = static_cast<long>(i);
    if (choice.values[i].value == value) to = static_cast<long>(i);
  }
  REQUIRE((from >= 0 && to >= 0));
  if (from == to) return;
  const std::string& wanted = choice.values[static_cast<size_t>(to)].text;
  if (keyboard) {
    p.focus(name);
    for (long i = 0; i < std::abs(to - from); ++i) p.driver.key(to > from ? "Down" : "Up");
  } else {
    p.click(name);
    p.driver.click(name + "/" + wanted);
  }
  p.driver.frames(2);
  REQUIRE(p.driver.value(name) == wanted);
}

TEST_CASE("the capstone is not won by a slow start, and is won in each of its ways", "[player]") {
  for (const bool keyboard : {false, true}) {
    INFO((keyboard ? "keyboard" : "mouse"));
    const test::Folder folder;
    PlayerDriver p(folder.file("lessons.json"), {1600, 1000}, 1, as_measured);
    p.open("eighteen-layers", StepKind::Compare);
    p.press("lesson/next", keyboard);
    p.driver.frames(2);
    REQUIRE(p.player().page() == PageKind::Challenge);
    const Lesson& lesson = *p.player().lesson();
    const Challenge& task = *lesson.challenge;
    const auto train_as = [&](const RunSpec& spec) {
      for (const Challenge::Choice& choice : task.choices)
        choose(p, choice, get_field(spec, choice.field), keyboard);
      p.press("lesson/challenge/train", keyboard);
      p.driver.frames(3);
    };
    const auto& tries = p.player().progress("eighteen-layers").tries;

    train_as(lesson.run("B")->spec);
    CHECK(p.says(": not below the line."));
    CHECK(ways_found(task, tries).empty());
    for (size_t i = 0; i < task.ways.size(); ++i) {
      INFO(task.ways[i].run);
      train_as(lesson.run(task.ways[i].run)->spec);
      CHECK(p.says(": below the line."));
      CHECK(ways_found(task, tries).size() == i + 1);
    }
    const int ways = static_cast<int>(task.ways.size());
    int points = ways * task.points - (ways + 1) * task.per_run;
    CHECK(p.driver.value("lesson/challenge/score") == std::to_string(points));

    for (size_t i = 0; i < task.hints.size(); ++i) {
      p.press("lesson/challenge/hint", true);
      p.driver.frames(2);
      points -= task.hints[i].costs;
      CHECK(p.player().progress("eighteen-layers").hints == static_cast<int>(i + 1));
      CHECK(p.driver.value("lesson/challenge/score") == std::to_string(points));
    }
    CHECK(points > 0);

    const std::vector<ConfigRun> runs = read_config(folder.file("lessons/eighteen-layers.toml"));
    REQUIRE(runs.size() == 4);  // the start, and the best three
    CHECK(get_field(runs[0].spec, "model.placement") == "post");
    for (const ConfigRun& run : runs) {
      CHECK(run.spec.model.layers == 18);
      CHECK(run.spec.train.steps == task.budget);
    }
  }
}

// The picture that a lesson opens with: which runs and places it names, that it is where the text leaves room and
// nowhere else, and that it is painted from the runs' own numbers.

using namespace lesson_player;

const std::string kFolder = NORMSCOPE_SOURCE_DIR "/lessons";

/// Counts the pixels of a control that have this colour.
int pixels_of(PlayerDriver& p, const std::string& name, ui::Colour colour) {
  const headless::Image image =
      headless::rasterise(*p.loop.draw_data(), ui::theme(p.state.look.dark).bg.packed());
  const ui::Rect r = p.driver.control(name).rect;
  int count = 0;
  for (int y = static_cast<int>(r.y); y < static_cast<int>(r.bottom()); ++y)
    for (int x = static_cast<int>(r.x); x < static_cast<int>(r.right()); ++x)
      count += image.at(x, y) == colour.packed();
  return count;
}

}  // namespace

TEST_CASE("every lesson that has runs opens with a picture of its own", "[lesson]") {
  for (const Lesson& lesson : read_course(kFolder).lessons) {
    INFO(lesson.id);
    CHECK(lesson.opening.empty() == lesson.runs.empty());
    for (const OpeningRun& one : lesson.opening)
      CHECK(opening_place(lesson.run(one.run)->spec.model, one.slot));
  }
}

TEST_CASE("the picture stands below the text, whole, or not at all", "[player]") {
  using Window = std::pair<ui::Vec, float>;
  for (const auto& [size, scale] : {Window{{1600, 1000}, 1}, Window{{1600, 1000}, 1.5f},
                                    Window{{1440, 900}, 1}, Window{{1024, 600}, 1}}) {
    PlayerDriver p("", size, scale);
    size_t predicting = 0, running = 0;
    const auto look = [&](size_t& count) {
      p.driver.frames(3);
      const ui::Control* picture = p.ui.registry().find("lesson/opening");
      if (!picture) return;
      ++count;
      const ui::Rect text = p.driver.control("lesson/text").rect;
      CHECK(picture->rect.x >= text.x);
      CHECK(picture->rect.right() <= text.right());
      CHECK(picture->rect.bottom() <= text.bottom());
      if (const ui::Control* task = p.ui.registry().find("lesson/task"))
        CHECK(picture->rect.y >= task->rect.bottom());
      CHECK(test::contains(picture->value, p.player().lesson()->opening[0].slot));
    };
    size_t lessons = 0;  // that have one; a tape has none
    for (const Lesson& lesson : p.player().course().lessons) {
      const std::string id = lesson.id;
      INFO(size.x << " at " << scale << ": " << id);
      lessons += !lesson.opening.empty();
      p.player().open(id, StepKind::Predict);
      look(predicting);
      if (size.x == 1600 && scale == 1)
        CHECK((p.ui.registry().find("lesson/opening") == nullptr) == lesson.opening.empty());
      p.player().open(id, StepKind::Run);
      look(running);
      p.open(id, StepKind::Explain);
      CHECK_FALSE(p.ui.registry().find("lesson/opening"));
    }
    INFO(size.x << " at " << scale);
    if (size.x == 1600 && scale == 1) {
      CHECK(running == lessons);
      CHECK(predicting == lessons);
    }
    if (scale > 1) CHECK(running > 0);
  }
}

TEST_CASE("a scaled skip path is in the picture, also where its layer is closed", "[player]") {
  PlayerDriver p;
  p.open("admin", StepKind::Predict);
  const ui::Rect picture = p.driver.control("lesson/opening").rect;
  const auto shown = [&](const std::string& words) {
    return std::ranges::count_if(p.ui.texts(), [&](const ui::TextRecord& text) {
      return text.text == words && picture.contains(text.rect);
    });
  };
  CHECK(shown("Layers 1–6") == 2);
  CHECK(shown("×6") == 0);
  CHECK(shown("ω") == 1);  // of Admin alone
}

TEST_CASE("once the runs are trained their gradients stand in the picture", "[player]") {
  const Course course = read_course(kFolder);
  RunSpec spec = spec_of(*course.find("warm-up"), "A", 1);
  spec.train.steps = 2;
  experiments::RunStore store(1);
  const auto done = store.get({spec}, [](const experiments::RunProgress&) { return true; });
  const auto bars = [](const RecordedMeasurer::Adapt& adapt) {
    PlayerDriver p("", {1600, 1000}, 1, adapt);
    p.open("warm-up", StepKind::Run);
    int all = 0;
    for (int layer = 0; layer < 6; ++layer)
      all += pixels_of(p, "lesson/opening", ui::depth_colour(p.ui.theme(), layer, 6));
    return all;
  };
  const int trained = bars([&](const Lesson&, MeasureState& state) { state.histories["A"] = done->history; });
  CHECK(trained > bars({}) + 50);
}

}  // namespace normscope::test_player_asides

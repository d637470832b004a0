// These tests cover the picture that a lesson opens with: which runs and places it names, that it is where the text
// leaves room and nowhere else, and that it is painted from the runs' own numbers.
#include "app/course/tables.h"
#include "app/headless/raster.h"
#include "app/support/player_driver.h"
#include "app/ui/widgets.h"
#include "engine/support/helpers.h"

namespace normscope::test_lesson_opening {
namespace {

using namespace course;
using namespace lessons;
using fixture::PlayerDriver;
using fixture::RecordedMeasurer;

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

TEST_CASE("a picture of no run, of no place, or of more than there is room for is refused", "[lesson]") {
  const std::string folder = kFolder + "/05-growing-stream";
  const auto refusal = [&](const std::string& opening) {
    std::string text = test::read_all(folder + "/lesson.toml");
    const size_t from = text.find("opening = "), to = text.find('\n', from);
    REQUIRE(from != std::string::npos);
    text.replace(from, to - from, "opening = " + opening);
    return test::error_of([&] { parse_lesson(text, folder, test::read_all); }, "none");
  };
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(test::contains(text, part));
  };
  const std::string one = R"({ run = "A", slot = "layer1/ffn/stream" })";
  CHECK(refusal("[" + one + "]") == "none");
  has(refusal(R"([{ run = "D", slot = "final" }])"),
      "'D' is not in this lesson: expected a run with a letter");
  has(refusal(R"([{ run = "A", slot = "layer13/ffn/stream" }])"), "'layer13/ffn/stream' is no place");
  has(refusal(R"([{ run = "A", slot = "layer1/ffn/skip-scale" }])"), "is no place of its diagram");
  has(refusal("[" + one + ", " + one + ", " + one + "]"), "has no room: expected two runs at most");
}

TEST_CASE("the picture stands below the text, whole, or not at all", "[player]") {
  struct Window {
    ui::Vec size;
    float scale;
  };
  for (const Window& window : {Window{{1600, 1000}, 1}, Window{{1600, 1000}, 1.5f}, Window{{1440, 900}, 1},
                               Window{{1024, 600}, 1}}) {
    PlayerDriver p("", window.size, window.scale);
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
      INFO(window.size.x << " at " << window.scale << ": " << id);
      lessons += !lesson.opening.empty();
      p.player().open(id, StepKind::Predict);
      look(predicting);
      if (window.size.x == 1600 && window.scale == 1)
        CHECK((p.ui.registry().find("lesson/opening") == nullptr) == lesson.opening.empty());
      p.player().open(id, StepKind::Run);
      look(running);
      p.open(id, StepKind::Explain);
      CHECK_FALSE(p.ui.registry().find("lesson/opening"));
    }
    INFO(window.size.x << " at " << window.scale);
    if (window.size.x == 1600 && window.scale == 1) {
      CHECK(running == lessons);
      CHECK(predicting == lessons);
    }
    if (window.scale > 1) CHECK(running > 0);
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

}  // namespace normscope::test_lesson_opening

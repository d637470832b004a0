// These tests open every figure of the course that is a picture, at every size, and move it: no text may cover another.
#include "app/course/report.h"
#include "app/lesson-player/flow.h"
#include "app/support/english.h"
#include "app/support/player_driver.h"

namespace normscope::test_player_pictures {
namespace {

using namespace course;

/// Names two texts of the figure that cover each other, or one that was cut off; empty: there are none.
std::string overlap(const fixture::PlayerDriver& p, float from) {
  std::vector<ui::TextRecord> texts;
  for (const ui::TextRecord& text : p.ui.texts())
    if (text.layer == 0 && text.rect.x >= from) texts.push_back(text);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].text.ends_with("…")) return texts[i].text;
    for (size_t j = i + 1; j < texts.size(); ++j)
      if (texts[i].rect.inset(1).overlaps(texts[j].rect.inset(1)))
        return texts[i].text + " and " + texts[j].text;
  }
  return "";
}

/// Shows the course in English or German, in the numbers of five seeds.
void in_language(fixture::PlayerDriver& p, const char* language) {
  p.state.screens.lessons.player =
      std::make_shared<lesson_player::Player>(read_course(NORMSCOPE_SOURCE_DIR "/lessons", language),
                                              std::make_unique<fixture::RecordedMeasurer>(&p.started), "");
}

/// Calls visit(driver, lesson, language) for every lesson in English and in German, where texts are largest.
template <typename Visit>
void each_lesson(const Visit& visit) {
  for (const char* language : {"", "de"}) {
    const fixture::Spoken spoken(language);
    fixture::PlayerDriver p("", {1600, 1000}, 1.5f);
    in_language(p, language);
    for (const Lesson& lesson : fixture::shipped_course().lessons) visit(p, lesson, language);
  }
}

}  // namespace

TEST_CASE("no text of a picture overlaps another or is cut off, wherever the hand moves it") {
  struct Window {
    ui::Vec size;
    float scale;
    const char* language = "";
  };
  size_t pictures = 0;
  const Window windows[] = {{{1600, 1000}, 1}, {{1280, 720}, 1},           {{1600, 1000}, 1.5f},
                            {{1024, 600}, 1},  {{1600, 1000}, 1.5f, "de"}, {{1280, 720}, 1, "de"}};
  for (const Window& window : windows) {
    const fixture::Spoken language(window.language);
    fixture::PlayerDriver p("", window.size, window.scale);
    if (*window.language) in_language(p, window.language);
    for (const Lesson& lesson : fixture::shipped_course().lessons)
      for (const StepKind step : {StepKind::Run, StepKind::Compare, StepKind::Explain})
        for (const std::string& id : lesson.step(step).figures) {
          const Figure& figure = *lesson.figure(id);
          if (!is_picture(figure)) continue;
          ++pictures;
          p.open(lesson.id, step);
          p.driver.click("lesson/figure/" + figure.tab);
          p.driver.move_to(ui::Vec{2, 2});
          p.driver.frames(3);
          const bool walk = !figure.walk.empty(), drawn = figure.follow > 0, chain = !figure.chain.empty();
          const char* name = walk    ? "lesson/walk"
                             : drawn ? "lesson/tape"
                             : chain ? "lesson/chain"
                                     : "lesson/bars";
          const float from = p.driver.control(name).rect.x - 2;
          INFO(window.language << " " << lesson.id << " " << to_string(step) << " " << id << " "
                               << window.size.x << " x" << window.scale);
          const auto check = [&](const std::string& control, float place) {
            p.driver.click(control, {place, 0.3f});
            p.driver.move_to(ui::Vec{2, 2});
            p.driver.frames(3);
            INFO(control << " at " << place);
            CHECK(overlap(p, from) == "");
          };
          CHECK(overlap(p, from) == "");
          if (walk)
            for (const float place : {0.02f, 0.3f, 0.7f}) check("lesson/walk/step", place);
          else if (chain)
            for (const float place : {0.02f, 0.3f, 0.7f}) check("lesson/chain/layers", place);
          else if (!drawn)
            for (const char* knob : {"lesson/bars/times", "lesson/bars/add"})
              for (const float place : {0.01f, 0.3f, 0.99f}) check(knob, place);
        }
  }
  CHECK(pictures >= 4 * 8);
}

TEST_CASE("a text of several lines has them about as long, and no word alone") {
  fixture::PlayerDriver p;
  const ui::TextStyle style{ui::Face::Sans, ui::type::body};
  const ui::Painter& paint = p.ui.paint();
  const std::string text = "a line that is some words too long for the place that it was given to stand in";
  const float width = paint.text_width(style, text.substr(0, text.size() - 3)), line = 18;
  const float even = lesson_player::even_width(paint, width, style, text, line);
  CHECK(paint.wrapped_height(width, style, text, line) == 2 * line);
  CHECK(paint.wrapped_height(even, style, text, line) == 2 * line);
  CHECK(even < 0.7f * width);
  CHECK(lesson_player::even_width(paint, width, style, "short", line) == width);
}

TEST_CASE("a finished figure leaves its labels the room that they need, and the rest is the plot's") {
  fixture::PlayerDriver p;
  size_t figures = 0;
  for (const Lesson& lesson : fixture::shipped_course().lessons)
    for (const std::string& id : lesson.step(StepKind::Compare).figures) {
      const Figure& figure = *lesson.figure(id);
      if (is_picture(figure) || figure.river || !figure.map_run.empty() || !figure.cells.empty() ||
          !figure.tape.empty())
        continue;
      p.open(lesson.id, StepKind::Compare);
      if (lesson.step(StepKind::Compare).figures.size() > 1) p.driver.click("lesson/figure/" + figure.tab);
      p.driver.move_to(ui::Vec{2, 2});
      p.driver.frames(3);
      const ui::Rect plot = p.driver.control("lesson/plot").rect;
      float last = plot.x;
      for (const ui::TextRecord& text : p.ui.texts())
        if (text.layer == 0 && plot.contains(text.rect.centre())) last = std::max(last, text.rect.right());
      ++figures;
      INFO(lesson.id << " " << id << ": " << last << " of " << plot.right());
      CHECK(last <= plot.right() + 1);
      CHECK(last > plot.right() - 64);
    }
  CHECK(figures > 20);
}

TEST_CASE("a puzzle of several lines keeps off what stands below it") {
  size_t puzzles = 0;
  each_lesson([&](fixture::PlayerDriver& p, const Lesson& lesson, const char* language) {
    if (!lesson.puzzle) return;
    ++puzzles;
    p.open(lesson.id, StepKind::Explain);
    const ui::Rect puzzle = p.driver.control("lesson/puzzle").rect;
    for (const ui::TextRecord& text : p.ui.texts()) {
      if (text.layer > 0 || text.rect.x < puzzle.x - 1 || text.rect.y < puzzle.y - 1) continue;
      INFO(language << " " << lesson.id << ": " << text.text);
      const bool within = text.rect.bottom() < puzzle.bottom() + 2;
      CHECK((within || text.rect.y > puzzle.bottom() + 6));
    }
  });
  CHECK(puzzles > 20);
}

TEST_CASE("what was said, what was measured and the verdict keep apart, and the first two are of one size") {
  size_t neighbours = 0, pairs = 0;
  each_lesson([&](fixture::PlayerDriver& p, const Lesson& lesson, const char* language) {
    if (lesson.prediction.kind != Prediction::Kind::Value) return;
    p.open(lesson.id, StepKind::Predict);
    p.driver.click("lesson/slider", {0.999f, 0.5f});  // the longest number
    p.driver.click("lesson/next");
    p.open(lesson.id, StepKind::Compare);
    const ui::Rect box = p.driver.control("lesson/score").rect;
    for (const ui::TextRecord& left : p.ui.texts())
      for (const ui::TextRecord& right : p.ui.texts()) {
        if (!box.contains(left.rect) || !box.contains(right.rect) || right.rect.x <= left.rect.x ||
            std::abs(left.rect.centre().y - right.rect.centre().y) > 6)
          continue;
        ++neighbours;
        INFO(language << " " << lesson.id << ": " << left.text << " and " << right.text);
        CHECK(right.rect.x - left.rect.right() > 9);
        const auto& told = p.player().progress(lesson.id);
        if (left.text != told.said || right.text != told.measured) continue;
        ++pairs;
        CHECK(left.px == right.px);
      }
  });
  CHECK(neighbours > 20);
  CHECK(pairs > 7);
}

}  // namespace normscope::test_player_pictures

// These tests use what a lesson's format offers beside runs with letters and curves over steps: runs that are only
// compared, numbers by layer of a trained run, layers left out, encoder-decoders, cards that count as alike; and the
// list of lessons, which holds all of them however small the window is.
#include "app/course/check.h"
#include "app/course/curves.h"
#include "app/course/figures.h"
#include "app/course/reader.h"
#include "app/course/report.h"
#include "app/support/player_driver.h"
#include "app/support/small_course.h"
#include "app/support/small_lesson.h"
#include "catch.hpp"
#include "refusals/refusals.h"
#include "training/run/run.h"
#include "training/session/analysis.h"

namespace normscope::test_lesson_format {
namespace {

using namespace course;
using test::contains;
using namespace normscope::lessons;
using namespace experiments;
using fixture::parsed_lesson;
using fixture::PlayerDriver;
using fixture::refusal_of;
using fixture::replaced;

// Two small runs: one with a letter, one that is only compared.
const std::string kSmall = test::refusal_base("lesson");

std::string with(const std::string& from, const std::string& to) { return replaced(kSmall, from, to); }

}  // namespace

TEST_CASE("a run with a name is measured, and nothing that a learner sees or changes", "[lesson]") {
  const Lesson lesson = parsed_lesson(kSmall);
  REQUIRE(lesson.runs.size() == 1);
  REQUIRE(lesson.beside.size() == 1);
  CHECK(lesson.run("other") == &lesson.beside[0]);
  CHECK_FALSE(lesson.has_letter("other"));
  CHECK(run_label(lesson, "other") == "Pre-LN at 0.01");  // its settings are fixed: the name may say one
  CHECK(run_label(lesson, "A") == "Post-LN");             // and are not part of the others' labels
  const Figure& figure = *lesson.figure("f");
  CHECK(letter_of(lesson, figure.lines[0]) == "A");
  CHECK(letter_of(lesson, figure.lines[1]).empty());
  CHECK(letter_of(lesson, figure.lines[2]).empty());
  // What decides its numbers is part of the lesson's definition, and of its report.
  CHECK(definition(parsed_lesson(with("train.lr = 0.01\n", "train.lr = 0.02\n"))) != definition(lesson));
  CHECK(contains(settings_of(lesson, lesson.beside[0]), "other: Pre-LN at 0.01, "));

  CHECK(contains(refusal_of(kSmall, "It writes {text other}."),
                 "'other' is not in this lesson: expected a run with a letter of it"));
}

TEST_CASE("a profile is the history's number at a step, of every layer", "[lesson]") {
  const Lesson lesson = parsed_lesson(kSmall);
  RunStore store(1);
  const CurveData profile = measure_curve(lesson, *lesson.curve("by_layer"), 1, store),
                  over_time = measure_curve(lesson, *lesson.curve("over_time"), 1, store);
  CHECK(store.trained() == 1);
  REQUIRE(profile.x == std::vector<double>{1, 2});
  CHECK(profile.y[0] == 1);
  CHECK(profile.y[1] == over_time.y[1]);
  CHECK(profile.y[1] != over_time.y[0]);
}

TEST_CASE("a prediction is drawn from the first point of its curve to the last, whatever its axis",
          "[lesson]") {
  std::set<Curve::Of> kinds;
  for (const Lesson& lesson : read_course(NORMSCOPE_SOURCE_DIR "/lessons").lessons) {
    const std::optional<Results> measured = load_results(lesson);
    REQUIRE(measured);
    for (const auto& [id, band] : measured->curves) {
      const Curve& curve = *lesson.curve(id);
      if (asks_critical_rate(curve) || is_walk(curve)) continue;  // now and then; layers and steps at once
      INFO(lesson.id << " " << id);
      const std::vector<double> grid = drawn_grid(lesson, curve);
      if (curve.of == Curve::Of::Tape && grid.empty()) continue;  // of the places of its numbers
      REQUIRE_FALSE(grid.empty());
      CHECK(grid.front() == band.x.front());
      CHECK(grid.back() == band.x.back());
      kinds.insert(curve.of);
    }
  }
  CHECK(kinds.size() > 6);
  // None of these is over sub-layers of the wiring, the last of which is not a point.
  const auto drawn = [&](const std::string& layers) {
    const std::string wiring =
        replaced(with("model.layers = 2", "model.layers = " + layers), "[curve.over_time]",
                 "[curve.norms]\nof = \"wiring\"\nrun = \"A\"\ny = \"norms\"\n\n[curve.over_time]");
    const size_t from = wiring.find("[prediction]"), to = wiring.find("[knob.rate]");
    const std::string draws = "[prediction]\nkind = \"draw\"\nask = \"Draw.\"\ncurve = \"norms\"\n\n";
    const std::string whole = wiring.substr(0, from) + draws + wiring.substr(to);
    return replaced(whole, "{ curve = \"by_layer\", run = \"A\" }", "{ curve = \"norms\", run = \"A\" }");
  };
  const Lesson lesson = parsed_lesson(drawn("2"));
  RunStore store(1);
  const CurveData norms = measure_curve(lesson, *lesson.curve("norms"), 1, store);
  CHECK(norms.x == std::vector<double>{1, 2, 3});
  CHECK(drawn_grid(lesson, *lesson.curve("norms")) == norms.x);
  CHECK(contains(refusal_of(replaced(drawn("1"), "L02.ffn.w2.grad_norm / ", "")),
                 "[prediction.curve] has no axis to draw along: expected a curve of two points at least"));
}

TEST_CASE("what is left out of a lesson's run is what the engine leaves out of it", "[lesson]") {
  const Lesson lesson = parsed_lesson(kSmall);
  RunStore store(1);
  const CurveData each = measure_curve(lesson, *lesson.curve("each"), 1, store),
                  top = measure_curve(lesson, *lesson.curve("top"), 1, store);
  CHECK(store.trained() == 1);
  const RunSpec spec = spec_of(lesson, "other", 1);
  Run run(spec, store.task(spec.data), store.backend());
  for (int32_t step = 0; step < spec.train.steps; ++step) run.step();
  const Ablation ablation = layer_ablation(run);
  REQUIRE(each.x == std::vector<double>{1, 2, 3});
  REQUIRE(top.x == each.x);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(each.y[i] == ablation.layers[i].loss - ablation.whole);
    CHECK(top.y[i] == ablation.from_top[i].loss - ablation.whole);
    CHECK(each.y[i] != 0);
  }
  // The weights made room for another run's: trained again, to the same bits.
  RunStore forgetful(1, std::make_shared<RunCache>(1));
  CHECK(measure_curve(lesson, *lesson.curve("each"), 1, forgetful).y == each.y);
  measure_curve(lesson, *lesson.curve("over_time"), 1, forgetful);
  CHECK(measure_curve(lesson, *lesson.curve("top"), 1, forgetful).y == top.y);
  CHECK(forgetful.trained() == 3);
}

TEST_CASE("an encoder-decoder is a run of a lesson like any other", "[lesson]") {
  Lesson lesson = fixture::small_lesson("09-two-stacks");
  for (LessonRun* run : lesson.all_runs()) run->spec.train.steps = 3;
  RunStore store(1);
  const CurveData decoder = measure_curve(lesson, *lesson.curve("dec_A"), 1, store),
                  encoder = measure_curve(lesson, *lesson.curve("enc_A"), 1, store);
  REQUIRE(decoder.y.size() == 6);
  REQUIRE(encoder.y.size() == 6);
  CHECK(decoder.y[0] == 1);
  CHECK(decoder.y != encoder.y);
  const auto done = store.find(run_of(lesson, "A", 1).key());
  REQUIRE(done);
  CHECK(contains(done->text, "\u2190"));  // a translation, and what was translated
  CHECK(done->shares_end.empty());
  CHECK(done->level == Approx(std::log(32.0)).epsilon(0.01));
}

TEST_CASE("of cards that the lesson counts as alike either order is right", "[player]") {
  for (const bool turned : {false, true}) {
    PlayerDriver p;
    p.open("inside-layernorm", StepKind::Predict);
    // simple, variance, rms, mean as they lie; only the variance has a place of its own.
    p.driver.drag("lesson/card/variance", "lesson/card/mean");
    if (turned) p.driver.drag("lesson/card/simple", "lesson/card/rms");
    p.click("lesson/next");
    p.click("lesson/next");
    const LessonProgress& now = p.player().progress("inside-layernorm");
    CHECK(now.order.back() == "variance");
    CHECK(now.score == "right");
    CHECK(now.said == std::string(turned ? "mean never subtracted → no gain or bias"
                                         : "no gain or bias → mean never subtracted") +
                          " → mean detached → variance detached (highest loss)");
    CHECK(contains(now.measured, " → variance detached (highest loss); alike: "));
  }
}

TEST_CASE("the list of lessons holds all of them in every window", "[player]") {
  for (const ui::Vec size : {ui::Vec{1024, 600}, {1440, 900}, {1600, 1000}}) {
    PlayerDriver p("", size);
    if (p.ui.registry().find("lesson/course")) p.click("lesson/course");
    float bottom = 0;
    for (const Lesson& lesson : p.player().course().lessons) {
      INFO(size.x << " " << lesson.id);
      const ui::Rect row = p.driver.control("lesson/list/" + lesson.id).rect;
      CHECK(row.y >= bottom);
      CHECK(row.h >= 24);
      bottom = row.bottom();
    }
    CHECK(bottom <= size.y);
    const std::string last = p.player().course().lessons.back().id;
    p.click("lesson/list/" + last);
    CHECK(p.player().lesson()->id == last);
  }
}

TEST_CASE("a notice with a long path stays within the list, and is whole under the mouse", "[player]") {
  PlayerDriver p;
  Course course = read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  std::string whole = "/home/somebody";
  for (int i = 0; i < 6; ++i) whole += "/a-folder-with-a-long-näme";
  whole += "/07-x/lesson.toml:31: [run.A] is no run";
  course.broken.push_back({"07-x", whole});
  p.state.screens.lessons.player = std::make_shared<Player>(
      std::move(course), std::make_unique<fixture::RecordedMeasurer>(&p.started), "");
  p.driver.frames(3);
  const ui::Rect notice = p.driver.control("lesson/broken/0").rect;
  std::string shown;
  for (const ui::TextRecord& text : p.ui.texts())
    if (notice.contains(text.rect.centre())) {
      INFO(text.text);
      CHECK(text.rect.right() <= notice.right() + 1);
      shown += text.text + " ";
    }
  CHECK(shown.starts_with("/home/"));
  CHECK(contains(shown, "…"));
  CHECK(contains(shown, "/lesson.toml:31: "));
  p.driver.move_to("lesson/broken/0");
  std::string help;
  for (int frame = 0; frame < 60 && help.empty(); ++frame) {
    p.driver.frames(1);
    for (const ui::TextRecord& text : p.ui.texts())
      if (text.layer == 3) {
        CHECK(text.rect.w <= 281);
        help += text.text;
      }
  }
  std::erase(help, ' ');
  std::erase(whole, ' ');
  CHECK(help == whole);
}

}  // namespace normscope::test_lesson_format

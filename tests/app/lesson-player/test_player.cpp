// These tests play by name, without a window: every lesson to its end, with good and bad predictions, by mouse and by
// keyboard; what may be seen before the commitment; progress; the way to the Lab.
#include <algorithm>

#include "app/headless/raster.h"
#include "app/lesson-player/prediction_hand.h"
#include "app/lesson-player/progress.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "app/support/text_faults.h"
#include "app/ui/widgets.h"
#include "training/spec/small_size.h"
#include "training/spec/spec_text.h"

using namespace normscope;
using namespace course;
using namespace normscope::lesson_player;
using fixture::PlayerDriver, fixture::predict;

namespace {

/// Whether a prose holds {drag KNOB}.
bool drags(const Prose& text, std::string_view knob) {
  return std::ranges::any_of(text.blocks, [&](const Block& block) {
    return std::ranges::any_of(block.inlines, [&](const Inline& piece) {
      return piece.kind == Inline::Kind::Drag && piece.text == knob;
    });
  });
}

void walk(PlayerDriver& p, const std::string& id, bool right, bool keyboard) {
  INFO("lesson " << id << (right ? ", right" : ", wrong") << (keyboard ? ", keyboard" : ", mouse"));
  p.press("lesson/list/" + id, keyboard);
  REQUIRE(p.player().lesson()->id == id);
  CHECK(p.player().step() == StepKind::Predict);
  CHECK_FALSE(p.shows(p.player().lesson()->claim.substr(0, 24)));
  const int before = p.started;
  if (p.player().lesson()->prediction.kind == Prediction::Kind::Draw)
    CHECK((p.shows("your prediction, then the measurement") || p.shows("yours, then measured")));
  predict(p, right, keyboard);
  CHECK(p.started == before);
  p.press("lesson/next", keyboard);
  REQUIRE(p.player().step() == StepKind::Run);
  CHECK(p.started == before + 1);
  p.driver.frames(2);
  p.press("lesson/next", keyboard);
  REQUIRE(p.player().step() == StepKind::Compare);
  p.driver.frames(2);
  CHECK(p.driver.control("lesson/score").rect.w > 100);
  const LessonProgress now = p.player().progress(id);
  CHECK(now.committed);
  CHECK_FALSE(now.measured.empty());
  INFO("said " << now.said << ", measured " << now.measured << ": " << now.score);
  REQUIRE_FALSE(now.score.empty());
  CHECK(is_right(now.grade) == right);
  CHECK(p.says("A thought that leads there: ") == !right);
  p.press("lesson/next", keyboard);
  if (p.player().page() == PageKind::Challenge) p.press("lesson/next", keyboard);
  REQUIRE(p.player().step() == StepKind::Explain);
  p.driver.frames(2);
  p.press("lesson/next", keyboard);
  REQUIRE(p.player().page() == PageKind::Case);
  p.driver.frames(2);
  CHECK_FALSE(p.driver.control("lesson/next").enabled);  // nothing is done yet
  p.click("lesson/next");
  CHECK_FALSE(p.player().progress(id).done);
  p.decide(right ? 0 : 1, keyboard);
  p.press("lesson/next", keyboard);
  CHECK(p.player().progress(id).done);
}

std::vector<std::string> ids() {
  std::vector<std::string> out;
  for (const Lesson& lesson : fixture::shipped_course().lessons) out.push_back(lesson.id);
  return out;
}

}  // namespace

// The walk is right by mouse and wrong by keyboard; "a prediction can be made again" goes the other two ways, wrong by
// mouse and right by keyboard, in every lesson. No walk presses one lesson's buttons by either hand after either
// answer: which hand pressed a button does not know what was answered.
TEST_CASE("every lesson is walked to its end, right and wrong, by mouse and by keyboard") {
  const std::vector<std::string> all = ids();
  CHECK(all == std::vector<std::string>{"five-minutes", "why-a-norm", "warm-up", "first-steps", "last-layer",
                                        "growing-stream", "dependency", "admin", "norm-gradient",
                                        "two-stacks", "not-only-adam", "map-of-rates", "price-of-pre-ln",
                                        "inside-layernorm", "after-the-papers", "edge-of-stability",
                                        "eighteen-layers"});
  for (const bool keyboard : {false, true}) {
    PlayerDriver p;
    for (const std::string& id : all) walk(p, id, !keyboard, keyboard);
    CHECK(p.shows(fmt::format("{} of {} done", all.size(), all.size())));
  }
}

TEST_CASE("what is skipped is called so, and leaves the lesson open") {
  PlayerDriver p;
  const std::vector<std::string> all = ids();
  for (size_t i = 1; i < all.size(); ++i) {
    INFO(all[i]);
    p.open(all[i], StepKind::Predict);
    p.click("lesson/skip");  // the prediction
    while (p.player().page() != PageKind::Case) {
      const bool task = p.player().page() == PageKind::Challenge;
      CHECK(p.shows("Skip the challenge") == task);
      CHECK_FALSE(p.ui.registry().find("lesson/skip"));
      p.click("lesson/next");
    }
    CHECK_FALSE(p.driver.control("lesson/next").enabled);
    CHECK(p.shows("Decide the case first"));
    CHECK_FALSE(p.shows("Done: "));
    if (i % 2 == 0) {  // the case too
      p.driver.click("lesson/skip");
    } else {
      p.decide(0);
      CHECK_FALSE(p.ui.registry().find("lesson/skip"));
      CHECK(p.shows(i + 1 < all.size() ? "Next lesson" : "So why?"));
      p.driver.click("lesson/next");
    }
    p.driver.frames(2);
    CHECK_FALSE(p.player().progress(all[i]).done);
    if (i + 1 < all.size()) CHECK(p.player().lesson()->id == all[i + 1]);
  }
  CHECK(p.player().page() == PageKind::Why);
}

TEST_CASE(
    "no formula is cut and no term marked where a page fades behind its edge, however far it is scrolled") {
  size_t formulas = 0, pages = 0, terms = 0;
  for (const float scale : {1.f, 1.2f, 1.5f}) {
    PlayerDriver p("", {1280, 720}, scale);
    for (const std::string& id : ids())
      for (const StepKind step : {StepKind::Predict, StepKind::Explain}) {
        p.open(id, step);
        const ui::Rect page = p.driver.control("lesson/text").rect;
        p.driver.move_to(ui::Vec{page.x + 60, page.y + 60});
        for (int scrolled = 0; scrolled < 60; ++scrolled) {
          INFO(id << " " << to_string(step) << " at " << scale << ", scrolled " << scrolled);
          const ui::Rect seen = p.driver.control("lesson/readable").rect;
          for (const ui::Control& c : p.ui.registry().all()) {
            if (c.name.starts_with("title/term/") && page.contains(c.rect)) {
              CHECK(c.rect.y > seen.y - 0.5f);
              CHECK(c.rect.bottom() < seen.bottom() + 0.5f);
              ++terms;
            }
            if (!c.name.starts_with("lesson/formula/")) continue;
            const bool whole = c.rect.y > seen.y - 0.5f && c.rect.bottom() < seen.bottom() + 0.5f;
            const bool gone = c.rect.bottom() < seen.y + 0.5f || c.rect.y > seen.bottom() - 0.5f;
            CHECK((whole || gone));
            formulas += whole;
          }
          if (!p.ui.registry().find("lesson/more")) break;
          ++pages;
          p.driver.wheel(-2);
          p.driver.frames(2);
        }
        CHECK_FALSE(p.ui.registry().find("lesson/more"));  // the end was reached
      }
  }
  CHECK(formulas > 50);
  CHECK(pages > 100);
  CHECK(terms > 500);
}

TEST_CASE("a click under a text that goes on reads on") {
  PlayerDriver p("", {1280, 720}, 1.5f);
  p.open("dependency", StepKind::Predict);
  for (int clicks = 0; clicks < 20 && p.ui.registry().find("lesson/more"); ++clicks) p.click("lesson/more");
  CHECK_FALSE(p.ui.registry().find("lesson/more"));
}

TEST_CASE("nothing measured is visible before the commitment") {
  PlayerDriver p;
  for (const std::string& id : ids()) {
    p.click("lesson/list/" + id);
    INFO(id);
    CHECK(p.started == 0);
    for (const Measure& m : p.player().lesson()->measures) {
      if (m.id == "start") continue;
      const auto kept = load_results(*p.player().lesson());
      REQUIRE(kept);
      const double mean = kept->measures.at(m.id).spread.mean;
      const std::string number = shown(mean, m);
      if (number.size() < 4) continue;  // too short to be told from an axis label
      // A median of a map is one of the values that stand at its axis.
      const auto at_axis = [&](const Curve& curve) {
        return std::ranges::any_of(curve.values,
                                   [&](double value) { return std::abs(value - mean) < 1e-9 * value; });
      };
      if (std::ranges::any_of(p.player().lesson()->curves, at_axis)) continue;
      for (const ui::TextRecord& t : p.ui.texts()) CHECK(t.text != number);
    }
  }
}

TEST_CASE("an untouched prediction cannot be committed, and says why") {
  PlayerDriver p;
  for (const std::string& id : ids()) {
    p.click("lesson/list/" + id);
    INFO(id);
    CHECK_FALSE(p.driver.control("lesson/next").enabled);
    CHECK(p.shows(" first"));  // "Move the slider first"
    CHECK(test::contains(p.driver.control("lesson/next").help, " first"));
    p.click("lesson/next");
    CHECK(p.player().step() == StepKind::Predict);
    CHECK(p.started == 0);
    // What already lies where the learner would put it is said by a click.
    const Prediction& q = p.player().lesson()->prediction;
    if (q.kind == Prediction::Kind::Draw) continue;
    p.driver.click(q.kind == Prediction::Kind::Value ? "lesson/slider" : "lesson/card/" + q.cards[0].id,
                   {0.01f, 0.5f});
    CHECK(p.driver.control("lesson/next").enabled);
  }
}

TEST_CASE("a prediction can be made again; the first is kept and shown") {
  PlayerDriver p;
  for (const std::string& id : ids()) {
    INFO(id);
    walk(p, id, false, false);
    const LessonProgress first = p.player().progress(id);
    p.player().open(id, StepKind::Predict);
    p.click("lesson/step/predict");
    REQUIRE(p.player().step() == StepKind::Predict);
    p.press("lesson/redo", true);
    p.driver.frames(2);
    CHECK_FALSE(p.driver.control("lesson/next").enabled);
    CHECK(p.player().progress(id) == first);  // it stands until there is another
    predict(p, true, true);
    p.press("lesson/next", true);
    p.driver.frames(2);
    p.press("lesson/next", true);
    p.driver.frames(2);
    REQUIRE(p.player().step() == StepKind::Compare);
    const LessonProgress now = p.player().progress(id);
    CHECK(now.committed);
    CHECK(is_right(now.grade));
    CHECK(now.first == static_cast<const JudgedPrediction&>(first));
    CHECK(p.says("Your first prediction:"));
  }
}

TEST_CASE("the question what if opens the lesson's runs small, whole at every change") {
  PlayerDriver p;
  p.open("warm-up", StepKind::Explain);
  Lab lab(fixture::quiet_lab());
  p.state.session.lab = &lab;
  p.driver.click("lesson/what-if");
  auto view = lab.view();
  for (; view->runs.empty(); view = lab.view()) std::this_thread::yield();  // none is trained for this
  CHECK(view->instant);
  REQUIRE(view->runs.size() == 3);
  CHECK(view->runs[1].spec->model.d_model == 32);
  CHECK(view->runs[1].spec->train.schedule.warmup == 133);
  p.state.session.lab = nullptr;
}

TEST_CASE("a lesson that asks what if has checks of runs at the small size") {
  for (const std::string& id : ids()) {
    PlayerDriver p;
    p.open(id, StepKind::Explain);
    const Lesson lesson = *p.player().lesson();
    INFO(id);
    CHECK((p.ui.registry().find("lesson/what-if") == nullptr) == lesson.what_if.empty());
    if (lesson.what_if.empty()) continue;
    for (const LessonRun& run : lesson.runs) CHECK(without_small_size(run.spec).empty());
    const auto is_small = [&](const Check& check) { return check.measure.starts_with("small_"); };
    CHECK(std::ranges::any_of(lesson.checks, is_small));
    for (const LessonRun& run : lesson.beside)
      if (run.id.starts_with("small")) CHECK(run.spec.model.d_model == at_small_size({}).model.d_model);
  }
}

// What is opened depends on whether a prediction was made and on what was dragged, so the two steps that can differ in
// both, before and after, stand for all, but for one lesson.
TEST_CASE("at every step the way to the Lab opens the lesson's runs there, under their letters") {
  PlayerDriver p;
  Lab lab({.threads = 1, .live_text = false});  // at rest it writes a text of each run, of those that can
  p.state.session.lab = &lab;
  for (const std::string& id : ids())
    for (const StepKind step : kSteps) {
      p.state.screens.shown = Screen::Lessons;
      p.open(id, step);
      INFO(id << " " << to_string(step));
      if (p.ui.registry().find("lesson/drag/warmup")) p.driver.drag_by("lesson/drag/warmup", {16, 0});
      const Lesson lesson = *p.player().lesson();
      CHECK((p.ui.registry().find("lesson/lab") == nullptr) == lesson.runs.empty());
      const bool differs = step == StepKind::Predict || step == StepKind::Compare;
      if (lesson.runs.empty() || !(differs || id == "first-steps")) continue;
      p.driver.click("lesson/lab");
      test::view_after(lab, session::Pause{});
      const auto view = lab.view();
      CHECK(view->message == "");
      REQUIRE(view->runs.size() == lesson.runs.size());
      std::vector<NamedSettings> named;
      for (size_t i = 0; i < lesson.runs.size(); ++i) {
        const RunView& shown = view->runs[i];
        CHECK(std::string(1, shown.letter) == lesson.runs[i].id);
        RunSpec expected = lesson.runs[i].spec;
        for (const Knob& knob : lesson.knobs)
          if (knob.id == "warmup" && knob.run == lesson.runs[i].id && drags(lesson.step(step).text, "warmup"))
            expected.train.schedule.warmup =
                static_cast<int32_t>(expected.train.schedule.warmup + 2 * knob.step <= knob.high
                                         ? expected.train.schedule.warmup + 2 * knob.step
                                         : knob.high);
        complete(expected);
        CHECK(edits_between(*shown.origin, expected, 0).empty());
        named.push_back({default_name(expected), field_values(expected)});
      }
      const std::vector<std::string> names = told_apart(named);
      for (size_t i = 0; i < names.size(); ++i) CHECK(view->runs[i].name == names[i]);
      if (step == StepKind::Predict) CHECK(view->step == 0);
    }
  p.state.session.lab = nullptr;
}

TEST_CASE("the task stays in sight however long the text is") {
  PlayerDriver p("", {1600, 1000}, 1.5f);
  for (const std::string& id : ids()) {
    p.open(id, StepKind::Predict);
    INFO(id);
    const ui::Rect task = p.driver.control("lesson/task").rect, text = p.driver.control("lesson/text").rect;
    CHECK(task.bottom() <= text.bottom());
    CHECK(task.y >= text.y);
    CHECK(task.h < text.h / 2);
    CHECK(p.shows("Your prediction"));
    CHECK(p.driver.value("lesson/task") == p.player().lesson()->prediction.ask);
  }
}

TEST_CASE("progress is kept between starts; an unreadable file is put aside") {
  const std::string folder = "lesson_progress_test", path = folder + "/deep/lessons.json";
  std::filesystem::remove_all(folder);
  {
    PlayerDriver p(path);
    for (const char* id : {"why-a-norm", "warm-up"}) walk(p, id, false, false);
  }
  {
    PlayerDriver p(path);
    CHECK(p.player().progress("warm-up").done);
    CHECK(p.player().lesson()->id == "first-steps");
    CHECK(p.shows("You said"));
  }
  std::ofstream(path) << "{ not json";
  PlayerDriver p(path);
  CHECK_FALSE(p.player().progress("warm-up").done);
  CHECK(std::filesystem::exists(path + ".bad"));
  std::filesystem::remove_all(folder);
}

TEST_CASE(
    "every page has one figure and something to do beside going on, each control a help and a name of its own") {
  PlayerDriver p;
  for (const std::string& id : ids())
    for (const StepKind step : kSteps) {
      p.open(id, step);
      INFO(id << " " << to_string(step));
      for (const std::string& name : p.ui.registry().duplicates()) FAIL_CHECK(name);
      if (step == StepKind::Predict) CHECK(p.ui.registry().find(p.player().lesson()->spotlight));
      size_t figures = 0, cards = 0, hands = 0;
      for (const ui::Control& c : p.ui.registry().all()) {
        INFO(c.name);
        CHECK_FALSE(c.help.empty());
        for (const char* figure :
             {"lesson/plot", "lesson/tape", "lesson/walk", "lesson/chain", "lesson/bars"})
          if (c.name == figure) ++figures;
        if (c.name.starts_with("lesson/card/")) ++cards;
        if (!c.interactive || !c.enabled) continue;
        for (const char* hand : {"lesson/slider", "lesson/draw", "lesson/card/", "lesson/tape/next",
                                 "lesson/figure", "lesson/knob/", "lesson/drag/"})
          if (c.name.starts_with(hand)) ++hands;
      }
      CHECK(figures + (cards > 0 ? 1 : 0) == 1);
      if (step != StepKind::Run) CHECK(hands > 0);
    }
}

TEST_CASE("the verdict on an order has a card in a line, said and measured side by side") {
  for (const float scale : {1.f, 1.5f}) {
    PlayerDriver p("", {1600, 1000}, scale);
    size_t orders = 0;
    for (const std::string& id : ids()) {
      p.open(id, StepKind::Compare);
      const Prediction& q = p.player().lesson()->prediction;
      if (q.kind != Prediction::Kind::Order) continue;
      ++orders;
      INFO(id << " at " << scale);
      const ui::Rect box = p.driver.control("lesson/score").rect;
      for (const Prediction::Card& card : q.cards) {
        std::vector<ui::Rect> places;
        for (const ui::TextRecord& text : p.ui.texts())
          if (text.text == card.text && box.contains(text.rect)) places.push_back(text.rect);
        INFO(card.text);
        REQUIRE(places.size() == 2);
        CHECK(places[0].right() < places[1].x);
      }
      CHECK(p.says(fmt::format("from {} to {}", q.first, q.last)));
    }
    CHECK(orders > 5);
  }
}

TEST_CASE("a phone shows a lesson's text whole, and on its other side the figure") {
  // 390 px of the page show 520 of the 1024 that the program draws at three quarters of its size.
  const float shown = 390 / 0.75f;
  PlayerDriver p("", {1024, 600});
  p.open("five-minutes", StepKind::Predict);
  CHECK(p.driver.control("lesson/text").rect.right() <= shown);
  CHECK(p.driver.control("lesson/slider").rect.x >= 1024 - shown);
}

TEST_CASE("where a page goes on behind its edge no line stands by half") {
  PlayerDriver p("", {1600, 1000}, 1.5f);
  p.state.look.dark = false;
  p.open("growing-stream", StepKind::Predict);
  const float panel = p.driver.control("lesson/text").rect.x, task = p.driver.control("lesson/task").rect.y;
  bool cut = false;
  for (const ui::TextRecord& text : p.ui.texts())
    cut |= text.rect.y < text.clip.bottom() && text.rect.bottom() > text.clip.bottom();
  REQUIRE(cut);
  const headless::Image image =
      headless::rasterise(*p.loop.draw_data(), ui::theme(p.state.look.dark).bg.packed());
  const auto ink_in_row = [&](float y) {
    int strongest = 0;
    for (float x = panel + 20; x < panel + 400; ++x) {
      const uint32_t pixel = image.at(static_cast<int>(x * 1.5f), static_cast<int>(y * 1.5f));
      strongest = std::max(strongest, 255 - static_cast<int>(pixel & 0xFF));
    }
    return strongest;
  };
  int above = 0;
  for (float y = task - 120; y < task - 60; ++y) above = std::max(above, ink_in_row(y));
  CHECK(above > 150);
  for (float y = task - 15; y < task - 10; ++y) CHECK(ink_in_row(y) < 25);
}

TEST_CASE("the list tells a result once Compare has told it") {
  PlayerDriver p;
  p.open("warm-up", StepKind::Predict);
  predict(p, false, false);
  p.click("lesson/next");
  p.driver.frames(3);
  REQUIRE(p.player().step() == StepKind::Run);
  REQUIRE_FALSE(p.player().progress("warm-up").measured.empty());
  CHECK_FALSE(p.says("Measured: "));
  p.click("lesson/next");
  p.driver.frames(3);
  REQUIRE(p.player().step() == StepKind::Compare);
  CHECK(p.says("Measured: "));
}

namespace {

/// A measurement that stands still while a run trains.
fixture::RecordedMeasurer::Adapt while_training(const std::string& run, std::set<std::string> growing) {
  return [=](const Lesson&, MeasureState& state) {
    state.done = false;
    state.running = true;
    state.run = run;
    state.doing = "run D, step 186 of 300";
    state.growing = growing;
    state.share = 0.4;
    state.seconds_left = 58;
  };
}

}  // namespace

TEST_CASE("while a run trains, its step and the time left stand apart") {
  for (const ui::Vec size : {ui::Vec{1600, 1000}, {1366, 768}, {1280, 720}, {1024, 600}})
    for (const char* run : {"D", ""}) {
      PlayerDriver p("", size, 1, while_training(run, {"excess_D"}));
      p.open("first-steps", StepKind::Run);
      p.driver.frames(3);
      INFO(size.x << " " << run);
      CHECK(fixture::overlaps(p.ui) == std::vector<std::string>{});
      CHECK(p.says("left"));
    }
}

TEST_CASE("Run shows the figure in which something happens, until the user chooses one") {
  PlayerDriver p("", {1600, 1000}, 1, while_training("", {"by_size_D"}));
  p.open("why-a-norm", StepKind::Run);
  p.driver.frames(3);
  CHECK(p.player().figure_id() == "by_size");
  p.click("lesson/figure/" + p.player().lesson()->figure("losses")->tab);
  p.driver.frames(3);
  CHECK(p.player().figure_id() == "losses");
  PlayerDriver first("", {1600, 1000}, 1, while_training("D", {"loss_D"}));
  first.open("why-a-norm", StepKind::Run);
  first.driver.frames(3);
  CHECK(first.player().figure_id() == "losses");
}

TEST_CASE("Run shows what was recorded where a lesson says so, and nowhere before the prediction") {
  const auto nothing_yet = [](const Lesson&, MeasureState& state) {
    state.curves.clear();
    state.done = false;
    state.running = true;
  };
  for (const char* id : {"two-stacks", "warm-up"}) {
    PlayerDriver p("", {1600, 1000}, 1, nothing_yet);
    p.open(id, StepKind::Predict);
    CHECK_FALSE(p.says("thin line"));
    predict(p, true, false);
    p.driver.frames(3);
    p.click("lesson/next");
    p.driver.frames(3);
    REQUIRE(p.player().step() == StepKind::Run);
    INFO(id);
    CHECK(p.player().lesson()->step(StepKind::Run).recorded == (id == std::string("two-stacks")));
    CHECK(p.says("thin line") == p.player().lesson()->step(StepKind::Run).recorded);
    CHECK(fixture::overlaps(p.ui) == std::vector<std::string>{});
  }
}

TEST_CASE("the four models of lesson 1 are the four curves that train, by the letters of their cards") {
  PlayerDriver p("", {1600, 1000}, 1, while_training("A", {"loss_A"}));
  const Lesson& lesson = *fixture::shipped_course().find("why-a-norm");
  std::set<std::string> predicted, drawn;
  for (const Prediction::Card& card : lesson.prediction.cards)
    predicted.insert(lesson.curve(lesson.measure(card.measure)->curve)->id);
  for (const FigureLine& line : lesson.figure(lesson.step(StepKind::Run).figures.front())->lines)
    drawn.insert(line.curve);
  CHECK(predicted == drawn);
  p.open("why-a-norm", StepKind::Run);
  p.driver.frames(3);
  CHECK(p.player().figure_id() == lesson.step(StepKind::Run).figures.front());
}

TEST_CASE("a lesson that is left while it is measured says so, and goes on when it is opened again") {
  PlayerDriver p("", {1600, 1000}, 1, while_training("D", {}));
  p.open("first-steps", StepKind::Run);
  p.click("lesson/next");
  REQUIRE(p.player().measuring());
  const int before = p.started;
  p.click("lesson/list/warm-up");
  p.driver.frames(3);
  CHECK(test::contains(p.driver.control("lesson/list/first-steps").help, "goes on when you return"));
  CHECK(p.started == before);
  p.click("lesson/list/first-steps");
  p.driver.frames(3);
  CHECK(p.started == before + 1);
  CHECK_FALSE(test::contains(p.driver.control("lesson/list/first-steps").help, "goes on when you return"));
}

TEST_CASE("what is said of the runs stands in one column, however long their names are", "[player]") {
  PlayerDriver p;
  p.open("two-stacks", StepKind::Predict);
  std::vector<float> left;
  for (const ui::TextRecord& text : p.ui.texts())
    if (text.text == "hidden until you commit") left.push_back(text.rect.x);
  REQUIRE(left.size() == 4);
  for (const float x : left) CHECK(x == left.front());
}

TEST_CASE("cards about the runs of a lesson have their letters") {
  const char* id = GENERATE("two-stacks", "why-a-norm");
  PlayerDriver p;
  p.open(id, StepKind::Predict);
  std::set<std::string> letters;
  for (const Prediction::Card& card : p.player().lesson()->prediction.cards) {
    const ui::Rect box = p.driver.control("lesson/card/" + card.id).rect;
    for (const ui::TextRecord& text : p.ui.texts())
      if (box.contains(text.rect) && text.text.size() == 1 && text.text[0] >= 'A' && text.text[0] <= 'D')
        letters.insert(text.text);
  }
  CHECK(letters == std::set<std::string>{"A", "B", "C", "D"});
}

TEST_CASE("no text overlaps another or is cut off, in every step, layout and theme") {
  using Window = std::pair<ui::Vec, float>;
  for (const auto& [size, scale] :
       {Window{{1600, 1000}, 1}, Window{{1440, 900}, 1}, Window{{1600, 1000}, 1.5f}}) {
    PlayerDriver p("", size, scale);
    for (const std::string& id : ids())
      for (const StepKind step : kSteps) {
        p.open(id, step);
        if (const char* folder = std::getenv("NORMSCOPE_PICTURES")) {
          for (const bool dark : {false, true}) {
            p.state.look.dark = dark;
            p.driver.frames(2);
            headless::write_png(fmt::format("{}/{}-{}-{:.0f}-{:g}{}.png", folder, id, to_string(step), size.x,
                                            scale, dark ? "-dark" : ""),
                                headless::rasterise(*p.loop.draw_data(), ui::theme(dark).bg.packed()));
          }
        }
        if (p.player().lesson()->prediction.kind != Prediction::Kind::Order || step != StepKind::Predict) {
          const Lesson& lesson = *p.player().lesson();
          CHECK(p.shows(lesson.figure(lesson.step(step).figures[0])->title));  // not cut off by its switch
        }
        INFO(id << " " << to_string(step) << " " << size.x << " x" << scale);
        CHECK(fixture::overlaps(p.ui) == std::vector<std::string>{});
      }
  }
}

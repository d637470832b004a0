// No text of the Lab overlaps another, none is cut off, at the sizes, scales and themes that people use.
#include <algorithm>

#include "app/panels/panels.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/text_faults.h"
#include "training/files/placement_file.h"
#include "training/support/tiny.h"

using namespace normscope;
using fixture::LabDriver;

namespace {

void check_view(std::shared_ptr<const LabView> view, ui::Vec size, float scale, bool dark,
                const std::string& what, const std::function<void(headless::UiDriver&)>& hand = {}) {
  LabDriver lab(std::move(view), size, scale);
  lab.state.look.dark = dark;
  lab.state.switches.clock = true;
  lab.driver.frames(2);
  if (hand) hand(lab.driver);
  CHECK(lab.ui.texts().size() > 40);
  for (const std::string& fault : fixture::text_faults(lab.ui))
    FAIL_CHECK(fmt::format("{}x{} at {}, {}: {}", size.x, size.y, scale, what, fault));
}

void check(const fixture::LabShape& shape, ui::Vec size, float scale, bool dark,
           const std::function<void(headless::UiDriver&)>& hand = {}) {
  check_view(fixture::lab_view(shape), size, scale, dark,
             fmt::format("step {}, {} layers{}", shape.step, shape.layers, shape.fork ? ", fork" : ""), hand);
}

constexpr ui::Vec kThreeSizes[] = {{1600, 1000}, {1440, 900}, {1024, 600}};

}  // namespace

TEST_CASE("no text overlaps or is cut, at rest") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1440, 900}, ui::Vec{1920, 1080}, ui::Vec{1400, 840},
                       ui::Vec{1024, 600}, ui::Vec{1280, 720}})
    for (float scale : {0.75f, 1.f, 1.5f})
      for (int step : {3, 100, 214, 300}) {
        fixture::LabShape shape{.step = step};
        check(shape, size, scale, step == 100);
        shape.fork = step > 160;
        if (shape.fork) check(shape, size, scale, false);
      }
}

TEST_CASE("no text overlaps or is cut while a norm is held") {
  for (ui::Vec size : kThreeSizes)
    check({}, size, 1, true, [](headless::UiDriver& driver) {
      driver.script("grab diagram/layer2/attn/stream diagram/layer2/attn/before\nframes 12");
    });
}

TEST_CASE("every tab of the compact layout holds its texts") {
  auto click = [](const std::string& name) {
    return [name](headless::UiDriver& driver) {
      driver.click(name);
      driver.move_to({4, 4});
      driver.frames(3);
    };
  };
  for (const panels::Panel* panel : panels::tab_panels())
    for (int step : {60, 214, 300}) {
      fixture::LabShape shape{.step = step};
      const std::string tab = std::string("plot/tab/") + panel->place.tab;
      check(shape, {1024, 600}, 1, false, click(tab));
      shape.fork = step > 160;
      check(shape, {1024, 600}, 1, true, click(tab));
    }
  for (ui::Vec size : {ui::Vec{1024, 600}, ui::Vec{1440, 900}})
    for (bool fork : {false, true}) {
      fixture::LabShape shape{.fork = fork};
      check(shape, size, 1, false, click("lab/left/Settings"));
    }
}

// The cells beside it, and every layout: test_text_matrix.cpp.
TEST_CASE("the compact layout's cell of the hidden norm shows any metric, called by its name") {
  for (const panels::Metric q : panels::metrics())
    check({}, {1024, 600}, 1, false, [&](headless::UiDriver& driver) {
      driver.click("plot/tab/Hidden norm");
      driver.choose("plot/hidden-norm/quantity", q->id);
      CHECK(driver.value("plot/hidden-norm/quantity") == q->id);
      driver.move_to(ui::Vec{4, 4});
      driver.frames(3);
    });
}

TEST_CASE("a script says names with spaces in them") {
  LabDriver lab(fixture::lab_view(), {1024, 600});
  lab.driver.script("click plot/tab/Hidden norm\nframes 2");
  CHECK(lab.driver.control("plot/hidden-norm").rect.w > 100);
  lab.driver.script("hover   plot/tab/Gradient over time \nclick plot/tab/Gradient over time\n");
  CHECK(lab.driver.control("plot/gradient-over-time/A").rect.w > 100);
}

TEST_CASE("odd sessions fit too: one layer, many layers, long budgets") {
  for (ui::Vec size : kThreeSizes)
    for (int layers : {1, 2, 12, 24}) {
      fixture::LabShape shape{.layers = layers};
      check(shape, size, 1, false);
      shape.budget = 100000;
      check(shape, size, 1, true);
    }
}

TEST_CASE("long values of a setting leave its label alone") {
  struct Forgetting {
    ~Forgetting() { forget_added_placements(); }
  } forgetting;
  offer(
      parse_placement("name = \"mine\"\nlabel = \"Norm behind every second branch\"\nsublayer = "
                      "\"before=ln after=ln stream=ln\"\n",
                      "mine.toml"));
  for (ui::Vec size : kThreeSizes) {
    LabView view = *fixture::lab_view();
    for (size_t run : {1, 2}) {
      RunSpec spec = test::with_fields(*view.runs[run].spec, {{"model.placement", "mine"}});
      view.runs[run].spec = std::make_shared<const RunSpec>(spec);
    }
    check_view(std::make_shared<const LabView>(view), size, 1, false, "long placement");
  }
}

TEST_CASE("a run that is not finite says so, and a text of one's own has longer words") {
  for (ui::Vec size : kThreeSizes) {
    LabView broken = *fixture::lab_view();
    RunView& a = broken.runs[0];
    a.state = RunState::NonFinite;
    a.badge = "not finite at step 23";
    a.note = "first in layer 2: L02.attn.wq gradient";
    a.loss = std::numeric_limits<double>::quiet_NaN();
    check_view(std::make_shared<const LabView>(broken), size, 1, false, "not finite");

    LabView text = *fixture::lab_view();
    text.unit = "character";
    text.entropy_rate = 0;
    text.runs[0].badge = "stuck at character frequencies";
    text.message = "notes.txt: 1 204 211 characters, 94 symbols";
    check_view(std::make_shared<const LabView>(text), size, 1, true, "own text");
  }
}

TEST_CASE("an earlier step under the cursor, with its button, and reruns with bands hold their texts") {
  const auto pin = [](int step) {
    return [step](headless::UiDriver& driver) {
      driver.click("timeline", {static_cast<float>(step) / 300, 0.5f});
      driver.move_to({4, 4});
      driver.frames(3);
    };
  };
  for (ui::Vec size : kThreeSizes)
    for (int step : {2, 60, 131, 150, 205})
      for (bool fork : {false, true}) {
        fixture::LabShape shape{.fork = fork};
        check(shape, size, 1, fork, pin(step));
      }
  for (ui::Vec size : kThreeSizes)
    for (bool fork : {false, true}) {
      LabView view = *fixture::lab_view({.fork = fork});
      view.seed_check_done = 700;
      view.seed_check_steps = 3600;
      for (RunView& run : view.runs) {
        RunSpread spread;
        spread.seeds = 2;
        for (int step = 1; step <= 300; ++step) {
          const auto loss = static_cast<float>(fixture::loss_at(run.letter % 3, step));
          spread.mean.push_back(loss);
          spread.low.push_back(loss - 0.1f);
          spread.high.push_back(loss + 0.1f);
        }
        run.spread = std::make_shared<const RunSpread>(std::move(spread));
      }
      check_view(std::make_shared<const LabView>(view), size, 1, false, "reruns");
      if (size.y < 1000)
        check_view(std::make_shared<const LabView>(view), size, 1, false, "reruns, settings",
                   [](headless::UiDriver& driver) { driver.click("lab/left/Settings"); });
    }
}

TEST_CASE("behind a title bar a screen of 1600 x 1000 keeps its settings and the words of the empty card") {
  for (const ui::Vec size :
       {ui::Vec{1600, 1000}, ui::Vec{1598, 975}, ui::Vec{1440, 900}, ui::Vec{1280, 720}}) {
    LabDriver lab(fixture::lab_view(), size);
    lab.driver.frames(2);
    INFO(size.x << " x " << size.y);
    CHECK(std::ranges::any_of(
        lab.ui.texts(), [](const ui::TextRecord& text) { return text.text.ends_with("to start D here"); }));
    const bool full = size.y > 930;
    CHECK((lab.ui.registry().find("lab/left/Settings") == nullptr) == full);
    CHECK((lab.ui.registry().find("settings/train.lr") != nullptr) == full);
  }
  LabDriver larger(fixture::lab_view(), {1600, 1000}, 1.5f);  // a square, and yet with a word
  CHECK(
      std::ranges::any_of(larger.ui.texts(), [](const ui::TextRecord& text) { return text.text == "free"; }));
  LabDriver narrow(fixture::lab_view(), {1024, 600});
  narrow.driver.move_to("run/D");
  narrow.driver.frames(40);
  CHECK(std::ranges::any_of(narrow.ui.texts(), [](const ui::TextRecord& text) {
    return text.text.starts_with("Run D starts here");
  }));
}

// Every event of the timeline is named, or can be identified under the mouse.
#include "app/lab/timeline_labels.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/text_faults.h"
#include "catch.hpp"

using namespace normscope;
using fixture::LabDriver;

namespace {

bool written(LabDriver& lab, const std::string& text) {
  const auto& texts = lab.ui.texts();
  return std::ranges::any_of(texts, [&](const auto& t) { return t.text == text; });
}

std::shared_ptr<const LabView> view_with(std::vector<std::pair<int, int>> left, int steps) {
  auto view = std::const_pointer_cast<LabView>(fixture::lab_view({.step = 40, .budget = steps}));
  for (auto [run, step] : left)
    std::const_pointer_cast<History>(view->runs[static_cast<size_t>(run)].history)
        ->add_event({step, RunEvent::Kind::LeftPlateau, "leaves the plateau"});
  view->step = steps;
  return view;
}

std::vector<std::string> marks_of(const LabView& view) {
  std::vector<std::string> marks;
  for (const lab::TimelineMark& mark : lab::timeline_marks(view))
    marks.push_back(fmt::format("{} {} {}", mark.step, mark.letters, mark.text));
  return marks;
}

}  // namespace

TEST_CASE("the marks of the timeline keep their words in a small window") {
  for (const float scale : {1.f, 1.5f}) {
    LabDriver lab(view_with({{1, 40}, {2, 180}}, 300), {1280, 720}, scale);
    lab.driver.frames(2);
    INFO(scale);
    CHECK(written(lab, "B leaves the plateau"));
    CHECK(written(lab, "C leaves the plateau"));
    CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
  }
}

TEST_CASE("what was changed in several runs at one step is one mark, what they did is one each") {
  const std::string rate = "learning rate 0.003 → 0.001", warmup = "warm-up 0 → 50";
  const auto view =
      std::const_pointer_cast<LabView>(fixture::lab_view({.step = 40, .budget = 300, .fork = true}));
  const auto edit = [&](size_t run, int step, const std::string& text) {
    std::const_pointer_cast<History>(view->runs[run].history)
        ->add_event({step, RunEvent::Kind::Edited, text});
  };
  for (size_t run : {0, 1, 2}) edit(run, 10, rate);
  for (size_t run : {0, 2}) edit(run, 20, rate);
  edit(1, 20, warmup);
  for (size_t run : {1, 3}) edit(run, 30, "");
  for (size_t run : {0, 1})
    std::const_pointer_cast<History>(view->runs[run].history)
        ->add_event({35, RunEvent::Kind::LeftPlateau, ""});
  CHECK(marks_of(*view) == std::vector<std::string>{"10 ABC Runs A–C: " + rate, "20 AC Runs A, C: " + rate,
                                                    "20 B B: " + warmup, "30 BD Runs B, D: edited",
                                                    "35 A A leaves the plateau",
                                                    "35 B B leaves the plateau"});
}

TEST_CASE("events that stand close are named in two rows") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1440, 900}}) {
    LabDriver lab(view_with({{2, 21}, {1, 77}, {0, 150}}, 900), size);
    INFO(size.x);
    for (const char* text : {"A leaves the plateau", "B leaves the plateau", "C leaves the plateau"}) {
      INFO(text);
      CHECK(written(lab, text));
    }
    CHECK(fixture::text_faults(lab.ui).empty());
  }
}

TEST_CASE("an event without room for its name says it under the mouse") {
  LabDriver lab(view_with({{0, 100}, {1, 104}, {2, 108}, {0, 112}, {1, 116}, {2, 120}}, 900));
  CHECK(fixture::text_faults(lab.ui).empty());
  for (int event = 0; event < 6; ++event) {
    lab.driver.move_to(lab.driver.control(fmt::format("timeline/event{}", event)).rect.centre());
    lab.driver.frames(30);
    const int step = 100 + 4 * event;
    bool named = false;
    for (const auto& t : lab.ui.texts())
      named |= t.text.find(fmt::format("at step {}", step)) != std::string::npos;
    INFO(step);
    CHECK(named);
  }
}

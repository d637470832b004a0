// These tests use the Lab by name, over a fixed view: every gesture ends in the command that it should.
#include <imgui.h>
#include <time.h>

#include <algorithm>

#include "app/lab/lab_screen.h"
#include "app/lab/transport.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/text_faults.h"
#include "training/support/tiny.h"

using namespace normscope;
using namespace session;
using namespace normscope::lab;
using fixture::LabDriver;

TEST_CASE("undo and redo are asked of the trainer, whose answer chooses the run that is shown") {
  LabDriver lab(fixture::lab_view());
  const auto answer = [&](bool undo, char selected) {
    auto view = std::make_shared<LabView>(*lab.state.session.view);
    view->answered = lab.state.session.last_ticket;
    view->step_back = {view->answered, undo, false, selected};
    view->can_undo = !undo;
    view->can_redo = undo;
    lab.state.session.view = view;
    lab.driver.frames(1);
  };
  lab.driver.drag("diagram/layer2/attn/stream", "diagram/layer2/attn/before");
  CHECK(lab.state.screens.lab.diagram().selected == 'D');
  CHECK(lab.state.session.can_undo());  // though nothing has answered the fork
  CHECK_FALSE(lab.state.session.can_redo());
  lab.driver.key("Ctrl+Z");
  CHECK(lab.last<Undo>());
  CHECK(lab.state.session.can_redo());
  answer(true, 'A');
  CHECK(lab.state.screens.lab.diagram().selected == 'A');
  CHECK_FALSE(lab.state.session.can_undo());
  lab.driver.key("Ctrl+Shift+Z");
  CHECK(lab.last<Redo>());
  answer(false, 'D');
  CHECK(lab.state.screens.lab.diagram().selected == 'D');
  CHECK(lab.state.session.can_undo());
  CHECK_FALSE(lab.state.session.can_redo());
}

TEST_CASE("while the peak is held the plans of all runs follow it and the axis stands still") {
  for (const char* kind : {"constant", "cosine"}) {
    INFO(kind);
    auto view = std::make_shared<LabView>(*fixture::lab_view());
    for (RunView& run : view->runs) {
      RunSpec spec = test::with_fields(*run.spec, {{"train.schedule", kind}});
      run.spec = std::make_shared<const RunSpec>(spec);
    }
    LabDriver lab(view);
    view::LabData data;
    const auto plot = [&] { return panels::rate_plot(*view, data, lab.state.screens.lab.shown()); };
    const auto planned = [&](char letter) {
      for (const plot::Series& series : plot().series)
        if (series.id == std::string(1, letter) + " planned") return series.y[0];
      return -1.f;
    };
    const double top = plot().y.hi, before = planned('B');
    lab.driver.move_to("plot/rate/peak");
    lab.driver.press();
    for (int i = 1; i < 6; ++i) lab.driver.move_to(lab.ui.mouse() + ui::Vec{0, 3});
    lab.driver.frames(6);
    const double held = std::stod(lab.driver.value("plot/rate/peak"));
    CHECK((held < 0.0029 && held > 0.0005));
    CHECK(planned('B') == Approx(before * held / 0.003).epsilon(0.02));
    CHECK(plot().y.hi == top);
    CHECK_FALSE(lab.last<EditField>());
    lab.driver.release();
    lab.driver.frames(1);
    REQUIRE(lab.last<EditField>());
    CHECK(std::stod(lab.last<EditField>()->value) == Approx(held).epsilon(0.02));
  }
}

TEST_CASE("what the app has to say comes whole: in one line, in two, or under the mouse") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1024, 600}}) {
    LabDriver lab(fixture::lab_view(), size);
    std::string notice = "saved";
    size_t under_the_mouse = 0;
    for (int words = 1; words < 60; ++words) {
      notice += " words" + std::to_string(words);
      lab.state.notice = notice;
      lab.driver.move_to(ui::Vec{2, 2});
      lab.driver.frames(1);
      const auto shown = [&] {
        std::string text;
        for (const ui::TextRecord& t : lab.ui.texts()) text += " " + t.text + " ";
        return text.find(" words" + std::to_string(words) + " ") != std::string::npos;
      };
      if (shown()) continue;
      ++under_the_mouse;
      lab.driver.move_to("app/message");
      lab.driver.frames(40);
      INFO(size.x << ": " << words);
      CHECK(shown());
    }
    CHECK((under_the_mouse > 20 && under_the_mouse < 56));
  }
}

TEST_CASE("a refusal shows its reason behind a path that is too long for the bar") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1366, 768}}) {
    LabDriver lab(fixture::lab_view(), size);
    lab.state.notice =
        "safetensors /home/a.student.of.the.second.year/.local/share/normscope/autosave/session-A.safetensors: "
        "no space left on device";
    lab.driver.move_to(ui::Vec{2, 2});
    lab.driver.frames(1);
    std::string text;
    for (const ui::TextRecord& t : lab.ui.texts()) text += t.text + " ";
    INFO(size.x);
    CHECK(text.find("no space left on device ") != text.npos);
    CHECK(text.find("session-A.safetensors: ") == text.npos);  // too long to be whole
    CHECK(text.find(".safetensors: ") != text.npos);
  }
}

// The line of a run card: what of a written text fits a given room.

using normscope::lab::line_that_fits;

TEST_CASE("run cards: a line is cut between characters", "[run_cards]") {
  CHECK(line_that_fits("the bold king", 20) == "the bold king");
  CHECK(line_that_fits("the bold king", 6) == "the bo");
  CHECK(line_that_fits("äöü", 2) == "äö");
  CHECK(line_that_fits("", 5).empty());
}

TEST_CASE("run cards: the source of a translation stays in sight", "[run_cards]") {
  const std::string text = "one two three four five \u2190 uno duo tri";
  CHECK(line_that_fits(text, 60) == text);
  CHECK(line_that_fits(text, 24) == "one two th \u2190 uno duo tri");
  CHECK(line_that_fits(text, 10) == "one  \u2190 uno");
}

// These tests drag the gaps between the Lab's panels, move them by keys and put them back; every text stays whole.

namespace {

std::vector<std::string> gaps(const ui::Ui& ui) {
  std::vector<std::string> names;
  for (const ui::Control& c : ui.registry().all())
    if (c.name.starts_with("split/")) names.push_back(c.name);
  return names;
}

double place(LabDriver& lab, const std::string& name) { return std::stod(lab.driver.value(name)); }

void double_click(LabDriver& lab, const std::string& name) {
  lab.driver.click(name);
  lab.click(name);
}

TEST_CASE("a gap between panels is dragged, moved by arrows, and put back by a double click or Enter") {
  LabDriver lab(fixture::lab_view(), {1920, 1200});
  const Splits none{};
  REQUIRE(gaps(lab.ui).size() == none.size());
  for (const std::string& name : gaps(lab.ui)) {
    INFO(name);
    const double own = place(lab, name);
    const bool columns = lab.driver.control(name).rect.h > lab.driver.control(name).rect.w;
    lab.driver.drag_by(name, columns ? ui::Vec{-20, 0} : ui::Vec{0, -20});
    lab.driver.frames(2);
    CHECK(place(lab, name) == Approx(own - 20).margin(1.01));
    CHECK(lab.state.screens.lab.splits() != none);
    double_click(lab, name);
    CHECK(place(lab, name) == own);
    CHECK(lab.state.screens.lab.splits() == none);
    lab.ui.focus(name);
    lab.driver.frames(1);
    lab.key(columns ? "Left" : "Up");
    CHECK(place(lab, name) == Approx(own - 8).margin(1.01));
    lab.key(columns ? "Right" : "Down");
    CHECK(place(lab, name) == Approx(own).margin(1.01));
    lab.key("Enter");
    CHECK(lab.state.screens.lab.splits() == none);
    CHECK(lab.log.empty());
    lab.ui.focus("");
  }
}

TEST_CASE(
    "with every gap at either end no text overlaps or is cut, and a smaller window takes its own places") {
  for (ui::Vec size : {ui::Vec{1400, 840}, ui::Vec{1600, 1000}, ui::Vec{1920, 1200}, ui::Vec{2560, 1440}}) {
    LabDriver lab(fixture::lab_view({.fork = true}), size);
    for (const float end : {0.001f, 0.999f}) {
      lab.state.screens.lab.splits().fill(end);
      lab.driver.frames(3);
      for (const std::string& fault : fixture::text_faults(lab.ui))
        FAIL_CHECK(fmt::format("{}x{}, {}: {}", size.x, size.y, end, fault));
    }
    lab.loop.resize({1024, 600});
    lab.driver.frames(3);
    CHECK(gaps(lab.ui).empty());
    CHECK(fixture::text_faults(lab.ui).empty());
  }
}

// Every event of the timeline is named, or can be identified under the mouse.

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

TEST_CASE("no label of the timeline reaches over the buttons beside it, however early its step") {
  for (const ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1366, 768}, ui::Vec{1024, 600}})
    for (const int step : {1, 4, 12}) {
      INFO(size.x << " " << step);
      const auto view = view_with({}, 300);
      for (const RunView& run : view->runs)
        std::const_pointer_cast<History>(run.history)
            ->add_event({step, RunEvent::Kind::Edited, "learning rate 0.003 → 0.01"});
      LabDriver lab(view, size);
      lab.state.screens.lab.transport().pinned_step = step + 1;
      lab.driver.frames(2);
      const float bar = lab.driver.control("timeline").rect.x;
      for (const ui::TextRecord& text : lab.ui.texts())
        if (test::contains(text.text, "learning rate 0.003 → 0.01")) CHECK(text.rect.x >= bar - 1);
    }
}

TEST_CASE("before a fork its place among the shares of variance says at which step it starts") {
  LabDriver lab(fixture::four_runs());
  for (const int step : {100, 149, 200}) {
    lab.state.screens.lab.transport().pinned_step = step;
    lab.driver.frames(2);
    std::string text;  // in lines, as the place is narrow
    for (const ui::TextRecord& line : lab.ui.texts()) text += line.text + " ";
    INFO(step);
    CHECK(test::contains(text, "starts at step 150") == (step < 150));
    CHECK_FALSE(test::contains(text, "not measured yet"));
  }
}

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
  view->runs[3].fork_step = 25;  // what its source did before belongs to the source
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

// These tests tell what a frame of the Lab costs. How much is drawn is bounded; time is measured and printed, never
// asserted: normscope_app_tests "[.bench]". It is wall time, and the processor time of this thread, which a busy
// machine does not stretch.

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

template <class Driver>
void time_frames(const char* what, Driver& lab, const std::function<void()>& before) {
  lab.driver.frames(10);
  std::vector<double> wall, own;
  for (int i = 0; i < 200; ++i) {
    before();
    const auto start = std::chrono::steady_clock::now();
    const double begin = thread_ms();
    lab.driver.frames(1);
    own.push_back(thread_ms() - begin);
    wall.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::sort(wall);
  std::ranges::sort(own);
  fmt::print(
      "{}: {:.2f} ms median, {:.2f} ms at most of 200 frames ({:.2f}, {:.2f} of this thread), {} vertices\n",
      what, wall[100], wall.back(), own[100], own.back(), lab.loop.draw_data()->TotalVtxCount);
  std::fflush(stdout);
}

}  // namespace

TEST_CASE("a frame of four runs and all plots has at most 150 000 vertices, however long the runs are") {
  fixture::LabDriver lab(fixture::lab_view({.step = 3000, .budget = 4000, .fork = true}));
  for (const auto& [size, scale] : {std::pair{ui::Vec{1600, 1000}, 1.f},
                                    {ui::Vec{2560, 1440}, 1.f},
                                    {ui::Vec{3840, 2160}, 2.f},
                                    {ui::Vec{3840, 2160}, 0.75f}}) {
    lab.loop.resize(size);
    lab.state.look.scale = scale;
    lab.driver.frames(2);
    INFO(size.x << " at " << scale);
    CHECK(lab.loop.draw_data()->TotalVtxCount > 5000);
    CHECK(lab.loop.draw_data()->TotalVtxCount <= 150000);
  }
}

TEST_CASE("cost of a frame with four runs and all plots", "[.bench]") {
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{3840, 2160}}) {
    fixture::LabDriver lab(fixture::lab_view({.fork = true}), size, size.x > 2000 ? 2.f : 1.f);
    time_frames(size.x > 2000 ? "3840x2160" : "1600x1000", lab, [] {});
  }
}

TEST_CASE("cost of a frame while the histories grow", "[.bench]") {
  for (int steps : {300, 10000}) {
    const auto view = fixture::lab_view({.step = steps, .budget = 2 * steps, .fork = true});
    fixture::LabDriver lab(view);
    time_frames(fmt::format("1600x1000, {} steps, new numbers in every frame", steps).c_str(), lab, [&] {
      for (const RunView& run : view->runs)
        std::const_pointer_cast<History>(run.history)->append_validation(steps, 1);
    });
  }
}

// The frame goes from input to vertices, without a window: the mouse moves in every frame.
TEST_CASE("cost of a frame on every screen with four runs of 10 000 steps", "[.bench]") {
  const auto view = fixture::lab_view({.step = 10000, .budget = 20000, .fork = true});
  for (const Screen screen : screens_by_key()) {
    if (screen == Screen::Lessons) continue;
    fixture::LabDriver window(view);
    window.state.switches.record_text = false;
    window.state.screens.shown = screen;
    int frame = 0;
    time_frames(std::string(name_of(screen)).c_str(), window, [&] {
      const float at = static_cast<float>(++frame % 100) / 100;
      window.driver.move_to(ui::Vec{100 + 1400 * at, 200 + 600 * at});
    });
  }
}

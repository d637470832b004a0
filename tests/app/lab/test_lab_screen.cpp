// These tests use the Lab by name, over a fixed view: every gesture ends in the command that it should.
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "catch.hpp"

using namespace normscope;
using namespace session;
using namespace normscope::lab;
using fixture::LabDriver;

TEST_CASE("undo and redo answer every edit") {
  LabDriver lab(fixture::lab_view());
  lab.driver.drag("diagram/layer2/attn/stream", "diagram/layer2/attn/before");
  const Ticket fork = lab.state.session.last_ticket;
  // Before the trainer has answered the fork is named, after it what takes it back.
  for (const bool answered : {false, true}) {
    INFO(answered);
    if (answered) {
      auto view = std::make_shared<LabView>(*lab.state.session.view);
      view->answered = fork;
      view->answers.push_back(
          std::make_shared<const Answer>(Answer{fork, {}, {{RemoveFork{}}, {RestoreFork{}}}}));
      lab.state.session.view = view;
      lab.driver.frames(1);
    }
    lab.driver.key("Ctrl+Z");
    if (answered) CHECK(lab.last<RemoveFork>());
    REQUIRE(lab.last<TakeBack>());
    CHECK(lab.last<TakeBack>()->first == fork);
    CHECK(lab.last<TakeBack>()->last == fork);
    CHECK(lab.state.screens.lab.diagram().selected == 'A');
    lab.driver.key("Ctrl+Shift+Z");
    if (answered) CHECK(lab.last<RestoreFork>());
    CHECK(lab.last<TakeBack>()->again);
    CHECK(lab.state.screens.lab.diagram().selected == 'D');
    CHECK(lab.state.session.undo.can_undo());
    CHECK_FALSE(lab.state.session.undo.can_redo());
  }
}

TEST_CASE("while the peak is held the plans of all runs follow it and the axis stands still") {
  for (const char* kind : {"constant", "cosine"}) {
    INFO(kind);
    auto view = std::make_shared<LabView>(*fixture::lab_view());
    for (RunView& run : view->runs) {
      RunSpec spec = *run.spec;
      set_field(spec, "train.schedule", kind);
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

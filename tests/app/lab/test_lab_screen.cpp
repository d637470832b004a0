// These tests use the Lab by name, over a fixed view: every gesture ends in the command that it should.
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "catch.hpp"

using namespace normscope;
using namespace session;
using namespace normscope::lab;
using fixture::LabDriver;

TEST_CASE("dragging a norm from the stream to before asks for a fork with all twelve moved") {
  LabDriver lab(fixture::lab_view());
  lab.driver.drag("diagram/layer2/attn/trunk", "diagram/layer2/attn/before");
  const auto* fork = lab.last<ForkRequest>();
  REQUIRE(fork);
  CHECK(fork->source == 0);
  CHECK(fork->note == "12 norms moved, final norm added");
  CHECK_FALSE(fork->from_start);
  CHECK(fork->spec.name == "Fork of A");
  for (const LayerWiring& layer : fork->spec.model.stack().layers)
    for (const Wiring* wiring : {&layer.attention, &layer.feed_forward}) {
      CHECK(wiring->before == NormKind::LayerNorm);
      CHECK(wiring->stream == NormKind::None);
    }
  CHECK(fork->spec.model.stack().final == NormKind::LayerNorm);
  lab.driver.frames(2);
  CHECK(lab.driver.value("diagram/layer2/attn/before") == "ln");  // it stays where it fell
}

TEST_CASE("Alt moves one norm, Shift forks from the start") {
  LabDriver lab(fixture::lab_view());
  lab.driver.drag("diagram/layer2/ffn/trunk", "diagram/layer2/ffn/after", "Alt");
  const auto* fork = lab.last<ForkRequest>();
  REQUIRE(fork);
  CHECK(fork->note == "1 norm moved");
  CHECK(view::count_norms(fork->spec.model.stack()) == 12);
  CHECK(view::norm_at(fork->spec.model.stack(), {1, view::Sub::FeedForward, Slot::After}) ==
        NormKind::LayerNorm);
  CHECK(view::norm_at(fork->spec.model.stack(), {1, view::Sub::Attention, Slot::Stream}) ==
        NormKind::LayerNorm);

  LabDriver again(fixture::lab_view());
  again.driver.drag("diagram/layer2/attn/trunk", "diagram/layer2/attn/before", "Shift");
  REQUIRE(again.last<ForkRequest>());
  CHECK(again.last<ForkRequest>()->from_start);
}

TEST_CASE("while a norm is held, footer and card D say what letting go will do") {
  LabDriver lab(fixture::lab_view());
  lab.driver.script("grab diagram/layer2/attn/trunk diagram/layer2/attn/before\nframes 3");
  CHECK(test::contains(lab.driver.value("diagram/footer"), "all 12 norms before their branch"));
  CHECK(test::contains(lab.driver.value("diagram/footer"), "A final norm comes along"));
  CHECK(lab.driver.value("run/D") == "12 norms moved, final norm added");
  lab.driver.script("drop");
  CHECK(lab.last<ForkRequest>());
}

TEST_CASE("letting go anywhere else changes nothing, nor does a drag that was cancelled") {
  LabDriver lab(fixture::lab_view());
  lab.driver.drag_by("diagram/layer2/attn/trunk", {300, 140});
  CHECK_FALSE(lab.last<ForkRequest>());
  lab.driver.script("grab diagram/layer2/attn/trunk diagram/layer2/attn/before\nframes 2\nkey Escape\ndrop");
  CHECK_FALSE(lab.last<ForkRequest>());
}

TEST_CASE("the keyboard does what the mouse does") {
  struct Case {
    const char *key, *to;
    bool alone;
  };
  for (const Case& c :
       {Case{"I", "before", false}, Case{"O", "after", false}, Case{"Alt+I", "before", true}}) {
    LabDriver mouse(fixture::lab_view()), keys(fixture::lab_view());
    mouse.driver.drag("diagram/layer2/attn/trunk", std::string("diagram/layer2/attn/") + c.to,
                      c.alone ? "Alt" : "");
    keys.ui.focus("diagram/layer2/attn/trunk");
    keys.driver.frames(2);
    keys.driver.key(c.key);
    INFO(c.key);
    REQUIRE(mouse.last<ForkRequest>());
    REQUIRE(keys.last<ForkRequest>());
    CHECK(keys.last<ForkRequest>()->spec.model.stack() == mouse.last<ForkRequest>()->spec.model.stack());
    CHECK(keys.last<ForkRequest>()->note == mouse.last<ForkRequest>()->note);
  }
}

TEST_CASE("Enter empties and fills a slot, and arrows walk the slots and layers") {
  LabDriver lab(fixture::lab_view());
  lab.ui.focus("diagram/layer2/attn/trunk");
  lab.driver.frames(2);
  lab.driver.key("Right");
  CHECK(lab.ui.focused() == "diagram/layer2/attn/before");
  lab.driver.key("Up");
  CHECK(lab.ui.focused() == "diagram/layer2/ffn/before");
  lab.key("Up");
  CHECK(lab.ui.focused() == "diagram/layer3/attn/before");
  lab.driver.key("Enter");
  REQUIRE(lab.last<ForkRequest>());
  CHECK(lab.last<ForkRequest>()->note == "12 norms added");
  CHECK_FALSE(lab.last<StepOnce>());  // the arrows did not reach the transport
}

TEST_CASE("the kind of a norm is chosen by right click") {
  LabDriver lab(fixture::lab_view());
  lab.click("diagram/layer2/attn/trunk", {0.5f, 0.5f}, 1);
  lab.driver.click("diagram/kind/rms");
  REQUIRE(lab.last<ForkRequest>());
  CHECK(lab.last<ForkRequest>()->note == "12 norms changed");
}

TEST_CASE("a preset snaps all layers and the final norm") {
  LabDriver lab(fixture::lab_view());
  lab.driver.click("diagram/preset/Pre");
  const auto* fork = lab.last<ForkRequest>();
  REQUIRE(fork);
  CHECK(placement_of(fork->spec.model.stack(), context_of(fork->spec.model, true)) == Placement::Pre);
  CHECK(fork->spec.model.stack().final == NormKind::LayerNorm);
  CHECK(fork->note == "Pre-LN in all layers");
}

TEST_CASE("rows open and close, tiles and cards choose the run") {
  LabDriver lab(fixture::lab_view());
  lab.click("diagram/layers3-6");
  CHECK(lab.ui.registry().find("diagram/layer3/attn/trunk"));
  lab.click("diagram/collapse");
  CHECK(lab.ui.registry().find("diagram/layers1-6"));
  lab.driver.click("diagram/run/C");
  CHECK(lab.state.screens.lab.diagram().selected == 'C');
  lab.driver.click("run/B");
  CHECK(lab.state.screens.lab.diagram().selected == 'B');
}

TEST_CASE("transport: play, step, reset, speed, budget") {
  LabDriver lab(fixture::lab_view());
  lab.driver.click("transport/play");
  CHECK(lab.last<Pause>());
  lab.driver.key("Space");
  CHECK(lab.log.size() == 2);
  lab.driver.click("transport/step");
  CHECK(lab.last<StepOnce>());
  lab.driver.click("transport/reset");
  REQUIRE(lab.last<Reset>());
  CHECK_FALSE(lab.last<Reset>()->new_seed);
  lab.driver.click("transport/speed/slow");
  REQUIRE(lab.last<SetSpeed>());
  CHECK(lab.last<SetSpeed>()->steps_per_second == kSpeeds[0]);
  lab.click("transport/budget");
  lab.driver.key("Ctrl+A");
  lab.driver.type("450");
  lab.driver.key("Enter");
  REQUIRE(lab.last<SetBudget>());
  CHECK(lab.last<SetBudget>()->steps == 450);
}

TEST_CASE("Right steps, unless a control has the arrows; Space is a space while typing") {
  LabDriver lab(fixture::lab_view());
  lab.driver.key("Right");
  CHECK(lab.last<StepOnce>());
  lab.log.clear();
  lab.click("transport/budget");
  lab.driver.key("Space");
  CHECK_FALSE(lab.last<Pause>());
}

TEST_CASE("the timeline sets the step that the depth plots show") {
  LabDriver lab(fixture::lab_view());
  const ui::Control line = lab.driver.control("timeline");
  lab.click("timeline", {8 / line.rect.w + 0.25f, 0.5f});
  const int step = std::stoi(lab.driver.value("timeline"));
  CHECK(step > 60);
  CHECK(step < 90);
  CHECK(lab.state.screens.lab.transport().pinned_step == step);
  lab.driver.key("End");
  CHECK_FALSE(lab.state.screens.lab.transport().pinned_step);
}

TEST_CASE("Left and Right move the cursor by a step; at the newest step Right trains one") {
  LabDriver lab(fixture::lab_view());
  const int newest = lab.state.session.view->step;
  const auto& pinned = lab.state.screens.lab.transport().pinned_step;
  lab.driver.key("Left");
  lab.driver.key("Left");
  CHECK(pinned == newest - 2);
  lab.driver.key("Right");
  CHECK(pinned == newest - 1);
  CHECK_FALSE(lab.last<StepOnce>());
  lab.driver.key("Right");
  CHECK_FALSE(pinned);
  CHECK_FALSE(lab.last<StepOnce>());
  lab.driver.key("Right");
  CHECK(lab.last<StepOnce>());
  CHECK_FALSE(pinned);
}

TEST_CASE("settings: shared fields edit all runs, a run that differs alone") {
  LabDriver lab(fixture::lab_view());
  lab.click("settings/train.lr");
  lab.driver.key("Ctrl+A");
  lab.driver.type("0.001");
  lab.driver.key("Enter");
  REQUIRE(lab.last<EditField>());
  CHECK(lab.last<EditField>()->run == -1);
  CHECK(lab.last<EditField>()->key == "train.lr");
  CHECK(std::stod(lab.last<EditField>()->value) == Approx(0.001));

  lab.driver.drag_by("settings/train.warmup/B", {-20, 0});
  REQUIRE(lab.last<EditField>());
  CHECK(lab.last<EditField>()->run == 1);
  CHECK(lab.last<EditField>()->key == "train.warmup");
  CHECK(std::stoi(lab.last<EditField>()->value) < 200);
  const auto differing = settings::differing_fields(*lab.state.session.view);
  REQUIRE(differing.size() == 2);
  CHECK(differing[0]->key == "model.placement");
  CHECK(differing[1]->key == "train.warmup");

  lab.driver.click("settings/edits/A");
  lab.click("settings/model.init");
  lab.log.clear();
  lab.driver.click("settings/model.init/theory");
  REQUIRE(lab.log.size() == 2);  // B and C
  CHECK(std::get<EditField>(lab.log[0]).run == 1);
}

TEST_CASE(
    "a structural setting says what it does before it does it: under the mouse, in focus, while it moves") {
  LabDriver lab(fixture::lab_view(), {1440, 900});  // where the note has a place of its own
  lab.click("lab/left/Settings");
  const auto note = [&] {
    lab.driver.frames(2);
    return lab.driver.value("settings/note");
  };
  lab.driver.move_to("settings/model.d_model");
  CHECK(note() == "a change restarts from step 0");
  lab.driver.move_to("settings/train.lr");  // acts at once
  CHECK(note() == "seed, batches and weights are shared");
  lab.driver.move_to({2, 2});
  lab.ui.focus("settings/model.layers");
  lab.driver.key("Tab");
  lab.driver.key("Shift+Tab");
  CHECK(lab.ui.focused() == "settings/model.layers");
  CHECK(note() == "a change restarts from step 0");
  lab.driver.script("grab settings/model.d_model settings/edits/C");
  const std::string cost = note();
  CHECK(test::contains(cost, "a step"));
  CHECK(test::contains(cost, "MB"));
  lab.driver.script("drop");

  // A choice tells it while the hand is over it.
  lab.driver.frames(2);
  lab.click("settings/model.init");
  lab.driver.move_to("settings/model.init/theory");
  CHECK(note().find("restarts: about") == 0);
}

TEST_CASE("a bookmark is set with the key, from the palette and by a right click") {
  LabDriver lab(fixture::lab_view());
  const auto& marks = lab.state.screens.lab.transport().bookmarks;
  lab.driver.key("B");
  CHECK(marks == std::vector<int>{214});
  lab.click("timeline", {0.3f, 0.5f}, 1);
  REQUIRE(marks.size() == 2);
  lab.click("timeline/bookmark/" + std::to_string(marks[0]));
  CHECK(lab.state.screens.lab.transport().pinned_step == marks[0]);
  fixture::run_by_name(lab, "bookmark at the cursor");
  CHECK(marks == std::vector<int>{214});
}

TEST_CASE("undo and redo answer every edit") {
  LabDriver lab(fixture::lab_view());
  lab.driver.drag("diagram/layer2/attn/trunk", "diagram/layer2/attn/before");
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

TEST_CASE("the handles of the learning rate act on the runs") {
  LabDriver lab(fixture::lab_view({.step = 150}));
  lab.driver.drag_by("plot/rate/warmup/B", {-60, 0});
  REQUIRE(lab.last<EditField>());
  CHECK(lab.last<EditField>()->run == 1);
  CHECK(lab.last<EditField>()->key == "train.warmup");
  CHECK(std::stoi(lab.last<EditField>()->value) < 190);
  lab.driver.drag_by("plot/rate/peak", {0, 20});
  CHECK(lab.last<EditField>()->run == -1);
  CHECK(lab.last<EditField>()->key == "train.lr");
  CHECK(std::stod(lab.last<EditField>()->value) < 0.003);
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

TEST_CASE("theme, scale and help are controls like the others") {
  LabDriver lab(fixture::lab_view());
  lab.driver.click("app/theme");
  lab.driver.frames(1);
  CHECK(lab.state.look.dark);
  CHECK(lab.driver.value("app/theme") == "dark");
  lab.click("app/scale");
  lab.click("app/scale/150");
  CHECK(lab.state.look.scale == 1.5f);
  CHECK(lab.ui.scale() == Approx(1.5f));
  CHECK(lab.ui.registry().find("lab/left"));  // 1067 x 667: compact
  lab.key("?");
  CHECK(lab.ui.popup_open("app/help"));
}

TEST_CASE("an empty session draws") {
  LabDriver lab(std::make_shared<const LabView>());
  lab.driver.frames(3);
  CHECK(lab.ui.registry().find("transport/play"));
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

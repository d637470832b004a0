// These tests have systems beside plain transformers in the Lab: a convolutional network and a parser train, are drawn
// as the chains that they are and changed by hand; a memory is beside the stream. What needs a residual stream is grey
// there and says why.
#include <algorithm>

#include "addons/systems/app/diagram_chain.h"
#include "app/panels/panels.h"
#include "app/settings/settings.h"
#include "app/shell/palette.h"
#include "app/support/lab_fixture.h"
#include "app/support/systems_view.h"
#include "app/support/text_faults.h"
#include "app/view/diagram_model.h"
#include "catch.hpp"
#include "training/session/lab_trainer.h"

using namespace normscope;
using namespace session;
using fixture::LabDriver, fixture::LiveDriver;

namespace {

Placement placement_now(const RunSpec& spec) { return view::chain_placement(spec.model, spec.model.stack()); }

void choose_architecture(LabDriver& lab, const std::string& name) {
  lab.state.screens.lab.reveal("settings/model.architecture", lab.ui.registry());
  lab.driver.frames(4);
  lab.click("settings/model.architecture");
  lab.driver.click("settings/model.architecture/" + name);
}

// Demands that nothing that is drawn fails, is cut or overlaps.
void check_drawn(LabDriver& lab) {
  const ui::Control* failure = lab.ui.registry().find("app/failure");
  CHECK_FALSE(failure);
  for (const std::string& fault : fixture::text_faults(lab.ui)) FAIL_CHECK(fault);
}

}  // namespace

TEST_CASE("each system trains in the Lab: losses, gradients of every layer, and its score on the card") {
  for (const std::string& name : fixture::systems()) {
    INFO(name);
    const auto view = fixture::systems_view(name);
    CHECK(view->message == "");
    CHECK(view->step == 4);
    REQUIRE(view->runs.size() == 3);
    view::LabData data;
    panels::PlotOptions options{.step = 4};
    for (const RunView& run : view->runs) {
      CHECK(std::isfinite(run.loss));
      CHECK(std::isfinite(run.validation_loss));
      CHECK_FALSE(run.writes.empty());
      const std::vector<float> gradients = data.by_layer(run, "ffn.w2.grad_norm", 4);
      CHECK(gradients.size() == static_cast<size_t>(view::layers_of(run)));
      for (const float gradient : gradients) CHECK(view::usable(gradient));
    }
    for (const plot::PlotSpec& plot : panels::over_time_plots(*view, data, options))
      CHECK(plot.series.size() == static_cast<size_t>(view::layers_of(view->runs[0])));
    for (const plot::Series& line : panels::hidden_norm_plot(*view, data, options).series)
      CHECK(view::usable(line.y[0]));
    const std::string score = view->runs[0].score;
    if (std::string_view(name) == "convolutional") CHECK(score.starts_with("accuracy "));
    if (std::string_view(name) == "parser") CHECK(score.starts_with("UAS "));
    if (std::string_view(name) == "memory") CHECK(score.empty());
  }
  const RunView& run = fixture::systems_view("convolutional")->runs[0];
  view::LabData data;
  CHECK(data.by_layer(run, "ffn.w2.grad_norm", 4)[0] == data.value(run, "L01.conv.w.grad_norm", 4));
  CHECK(data.by_layer(run, "attn.wq.grad_norm", 4)[2] == data.value(run, "class.w.grad_norm", 4));
}

TEST_CASE("every panel of every system is drawn whole, hovered and clicked") {
  for (const std::string& name : fixture::systems())
    for (const ui::Vec size : {ui::Vec{1600, 1000}, {1440, 900}, {1024, 600}}) {
      INFO(name << " at " << size.x);
      LabDriver lab(fixture::systems_view(name), size);
      check_drawn(lab);
      std::vector<std::string> names;
      for (const ui::Control& c : lab.ui.registry().all())
        if (c.name.starts_with("diagram") || c.name.starts_with("plot/") || c.name.starts_with("run/"))
          names.push_back(c.name);
      REQUIRE(names.size() > 12);
      for (const std::string& control : names) {
        if (!lab.ui.registry().find(control)) continue;
        INFO(control);
        lab.driver.move_to(control);
        lab.driver.frames(1);
        lab.driver.press();
        lab.driver.release();
        lab.driver.frames(2);
        REQUIRE_FALSE(lab.ui.registry().find("app/failure"));
        lab.key("Escape");
      }
    }
}

TEST_CASE("no equation about streams is drawn over numbers without one, and no whole batch is measured") {
  for (const char* name : {"convolutional", "parser"}) {
    INFO(name);
    view::LabData data;
    const auto view = fixture::systems_view(name);
    for (const int step : {1, 4}) {
      panels::PlotOptions options{.step = step};
      CHECK(panels::hidden_norm_plot(*view, data, options).bands.empty());
      for (const plot::Series& line : panels::gradient_by_layer_plot(*view, data, options).series)
        CHECK_FALSE(test::contains(line.id, "theory"));
    }
  }
  Lab lab{fixture::quiet_lab()};
  lab.post(ReplaceRuns{fixture::small_system("convolutional"), {}, false});
  test::view_after(lab, MeasureBatch{});
  CHECK_THAT(lab.view()->message, Catch::Contains("expected a transformer"));
}

TEST_CASE("the chain has the slots of the engine") {
  const auto slots = [](const RunSpec& spec) {
    std::string names;
    for (const view::ChainPart& part : view::chain_parts(spec.model, spec.model.stack()))
      if (!part.slot.empty())
        names += fmt::format("{}{} ", part.slot, part.norm == NormKind::None ? "" : "*");
    return names;
  };
  const auto runs = fixture::systems_view("convolutional")->runs;
  CHECK(slots(*runs[0].spec) ==
        "layer1/conv/after* layer2/conv/before layer2/conv/after* layer3/class/before ");
  CHECK(slots(*runs[1].spec) ==
        "layer1/conv/after layer2/conv/before* layer2/conv/after layer3/class/before* ");
  CHECK(slots(*fixture::systems_view("parser")->runs[0].spec) ==
        "layer1/hidden/after* layer2/hidden/after* ");
}

TEST_CASE("a norm that is dropped where a free slot lies out of sight goes nowhere") {
  const auto view = fixture::systems_view("convolutional");
  view::LabData data;
  diagram::DiagramState state;
  std::vector<Command> commands;
  headless::Frame loop({400, 400});
  ui::Ui ui(ui::load_fonts());
  const ui::Rect area{10, 10, 300, 120};
  headless::UiDriver driver(loop, ui, [&] {
    ui.begin_frame({});
    diagram::draw_chain(ui, state, {*view, data, 4}, 0, diagram::shown_stacks(state, *view, 0), area,
                        commands);
    ui.end_frame();
  });
  driver.frames(2);
  const ui::Rect filled = driver.control("diagram/layer2/conv/after").rect;
  // A box between them, as there is one between the filled slot and the free one below it.
  const float up = driver.control("diagram/layer3/class/before").rect.y - filled.y;
  CHECK(filled.y - up > area.bottom());
  CHECK_FALSE(ui.registry().find("diagram/layer2/conv/before"));
  driver.drag_by("diagram/layer2/conv/after", {0, -up});
  driver.frames(2);
  CHECK_FALSE(state.preset_asked);
  driver.drag_by("diagram/layer2/conv/after", {0, up});
  driver.frames(2);
  CHECK(state.preset_asked == Placement::Pre);
}

TEST_CASE("the presets that are offered of a model without a stream are those that it can have") {
  const auto presets = [](const LabDriver& lab) {
    std::vector<Placement> named;
    for (const shell::PaletteItem& item : shell::palette_items(lab.ui, {}, {}, lab.state.session.view.get()))
      if (item.preset) named.push_back(*item.preset);
    std::ranges::sort(named);
    return named;
  };
  LabDriver parser(fixture::systems_view("parser"));
  CHECK(presets(parser) == std::vector{Placement::None, Placement::Pre});
  LabDriver images(fixture::systems_view("convolutional"));
  CHECK(presets(images) == std::vector{Placement::None, Placement::Post, Placement::Pre});
  LabDriver plain(fixture::lab_view());
  CHECK(presets(plain).size() == std::size(kPresets));
}

TEST_CASE("a command does not wait for the score of a parser's trees, which is done after it") {
  LabOptions options = fixture::quiet_lab();
  options.validation_every = 1;
  LabTrainer trainer(options);
  trainer.carry_out(ReplaceRuns{{fixture::small_system("parser")[0]}, {}, true});
  bool waits = true;
  trainer.called = [&] { return waits; };
  trainer.work();
  CHECK(trainer.view().step == 1);
  CHECK(trainer.view().runs[0].validation_loss > 0);
  CHECK(trainer.view().runs[0].score.empty());
  trainer.carry_out(Pause{});
  waits = false;
  REQUIRE(trainer.has_work());
  trainer.work();
  CHECK(trainer.view().step == 1);
  CHECK_FALSE(trainer.view().runs[0].score.empty());
  CHECK_FALSE(trainer.has_work());
}

TEST_CASE(
    "the score of a parser's trees ends though commands keep coming, and goes on in a restored session") {
  const test::Folder folder;
  LabOptions options = fixture::quiet_lab();
  options.validation_every = 1;
  LabTrainer straight(options), hurried(options), restored(options);
  for (LabTrainer* trainer : {&straight, &hurried})
    trainer->carry_out(ReplaceRuns{{fixture::small_system("parser")[0]}, {}, true});
  straight.work();
  const std::string score = straight.view().runs[0].score;
  REQUIRE(score.starts_with("UAS "));
  hurried.called = [] { return true; };
  hurried.work();
  hurried.carry_out(SaveSession{folder.file("session")});
  int portions = 1;
  for (; portions < 10'000; ++portions) {
    hurried.carry_out(Pause{});
    if (!hurried.has_work()) break;
    CHECK(hurried.view().runs[0].score.empty());
    hurried.work();
  }
  CHECK(portions > 1);
  CHECK_FALSE(hurried.has_work());
  CHECK(hurried.view().step == 1);
  CHECK(hurried.view().runs[0].score == score);

  restored.carry_out(RestoreSession{folder.file("session"), false});
  CHECK(restored.view().runs[0].score.empty());
  REQUIRE(restored.has_work());
  restored.work();
  CHECK_FALSE(restored.has_work());
  CHECK(restored.view().runs[0].score == score);
}

TEST_CASE("a session of each system is saved and goes on bit for bit") {
  for (const std::string& name : fixture::systems()) {
    INFO(name);
    const test::Folder folder;
    LabOptions options = fixture::quiet_lab();
    options.validation_every = 2;
    Lab lab{options}, other{options};
    lab.post(ReplaceRuns{fixture::small_system(name), {}, false});
    test::view_after(lab, PlayTo{4});
    const auto saved = lab.view();
    lab.post(SaveSession{folder.file("session")});
    test::view_after(lab, PlayTo{6});
    test::view_after(other, RestoreSession{folder.file("session"), false});
    REQUIRE(other.view()->runs.size() == 3);
    for (size_t i = 0; i < 3; ++i) CHECK(other.view()->runs[i].score == saved->runs[i].score);
    CHECK(saved->runs[0].score.empty() == (std::string_view(name) == "memory"));
    test::view_after(other, PlayTo{6});
    CHECK(other.view()->message == "");
    REQUIRE(other.view()->runs.size() == 3);
    for (size_t i = 0; i < 3; ++i) CHECK(lab.view()->runs[i].loss == other.view()->runs[i].loss);
  }
}

TEST_CASE("the settings have what a system reads, and the model brings three runs of another one") {
  const auto rows = [](const std::string& system) {
    std::string keys;
    for (const char* key : {"model.layers", "model.heads", "model.channels", "model.memory", "data.digits",
                            "data.punctuation", "model.norm", "train.lr"})
      if (settings::has_row(*find_field(key), *fixture::systems_view(system))) keys += std::string(key) + " ";
    return keys;
  };
  CHECK(rows("convolutional") == "model.channels data.digits model.norm train.lr ");
  CHECK(rows("parser") == "model.layers data.punctuation model.norm train.lr ");
  CHECK(rows("memory") == "model.layers model.heads model.memory model.norm train.lr ");

  LabDriver lab(fixture::lab_view());
  for (const char* architecture : {"convolutional", "parser"}) {
    choose_architecture(lab, architecture);
    const auto* asked = lab.last<ReplaceRuns>();
    REQUIRE(asked);
    REQUIRE(asked->runs.size() == 3);
    for (const RunSpec& run : asked->runs) {
      CHECK(get_field(run, "model.architecture") == architecture);
      CHECK_NOTHROW(validate(run));
    }
    CHECK_FALSE(asked->runs[0] == asked->runs[1]);
    CHECK(placement_now(asked->runs[2]) == Placement::None);
  }
}

TEST_CASE("another architecture takes the place of all runs, and undo brings them back") {
  LiveDriver lab;
  lab.train(3);
  const double before = lab.run('A').loss;
  std::vector<RunSpec> others = fixture::small_system("convolutional");
  lab.state.session.asked.emplace_back(ReplaceRuns{.runs = others, .play = false});
  lab.settle();
  CHECK_FALSE(view::has_stream(lab.run('A')));
  lab.key("Ctrl+Z");
  CHECK(view::has_stream(lab.run('A')));
  CHECK(lab.run('A').loss == before);
}

TEST_CASE("a memory stands beside the stream, and the card says it") {
  for (const ui::Vec size : {ui::Vec{1600, 1000}, {1024, 600}}) {
    LabDriver lab(fixture::systems_view("memory"), size);
    CHECK(lab.driver.value("diagram/memory") == "8");
    CHECK_THAT(lab.driver.control("diagram/memory").help, Catch::Contains("no gradient"));
    CHECK(lab.shows("Memory"));
    CHECK(lab.shows("8 states"));
    CHECK_THAT(lab.driver.control("run/A").help, Catch::Contains("It remembers 8 states"));
  }
  LabDriver plain(fixture::lab_view());
  CHECK_FALSE(plain.ui.registry().find("diagram/memory"));
}

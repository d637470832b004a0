// The palette never offers what will be refused: in every state of the app each entry is either done, or has the reason
// that choosing it gives.
#include "app/shell/palette.h"
#include "app/shell/palette_choices.h"
#include "app/support/live_lab.h"
#include "app/support/systems_view.h"
#include "app/view/chain.h"
#include "app/window/window_memory.h"
#include "catch.hpp"

using namespace normscope;
using namespace normscope::shell;
using fixture::LabDriver;
using fixture::LiveDriver;

TEST_CASE("palette: without runs only what needs none is offered") {
  auto empty = std::make_shared<LabView>();
  LabDriver lab(empty);
  const std::vector<PaletteItem> items = items_now(lab);
  for (const PaletteItem& item : items)
    if (item.act == view::Act::Save || item.act == view::Act::Undo || item.act == view::Act::MeasureBatch ||
        item.act == view::Act::Restore)
      CHECK_FALSE(item.refusal.empty());
  choose_all(lab, [&] { lab.driver.frames(2); });
}

TEST_CASE("palette: what is offered is done before and after an edit, in the browser and on every screen") {
  LiveDriver lab;
  lab.train(4);
  choose_all(lab, true);
  lab.state.session.asked.emplace_back(session::EditField{-1, "train.lr", "0.001"});
  lab.settle();
  lab.state.shell.page = "https://example.org/lab";
  for (const Screen screen : screens_by_key()) {
    if (screen == Screen::Lessons) continue;
    INFO(static_cast<int>(screen));
    lab.state.screens.shown = screen;
    lab.driver.frames(2);
    choose_all(lab);
  }
}

TEST_CASE(
    "palette: what is offered is done after another session took the place of this one, in safe mode too") {
  const test::Folder folder;
  const test::Variable state("XDG_STATE_HOME", folder.file("state")),
      config("XDG_CONFIG_HOME", folder.file("config"));
  for (const bool safe : {false, true}) {
    INFO((safe ? "safe mode" : "ordinary"));
    window::WindowMemory memory(safe);
    LiveDriver lab;
    memory.put(lab.state);
    lab.state.shell.offers.lesson = false;
    lab.state.session.asked.emplace_back(
        session::ReplaceRuns{.runs = fixture::small_system("convolutional"), .play = false});
    lab.settle();
    choose_all(lab);
  }
}

TEST_CASE("palette: a preset is offered where the run that is shown can have it") {
  for (const std::string& system : fixture::added_systems()) {
    LabDriver lab(fixture::systems_view(system));
    INFO(system);
    int offered = 0;
    for (const PaletteItem& item : items_now(lab)) {
      if (!item.preset) continue;
      const ModelConfig& model = lab.state.session.view->runs[0].spec->model;
      CHECK(item.refusal == view::preset_refusal(model, *item.preset));
      offered += item.refusal.empty() ? 1 : 0;
    }
    CHECK(offered >= 2);
  }
}

// The palette never offers what will be refused: in every state of the app each entry is either done, or has the reason
// that choosing it gives.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "app/shell/classroom/teacher.h"
#include "app/shell/palette.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "app/support/systems_view.h"
#include "app/view/chain.h"
#include "app/window/window_memory.h"
#include "catch.hpp"

using namespace normscope;
using namespace normscope::shell;
using fixture::LabDriver;
using fixture::LiveDriver;

namespace {

std::vector<PaletteItem> items_now(LabDriver& lab) {
  return palette_items(lab.ui, lab.state.screens.lab.elsewhere(lab.ui.registry(), *lab.state.session.view),
                       lab.state.backend.no_cuda, lab.state.session.view.get(),
                       [&](const PaletteItem& item) { return refusal_of(lab.state, lab.ui, item); });
}

void leave_all(LabDriver& lab) {
  for (int i = 0; i < 3; ++i) lab.driver.key("Escape");
  lab.ui.edit() = {};
  lab.driver.frames(2);
}

/// Groups what one rule refuses: a command by itself, presets together, the controls of a room together.
/// Once there is a reason the palette asks no control of a room anything of its own, so one of them stands for the
/// room: it fails where the reason is not said or something is done all the same.
std::string refused_as(const PaletteItem& item) {
  const std::string what = item.act      ? item.title
                           : item.preset ? "a preset"
                                         : item.control.substr(0, item.control.find('/'));
  return what + ": " + item.refusal;
}

/// Chooses all commands one by one as a hand would; presets and hidden controls of `more` too.
void choose_all(LabDriver& lab, const std::function<void()>& settle, bool more = false) {
  const test::Pictures pictures;
  const Screen shown = lab.state.screens.shown;
  std::set<std::string> refused;
  for (const PaletteItem& listed : items_now(lab)) {
    const bool tried = listed.act || (more && (listed.preset || is_hidden(lab.ui, listed)));
    if (!tried) continue;
    // What was chosen before may have changed what can be.
    lab.state.screens.shown = shown;
    lab.driver.frames(2);
    const std::vector<PaletteItem> now = items_now(lab);
    const auto it = std::find_if(now.begin(), now.end(),
                                 [&](const PaletteItem& item) { return item.title == listed.title; });
    if (it == now.end()) continue;  // a bookmark that an entry before it took away
    const std::string refusal = it->refusal;
    if (!refusal.empty() && !refused.insert(refused_as(*it)).second) continue;
    INFO(listed.title << " (" << refusal << ")");
    const size_t before = lab.log.size();
    lab.state.notice.clear();
    fixture::run_by_name(lab, listed.title);
    if (refusal.empty()) {
      settle();
      for (const std::string& said : {lab.state.notice, lab.state.session.view->message})
        for (const char* no : {"locked", "nothing to", "there is no", "there are no", "no change of",
                               "no run has", "needs a text", "expected"})
          CHECK_FALSE(test::contains(said, no));
    } else {
      CHECK(lab.state.notice == refusal);
      CHECK(lab.log.size() == before);
      CHECK(lab.state.screens.shown == shown);
    }
    leave_all(lab);
    if (lab.state.presentation.on) classroom::switch_presentation(lab.state.presentation);
    lab.state.teaching.preparing = false;
  }
}

void choose_all(LiveDriver& lab, bool more = false) {
  choose_all(
      lab, [&] { lab.settle(); }, more);
}

}  // namespace

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

TEST_CASE("palette: what a teacher locked is not offered") {
  LiveDriver lab;
  for (const char* rule :
       {"command", "diagram/preset", "settings/train.lr", "app/tab/lab", "app/tab/lessons"})
    lab.state.teaching.kept.policy.set(rule, ui::Hold::Locked);
  lab.state.teaching.code = "open sesame";
  classroom::begin_lesson(lab.ui, lab.state.teaching, lab.state.session);
  lab.driver.frames(3);
  int locked = 0;
  for (const PaletteItem& item : items_now(lab)) locked += item.refusal == ui::locked_help() ? 1 : 0;
  CHECK(locked > 20);
  for (const Screen screen : {Screen::Lab, screens_by_key().back()}) {
    lab.state.screens.shown = screen;
    lab.driver.frames(2);
    choose_all(lab, screen != Screen::Lab);
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

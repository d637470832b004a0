// The command palette finds everything with a name by a few letters, and runs it from the keyboard alone.
#include <algorithm>
#include <cctype>
#include <future>

#include "app/shell/palette_choices.h"
#include "app/shell/settings.h"
#include "app/support/both_view.h"
#include "app/support/systems_view.h"
#include "app/support/text_faults.h"
#include "app/view/diagram_model.h"
#include "app/window/window_memory.h"
#include "app/words/words.h"

using namespace normscope;
using namespace normscope::shell;
using fixture::LabDriver;

TEST_CASE("words are found at starts, inside, in order and in the help") {
  const PaletteItem rate{"learning rate", "", "Peak of the schedule.", "settings/train.lr", {}, ""};
  CHECK(match("learning", rate) > match("rate", rate));
  CHECK(match("rate", rate) > match("earn", rate));
  CHECK(match("earn", rate) > match("lrnrt", rate));
  CHECK(match("lrnrt", rate) > match("schedule", rate));
  CHECK(match("schedule", rate) > 0);
  CHECK(match("peak rate", rate) > 0);
  CHECK(match("rate banana", rate) == 0);
  CHECK(match("", rate) > 0);

  // Letters from here and there count only where nothing has the words themselves.
  const PaletteItem run{"learn nothing at all", "", "", "run", {}, ""}, help{"x", "", "lrnrt", "y", {}, ""};
  CHECK(matches("lrnrt", {rate, run}).size() == 1);
  CHECK(matches("lrn", {rate, run}).size() == 2);
  const std::vector<PaletteItem> items{rate, run, help};
  CHECK(matches("lrnrt", items) == std::vector{&items[2]});
}

TEST_CASE("every enabled control of the screen is in the palette and can be found by its title") {
  LabDriver lab(fixture::lab_view());
  const std::vector<PaletteItem> items = palette_items(lab.ui);
  for (const ui::Control& c : lab.ui.registry().all()) {
    if (!c.interactive || !c.enabled || c.name == "app/search" || c.name.starts_with("term/")) continue;
    INFO(c.name);
    const auto found = matches(control_title(c.name), items);
    REQUIRE_FALSE(found.empty());
    CHECK(std::ranges::any_of(found, [&](const PaletteItem* item) { return item->control == c.name; }));
  }
}

namespace {

// What is wrong with an entry as words a person reads; empty: nothing.
std::string not_words(const std::string& title) {
  static const std::set<std::string> hyphened{"hyper-connections", "warm-up",          "feed-forward",
                                              "cross-attention",   "hidden-state",     "byte-pair",
                                              "fine-tuning",       "update-to-weight", "mHC-lite"};
  static const std::set<std::string> parts{"attn", "ffn", "enc", "dec", "app", "lr", "cfg"};
  for (size_t i = 0; i < title.size(); ++i) {
    const char c = title[i];
    const bool fraction = c == '/' && i > 0 && std::isdigit(static_cast<unsigned char>(title[i - 1]));
    if (c == '_' || (c == '/' && !fraction) || c == '#' || (c == '.' && title.find(". ") == title.npos))
      return "a key's sign";
  }
  std::istringstream words(title);
  for (std::string word; words >> word;) {
    while (!word.empty() && std::string(",:?.").find(word.back()) != std::string::npos) word.pop_back();
    if (parts.contains(word)) return "a part of a name: " + word;
    const bool small = !word.empty() && std::islower(static_cast<unsigned char>(word[0]));
    if (small && word.find('-') != word.npos && !hyphened.contains(word)) return "a name: " + word;
    const bool method = word == "mHC" || word == "mHC-lite" || word == "nGPT";  // as their papers write them
    for (size_t i = 1; small && !method && i < word.size(); ++i) {
      const auto c = static_cast<unsigned char>(word[i]);
      if (std::isupper(c) || std::isdigit(c)) return "a name: " + word;
    }
  }
  return "";
}

TEST_CASE("every entry of the palette reads as words, and no two as the same") {
  CHECK(not_words("plot: end of the warm-up of B").empty());
  for (const char* raw :
       {"plot: rate warmup_B", "train.lr", "diagram: layer2 attn", "hiddenNorm", "stack-over-time"})
    CHECK_FALSE(not_words(raw).empty());
  fixture::LabShape four;
  four.fork = true;
  for (const auto& view : {fixture::lab_view(four), fixture::both_view()})
    for (const ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1024, 600}})
      for (const char* tab : {"", "lab/left/Settings", "lessons"}) {
        LabDriver lab(view, size);
        if (std::string(tab) == "lessons")
          lab.driver.click("app/tab/lessons");
        else if (lab.ui.registry().find(tab))
          lab.driver.click(tab);
        lab.driver.frames(3);
        std::map<std::string, std::string> seen;
        for (const PaletteItem& item : palette_items(lab.ui)) {
          INFO(size.x << " " << tab << ": '" << item.title << "' of " << item.control);
          CHECK(not_words(item.title) == "");
          CHECK(seen.try_emplace(item.title, item.control).second);
        }
      }
}

TEST_CASE("why there is no CUDA stands in the palette, and choosing it says so") {
  LabDriver lab(fixture::lab_view());
  std::promise<std::string> reason;
  lab.state.switches.clock = true;
  lab.state.backend.cuda = reason.get_future().share();
  reason.set_value("there is no NVIDIA GPU");
  lab.driver.frames(2);
  fixture::run_by_name(lab, "train on cuda");
  CHECK(lab.state.notice == "Not here: there is no NVIDIA GPU.");
  CHECK_FALSE(lab.last<session::SetBackend>());
}

TEST_CASE("every placement is in the palette by its name") {
  for (Placement placement : kPresets) {
    if (placement == Placement::Post) continue;  // what run A is
    LabDriver lab(fixture::lab_view());
    INFO(to_string(placement));
    fixture::run_by_name(lab, (std::string("preset: ") + label(placement)).c_str());
    REQUIRE(lab.last<session::ForkRequest>());
    const ModelConfig& model = lab.last<session::ForkRequest>()->spec.model;
    CHECK(placement_of(model.stack(), context_of(model, true)) == placement);
    CHECK(lab.state.session.can_undo());
  }
}

// All items of a window, of its menus and other tabs too.
std::vector<PaletteItem> all_items(LabDriver& lab) {
  return palette_items(lab.ui, lab.state.screens.lab.elsewhere(lab.ui.registry(), *lab.state.session.view));
}

}  // namespace

TEST_CASE("every action has other names, and each of them finds it among the first") {
  LabDriver lab(fixture::lab_view(), {1024, 600});
  const std::vector<PaletteItem> items = all_items(lab);
  const auto action = [](const PaletteItem& item) {
    for (const char* kind : {"transport/", "lab/luck", "app/help", "app/theme", "app/scale", "app/tab/"})
      if (item.control.starts_with(kind)) return true;
    return item.act.has_value() || item.control.find("/menu/") != std::string::npos;
  };
  int actions = 0;
  for (const PaletteItem& item : items) {
    if (!action(item)) continue;
    ++actions;
    INFO(item.title);
    std::istringstream words(item.words);
    int found = 0;
    for (std::string word; words >> word;) {
      const auto hits = matches(word, items);
      const auto at = std::ranges::find(hits, &item);
      INFO(word);
      REQUIRE(at != hits.end());
      found += at - hits.begin() < 20 ? 1 : 0;
    }
    CHECK(found >= 2);
  }
  CHECK(actions > 50);
}

// The palette never offers what will be refused: in every state of the app each entry is either done, or has the
// reason that choosing it gives.

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
  const std::vector<std::string> systems = fixture::added_systems();
  for (const bool safe : {false, true}) {
    INFO((safe ? "safe mode" : "ordinary"));
    window::WindowMemory memory(safe);
    LiveDriver lab;
    memory.put(lab.state);
    lab.state.shell.offers.lesson = false;
    lab.state.session.asked.emplace_back(session::ReplaceRuns{
        .runs = systems.empty() ? fixture::small_runs(1) : fixture::small_system(systems[0]), .play = false});
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

// The first start of the window: one sentence over the Lab says what is training, and leads to a lesson or lets one
// look.

// What it says, and the tour, are tests/stories/first-start.txt.
TEST_CASE("welcome: it hides nothing, and leaves no empty strip when it goes") {
  for (const ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1366, 768}, ui::Vec{1024, 600}}) {
    INFO(size.x);
    LabDriver lab(fixture::lab_view(), size);
    const auto cards = [&] { return lab.driver.control("run/A").rect.y; };
    const float before = cards();
    lab.state.shell.offers.welcome = lab.state.shell.offers.lesson = true;
    lab.driver.frames(2);
    CHECK(cards() > before);
    CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
    lab.click("app/welcome/look");
    CHECK(lab.state.shell.offers.answered);
    for (int stop = 1; stop < 6; ++stop) {
      CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
      lab.click("app/tour/next");
    }
    CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
    lab.click("app/tour/end");
    CHECK(cards() == before);  // and leaves no empty strip
  }
}

TEST_CASE("welcome: a norm that is dragged away from under it moves nothing under the hand") {
  LiveDriver lab;
  lab.state.shell.offers.welcome = true;
  lab.driver.frames(2);
  REQUIRE(lab.ui.registry().find("app/welcome"));
  const float cards = lab.driver.control("run/A").rect.y;
  lab.driver.move_to("run/A");
  lab.driver.press();
  lab.state.shell.offers.welcome = false;
  lab.driver.frames(3);
  CHECK_FALSE(lab.ui.registry().find("app/welcome"));
  CHECK(lab.driver.control("run/A").rect.y == cards);
  lab.driver.release();
  lab.driver.frames(2);
  CHECK(lab.driver.control("run/A").rect.y < cards);
}

TEST_CASE("welcome: a norm that was dragged is an answer, and other runs have no such sentence") {
  LabDriver forked(fixture::four_runs());
  forked.state.shell.offers.welcome = true;
  forked.driver.frames(2);
  CHECK_FALSE(forked.ui.registry().find("app/welcome"));
  CHECK_FALSE(forked.state.shell.offers.welcome);
  auto other = std::make_shared<LabView>(*fixture::lab_view());
  other->unit = "token";
  LabDriver tokens(other);
  tokens.state.shell.offers.welcome = true;
  tokens.driver.frames(2);
  CHECK_FALSE(tokens.ui.registry().find("app/welcome"));
}

TEST_CASE("welcome: it is remembered that somebody answered, with the plots of a first start") {
  const test::Folder folder;
  const std::string path = folder.file("settings.toml");
  CHECK_FALSE(read_settings(path).settings.welcomed);
  Settings answered;
  answered.welcomed = true;
  write_settings(path, answered);
  CHECK(read_settings(path).settings.welcomed);
  CHECK_FALSE(read_settings(path).settings.more_measurements);
}

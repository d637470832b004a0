// These tests use the middle and the right panel of the Tape screen in a window: every text has its place at every
// size, what the mouse on them asks for, and what their menus save. What they show is in test_tape_shown.cpp.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "addons/tape-screen/app/panels.h"
#include "addons/tape-screen/app/step_worker.h"
#include "addons/tape-screen/tests/app/tape_played.h"
#include "app/headless/ui_driver.h"
#include "app/support/text_faults.h"
#include "app/ui/widgets.h"

namespace normscope::test_tape_panels {
namespace {

using namespace test_tape;
using test::contains;

/// Both panels in a window of their own; what they ask is answered at once.
struct Stage {
  Stage(StepPlayback& of, size_t instruction, ui::Vec pixels, float asked_scale, Part shown_part)
      : played(of),
        scale(asked_scale),
        part(shown_part),
        loop(pixels),
        ui(ui::load_fonts()),
        driver(loop, ui, [this] { draw(); }) {
    show(instruction);
    map = std::make_shared<const MemoryMap>(memory_map(of.player.data()));
    driver.frames(2);
    driver.move_to(ui::Vec{2, 2});
    driver.frames(2);
  }

  void show(size_t instruction) {
    shown = std::make_shared<const InstructionView>(played.show(instruction));
    checked.reset();
  }

  void draw() {
    ui::FrameOptions options;
    options.scale = scale;
    options.record_text = true;
    ui.begin_frame(options);
    const bool wide = ui.size().x >= 1600;
    InstructionInput given;
    given.shown = shown;
    given.checked = checked;
    given.part = wide ? Part::All : part;
    given.head = wide ? 0 : 42;
    middle = wide ? ui::Rect{764, 52, 420, 864} : ui::Rect{570, 46, 446, 498};
    const InstructionRequest asked = instruction.draw(ui, middle, given, desk);
    if (asked.sequence) sequence = asked.sequence;
    MemoryInput of_memory;
    of_memory.readable = of_memory.shared = map;
    of_memory.shown = shown;
    of_memory.head = static_cast<int32_t>(shown->instruction);
    of_memory.fold = 20;
    of_memory.head_room = given.head;
    const std::optional<int32_t> moved =
        memory.draw(ui, wide ? ui::Rect{1192, 52, 400, 864} : ui::Rect{8, 46, 446, 498}, of_memory, desk);
    if (moved) head = moved;
    ui.end_frame();
    if (!asked.check) return;
    ++checks;
    last_asked = *asked.check;
    checked = std::make_shared<const ElementCheck>(*checked_of(played.player, *shown, *asked.check));
  }

  StepPlayback& played;
  float scale;
  Part part;
  std::shared_ptr<const InstructionView> shown;
  std::shared_ptr<const ElementCheck> checked;
  std::shared_ptr<const MemoryMap> map;
  InstructionPanel instruction;
  MemoryPanel memory;
  ui::Rect middle;
  std::optional<Element> last_asked;
  std::optional<int32_t> head;
  std::optional<int64_t> sequence;
  ScreenRequests desk;
  int checks = 0;
  headless::Frame loop;
  ui::Ui ui;
  headless::UiDriver driver;
};

constexpr ui::Vec kFull{1600, 1000};

/// The first instruction of every op and phase.
std::vector<size_t> one_of_each(const ProgramData& program) {
  std::set<std::pair<OpKind, Phase>> seen;
  std::vector<size_t> all;
  for (size_t i = 0; i < program.instructions.size(); ++i)
    if (seen.insert({program.instructions[i].op, program.instructions[i].phase}).second) all.push_back(i);
  return all;
}

}  // namespace

TEST_CASE("tape panels: every text has its place, every control its help, at every size and for every op") {
  using Window = std::tuple<ui::Vec, float, Part>;
  const Window windows[] = {{kFull, 1, Part::All},
                            {ui::Vec{1024, 600}, 1, Part::Rule},
                            {ui::Vec{1024, 600}, 1, Part::Tensors},
                            {ui::Vec{1536, 900}, 1.5f, Part::Rule}};
  const std::vector<test::TinyOptions> models = every_op();
  for (const test::TinyOptions& options : models) {
    StepPlayback p(options);
    for (const auto& [pixels, scale, part] : windows) {
      if (&options != models.data() && part == Part::Tensors) continue;
      Stage stage(p, 0, pixels, scale, part);
      for (const size_t i : one_of_each(p.player.data())) {
        stage.show(i);
        stage.driver.frames(3);
        const std::string where =
            fmt::format("{}x{} at {}, {}", pixels.x, pixels.y, scale, stage.shown->title);
        for (const std::string& fault : fixture::text_faults(stage.ui)) FAIL_CHECK(where << ": " << fault);
        for (const std::string& name : stage.ui.registry().duplicates())
          FAIL_CHECK(where << ": twice " << name);
        for (const ui::Control& c : stage.ui.registry().all()) {
          INFO(where << ": " << c.name);
          CHECK_FALSE(c.help.empty());
          const bool inside = c.name.starts_with("tape/memory") || stage.middle.contains(c.rect);
          CHECK(inside);
        }
      }
    }
  }
}

TEST_CASE("tape panels: no two controls lie on each other") {
  StepPlayback p({.layers = 1});
  Stage stage(p, p.find(Phase::Backward, OpKind::LayerNorm), kFull, 1, Part::All);
  std::vector<ui::Control> all;
  for (const ui::Control& c : stage.ui.registry().all())
    if (c.interactive && !c.name.starts_with("tape/memory/plan") && !c.name.starts_with("tape/check/plot"))
      all.push_back(c);
  CHECK(all.size() > 6);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = 0; k < i; ++k) {
      INFO(all[i].name << " and " << all[k].name);
      CHECK_FALSE(all[i].rect.overlaps(all[k].rect));
    }
}

TEST_CASE("tape panels: a click in a picture chooses the element, fields and arrows go on from it") {
  StepPlayback p({.layers = 1});
  const size_t i = p.find(Phase::Backward, OpKind::LayerNorm);
  Stage stage(p, i, kFull, 1, Part::All);
  REQUIRE(stage.checked);
  CHECK(stage.checks == 1);  // the largest gradient, asked once
  stage.driver.frames(5);
  CHECK(stage.checks == 1);
  const ShownTensor& x = stage.shown->reads[0];
  REQUIRE(x.input == 0);
  stage.driver.click("tape/reads/0",
                     {(7 + 0.5f) / static_cast<float>(x.columns), (4 + 0.5f) / static_cast<float>(x.rows)});
  stage.driver.frames(2);
  REQUIRE(stage.last_asked);
  CHECK(*stage.last_asked == Element{0, 4, 7});
  CHECK(stage.driver.value("tape/reads/0") == "position 4, feature 7");
  CHECK(stage.driver.value("tape/check/position") == "4");
  CHECK(stage.driver.value("tape/check/feature") == "7");
  CHECK(contains(stage.driver.value("tape/check"), fmt::format("[{}]", 4 * 24 + 7)));
  CHECK(contains(stage.driver.value("tape/check"), ui::number(stage.checked->check.analytic, 6)));
  stage.ui.focus("tape/reads/0");
  stage.driver.frames(2);
  stage.driver.key("Right");
  stage.driver.key("Down");
  stage.driver.frames(2);
  CHECK(*stage.last_asked == Element{0, 5, 8});
  stage.driver.click("tape/check/feature");
  stage.driver.frames(2);
  stage.driver.key("Ctrl+A");
  stage.driver.type("2");
  stage.driver.key("Enter");
  stage.driver.frames(3);
  CHECK(*stage.last_asked == Element{0, 5, 2});
  // The same place stays chosen where the next instruction has it, too.
  stage.show(p.find(Phase::Forward, OpKind::Relu));
  stage.driver.frames(3);
  CHECK(*stage.last_asked == Element{0, 5, 2});
}

TEST_CASE("tape panels: the disc on the errors is dragged from step to step") {
  StepPlayback p({.layers = 1});
  Stage stage(p, p.find(Phase::Backward, OpKind::LayerNorm), kFull, 1, Part::All);
  stage.driver.frames(2);
  const std::string best = stage.driver.value("tape/check/plot/h");
  stage.driver.drag_by("tape/check/plot/h", {-60, 0});
  stage.driver.frames(2);
  const std::string dragged = stage.driver.value("tape/check/plot/h");
  CHECK(dragged != best);
  stage.ui.focus("tape/check/plot/h");
  stage.driver.frames(2);
  stage.driver.key("Right");
  stage.driver.frames(2);
  CHECK(stage.driver.value("tape/check/plot/h") != dragged);
}

TEST_CASE("tape panels: a buffer under the hand says what it holds; the flag asks for another instruction") {
  StepPlayback p({.layers = 2});
  Stage stage(p, p.find(Phase::Backward, OpKind::LayerNorm), kFull, 1, Part::All);
  StepFacts facts;
  facts.shared = stage.map;
  CHECK(stage.memory.hovered(facts) == nullptr);
  const auto& buffers = stage.map->buffers;
  const auto large = std::ranges::find(buffers, "L02.ffn.1", &Buffer::name);
  REQUIRE(large != buffers.end());
  const ui::Rect map = stage.driver.control("tape/memory/map").rect;
  const ui::Vec at = buffer_rect(*stage.map, *large, map.w, map.h).moved(map.x, map.y).centre();
  stage.driver.move_to(at);
  stage.driver.frames(3);
  const Buffer* under = stage.memory.hovered(facts);
  REQUIRE(under);
  CHECK(stage.memory.hovered(StepFacts{}) == nullptr);  // another step has instructions of its own
  CHECK(buffer_rect(*stage.map, *under, map.w, map.h).moved(map.x, map.y).contains(at));
  const std::string value = stage.driver.value("tape/memory/map");
  CHECK(contains(value, under->name));
  CHECK(contains(value, size_words(under->bytes)));
  CHECK(std::ranges::any_of(stage.ui.texts(),
                            [&](const ui::TextRecord& t) { return contains(t.text, under->name); }));
  const auto before = static_cast<int32_t>(stage.shown->instruction);
  stage.driver.drag_by("tape/memory/flag", {-80, 0});
  REQUIRE(stage.head);
  CHECK(*stage.head < before);
  stage.head.reset();
  stage.ui.focus("tape/memory/flag");
  stage.driver.frames(2);
  stage.driver.key("Right");
  CHECK(stage.head == before + 1);
}

TEST_CASE("tape panels: a memory panel that is not drawn has nothing under the hand") {
  StepPlayback p({.layers = 1});
  Stage stage(p, p.find(Phase::Backward, OpKind::LayerNorm), kFull, 1, Part::All);
  stage.ui.focus("tape/memory/map");
  stage.driver.frames(2);
  stage.driver.key("Right");
  stage.driver.frames(2);
  StepFacts facts;
  facts.readable = stage.map;
  REQUIRE(stage.memory.hovered(facts));
  stage.memory.forget();
  CHECK(stage.memory.hovered(facts) == nullptr);
}

TEST_CASE("tape panels: what the menus save holds the numbers that are shown") {
  StepPlayback p({.layers = 1});
  Stage stage(p, p.find(Phase::Backward, OpKind::LayerNorm), kFull, 1, Part::All);
  stage.driver.choose("tape/instruction/menu", "json");
  REQUIRE(stage.desk.files.size() == 1);
  const nlohmann::json all = nlohmann::json::parse(stage.desk.files[0].text);
  CHECK(all["tensors"].size() == stage.shown->reads.size() + stage.shown->writes.size());
  CHECK(all["tensors"][0]["tensor"] == stage.shown->reads[0].name);
  CHECK(all.contains("check"));
  stage.driver.choose("tape/instruction/menu", "csv");
  CHECK(contains(stage.desk.files.back().text, stage.shown->writes[0].name));
  CHECK(contains(stage.desk.files.back().text, "central"));
  stage.driver.choose("tape/instruction/menu", "svg");
  const std::vector<view::SavePlot>& saves = stage.desk.saves;
  REQUIRE(saves.size() == 1);
  CHECK(saves[0].plots->size() == tensors_of(*stage.shown).size() + 1);
  for (const plot::PlotSpec& plot : *saves[0].plots)
    CHECK(contains(plot::to_svg(plot, ui::theme(false)), "</svg>"));
  stage.driver.choose("tape/memory/menu", "csv");
  CHECK(std::ranges::count(stage.desk.files.back().text, '\n') ==
        static_cast<std::ptrdiff_t>(stage.map->buffers.size()) + 1);
  stage.driver.choose("tape/memory/menu", "json");
  CHECK(nlohmann::json::parse(stage.desk.files.back().text)["buffers"].size() == stage.map->buffers.size());
  stage.driver.choose("tape/memory/menu", "png");
  CHECK(stage.desk.saves.size() == 2);
}

}  // namespace normscope::test_tape_panels

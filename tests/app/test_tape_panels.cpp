// The middle and the right panel of the Tape screen: what they show of every op equals what the player holds, the check
// is that of the chosen element, the memory's rectangles are the plan, and every text has its place at every size.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "app/headless/frame.h"
#include "app/headless/ui_driver.h"
#include "app/tape_screen/instruction_panel.h"
#include "app/tape_screen/memory_panel.h"
#include "app/tape_screen/sentences.h"
#include "app/tape_screen/step_worker.h"
#include "app/tex/tex.h"
#include "app/ui/widgets.h"
#include "catch.hpp"
#include "engine/helpers.h"
#include "engine/model_fixture.h"
#include "text_faults.h"

namespace normscope::test_tape_panels {
namespace {

using namespace tape_screen;
using test::contains;

/// A tiny model and a player of its next step.
struct Played {
  explicit Played(const test::TinyOptions& options)
      : tiny(options),
        player(
            tiny.store->clone(), [this](Tape& tape) { return tiny.record(tape).loss; },
            {.update = update_op(options.optimizer), .clip = options.clip}, tiny.inputs(1)) {
    tiny.fill(1);
    for (const char* name : {"tokens", "targets"})
      std::ranges::copy(tiny.program->tokens(name), player.program().tokens(name).begin());
  }
  size_t find(Phase phase, OpKind op) const {
    const auto& all = player.data().instructions;
    const auto found = std::ranges::find_if(
        all, [&](const Instruction& it) { return it.phase == phase && it.op == op && !it.in.empty(); });
    REQUIRE(found != all.end());
    return static_cast<size_t>(found - all.begin());
  }
  Shown show(size_t instruction) {
    player.seek(instruction + 1);
    return shown_of(player, instruction);
  }
  test::Tiny tiny;
  StepPlayer player;
};

std::vector<test::TinyOptions> every_op() {
  test::TinyOptions plain{.layers = 1, .clip = true, .dropout = 0.1f};
  test::TinyOptions other{.placement = Placement::Pre,
                          .norm = NormKind::Rms,
                          .layers = 1,
                          .activation = Activation::Gelu,
                          .classes = 3,
                          .optimizer = Optimizer::Sgd};
  return {plain, other};
}

std::vector<const ShownTensor*> tensors_of(const Shown& shown) {
  std::vector<const ShownTensor*> all;
  for (const ShownTensor& t : shown.reads) all.push_back(&t);
  for (const ShownTensor& t : shown.writes) all.push_back(&t);
  return all;
}

void check_tensor(const StepPlayer& player, const ShownTensor& t) {
  INFO(t.name);
  CHECK(t.name == player.name(t.id));
  CHECK(t.shape == player.shape(t.id));
  CHECK(t.there == player.is_there(t.id));
  CHECK_FALSE(t.sign.empty());
  if (!t.there || t.integers) return;
  const TensorSummary s = player.summary(t.id);
  CHECK(std::tie(t.summary.mean, t.summary.deviation, t.summary.norm, t.summary.low, t.summary.high) ==
        std::tie(s.mean, s.deviation, s.norm, s.low, s.high));
  CHECK(t.summary.histogram == s.histogram);
  const std::vector<float> values = player.read(t.id);
  REQUIRE(static_cast<size_t>(t.first) + t.rows * t.columns <= values.size());
  const HeatMap picture =
      heat_map(std::span(values).subspan(static_cast<size_t>(t.first), t.rows * t.columns), t.columns,
               kPictureRows, kPictureColumns);
  CHECK(test::same_bits(t.picture.cells, picture.cells));
}

/// Both panels in a window of their own; what they ask is answered at once.
struct Stage {
  Stage(Played& of, size_t instruction, ui::Vec pixels, float asked_scale, Part shown_part)
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
    shown = std::make_shared<const Shown>(played.show(instruction));
    checked.reset();
  }

  void draw() {
    ui::FrameOptions options;
    options.scale = scale;
    options.record_text = true;
    ui.begin_frame(options);
    const bool wide = ui.size().x >= 1600;
    InstructionGiven given;
    given.shown = shown;
    given.checked = checked;
    given.part = wide ? Part::All : part;
    given.head = wide ? 0 : 42;
    middle = wide ? ui::Rect{764, 52, 420, 864} : ui::Rect{570, 46, 446, 498};
    const InstructionAsked asked = instruction.draw(ui, middle, given);
    if (asked.file) file = asked.file;
    if (asked.sequence) sequence = asked.sequence;
    MemoryGiven of_memory;
    of_memory.readable = of_memory.shared = map;
    of_memory.shown = shown;
    of_memory.head = static_cast<int32_t>(shown->instruction);
    of_memory.fold = 20;
    of_memory.head_room = given.head;
    const MemoryAsked moved =
        memory.draw(ui, wide ? ui::Rect{1192, 52, 400, 864} : ui::Rect{8, 46, 446, 498}, of_memory);
    if (moved.head) head = moved.head;
    if (moved.file) file = moved.file;
    ui.end_frame();
    if (!asked.check) return;
    ++checks;
    last_asked = *asked.check;
    checked = std::make_shared<const Checked>(*checked_of(played.player, *shown, *asked.check));
  }

  Played& played;
  float scale;
  Part part;
  std::shared_ptr<const Shown> shown;
  std::shared_ptr<const Checked> checked;
  std::shared_ptr<const MemoryMap> map;
  InstructionPanel instruction;
  MemoryPanel memory;
  ui::Rect middle;
  std::optional<Element> last_asked;
  std::optional<int32_t> head;
  std::optional<int64_t> sequence;
  std::optional<std::pair<std::string, std::string>> file;
  int checks = 0;
  ui::Frame loop;
  ui::Ui ui;
  ui::UiDriver driver;
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

TEST_CASE(
    "tape panels: every op is shown with its formula, a sentence and the numbers that the player holds") {
  std::set<OpKind> ops;
  for (const test::TinyOptions& options : every_op()) {
    Played p(options);
    for (size_t i = 0; i < p.player.size(); ++i) {
      const Shown shown = p.show(i);
      INFO(i << " " << shown.name << ": " << shown.sentence);
      CHECK(p.player.position() == i + 1);
      CHECK_FALSE(shown.sentence.empty());
      CHECK(shown.sentence.back() == '.');
      CHECK_FALSE(shown.title.empty());
      CHECK(tex::parse(shown.formula).root != nullptr);
      CHECK(shown.op == p.player.data().instructions[i].op);
      for (const ShownTensor& t : shown.writes) CHECK(t.there);
      for (const ShownTensor* t : tensors_of(shown)) check_tensor(p.player, *t);
      if (shown.phase == Phase::Backward && shown.op != OpKind::Probe) {
        CHECK_FALSE(shown.rule.empty());
        CHECK_FALSE(shown.writes.empty());
      }
      ops.insert(shown.op);
    }
  }
  for (const OpKind op :
       {OpKind::Embedding, OpKind::Linear, OpKind::Attention, OpKind::LayerNorm, OpKind::Relu, OpKind::Gelu,
        OpKind::Add, OpKind::Dropout, OpKind::SoftmaxXent, OpKind::MeanPool, OpKind::Probe, OpKind::GradNorm,
        OpKind::Clip, OpKind::Adam, OpKind::Sgd}) {
    INFO(to_string(op));
    CHECK(ops.contains(op));
  }
}

TEST_CASE("tape panels: the sentence of a norm's gradient is the quotient of the norms, and names sigma") {
  Played p({.layers = 2});
  const ProgramData& program = p.player.data();
  int norms = 0;
  for (size_t i = 0; i < p.player.size(); ++i) {
    const Instruction& it = program.instructions[i];
    if (it.phase != Phase::Backward || it.op != OpKind::LayerNorm || it.write[0] != Write::Assign) continue;
    const Shown shown = p.show(i);
    const double factor = p.player.summary({it.in[0], true}).norm / p.player.summary({it.out, true}).norm;
    INFO(shown.name << " " << factor << ": " << shown.sentence);
    if (std::abs(factor - 1) < 0.02)
      CHECK(contains(shown.sentence, "as large a gradient as"));
    else
      CHECK(
          contains(shown.sentence, fmt::format("{}× {} gradient", ui::number(std::max(factor, 1 / factor), 2),
                                               factor < 1 ? "smaller" : "larger")));
    CHECK(contains(shown.sentence, "σ of x is"));
    ++norms;
  }
  CHECK(norms > 0);
}

TEST_CASE("tape panels: what others have added to meanwhile is not said to be this instruction's") {
  Played p({.placement = Placement::Pre, .layers = 1});
  const ProgramData& program = p.player.data();
  // A gradient that one instruction assigns and a later one adds to.
  for (size_t i = 0; i < p.player.size(); ++i) {
    const Instruction& it = program.instructions[i];
    if (it.phase != Phase::Backward || it.op != OpKind::Linear || it.write[0] != Write::Assign) continue;
    for (size_t later = i + 1; later < p.player.size(); ++later) {
      const std::vector<TensorId> written = p.player.writes(later);
      if (std::ranges::find(written, TensorId{it.in[0], true}) == written.end()) continue;
      CHECK(contains(p.show(i).sentence, "gradient"));
      CHECK_FALSE(contains(p.show(i).sentence, "with all that is added"));
      p.player.seek(later + 1);
      CHECK(contains(shown_of(p.player, i).sentence, "with all that is added"));
      return;
    }
  }
  FAIL("no gradient with two writers");
}

TEST_CASE("tape panels: before it was executed an instruction has no numbers, and says so") {
  Played p({.layers = 1});
  const size_t i = p.find(Phase::Forward, OpKind::Linear);
  p.player.seek(0);
  const Shown shown = shown_of(p.player, i);
  CHECK(shown.sentence == "Not executed yet.");
  REQUIRE_FALSE(shown.writes.empty());
  CHECK_FALSE(shown.writes[0].there);
  CHECK(shown.writes[0].picture.cells.empty());
  CHECK(contains(test::error_of([&] { shown_of(p.player, p.player.size()); }), "expected one below"));
}

TEST_CASE("tape panels: another sequence shows other numbers of the same tensor") {
  Played p({.layers = 1});
  const size_t i = p.find(Phase::Forward, OpKind::Relu);
  const Shown first = p.show(i), second = shown_of(p.player, i, 1), beyond = shown_of(p.player, i, 99);
  CHECK(first.sequences == 2);
  CHECK(second.sequence == 1);
  CHECK(beyond.sequence == 1);
  CHECK(second.reads[0].first == static_cast<int64_t>(first.reads[0].rows * first.reads[0].columns));
  CHECK(first.reads[0].summary.mean == second.reads[0].summary.mean);
  CHECK_FALSE(first.reads[0].picture.cells == second.reads[0].picture.cells);
}

TEST_CASE("tape panels: cells of one colour are one stripe; what is not finite is always seen") {
  HeatMap map{2, 4, {0, 1, 1, -1, NAN, 0, 1e-9f, 2}};
  const std::vector<Stripe> all = stripes_of(map, 1);
  const std::vector<Stripe> expected{
      {0, 1, 3, kLevels}, {0, 3, 4, -kLevels}, {1, 0, 1, kHatched}, {1, 3, 4, kLevels}};
  CHECK(all == expected);
  CHECK(stripes_of({1, 2, {0, INFINITY}}, 0) == std::vector<Stripe>{{0, 1, 2, kHatched}});
}

TEST_CASE("tape panels: the check is that of the chosen element, and the player stays where it was") {
  Played p({.layers = 1});
  const size_t i = p.find(Phase::Backward, OpKind::LayerNorm);
  const Shown shown = p.show(i);
  REQUIRE(shown.can_check);
  const size_t stood = p.player.position();
  const Checked chosen = *checked_of(p.player, shown, Element{0, 3, 5});
  CHECK(p.player.position() == stood);
  INFO(chosen.fault);
  REQUIRE(chosen.fault.empty());
  CHECK(chosen.element == Element{0, 3, 5});
  const NumericCheck same = check_element(p.player, static_cast<size_t>(shown.node), 0, 3 * 24 + 5);
  CHECK(chosen.check.element == same.element);
  CHECK(chosen.check.analytic == same.analytic);
  // By itself it takes the largest gradient of what the picture shows.
  const Checked largest = *checked_of(p.player, shown, std::nullopt);
  REQUIRE(largest.fault.empty());
  CHECK(largest.element.input == shown.writes[0].input);
  const std::vector<float> gradient = p.player.read(shown.writes[0].id);
  const auto at = static_cast<size_t>(largest.check.element);
  for (size_t k = 0; k < shown.writes[0].rows * shown.writes[0].columns; ++k)
    CHECK(std::abs(gradient[at]) >= std::abs(gradient[k]));
  CHECK(contains(checked_of(p.player, shown, Element{0, 11, 0})->fault, "position 11"));
  const Shown update = p.show(p.player.size() - 1);
  CHECK_FALSE(update.can_check);
  CHECK(contains(checked_of(p.player, update, std::nullopt)->fault, "no backward instruction"));
}

TEST_CASE("tape panels: the memory's rectangles are the plan; thin ones of one colour are one") {
  Played p({.layers = 4, .reuse_memory = true});
  const MemoryMap map = memory_map(p.tiny.program->data());
  const float width = static_cast<float>(map.instructions), height = static_cast<float>(map.planned);
  const std::vector<MemoryBox> exact = memory_boxes(map, width, height, 0);
  REQUIRE(exact.size() == map.buffers.size());
  for (size_t i = 0; i < exact.size(); ++i) {
    const Buffer& b = map.buffers[i];
    INFO(b.name);
    CHECK(exact[i].buffer == static_cast<int32_t>(i));
    CHECK(exact[i].rect.x == Approx(b.first));
    CHECK(exact[i].rect.w == Approx(b.last - b.first + 1));
    CHECK(exact[i].rect.y == Approx(b.address));
    CHECK(exact[i].rect.h == Approx(b.bytes));
    CHECK(exact[i].layer == b.layer);
    CHECK(exact[i].kind == b.kind);
  }
  const std::vector<MemoryBox> drawn = memory_boxes(map, 300, 60);
  CHECK(drawn.size() < map.buffers.size());
  int32_t count = 0;
  for (const MemoryBox& box : drawn) count += box.count;
  CHECK(count == static_cast<int32_t>(map.buffers.size()));
  for (const Buffer& b : map.buffers) {
    const ui::Rect own = buffer_rect(map, b, 300, 60);
    INFO(b.name);
    CHECK(std::ranges::any_of(drawn, [&](const MemoryBox& box) {
      return box.layer == b.layer && box.kind == b.kind && box.rect.inset(-0.01f).contains(own);
    }));
  }
}

TEST_CASE("tape panels: every text has its place, every control its help, at every size and for every op") {
  struct Window {
    ui::Vec pixels;
    float scale;
    Part part;
  };
  const Window windows[] = {{kFull, 1, Part::All},
                            {{1024, 600}, 1, Part::Rule},
                            {{1024, 600}, 1, Part::Tensors},
                            {{1536, 900}, 1.5f, Part::Rule}};
  const std::vector<test::TinyOptions> models = every_op();
  for (const test::TinyOptions& options : models) {
    Played p(options);
    for (const Window& window : windows) {
      if (&options != models.data() && window.part == Part::Tensors) continue;
      Stage stage(p, 0, window.pixels, window.scale, window.part);
      for (const size_t i : one_of_each(p.player.data())) {
        stage.show(i);
        stage.driver.frames(3);
        const std::string where = fmt::format("{}x{} at {}, {}", window.pixels.x, window.pixels.y,
                                              window.scale, stage.shown->title);
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
  Played p({.layers = 1});
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
  Played p({.layers = 1});
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
  Played p({.layers = 1});
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
  Played p({.layers = 2});
  Stage stage(p, p.find(Phase::Backward, OpKind::LayerNorm), kFull, 1, Part::All);
  StepFacts facts;
  facts.shared = stage.map;
  CHECK(stage.memory.hovered(facts) == nullptr);
  const auto& buffers = stage.map->buffers;
  const auto large = std::ranges::find_if(buffers, [](const Buffer& b) { return b.name == "L02.ffn.1"; });
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
  Played p({.layers = 1});
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

TEST_CASE("tape panels: names and sizes in words") {
  CHECK(short_name("L06.ffn.sum", 6) == "ffn.sum");
  CHECK(short_name("enc.L06.ffn.sum", 6) == "ffn.sum");
  CHECK(short_name("L06.ffn.sum", 5) == "L06.ffn.sum");
  CHECK(size_words(512) == "512 B");
  CHECK(size_words(256 << 10) == "256 KiB");
  CHECK(size_words((1 << 20) - 1) == "1 MiB");
  CHECK(size_words(size_t{9} << 28) == "2.25 GiB");
  MemoryMap map;
  map.planned = map.apart = 12 << 20;
  CHECK(plan_sentence(map) == "12 MiB.");
  map.apart = 15 << 20;
  CHECK(plan_sentence(map) == "12 MiB; every tensor in its own place would take 15 MiB.");
}

TEST_CASE("tape panels: what the menus save holds the numbers that are shown") {
  Played p({.layers = 1});
  Stage stage(p, p.find(Phase::Backward, OpKind::LayerNorm), kFull, 1, Part::All);
  const auto choose = [&](const std::string& menu, const std::string& ending) {
    stage.driver.click(menu);
    stage.driver.frames(2);
    stage.driver.click(menu + "/" + ending);
    stage.driver.frames(2);
  };
  choose("tape/instruction/menu", "json");
  REQUIRE(stage.file);
  const nlohmann::json all = nlohmann::json::parse(stage.file->second);
  CHECK(all["tensors"].size() == stage.shown->reads.size() + stage.shown->writes.size());
  CHECK(all["tensors"][0]["tensor"] == stage.shown->reads[0].name);
  CHECK(all.contains("check"));
  choose("tape/instruction/menu", "csv");
  CHECK(contains(stage.file->second, stage.shown->writes[0].name));
  CHECK(contains(stage.file->second, "float32"));
  choose("tape/instruction/menu", "svg");
  const std::vector<lab::SavePlot> saves = stage.instruction.take_saves();
  REQUIRE(saves.size() == 1);
  CHECK(saves[0].plots->size() == tensors_of(*stage.shown).size() + 1);
  for (const plot::PlotSpec& plot : *saves[0].plots)
    CHECK(contains(plot::to_svg(plot, ui::theme(false)), "</svg>"));
  choose("tape/memory/menu", "csv");
  CHECK(std::ranges::count(stage.file->second, '\n') ==
        static_cast<std::ptrdiff_t>(stage.map->buffers.size()) + 1);
  choose("tape/memory/menu", "json");
  CHECK(nlohmann::json::parse(stage.file->second)["buffers"].size() == stage.map->buffers.size());
  choose("tape/memory/menu", "png");
  CHECK(stage.memory.take_saves().size() == 1);
}

}  // namespace normscope::test_tape_panels

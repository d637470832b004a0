// These tests cover what the middle and the right panel of the Tape screen show, without a window: of every op what the
// player holds, the check is that of the chosen element, the memory's rectangles are the plan.
#include <algorithm>

#include "addons/tape-screen/app/panels.h"
#include "addons/tape-screen/tests/app/tape_played.h"
#include "app/tex/tex.h"
#include "app/ui/widgets.h"

namespace normscope::test_tape_shown {
namespace {

using namespace test_tape;
using test::contains;

void check_tensor(const StepPlayer& player, const ShownTensor& t) {
  INFO(t.name);
  CHECK(t.name == player.name(t.id));
  CHECK(t.shape == player.shape(t.id));
  CHECK(t.there == player.is_there(t.id));
  CHECK_FALSE(t.sign.empty());
  if (!t.there || t.integers) return;
  const TensorSummary s = summarise(player.read(t.id));
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

}  // namespace

TEST_CASE(
    "tape shown: every op is shown with its formula, a sentence and the numbers that the player holds") {
  std::set<OpKind> ops;
  for (const test::TinyOptions& options : every_op()) {
    StepPlayback p(options);
    for (size_t i = 0; i < p.player.size(); ++i) {
      const InstructionView shown = p.show(i);
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

TEST_CASE("tape shown: the sentence of a norm's gradient is the quotient of the norms, and names sigma") {
  StepPlayback p({.layers = 2});
  const ProgramData& program = p.player.data();
  int norms = 0;
  for (size_t i = 0; i < p.player.size(); ++i) {
    const Instruction& it = program.instructions[i];
    if (it.phase != Phase::Backward || it.op != OpKind::LayerNorm || it.write[0] != Write::Assign) continue;
    const InstructionView shown = p.show(i);
    const double factor =
        summarise(p.player.read({it.in[0], true})).norm / summarise(p.player.read({it.out, true})).norm;
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

TEST_CASE("tape shown: what others have added to meanwhile is not said to be this instruction's") {
  StepPlayback p({.placement = Placement::Pre, .layers = 1});
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

TEST_CASE("tape shown: before it was executed an instruction has no numbers, and says so") {
  StepPlayback p({.layers = 1});
  const size_t i = p.find(Phase::Forward, OpKind::Linear);
  p.player.seek(0);
  const InstructionView shown = shown_of(p.player, i);
  CHECK(shown.sentence == "Not executed yet.");
  REQUIRE_FALSE(shown.writes.empty());
  CHECK_FALSE(shown.writes[0].there);
  CHECK(shown.writes[0].picture.cells.empty());
  CHECK(contains(test::error_of([&] { shown_of(p.player, p.player.size()); }), "expected one below"));
}

TEST_CASE("tape shown: another sequence shows other numbers of the same tensor") {
  StepPlayback p({.layers = 1});
  const size_t i = p.find(Phase::Forward, OpKind::Relu);
  const InstructionView first = p.show(i), second = shown_of(p.player, i, 1),
                        beyond = shown_of(p.player, i, 99);
  CHECK(first.sequences == 2);
  CHECK(second.sequence == 1);
  CHECK(beyond.sequence == 1);
  CHECK(second.reads[0].first == static_cast<int64_t>(first.reads[0].rows * first.reads[0].columns));
  CHECK(first.reads[0].summary.mean == second.reads[0].summary.mean);
  CHECK_FALSE(first.reads[0].picture.cells == second.reads[0].picture.cells);
}

TEST_CASE("tape shown: cells of one colour are one stripe; what is not finite is always seen") {
  HeatMap map{2, 4, {0, 1, 1, -1, NAN, 0, 1e-9f, 2}};
  const std::vector<Stripe> all = stripes_of(map, 1);
  const std::vector<Stripe> expected{
      {0, 1, 3, kLevels}, {0, 3, 4, -kLevels}, {1, 0, 1, kHatched}, {1, 3, 4, kLevels}};
  CHECK(all == expected);
  CHECK(stripes_of({1, 2, {0, INFINITY}}, 0) == std::vector<Stripe>{{0, 1, 2, kHatched}});
}

TEST_CASE("tape shown: the check is that of the chosen element, and the player stays where it was") {
  StepPlayback p({.layers = 1});
  const size_t i = p.find(Phase::Backward, OpKind::LayerNorm);
  const InstructionView shown = p.show(i);
  REQUIRE(shown.can_check);
  const size_t stood = p.player.position();
  const ElementCheck chosen = *checked_of(p.player, shown, Element{0, 3, 5});
  CHECK(p.player.position() == stood);
  INFO(chosen.fault);
  REQUIRE(chosen.fault.empty());
  CHECK(chosen.element == Element{0, 3, 5});
  const NumericCheck same = check_element(p.player, static_cast<size_t>(shown.node), 0, 3 * 24 + 5);
  CHECK(chosen.check.element == same.element);
  CHECK(chosen.check.analytic == same.analytic);
  // By itself it takes the largest gradient of what the picture shows.
  const ElementCheck largest = *checked_of(p.player, shown, std::nullopt);
  REQUIRE(largest.fault.empty());
  CHECK(largest.element.input == shown.writes[0].input);
  const std::vector<float> gradient = p.player.read(shown.writes[0].id);
  const auto at = static_cast<size_t>(largest.check.element);
  for (size_t k = 0; k < shown.writes[0].rows * shown.writes[0].columns; ++k)
    CHECK(std::abs(gradient[at]) >= std::abs(gradient[k]));
  CHECK(contains(checked_of(p.player, shown, Element{0, 11, 0})->fault, "position 11"));
  const InstructionView update = p.show(p.player.size() - 1);
  CHECK_FALSE(update.can_check);
  CHECK(contains(checked_of(p.player, update, std::nullopt)->fault, "no backward instruction"));
}

TEST_CASE("tape shown: the memory's rectangles are the plan; thin ones of one colour are one") {
  StepPlayback p({.layers = 4, .reuse_bytes = true});
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

TEST_CASE("tape shown: names and sizes in words") {
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

}  // namespace normscope::test_tape_shown

// These tests cover a step folded at its loss, and what a change of wiring does to a program.
#include <algorithm>

#include "addons/tape-screen/training/fold.h"
#include "addons/tape-screen/training/listing.h"
#include "engine/ops/rules.h"
#include "engine/support/five_nodes.h"
#include "engine/support/helpers.h"
#include "engine/support/model_fixture.h"

namespace normscope::test {
namespace {

const FoldLine& line(const Fold& fold, const std::string& name) {
  const auto at = std::ranges::find(fold.lines, name, &FoldLine::name);
  REQUIRE(at != fold.lines.end());
  return *at;
}

const InstructionChange* find(const ProgramChange& change, Phase phase, const std::string& name) {
  for (const InstructionChange& c : change.all)
    if (c.phase == phase && c.name == name) return &c;
  return nullptr;
}

}  // namespace

TEST_CASE("fold: an op and its gradient stand on one line, and every instruction is counted once", "[tape]") {
  const Tiny tiny({.layers = 2});
  const ProgramData& program = tiny.program->data();
  std::vector<double> seconds;
  for (size_t i = 0; i < program.instructions.size(); ++i) seconds.push_back(1 + static_cast<double>(i));
  const Fold all = fold(program, seconds);
  CHECK(all.lines.size() == program.nodes.size());
  std::set<int32_t> seen;
  for (const FoldLine& l : all.lines) {
    INFO(l.name);
    for (const auto& [side, phase] : {std::pair{l.forward, Phase::Forward}, {l.backward, Phase::Backward}}) {
      REQUIRE(side.instruction >= 0);  // everything of a decoder has a gradient
      const Instruction& it = program.instructions[static_cast<size_t>(side.instruction)];
      CHECK(it.name == l.name);
      CHECK(it.op == l.op);
      CHECK(it.phase == phase);
      CHECK(side.seconds == 1 + side.instruction);
      CHECK(seen.insert(side.instruction).second);
    }
    CHECK(l.backward.instruction > l.forward.instruction);
  }
  CHECK(seen.size() + all.probes + all.update.size() == program.instructions.size());
  const double n = static_cast<double>(seconds.size());
  CHECK(all.forward.seconds + all.backward.seconds + all.updates.seconds + all.probed.seconds ==
        Approx(n * (n + 1) / 2));
  CHECK_THROWS_AS(fold(program, std::vector<double>{1, 2}), Error);
}

TEST_CASE("fold: layers and sub-layers fold, and a group's sums are those of its lines", "[tape]") {
  const Tiny tiny({.layers = 2});
  const Fold all = fold(tiny.program->data());
  std::vector<std::string> names;
  for (const FoldGroup& g : all.groups) names.push_back(g.name);
  CHECK(names == std::vector<std::string>{"L01", "L01.attn", "L01.ffn", "L02", "L02.attn", "L02.ffn"});
  for (const FoldGroup& g : all.groups) {
    INFO(g.name);
    double flop = 0, up = 0;
    size_t bytes = 0;
    for (size_t i = g.first; i < g.end; ++i) {
      CHECK(all.lines[i].name.starts_with(g.name + "."));
      flop += all.lines[i].forward.cost.flop;
      up += all.lines[i].backward.cost.flop;
      bytes += all.lines[i].bytes;
    }
    CHECK(g.forward.cost.flop == flop);
    CHECK(g.backward.cost.flop == up);
    CHECK(g.bytes == bytes);
    CHECK(up == Approx(2 * flop));  // of products and attention
  }
  CHECK(line(all, "L01.ffn.1").label == "1");
  CHECK(line(all, "logits").label == "logits");
  // x (R,K) W (K,N): two operations a multiply-add.
  CHECK(line(all, "L01.ffn.1").forward.cost.flop == 2.0 * 22 * 24 * 40);
}

TEST_CASE("fold: as text, open or with layers closed", "[tape]") {
  const Tiny tiny({.layers = 2});
  const ProgramData& program = tiny.program->data();
  const Fold all = fold(program, std::vector<double>(program.instructions.size(), 1e-3));
  const std::string open = to_string(all, {1e9, 1e9}, true), closed = to_string(all, {}, false);
  CHECK(contains(open, "\n    stream "));
  CHECK(contains(open, "GFLOP/s"));
  CHECK(contains(open, " %"));
  CHECK(contains(open, "probes are not listed"));
  CHECK(contains(closed, "\nL02 "));
  CHECK_FALSE(contains(closed, "stream"));
  CHECK_FALSE(contains(closed, " %"));  // no roof was measured
  CHECK(contains(closed, "\nlogits "));
}

TEST_CASE("change: a moved norm goes, another comes, and what read it reads something else", "[tape]") {
  const Tiny post({.placement = Placement::Post, .layers = 1}),
      pre({.placement = Placement::Pre, .layers = 1});
  const ProgramData &before = post.program->data(), &after = pre.program->data();
  const ProgramChange change = change_of(before, after);
  const auto kind = [&](Phase phase, const std::string& name) {
    const InstructionChange* c = find(change, phase, name);
    return c ? std::string(to_string(c->kind)) : "same";
  };
  for (const Phase phase : {Phase::Forward, Phase::Backward}) {
    INFO(to_string(phase));
    CHECK(kind(phase, "L01.attn.stream") == "went");
    CHECK(kind(phase, "L01.attn.before") == "came");
    CHECK(kind(phase, "L01.attn.q") == "rewired");
    CHECK(kind(phase, "L01.attn.heads") == "same");
  }
  CHECK(contains(find(change, Phase::Forward, "L01.attn.q")->words, "reads L01.attn.before for "));
  CHECK(change.came + change.rewired + change.same == after.instructions.size());
  CHECK(change.went + change.rewired + change.same == before.instructions.size());
  CHECK(change.came > 0);
  CHECK(contains(to_string(change), "rewired"));
  // In the order of the later program.
  int32_t last = -1;
  for (const InstructionChange& c : change.all) {
    if (c.after < 0) continue;
    CHECK(c.after > last);
    last = c.after;
  }

  const ProgramChange back = change_of(after, before);
  CHECK(back.came == change.went);
  CHECK(back.went == change.came);
  const ProgramChange nothing = change_of(before, before);
  CHECK(nothing.all.empty());
  CHECK(nothing.same == before.instructions.size());
}

TEST_CASE("change: another constant of the same wiring is one", "[tape]") {
  const auto backend = make_cpu_backend(1);
  const auto program = [&](float skip) {
    auto store = std::make_unique<Store>(*backend);
    store->declare("w", {4, 4}, {Init::Kind::Normal, 1.0});
    Tape tape(*store);
    const ValueId x = tape.input("x", {2, 4}, DType::F32), t = tape.input("t", {2}, DType::I32);
    const ValueId y = linear(tape, "y", x, tape.parameter("w"), kNone);
    const ValueId loss = softmax_xent(tape, "loss", add(tape, "sum", x, y, {skip}), t, kNone);
    store->materialize(1);
    Program sealed = seal(tape, {.loss = loss});
    return std::pair{std::move(store), std::move(sealed)};
  };
  const auto one = program(1), two = program(2);
  const ProgramChange change = change_of(one.second.data(), two.second.data());
  REQUIRE(change.all.size() == 2);  // forward and backward of the sum
  CHECK(change.all[0].words == "has other constants");
}

// What is on a tape and in its program, as names and numbers.

TEST_CASE("tape: its listing has names for all that the program holds, and where it lies", "[tape]") {
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  Store store(*backend);
  const FiveNodes f(store);
  store.materialize(1);
  const Program program = seal(f.tape, {.loss = f.loss});
  const Listing all = list(program.data());
  REQUIRE(all.nodes.size() == 5);
  CHECK(all.nodes[0].inputs == std::vector<std::string>{"tokens", "table", "positions"});
  CHECK(all.nodes[3].inputs == std::vector<std::string>{"sum", "table", "-"});
  CHECK(all.instructions.size() == program.data().instructions.size());
  CHECK(all.forward + all.backward + all.update == all.instructions.size());
  int adds = 0;
  for (const ListedInstruction& i : all.instructions)
    for (const ListedOperand& o : i.operands)
      if (o.write == "add") {
        ++adds;
        CHECK(o.place.block == "gradients");
      }
  CHECK(adds == 2);  // the table, used twice, and x, read twice
  const std::string text = to_string(all);
  for (const char* part : {"embedding", "relu", "linear", "softmax_xent", "(2,3,7)", "store+0", "batch+0",
                           "positions", "frozen", "  saves ", "stat loss", "on 1 parameters"})
    CHECK(test::contains(text, part));
}

}  // namespace normscope::test

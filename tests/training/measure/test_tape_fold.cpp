// These tests cover a step folded at its loss, what a change of wiring does to a program, and memory as address by
// time.
#include "catch.hpp"
#include "engine/ops/attention/attention.h"
#include "engine/ops/rules.h"
#include "engine/support/five_nodes.h"
#include "engine/support/helpers.h"
#include "engine/support/model_fixture.h"
#include "training/measure/step/change.h"
#include "training/measure/step/fold.h"
#include "training/measure/step/memory_map.h"

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

const Buffer* find(const MemoryMap& map, BufferKind kind, const std::string& name) {
  for (const Buffer& b : map.buffers)
    if (b.kind == kind && b.name == name) return &b;
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

TEST_CASE(
    "fold: attention within a window costs as many keys as it has, and a cap costs a product more backward",
    "[tape]") {
  const Tiny tiny({.layers = 1});
  const ProgramData& program = tiny.program->data();
  size_t found = 0;
  for (const Instruction& it : program.instructions) {
    if (it.op != OpKind::Attention) continue;
    const int64_t keys = program.values[static_cast<size_t>(it.in[1])].shape[1];
    REQUIRE(keys > 3);
    const auto flop = [&](int32_t window, float cap) {
      Instruction other = it;
      auto spec = it.attributes.as<AttentionSpec>();
      spec.window = window;
      spec.cap = cap;
      other.attributes = spec;
      return cost_of(program, other).flop;
    };
    const double all = cost_of(program, it).flop;
    CHECK(flop(3, 0) * static_cast<double>(keys) == Approx(3 * all));
    CHECK(flop(static_cast<int32_t>(keys) + 1, 0) == all);
    CHECK(flop(0, 20) == Approx(it.phase == Phase::Backward ? 1.25 * all : all));
    ++found;
  }
  CHECK(found == 2);
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

TEST_CASE("memory map: what is alive at the same time lies apart, and the totals are the plan's", "[tape]") {
  for (const bool reuse : {false, true}) {
    INFO("reuse " << reuse);
    const Tiny tiny({.layers = 3, .reuse_bytes = reuse});
    const ProgramData& program = tiny.program->data();
    const MemoryMap map = memory_map(program);
    for (size_t i = 0; i < map.buffers.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const Buffer &a = map.buffers[i], &b = map.buffers[j];
        const bool together = a.first <= b.last && b.first <= a.last;
        const bool overlap = a.address < b.address + b.bytes && b.address < a.address + a.bytes;
        if (!together || !overlap) continue;
        FAIL_CHECK(a.name << " lies on " << b.name);
      }
    const MemoryPlan& plan = program.plan;
    CHECK(map.planned ==
          4 * (3 * program.store->size() + plan.inputs + plan.workspace + plan.activations + plan.gradients));
    CHECK((map.apart > map.planned) == reuse);
    CHECK((map.apart == map.planned) == !reuse);
    CHECK(map.most <= map.planned);
    for (const Buffer& b : map.buffers) {
      INFO(b.name);
      CHECK(b.address + b.bytes <= map.planned);
      CHECK(b.first <= b.last);
      CHECK(b.last < map.instructions);
    }
  }
}

TEST_CASE("memory map: a buffer lives from its writer to its last reader", "[tape]") {
  const auto backend = make_cpu_backend(1);
  Store store(*backend);
  const FiveNodes five(store);
  store.materialize(1);
  const Program program = seal(five.tape, {.loss = five.loss});
  const MemoryMap map = memory_map(program.data());
  // 0 x, 1 branch = relu(x), 2 sum = x + branch, 3 logits, 4 loss; 5 loss, 6 logits, 7 sum, 8 branch, 9 x
  // backward; then the update.
  const Buffer* x = find(map, BufferKind::Activation, "x");
  REQUIRE(x);
  CHECK(x->first == 0);
  CHECK(x->last == 8);  // relu's gradient asks where x was positive
  CHECK(x->readers == std::vector<int32_t>{1, 2, 8});
  const Buffer* branch = find(map, BufferKind::Activation, "branch");
  REQUIRE(branch);
  CHECK(branch->last == 2);  // a sum's gradient needs no value
  const Buffer* dx = find(map, BufferKind::Gradient, "x");
  REQUIRE(dx);
  CHECK(dx->writers == std::vector<int32_t>{7, 8});  // assigned, then added to
  CHECK(dx->readers == std::vector<int32_t>{9});
  const Buffer* table = find(map, BufferKind::Gradient, "table");
  REQUIRE(table);
  CHECK(table->first == 6);
  CHECK(table->last == map.instructions - 1);  // Adam
  CHECK(contains(to_string(map), "every tensor in its own place"));
}

TEST_CASE("memory map: what a backward instruction is said not to read may hold anything", "[tape]") {
  for (const NormKind norm :
       {NormKind::LayerNorm, NormKind::Rms, NormKind::DyT, NormKind::Derf, NormKind::DetachMean}) {
    INFO(to_string(norm));
    Tiny tiny({.placement = Placement::Post, .norm = norm, .layers = 1});
    tiny.fill(1);
    const ProgramData& program = tiny.program->data();
    Executable& run = tiny.program->executable();
    const StepInputs inputs = tiny.inputs(1);
    for (size_t i = 0; i < program.instructions.size(); ++i) {
      const Instruction& it = program.instructions[i];
      if (it.phase != Phase::Backward || it.op == OpKind::Probe) continue;
      INFO(it.name);
      run.run(0, i, inputs);
      std::vector<std::vector<float>> expected;
      const auto gradients = [&] {
        std::vector<std::vector<float>> all;
        for (size_t k = 0; k < it.in.size(); ++k)
          if (it.write[k] != Write::Skip) {
            all.emplace_back(static_cast<size_t>(program.values[static_cast<size_t>(it.in[k])].shape.size()));
            run.read(run.gradient(it.in[k]), all.back());
          }
        return all;
      };
      run.run(i, i + 1, inputs);
      expected = gradients();
      run.run(0, i, inputs);
      const BackwardReads reads = backward_reads(it);
      std::map<ValueId, std::vector<float>> kept;  // weights are not written again by a run
      const auto poison = [&](ValueId v) {
        if (v == kNone || run.value(v) == nullptr) return;
        const ValueInfo& info = program.values[static_cast<size_t>(v)];
        if (info.dtype == DType::I32) return;
        const auto size = static_cast<size_t>(info.shape.size());
        kept[v].resize(size);
        run.read(run.value(v), kept[v]);
        run.write(run.value(v), std::vector<float>(size, std::numeric_limits<float>::quiet_NaN()));
      };
      poison(it.out);
      for (size_t k = 0; k < it.in.size(); ++k) {
        const bool twice = std::ranges::count(it.in, it.in[k]) > 1;
        if (!reads.inputs[k] && !twice) poison(it.in[k]);
      }
      if (!reads.saved)
        for (ValueId v : it.saved) poison(v);
      run.run(i, i + 1, inputs);
      const auto got = gradients();
      REQUIRE(got.size() == expected.size());
      for (size_t k = 0; k < got.size(); ++k) CHECK(same_bits(got[k], expected[k]));
      for (const auto& [v, values] : kept) run.write(run.value(v), values);
    }
  }
}

}  // namespace normscope::test

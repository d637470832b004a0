// These tests play one step, an instruction at a time, on a copy, and hold what an instruction reads and costs.
#include <algorithm>

#include "engine/ops/ops.h"
#include "engine/ops/rules.h"
#include "training/measure/step/profile.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

std::vector<TensorId> tensors_of(const ProgramData& program) {
  std::vector<TensorId> all;
  for (size_t v = 0; v < program.values.size(); ++v) {
    if (program.values[v].dtype != DType::F32) continue;
    const auto id = static_cast<ValueId>(v);
    if (program.plan.value_offset[v] != kNoOffset) all.push_back({id, false});
    if (program.plan.gradient_offset[v] != kNoOffset) all.push_back({id, true});
  }
  return all;
}

size_t index_of(const ProgramData& program, Phase phase, const std::string& name) {
  for (size_t i = 0; i < program.instructions.size(); ++i)
    if (program.instructions[i].phase == phase && program.instructions[i].name == name) return i;
  FAIL("no instruction " << name);
  return 0;
}

}  // namespace

TEST_CASE("step player: played to its end it leaves what the run's own step leaves, and the run as it was") {
  StepPlayback p({.layers = 2, .clip = true, .reuse_bytes = true});
  const std::vector<float> before = p.tiny.state();
  p.player.seek(p.player.size());
  CHECK(same_bits(p.tiny.state(), before));
  p.tiny.step(1);
  const ProgramData& program = p.player.data();
  CHECK(p.player.program().loss() == p.tiny.program->loss());
  for (const ValueInfo& v : program.values) {
    if (v.role != Role::Parameter) continue;
    INFO(v.name);
    CHECK(same_bits(p.player.program().read(v.name), p.tiny.program->read(v.name)));
  }
}

TEST_CASE("step player: going back gives the same bits as never having gone further") {
  StepPlayback there({.layers = 1}), straight({.layers = 1});
  const size_t middle = index_of(there.player.data(), Phase::Backward, "L01.ffn.1");
  there.player.seek(there.player.size());
  there.player.seek(middle);
  straight.player.seek(middle);
  CHECK(there.player.position() == middle);
  size_t compared = 0;
  for (const TensorId t : tensors_of(straight.player.data())) {
    CHECK(there.player.is_there(t) == straight.player.is_there(t));
    if (!straight.player.is_there(t)) continue;
    INFO(straight.player.name(t));
    CHECK(same_bits(there.player.read(t), straight.player.read(t)));
    ++compared;
  }
  CHECK(compared > 20);
  CHECK_THROWS_AS(there.player.seek(there.player.size() + 1), Error);
}

TEST_CASE("step player: a tensor is there once its instruction was executed") {
  StepPlayback p({.layers = 1});
  const ProgramData& program = p.player.data();
  const size_t i = index_of(program, Phase::Forward, "L01.ffn.1");
  const TensorId out = p.player.writes(i).at(0);
  CHECK(p.player.name(out) == "L01.ffn.1");
  p.player.seek(i);
  CHECK_FALSE(p.player.is_there(out));
  CHECK_FALSE(p.player.is_there({out.value, true}));
  for (const TensorId t : p.player.reads(i)) CHECK(p.player.is_there(t));
  p.player.seek(i + 1);
  CHECK(p.player.is_there(out));
  const std::vector<float> numbers = p.player.read(out);
  CHECK(std::ranges::min(numbers) < std::ranges::max(numbers));
  const size_t up = index_of(program, Phase::Backward, "L01.ffn.1");
  p.player.seek(up);
  CHECK(p.player.is_there({out.value, true}));  // its gradient arrives before its backward instruction
  CHECK(p.player.shape(out) == program.values[static_cast<size_t>(out.value)].shape);
  const ValueId tokens = program.nodes[0].in[0];
  CHECK(p.player.read_integers(tokens).size() == 22);
  CHECK_THROWS_AS(p.player.read({tokens, false}), Error);
  CHECK_THROWS_AS(p.player.read_integers(out.value), Error);
}

TEST_CASE("step player: the first number that is not finite is found where it came to be") {
  const Tiny tiny({.layers = 2});
  change(*tiny.store, "L02.ffn.w1", [](auto& values) { values[5] = INFINITY; });
  StepPlayer player(
      tiny.store->clone(), [&](Tape& tape) { return tiny.record(tape).loss; }, {}, tiny.inputs(1));
  const auto found = player.seek_not_finite();
  REQUIRE(found);
  CHECK(player.data().instructions[found->instruction].name == "L02.ffn.1");
  CHECK(player.name(found->tensor) == "L02.ffn.1");
  CHECK(player.position() == found->instruction + 1);
  const std::vector<float> numbers = player.read(found->tensor);
  const auto first = std::ranges::find_if_not(numbers, [](float v) { return std::isfinite(v); });
  CHECK(first - numbers.begin() == found->element);

  StepPlayback fine({.layers = 1});
  CHECK_FALSE(fine.player.seek_not_finite());
  CHECK(fine.player.position() == fine.player.size());
}

TEST_CASE("step player: a backward instruction reads what its op's row of the rules says") {
  StepPlayback p({.layers = 1});
  const ProgramData& program = p.player.data();
  size_t left_out = 0;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& it = program.instructions[i];
    if (it.phase != Phase::Backward || it.op == OpKind::Probe) continue;
    INFO(it.name);
    const BackwardReads rule = backward_reads(it);
    const std::vector<TensorId> reads = p.player.reads(i);
    const auto has = [&](TensorId t) { return std::ranges::find(reads, t) != reads.end(); };
    CHECK(has({it.out, true}));
    for (size_t k = 0; k < it.in.size(); ++k) {
      if (it.in[k] == kNone || std::ranges::count(it.in, it.in[k]) > 1) continue;
      CHECK(has({it.in[k], false}) == rule.inputs[k]);
      if (!rule.inputs[k]) ++left_out;
    }
  }
  CHECK(left_out > 0);
}

TEST_CASE("step player: a run's next step, played on a copy, is the step that it then takes") {
  const RunSpec spec = small_spec("pre");
  const auto task = make_task(spec.data);
  const auto backend = make_cpu_backend(1);
  Run run(spec, task, *backend), alone(spec, task, *backend);
  for (int i = 0; i < 3; ++i) {
    run.step();
    alone.step();
  }
  const std::unique_ptr<StepPlayer> player = run.play_next();
  player->seek(player->size());
  run.step();
  alone.step();
  CHECK(run.last_loss() == alone.last_loss());
  CHECK(static_cast<float>(player->program().loss()) == static_cast<float>(run.last_loss()));
  for (const ParameterInfo& p : run.store().parameters()) {
    INFO(p.name);
    const int32_t id = run.store().find(p.name);
    CHECK(same_bits(run.store().read(id), alone.store().read(id)));
    CHECK(same_bits(run.store().read(id), player->program().read(p.name)));
  }
}

TEST_CASE(
    "cost: attention within a window costs as many keys as it has, and a cap costs a product more backward") {
  const Tiny tiny({.layers = 1});
  const ProgramData& program = tiny.program->data();
  size_t found = 0;
  for (const Instruction& it : program.instructions) {
    if (it.op != OpKind::Attention) continue;
    const int64_t keys = program.values[static_cast<size_t>(it.in[1])].shape[1];
    REQUIRE(keys > 5);
    const auto flop = [&](int32_t window, float cap, bool causal = true) {
      Instruction other = it;
      auto spec = it.attributes.as<AttentionSpec>();
      spec.window = window;
      spec.cap = cap;
      spec.causal = causal;
      other.attributes = spec;
      return cost_of(program, other).flop;
    };
    const double all = cost_of(program, it).flop;
    CHECK(flop(3, 0) * static_cast<double>(keys) == Approx(3 * all));
    CHECK(flop(3, 0, false) * static_cast<double>(keys) == Approx(5 * all));
    CHECK(flop(static_cast<int32_t>(keys) + 1, 0) == all);
    CHECK(flop(0, 20) == Approx(it.phase == Phase::Backward ? 1.25 * all : all));
    ++found;
  }
  CHECK(found == 2);
}

TEST_CASE("rules: what a backward instruction is said not to read may hold anything") {
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

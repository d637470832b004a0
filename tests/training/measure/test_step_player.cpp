// These tests play one step, an instruction at a time, on a copy, and its tensors.
#include "catch.hpp"
#include "engine/ops/rules.h"
#include "engine/support/helpers.h"
#include "engine/support/model_fixture.h"
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

TEST_CASE("step player: played to its end it leaves what the run's own step leaves, and the run as it was",
          "[tape]") {
  Played p({.layers = 2, .clip = true, .reuse_bytes = true});
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

TEST_CASE("step player: going back gives the same bits as never having gone further", "[tape]") {
  Played there({.layers = 1}), straight({.layers = 1});
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

TEST_CASE("step player: a tensor is there once its instruction was executed", "[tape]") {
  Played p({.layers = 1});
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
  CHECK(p.player.summary(out).deviation > 0);
  const size_t up = index_of(program, Phase::Backward, "L01.ffn.1");
  p.player.seek(up);
  CHECK(p.player.is_there({out.value, true}));  // its gradient arrives before its backward instruction
  CHECK(p.player.shape(out) == program.values[static_cast<size_t>(out.value)].shape);
  const ValueId tokens = program.nodes[0].in[0];
  CHECK(p.player.read_integers(tokens).size() == 22);
  CHECK_THROWS_AS(p.player.read({tokens, false}), Error);
  CHECK_THROWS_AS(p.player.read_integers(out.value), Error);
}

TEST_CASE("step player: the first number that is not finite is found where it came to be", "[tape]") {
  const Tiny tiny({.layers = 2});
  Store& store = *tiny.store;
  const int32_t w = store.find("L02.ffn.w1");
  REQUIRE(w >= 0);
  std::vector<float> values = store.read(w);
  values[5] = std::numeric_limits<float>::infinity();
  store.write(w, values);
  StepPlayer player(
      store.clone(), [&](Tape& tape) { return tiny.record(tape).loss; }, {}, tiny.inputs(1));
  const auto found = player.seek_not_finite();
  REQUIRE(found);
  CHECK(player.data().instructions[found->instruction].name == "L02.ffn.1");
  CHECK(player.name(found->tensor) == "L02.ffn.1");
  CHECK(player.position() == found->instruction + 1);
  CHECK(player.summary(found->tensor).first_not_finite == found->element);

  Played fine({.layers = 1});
  CHECK_FALSE(fine.player.seek_not_finite());
  CHECK(fine.player.position() == fine.player.size());
}

TEST_CASE("tensor summary: moments, extremes, histogram and what is not finite", "[tape]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TensorSummary s = summarise(std::vector<float>{3, -1, nan, 2, 4});
  CHECK(s.count == 5);
  CHECK(s.not_finite == 1);
  CHECK(s.first_not_finite == 2);
  CHECK(s.mean == 2);
  CHECK(s.deviation == Approx(std::sqrt(14.0 / 4)));
  CHECK(s.norm == Approx(std::sqrt(30.0)));
  CHECK(s.low == -1);
  CHECK(s.high == 4);
  CHECK(s.limit == 4);
  CHECK(s.histogram.front() == 1);
  CHECK(s.histogram.back() == 1);  // the largest belongs to the last part
  uint32_t sum = 0;
  for (const uint32_t n : s.histogram) sum += n;
  CHECK(sum == 4);
  CHECK(summarise(std::vector<float>(7, 2.5f)).histogram[0] == 7);
  CHECK(summarise(std::vector<float>{nan}).norm == 0);
  CHECK(summarise({}).first_not_finite == -1);

  std::vector<float> many(1000, 0.5f);
  many[17] = 100;
  CHECK(summarise(many).limit == 0.5);  // one of a thousand does not set the colours
}

TEST_CASE("heat map: a picture of more than its pixels keeps extremes", "[tape]") {
  std::vector<float> values(40 * 30, 0.1f);
  values[17 * 30 + 4] = -9;
  values[39 * 30 + 29] = std::numeric_limits<float>::quiet_NaN();
  const HeatMap map = heat_map(values, 30, 10, 6);
  REQUIRE(map.rows == 10);
  REQUIRE(map.columns == 6);
  CHECK(map.cells[4 * 6 + 0] == -9);  // rows 16 to 19, columns 0 to 4
  CHECK(std::isnan(map.cells.back()));
  CHECK(std::ranges::count(map.cells, 0.1f) == 58);
  const HeatMap whole = heat_map(values, 30, 100, 100);
  CHECK(whole.rows == 40);
  CHECK(same_bits(whole.cells, values));
  CHECK(heat_map({}, 30, 4, 4).cells.empty());
}

TEST_CASE("step player: a backward instruction reads what its op's row of the rules says", "[tape]") {
  Played p({.layers = 1});
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

TEST_CASE("step player: a run's next step, played on a copy, is the step that it then takes", "[tape]") {
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

}  // namespace normscope::test

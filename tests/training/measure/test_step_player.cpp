// These tests play one step, an instruction at a time, on a copy; its tensors; one element by differences.
#include "catch.hpp"
#include "engine/ops/rules.h"
#include "engine/support/helpers.h"
#include "engine/support/model_fixture.h"
#include "training/measure/step/numeric_check.h"
#include "training/support/played.h"
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

TEST_CASE("numeric check: every op's gradient is what differences say, central and refined", "[tape]") {
  for (const TinyOptions& options :
       {TinyOptions{.layers = 1},
        TinyOptions{.placement = Placement::Pre, .layers = 1, .activation = Activation::Gelu},
        TinyOptions{.layers = 1, .dropout = 0.2f}, TinyOptions{.layers = 1, .classes = 3}}) {
    Played p(options, 3);
    const std::vector<NumericCheck> checks = check_every_op(p.player);
    std::set<OpKind> ops;
    for (const Node& node : p.player.data().nodes) ops.insert(node.op);
    CHECK(checks.size() == ops.size());
    for (const NumericCheck& c : checks) {
      INFO(to_string(c.op) << " " << c.node << " of " << c.input << "[" << c.element << "]");
      CHECK(c.analytic != 0);
      REQUIRE(c.best_central());
      REQUIRE(c.best_refined());
      CHECK(c.best_central()->error < 1e-3);
      CHECK(c.best_refined()->error < 1e-3);
    }
    CHECK(p.player.position() == 0);  // where it stood
    CHECK(contains(to_string(checks), "L01.attn.heads"));
  }
}

TEST_CASE("numeric check: kinds of norm that hold something constant have no differences", "[tape]") {
  for (const NormKind kind : kNormKinds) {
    if (kind == NormKind::None) continue;
    INFO(to_string(kind));
    Played p({.placement = Placement::Post, .norm = kind, .layers = 1});
    const NumericCheck c = check_element(p.player, "L01.attn.stream");
    CHECK(c.central.empty() == holds_constant(kind));
    CHECK(c.refined.empty() == holds_constant(kind));
    if (!c.central.empty()) CHECK(c.best_central()->error < 1e-3);
  }
}

TEST_CASE("numeric check: it is this instruction's part of the gradient, of the element that was named",
          "[tape]") {
  Played p({.layers = 1});
  const NumericCheck c = check_element(p.player, "L01.ffn.1/L01.ffn.w1[3,7]");
  CHECK(c.element == 3 * 40 + 7);
  CHECK(c.place == 1);
  CHECK(c.shape == Shape{24, 40});
  CHECK(check_element(p.player, "L01.ffn.1/L01.ffn.w1[127]").analytic == c.analytic);
  p.player.seek(p.player.size());
  const auto gradient = p.player.program().read("L01.ffn.w1", true);
  CHECK(c.analytic == Approx(static_cast<double>(gradient[127])).epsilon(1e-5));
  // Two instructions write the gradient of the state before a Post-LN sub-layer: their parts add up to it.
  const NumericCheck sum = check_element(p.player, "L01.ffn.sum/L01.attn.stream[0]"),
                     first = check_element(p.player, "L01.ffn.1/L01.attn.stream[0]");
  CHECK(sum.analytic + first.analytic ==
        Approx(static_cast<double>(p.player.program().read("L01.attn.stream", true)[0])).margin(1e-7));
  CHECK(p.player.position() == p.player.size());
}

TEST_CASE("numeric check: a token that is not in the table has no part in its gradient", "[tape]") {
  Played p({.layers = 1});
  for (int32_t& token : p.player.program().tokens("tokens").first(5)) token = -1;
  const NumericCheck c = check_element(p.player, "emb");
  CHECK(c.analytic != 0);
  REQUIRE(c.best_central());
  CHECK(c.best_central()->error < 1e-3);
}

TEST_CASE("numeric check: a gradient that is no number is not said to be without error", "[tape]") {
  const Tiny tiny({.layers = 1});
  Store& store = *tiny.store;
  const int32_t w = store.find("L01.ffn.w2");
  REQUIRE(w >= 0);
  std::vector<float> values = store.read(w);
  values[5] = std::numeric_limits<float>::infinity();
  store.write(w, values);
  StepPlayer player(
      store.clone(), [&](Tape& tape) { return tiny.record(tape).loss; }, {}, tiny.inputs(1));
  const NumericCheck c = check_element(player, "L01.ffn.1/L01.ffn.w1[0]");
  REQUIRE(std::isnan(c.analytic));
  REQUIRE_FALSE(c.central.empty());
  for (const std::vector<Difference>* list : {&c.central, &c.refined})
    for (const Difference& d : *list) CHECK(std::isnan(d.error));
}

TEST_CASE("numeric check: it stops between two differences, and the player stands where it stood", "[tape]") {
  Played p({.layers = 1});
  p.player.seek(3);
  const auto& nodes = p.player.data().nodes;
  const auto found = std::ranges::find(nodes, "L01.ffn.1", &Node::name);
  REQUIRE(found != nodes.end());
  int asked = 0;
  const NumericCheck c = check_element(p.player, static_cast<size_t>(found - nodes.begin()), -1, -1,
                                       [&] { return ++asked > 2; });
  CHECK(c.stopped);
  CHECK(c.central.size() == 2);
  CHECK(p.player.position() == 3);
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

TEST_CASE("numeric check: what cannot be checked is refused in one line", "[tape]") {
  Played p({.layers = 1});
  const auto refused = [&](const char* what) { return error_of([&] { check_element(p.player, what); }); };
  CHECK(contains(refused("L09.attn.q"), "no instruction of the tape"));
  CHECK(contains(refused("L01.ffn.1/L01.ffn.w2"), "does not read"));
  CHECK(contains(refused("L01.ffn.1[3"), "does not end with ]"));
  CHECK(contains(refused("L01.ffn.1[x]"), "is no element"));
  CHECK(contains(refused("L01.ffn.1[]"), "is no element"));
  CHECK(contains(refused("L01.ffn.1[99999999]"), "lies outside"));
  CHECK(contains(refused("L01.ffn.1[1,2]"), "lies outside"));
  CHECK(contains(refused("emb/tokens"), "hands no gradient"));
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

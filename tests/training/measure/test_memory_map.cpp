// These tests cover memory as address by time, and the arithmetic of an instruction.
#include "catch.hpp"
#include "engine/ops/ops.h"
#include "engine/ops/rules.h"
#include "engine/support/five_nodes.h"
#include "engine/support/helpers.h"
#include "engine/support/model_fixture.h"
#include "training/measure/step/memory_map.h"
#include "training/measure/step/profile.h"

namespace normscope::test {
namespace {

const Buffer* find(const MemoryMap& map, BufferKind kind, const std::string& name) {
  for (const Buffer& b : map.buffers)
    if (b.kind == kind && b.name == name) return &b;
  return nullptr;
}

}  // namespace

TEST_CASE(
    "cost: attention within a window costs as many keys as it has, and a cap costs a product more backward",
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

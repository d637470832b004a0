// These tests cover memory as address by time.
#include "addons/tape-screen/training/memory_map.h"
#include "engine/support/five_nodes.h"
#include "engine/support/helpers.h"
#include "engine/support/model_fixture.h"

namespace normscope::test {
namespace {

const Buffer* find(const MemoryMap& map, BufferKind kind, const std::string& name) {
  for (const Buffer& b : map.buffers)
    if (b.kind == kind && b.name == name) return &b;
  return nullptr;
}

}  // namespace

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

}  // namespace normscope::test

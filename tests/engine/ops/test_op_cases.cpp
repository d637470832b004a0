// These tests hold every op's CPU kernels against the double reference and its derivative, for every case, write mode,
// instruction set and order of chunks; then NaN. test_reference.cpp looks at the reference itself.
#include "engine/support/op_harness.h"

namespace normscope::test {
namespace {

void check_orders(const OpCase& c, const ReferenceCase& p, const std::vector<Write>& write) {
  const Outcome first = run_case(c, write, p.in, p.dy, p.base, orders()[0]);
  CHECK(first.saved.size() == c.saved.size());
  check_outcome(c, p, write, first);
  for (size_t o = 1; o < orders().size(); ++o) {
    INFO(orders()[o].name);
    const Outcome other = run_case(c, write, p.in, p.dy, p.base, orders()[o]);
    CHECK(other.intact);
    CHECK(same_bits(first, other));
  }
}

void check_case(const OpCase& c) {
  INFO(c.name);
  const ReferenceCase p = prepare(c);  // once: the reference takes longer than all kernels
  on_each_instruction_set([&] {
    for (const auto& write : write_patterns(c)) check_orders(c, p, write);
  });
}

/// A runner for each instruction set, which stays chosen.
std::vector<OpRunner> cpu_runners(const OpCase& c) {
  std::vector<OpRunner> runners;
  for (const std::string& isa : instruction_sets())
    runners.push_back({isa, [&c, isa](const auto& write, const auto& in, const auto& dy, const auto& base) {
                         use_instruction_set(isa);
                         return run_case(c, write, in, dy, base, orders()[0]);
                       }});
  return runners;
}

/// All cases. The address sanitizer looks where a kernel reads and writes: of the large ones it does so
/// in the comparisons with the reference, and what a NaN decides (which is the largest, what is masked) every op's
/// small ones decide too.
std::vector<OpCase> nan_cases() {
  std::vector<OpCase> cases = op_cases();
#ifdef __SANITIZE_ADDRESS__
  constexpr int64_t kSmall = 4000;  // numbers of all inputs and the output
  std::set<OpKind> all, left;
  for (const OpCase& c : cases) all.insert(c.op);
  std::erase_if(cases, [](const OpCase& c) {
    int64_t numbers = c.out.size();
    for (const Operand& o : c.in) numbers += o.present ? o.shape.size() : 0;
    return numbers > kSmall;
  });
  for (const OpCase& c : cases) left.insert(c.op);
  CHECK(left == all);
#endif
  return cases;
}

void check_cases(const std::vector<OpCase>& cases) {
  for (const OpCase& c : cases) check_case(c);
}

}  // namespace

TEST_CASE("kernels: embedding equals the reference") { check_cases(embedding_cases()); }
TEST_CASE("kernels: linear equals the reference") { check_cases(linear_cases()); }
TEST_CASE("kernels: attention equals the reference") { check_cases(attention_cases()); }
TEST_CASE("kernels: concatenation equals the reference") { check_cases(concat_cases()); }
TEST_CASE("kernels: the norm family equals the reference") { check_cases(norm_cases()); }
TEST_CASE("kernels: activations, dropout, add, multiply, affine and norms of heads equal the reference") {
  check_cases(elementwise_cases());
}
TEST_CASE("kernels: softmax cross-entropy equals the reference") { check_cases(loss_cases()); }

TEST_CASE("kernels: the mean over a row equals the reference") { check_cases(pool_cases()); }

TEST_CASE("kernels: ops of add-ons equal the reference") { check_cases(addon_cases()); }

TEST_CASE("kernels: every op hands NaN on") {
  for (const OpCase& c : nan_cases()) check_nan_case(c, cpu_runners(c), true);
  use_instruction_set("");
}

TEST_CASE("kernels: the comparison fails on NaN, on a small change and on a wrong size") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(relative_error({1.0f, nan}, {1.0, 2.0}) <= bound(1));
  CHECK_FALSE(relative_error({1.0f, 2.0f}, {1.0, std::numeric_limits<double>::quiet_NaN()}) <= bound(1));
  CHECK_FALSE(relative_error({1.0f, 2.00001f}, {1.0, 2.0}) <= bound(1));
  CHECK_FALSE(relative_error({1.0f}, {1.0, 2.0}) <= bound(1e6));
  CHECK_FALSE(relative_error({1e-30f}, {0.0}) <= bound(1e6));
  CHECK(relative_error({1.0f, 2.0f}, {1.0, 2.0}) <= bound(1));
}

TEST_CASE("kernels: the canaries notice a write before and behind a tensor") {
  for (const int offset : {-1, 5}) {
    GuardedMemory memory(256);
    float* p = memory.floats(5);
    CHECK(memory.intact());
    p[offset] = 0.0f;
    CHECK_FALSE(memory.intact());
  }
}

}  // namespace normscope::test

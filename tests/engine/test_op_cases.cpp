// The CPU kernels of every op against the double reference and its derivative, for every case, write mode, instruction set
// and order of chunks; then NaN. test_reference.cpp looks at the reference itself.
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "engine/op_cases.h"
#include "engine/op_harness.h"

namespace normscope::test {
namespace {

template <class F>
void on_each_instruction_set(F f) {
  for (const std::string& isa : instruction_sets()) {
    use_instruction_set(isa);
    INFO(isa);
    f();
  }
  use_instruction_set("");
}

std::vector<Write> all_inputs(const OpCase& c, Write mode) {
  std::vector<Write> write;
  for (const Operand& o : c.in) write.push_back(o.present && o.differentiable ? mode : Write::Skip);
  return write;
}

/// All inputs at once, and each alone; assigned and added.
std::vector<std::vector<Write>> write_patterns(const OpCase& c) {
  std::vector<std::vector<Write>> patterns;
  size_t differentiable = 0;
  for (const Operand& o : c.in) differentiable += o.present && o.differentiable;
  for (const Write mode : {Write::Assign, Write::Add}) {
    patterns.push_back(all_inputs(c, mode));
    if (differentiable < 2) continue;
    for (size_t i = 0; i < c.in.size(); ++i) {
      if (!c.in[i].present || !c.in[i].differentiable) continue;
      std::vector<Write> only(c.in.size(), Write::Skip);
      only[i] = mode;
      patterns.push_back(only);
    }
  }
  return patterns;
}

void check_forward(const OpCase& c, const Prepared& p, const Outcome& outcome) {
  CHECK(relative_error(outcome.out, p.forward[0]) <= bound(c.terms));
  for (size_t i = 0; i < c.saved.size(); ++i) {
    INFO("saved " << i);
    CHECK(relative_error(outcome.saved[i], p.forward[i + 1]) <= bound(c.terms));
  }
}

void check_gradients(const OpCase& c, const Prepared& p, const std::vector<Write>& write,
                     const Outcome& outcome) {
  for (size_t i = 0; i < c.in.size(); ++i) {
    if (write[i] == Write::Skip) continue;
    INFO("gradient of input " << i << (write[i] == Write::Add ? ", added" : ", assigned"));
    Values expected = p.gradients[i];
    if (write[i] == Write::Add)
      for (size_t e = 0; e < expected.size(); ++e) expected[e] += p.base[i][e];
    if (!c.in[i].zero_gradient) {
      CHECK(norm_of(p.gradients[i]) >= 1e-3 * norm_of(p.dy));  // not vacuous
      CHECK(relative_error(outcome.din[i], expected) <= bound(c.in[i].terms));
    } else {
      Values difference;
      for (size_t e = 0; e < expected.size(); ++e)
        difference.push_back(static_cast<double>(outcome.din[i][e]) - expected[e]);
      CHECK(norm_of(difference) <= 1e-4 * norm_of(p.dy));
    }
  }
}

void check_orders(const OpCase& c, const Prepared& p, const std::vector<Write>& write) {
  const Outcome first = run_case(c, write, p.in, p.dy, p.base, orders()[0]);
  CHECK(first.intact);
  check_forward(c, p, first);
  check_gradients(c, p, write, first);
  for (size_t o = 1; o < orders().size(); ++o) {
    INFO(orders()[o].name);
    const Outcome other = run_case(c, write, p.in, p.dy, p.base, orders()[o]);
    CHECK(other.intact);
    CHECK(same_bits(first, other));
  }
}

void check_case(const OpCase& c) {
  INFO(c.name);
  const Prepared p = prepare(c);  // once: the reference takes longer than all kernels
  on_each_instruction_set([&] {
    for (const auto& write : write_patterns(c)) check_orders(c, p, write);
  });
}

/// Attention may spread a NaN within its tensor: a masked key counts with probability zero, and zero times
/// NaN is NaN.
void check_nan(const OpCase& c, const Values& reference, const std::vector<float>& got) {
  size_t wanted = 0, missing = 0, extra = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    wanted += std::isnan(reference[i]);
    missing += std::isnan(reference[i]) && !std::isnan(got[i]);
    extra += !std::isnan(reference[i]) && std::isnan(got[i]);
  }
  CHECK(missing == 0);
  if (c.op != OpKind::Attention && c.op != OpKind::RelativeAttention) CHECK(extra == 0);
}

void check_nan_case(const OpCase& c) {
  INFO(c.name);
  const Inputs<double> plain = inputs_of(c);
  const Values plain_dy = cotangent_of(c, plain);
  const std::vector<Values> base(c.in.size());
  const auto write = all_inputs(c, Write::Assign);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < c.in.size(); ++i) {
    if (!c.in[i].present || !c.in[i].differentiable) continue;
    INFO("NaN in input " << i);
    Inputs<double> in = plain;
    in[i][in[i].size() / 2] = nan;
    const Values expected = c.forward(in)[0];
    on_each_instruction_set(
        [&] { check_nan(c, expected, run_case(c, write, in, plain_dy, base, orders()[0]).out); });
  }
  INFO("NaN in the gradient of the output");
  Values dy = plain_dy;
  dy[dy.size() / 2] = nan;
  const auto gradients = gradients_of(c, plain, dy);
  on_each_instruction_set([&] {
    const Outcome outcome = run_case(c, write, plain, dy, base, orders()[0]);
    for (size_t i = 0; i < c.in.size(); ++i)
      if (write[i] != Write::Skip) check_nan(c, gradients[i], outcome.din[i]);
  });
}

void check_cases(const std::vector<OpCase>& cases) {
  for (const OpCase& c : cases) check_case(c);
}

}  // namespace

TEST_CASE("kernels: embedding equals the reference", "[ops]") { check_cases(embedding_cases()); }
TEST_CASE("kernels: linear equals the reference", "[ops]") { check_cases(linear_cases()); }
TEST_CASE("kernels: attention equals the reference", "[ops]") { check_cases(attention_cases()); }
TEST_CASE("kernels: relative attention equals the reference", "[ops]") {
  check_cases(relative_attention_cases());
}
TEST_CASE("kernels: concatenation equals the reference", "[ops]") { check_cases(concat_cases()); }
TEST_CASE("kernels: the norm family equals the reference", "[ops]") { check_cases(norm_cases()); }
TEST_CASE("kernels: relu, gelu, dropout, add, affine and norms of heads equal the reference", "[ops]") {
  check_cases(elementwise_cases());
}
TEST_CASE("kernels: softmax cross-entropy equals the reference", "[ops]") { check_cases(loss_cases()); }

TEST_CASE("kernels: the mean over a row equals the reference", "[ops]") { check_cases(pool_cases()); }

TEST_CASE("kernels: convolution and the largest under a window equal the reference", "[ops]") {
  check_cases(image_cases());
}

TEST_CASE("kernels: every op hands NaN on", "[ops]") {
  for (const OpCase& c : op_cases()) check_nan_case(c);
}

TEST_CASE("kernels: the comparison fails on NaN, on a small change and on a wrong size", "[ops]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(relative_error({1.0f, nan}, {1.0, 2.0}) <= bound(1));
  CHECK_FALSE(relative_error({1.0f, 2.0f}, {1.0, std::numeric_limits<double>::quiet_NaN()}) <= bound(1));
  CHECK_FALSE(relative_error({1.0f, 2.00001f}, {1.0, 2.0}) <= bound(1));
  CHECK_FALSE(relative_error({1.0f}, {1.0, 2.0}) <= bound(1e6));
  CHECK_FALSE(relative_error({1e-30f}, {0.0}) <= bound(1e6));
  CHECK(relative_error({1.0f, 2.0f}, {1.0, 2.0}) <= bound(1));
}

TEST_CASE("kernels: the canaries notice a write before and behind a tensor", "[ops]") {
  for (const int offset : {-1, 5}) {
    Guarded memory(256);
    float* p = memory.floats(5);
    CHECK(memory.intact());
    p[offset] = 0.0f;
    CHECK_FALSE(memory.intact());
  }
}

}  // namespace normscope::test

// Cases of the ops on several streams, and of heads that repeat: see op_cases.h. Widths are around the vector lengths,
// and weights are shared by all positions, with sums over many of them, or each position's own.
#include <fmt/format.h>

#include <array>

#include "addons/newer-placements/engine/ops.h"
#include "engine/support/op_cases.h"

namespace normscope::test {
namespace {

/// (B,T,n,D), or (B,T,D) for one part.
Shape parts_of(int64_t B, int64_t T, int64_t n, int64_t D) {
  return n == 1 ? Shape{B, T, D} : Shape{B, T, n, D};
}

OpCase mix_case(std::array<int64_t, 5> size, bool shared) {
  const auto [B, T, n, m, D] = size;
  Random random(static_cast<uint64_t>(B * 23 + T * 7 + n * 5 + m * 3 + D));
  OpCase c;
  c.op = OpKind::Mix;
  c.name =
      fmt::format("mix B{} T{} n{} m{} D{}{}", B, T, n, m, D, shared ? "" : ", weights of each position");
  c.attributes = MixSpec{static_cast<int32_t>(n), static_cast<int32_t>(m)};
  c.in = {random.normal(parts_of(B, T, n, D)), random.normal(shared ? Shape{n, m} : Shape{B, T, n, m}, -0.3)};
  c.in[0].terms = static_cast<double>(m);
  c.in[1].terms = static_cast<double>(shared ? B * T * D : D);
  c.out = parts_of(B, T, m, D);
  c.terms = static_cast<double>(n);
  return c;
}

OpCase softmax_case(Shape x, SoftmaxSpec spec) {
  Random random(static_cast<uint64_t>(x.size() * 29 + spec.size * 3 + spec.rounds));
  OpCase c;
  c.op = OpKind::Softmax;
  c.name = fmt::format("softmax {} of {}, {} rounds", to_string(x), spec.size, spec.rounds);
  c.attributes = spec;
  c.in = {random.normal(x, 0.5, 2.0)};
  c.in[0].zero_gradient = spec.size == 1;
  c.out = x;
  // Each round divides twice, and each division goes back once more.
  c.terms = c.in[0].terms = static_cast<double>(spec.size * (2 * spec.rounds + 2));
  return c;
}

OpCase repeat_case(Shape x, int32_t heads, int32_t times) {
  Random random(static_cast<uint64_t>(x[0] * 1021 + x[1] * 43 + x[2] * 3 + times));
  OpCase c;
  c.op = OpKind::RepeatHeads;
  c.name = fmt::format("repeat_heads B{} T{} H{} D{} {} times", x[0], x[1], heads, x[2], times);
  c.attributes = RepeatHeadsSpec{heads, times};
  c.in = {random.normal(x)};
  c.in[0].terms = times;
  c.out = {x[0], x[1], x[2] * times};
  return c;
}

}  // namespace

std::vector<OpCase> stream_cases() {
  std::vector<OpCase> cases;
  for (const bool shared : {true, false})
    for (const std::array<int64_t, 5>& size : {std::array<int64_t, 5>{1, 1, 1, 1, 1},
                                               {2, 3, 4, 4, 31},
                                               {3, 5, 1, 4, 33},
                                               {2, 7, 4, 1, 16},
                                               {5, 67, 3, 2, 65},
                                               {1, 130, 13, 1, 8},
                                               {4, 16, 8, 8, 5}})
      cases.push_back(mix_case(size, shared));
  cases.push_back(softmax_case({2, 3, 1, 1}, {1, 0}));
  cases.push_back(softmax_case({2, 3, 5, 1}, {5, 0}));
  cases.push_back(softmax_case({3, 67, 37}, {37, 0}));
  cases.push_back(softmax_case({4, 4}, {4, 20}));
  cases.push_back(softmax_case({2, 3, 9}, {3, 1}));
  cases.push_back(softmax_case({5, 33, 16}, {4, 20}));
  cases.push_back(softmax_case({1, 2, 64}, {8, 32}));
  return cases;
}

std::vector<OpCase> repeat_cases() {
  std::vector<OpCase> cases;
  cases.push_back(repeat_case({1, 1, 1}, 1, 1));
  cases.push_back(repeat_case({2, 3, 15}, 3, 2));
  cases.push_back(repeat_case({1, 7, 31}, 1, 5));
  cases.push_back(repeat_case({3, 130, 66}, 2, 3));
  cases.push_back(repeat_case({2, 33, 64}, 4, 1));
  cases.push_back(repeat_case({1, 2, 9000}, 3, 4));
  return cases;
}

}  // namespace normscope::test

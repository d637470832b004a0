// Cases of the ops on several streams and of concatenation: see op_cases.h. Widths are around the vector lengths, and
// weights are shared by all positions, with sums over many of them, or each position's own.
#include <fmt/format.h>

#include <array>

#include "engine/ops/concat/concat.h"
#include "engine/ops/mix/mix.h"
#include "engine/ops/softmax/softmax.h"
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

std::vector<OpCase> concat_cases() {
  std::vector<OpCase> cases;
  for (const auto& [B, Ta, Tb, D] :
       {std::array<int64_t, 4>{1, 1, 1, 1}, {2, 3, 1, 31}, {3, 1, 33, 5}, {4, 17, 16, 16}, {2, 64, 65, 33}}) {
    Random random(static_cast<uint64_t>(B * 19 + Ta * 7 + Tb * 3 + D));
    OpCase c;
    c.op = OpKind::Concat;
    c.name = fmt::format("concat B{} Ta{} Tb{} D{}", B, Ta, Tb, D);
    c.in = {random.normal({B, Ta, D}), random.normal({B, Tb, D}, -0.4)};
    c.out = {B, Ta + Tb, D};
    cases.push_back(std::move(c));
  }
  for (const auto& [B, T, n, D] : {std::array<int64_t, 4>{1, 1, 1, 1}, {2, 3, 1, 31}, {5, 67, 6, 33}}) {
    Random random(static_cast<uint64_t>(B * 31 + T * 5 + n * 3 + D));
    OpCase c;
    c.op = OpKind::Concat;
    c.name = fmt::format("append B{} T{} n{} D{}", B, T, n, D);
    c.attributes = ConcatSpec{.parts = true};
    c.in = {random.normal(parts_of(B, T, n, D)), random.normal({B, T, D}, -0.4)};
    c.out = {B, T, n + 1, D};
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace normscope::test

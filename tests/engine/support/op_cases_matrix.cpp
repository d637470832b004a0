// Cases of linear, attention, concatenation, the mean over a row and the loss: see op_cases.h.
// Sizes are around the register tiles (12, 32), the vector lengths and the blocks of the packed product, and include
// long sums in each of the three directions (forward, dx, dW).
#include <fmt/format.h>

#include <array>
#include <utility>

#include "engine/ops/ops.h"
#include "engine/support/op_cases.h"
#include "training/spec/update_rule.h"

namespace normscope::test {

using reference::at;

namespace {

OpCase linear_case(reference::LinearShape s, bool bias, Shape x, Shape out) {
  Random random(static_cast<uint64_t>(s.M * 7 + s.K * 3 + s.N));
  OpCase c;
  c.op = OpKind::Linear;
  c.name = fmt::format("linear {} M{} K{} N{}{}", s.transposed ? "x W^T" : "x W", s.M, s.K, s.N,
                       bias ? " bias" : "");
  c.attributes = LinearSpec{s.transposed};
  c.in = {random.normal(x), random.normal(s.transposed ? Shape{s.N, s.K} : Shape{s.K, s.N}, 0.3),
          bias ? random.normal({s.N}, -0.8) : absent()};
  c.in[0].terms = static_cast<double>(s.N);
  c.in[1].terms = c.in[2].terms = static_cast<double>(s.M);
  c.out = out;
  c.terms = static_cast<double>(s.K);
  return c;
}

/// `times`: heads that share one of keys and values.
OpCase attention_case(std::string name, reference::AttentionShape a, double dropout = 0, int64_t times = 1) {
  Random random(static_cast<uint64_t>(a.B * 1009 + a.Tq * 31 + a.Tk * 7 + a.D));
  OpCase c;
  c.op = OpKind::Attention;
  c.name = fmt::format("attention {} B{} H{} Tq{} Tk{} D{}", name, a.B, a.H, a.Tq, a.Tk, a.D);
  AttentionSpec spec{.heads = static_cast<int32_t>(a.H),
                     .causal = a.causal,
                     .alibi = a.alibi,
                     .window = static_cast<int32_t>(a.window),
                     .cap = static_cast<float>(a.cap),
                     .scale = static_cast<float>(a.factor)};
  c.in = {random.normal({a.B, a.Tq, a.D}, 0.3), random.normal({a.B, a.Tk, a.D / times}, -0.2),
          random.normal({a.B, a.Tk, a.D / times}), absent()};
  if (times > 1) c.name += fmt::format(", {} heads share one", times);
  if (!a.key_lengths.empty()) {
    c.in[3] = random.integers({a.B}, 0, 0);
    c.in[3].ints = a.key_lengths;
  }
  if (dropout > 0) {
    spec.dropout_site = site_of("L02.attn.probabilities.drop");
    c.step.seed = 99;
    c.step.step = 5;
    c.step.dropout[static_cast<int>(DropoutKind::Attention)] = DropoutInputs::of(dropout);
  }
  c.attributes = spec;
  c.in[0].zero_gradient = c.in[1].zero_gradient = a.Tk == 1 || a.window == 1;
  c.in[0].terms = static_cast<double>(a.Tq + a.Tk + a.width());
  c.in[1].terms = c.in[2].terms = static_cast<double>(times * a.Tq + a.Tk + a.width());
  c.out = {a.B, a.Tq, a.D};
  c.saved = {{a.B, a.H, a.Tq, a.Tk}};
  c.terms = static_cast<double>(a.Tk + a.width());
  return c;
}

}  // namespace

std::vector<OpCase> linear_cases() {
  std::vector<OpCase> cases;
  for (const auto& [M, K, N] : {std::array<int64_t, 3>{1, 1, 1},
                                {3, 31, 33},
                                {31, 33, 3},
                                {13, 12, 33},
                                {11, 64, 31},
                                {12, 32, 32},
                                {33, 1, 65},
                                {64, 64, 64},
                                {65, 129, 31},
                                {130, 70, 67},
                                {5, 515, 7},
                                {1030, 5, 7},
                                {3, 5, 1030},
                                {1, 300, 1},
                                {37, 300, 131},
                                {29, 515, 131},
                                {70, 300, 140},
                                {300, 70, 140},
                                {260, 70, 67}})
    for (const bool transposed : {false, true})
      for (const bool bias : {false, true}) {
        cases.push_back(linear_case({M, K, N, transposed}, bias, {M, K}, {M, N}));
      }
  cases.push_back(linear_case({6, 17, 9}, true, {2, 3, 17}, {2, 3, 9}));
  return cases;
}

namespace {

using reference::AttentionShape;

/// Adds windows shorter than the sequence, as long, and longer, those that end beyond a row's length, and
/// those over several blocks of queries and several panels of keys, and all of them on both sides of a query.
void add_windows(std::vector<OpCase>& cases) {
  const auto add = [&](AttentionShape a, int64_t window, double dropout = 0) {
    a.window = window;
    for (const bool causal : {true, false}) {
      a.causal = causal;
      cases.push_back(
          attention_case(fmt::format("window {}{}{}{}", window, causal ? "" : " on both sides",
                                     a.key_lengths.empty() ? "" : " lengths", dropout > 0 ? " dropout" : ""),
                         a, dropout));
    }
  };
  for (const int64_t window : {1, 2, 5, 30, 31, 32, 1 << 30}) add({1, 3, 31, 31, 33}, window);
  for (const int64_t window : {3, 12, 16, 17}) add({2, 2, 65, 65, 34}, window);
  add({1, 2, 70, 70, 64}, 33);
  add({2, 2, 7, 31, 18}, 3);
  add({3, 3, 31, 31, 21, true, {31, 2, 16}}, 7);  // late queries of short rows see nothing
  add({2, 1, 66, 66, 5, true, {0, 40}}, 9);
  add({1, 1, 200, 200, 5}, 1);
  add({1, 1, 200, 200, 5}, 37);
  add({1, 1, 230, 230, 32}, 150);
  add({2, 1, 200, 200, 4, true, {50, 120}}, 30);
  add({1, 1, 61, 1100, 3}, 20);
  add({1, 1, 1060, 1060, 2}, 1030);
  add({2, 2, 13, 13, 14}, 4, 0.3);
  add({1, 1, 190, 201, 4}, 25, 0.3);
  add({2, 1, 90, 90, 6, true, {90, 31}}, 40, 0.2);
}

/// Adds scores that are capped well within their range, and scaled otherwise than by 1/sqrt(D/H).
void add_scores(std::vector<OpCase>& cases) {
  const auto add = [&](AttentionShape a, double cap, double scale, double dropout = 0) {
    a.cap = cap;
    a.factor = scale;
    cases.push_back(attention_case(
        fmt::format("cap {} scale {} window {}{}{}{}", cap, scale, a.window, a.causal ? " causal" : "",
                    a.key_lengths.empty() ? "" : " lengths", dropout > 0 ? " dropout" : ""),
        std::move(a), dropout));
  };
  const auto within = [](AttentionShape a, int64_t window) {
    a.window = window;
    return a;
  };
  add({2, 3, 17, 17, 15}, 0, 0.5);
  add({1, 2, 33, 33, 32, true}, 0, 0.0625);
  add({1, 1, 200, 200, 5, true}, 0, 1);
  add({2, 3, 17, 17, 15}, 0.75, 0);
  add({2, 4, 64, 64, 64, true}, 1.25, 0);
  add({2, 2, 7, 31, 18}, 0.5, 0.25);
  add({3, 2, 13, 33, 10, false, {33, 1, 17}}, 1.5, 0.75);
  add({2, 2, 5, 9, 8, false, {0, 9}}, 0.75, 0);
  add({1, 1, 200, 200, 5, true}, 0.75, 0.5);
  add({1, 2, 3, 1100, 6}, 0.75, 0);
  add({1, 1, 190, 201, 4}, 0.75, 0.75, 0.3);
  add(within({1, 3, 31, 31, 33, true}, 6), 1.25, 0.5);
  add(within({3, 3, 31, 31, 21, true, {31, 2, 16}}, 7), 0.75, 0);
  add(within({2, 1, 200, 200, 6, true, {200, 90}}, 45), 0.75, 0.5, 0.3);
}

/// Adds scores that fall with the distance, in as many heads as are a power of 2, and in others.
void add_slopes(std::vector<OpCase>& cases) {
  const auto add = [&](AttentionShape a, int64_t window = 0, double dropout = 0, int64_t times = 1) {
    a.alibi = a.causal = true;
    a.window = window;
    cases.push_back(
        attention_case(fmt::format("ALiBi window {}{}{}", window, a.key_lengths.empty() ? "" : " lengths",
                                   dropout > 0 ? " dropout" : ""),
                       std::move(a), dropout, times));
  };
  add({1, 1, 3, 3, 3});
  add({2, 8, 33, 33, 64});
  add({1, 13, 31, 31, 26});
  add({2, 3, 65, 70, 33}, 20);
  add({1, 6, 200, 200, 18});
  add({3, 3, 31, 31, 21, true, {31, 2, 16}}, 7);
  add({1, 2, 61, 1100, 6});
  add({2, 2, 190, 190, 4}, 0, 0.3);
  add({1, 6, 33, 33, 48}, 0, 0, 3);
}

}  // namespace

std::vector<OpCase> attention_cases() {
  std::vector<OpCase> cases;
  cases.push_back(attention_case("one key", {1, 1, 1, 1, 1, true}));
  cases.push_back(attention_case("causal", {2, 1, 3, 3, 3, true}));
  cases.push_back(attention_case("causal", {1, 3, 31, 31, 33, true}));
  cases.push_back(attention_case("causal", {3, 2, 33, 33, 34, true}));
  cases.push_back(attention_case("causal", {2, 4, 64, 64, 64, true}));
  cases.push_back(attention_case("causal", {1, 2, 65, 65, 16, true}));
  cases.push_back(attention_case("full", {2, 3, 17, 17, 15, false}));
  cases.push_back(attention_case("full", {1, 1, 12, 12, 65, false}));
  cases.push_back(attention_case("cross", {2, 2, 7, 31, 18, false}));
  cases.push_back(attention_case("cross", {2, 2, 33, 5, 6, false}));
  cases.push_back(attention_case("lengths", {3, 2, 13, 33, 10, false, {33, 1, 17}}));
  cases.push_back(attention_case("causal lengths", {3, 3, 31, 31, 21, true, {31, 2, 16}}));
  cases.push_back(attention_case("a row without keys", {2, 2, 5, 9, 8, false, {0, 9}}));
  cases.push_back(attention_case("causal", {2, 4, 31, 31, 28, true}, 0, 2));
  cases.push_back(attention_case("causal lengths", {3, 6, 13, 13, 66, true, {13, 2, 0}}, 0.2, 3));
  cases.push_back(attention_case("causal blocks", {1, 4, 200, 200, 20, true}, 0, 4));
  cases.push_back(attention_case("cross", {2, 5, 7, 31, 45, false}, 0, 5));
  cases.push_back(attention_case("causal", {2, 4, 33, 33, 64, true}, 0, 2));
  cases.back().attributes =
      AttentionSpec{.heads = 4, .causal = true, .window = 5, .cap = 2.0f, .scale = 0.4f};
  // Several blocks of queries, and more keys than a packed panel holds.
  cases.push_back(attention_case("causal blocks", {1, 1, 200, 200, 5, true}));
  cases.push_back(attention_case("long keys", {1, 2, 3, 1100, 6, false}));
  cases.push_back(attention_case("long causal blocks", {1, 1, 61, 1100, 3, true}));
  cases.push_back(attention_case("dropout blocks", {1, 1, 190, 201, 4, false}, 0.3));
  cases.push_back(attention_case("dropout", {2, 2, 13, 13, 14, true}, 0.3));
  cases.push_back(attention_case("dropout lengths", {2, 3, 9, 17, 15, false, {17, 4}}, 0.2));
  add_windows(cases);
  add_scores(cases);
  add_slopes(cases);
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
    c.in = {random.normal(n == 1 ? Shape{B, T, D} : Shape{B, T, n, D}), random.normal({B, T, D}, -0.4)};
    c.out = {B, T, n + 1, D};
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<OpCase> pool_cases() {
  std::vector<OpCase> cases;
  struct Size {
    int64_t B, T, D;
    std::vector<int32_t> lengths;
  };
  for (const Size& s : {Size{1, 1, 1, {}},
                        {3, 5, 31, {}},
                        {2, 33, 16, {33, 1}},
                        {4, 7, 33, {0, 7, 3, 9}},  // an empty row, and a length beyond the row
                        {5, 64, 65, {64, 2, 31, 17, 1}},
                        {2, 130, 3, {}}}) {
    Random random(static_cast<uint64_t>(s.B * 17 + s.T * 5 + s.D));
    OpCase c;
    c.op = OpKind::MeanPool;
    c.name = fmt::format("mean_pool B{} T{} D{}{}", s.B, s.T, s.D, s.lengths.empty() ? "" : " lengths");
    c.in = {random.normal({s.B, s.T, s.D}), absent()};
    if (!s.lengths.empty()) {
      c.in[1] = random.integers({s.B}, 0, 0);
      c.in[1].ints = s.lengths;
    }
    c.out = {s.B, s.T, s.D};
    c.terms = c.in[0].terms = static_cast<double>(s.T);
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<OpCase> loss_cases() {
  std::vector<OpCase> cases;
  struct Size {
    int64_t R, V;
    bool weights;
    double smoothing;
  };
  for (const Size s : {Size{1, 3, false, 0},
                       {3, 31, false, 0},
                       {31, 33, true, 0},
                       {33, 17, true, 0.1},
                       {7, 1, false, 0},
                       {129, 65, false, 0.1},
                       {5, 257, true, 0.3},
                       {1001, 31, true, 0.1},
                       {3, 3001, false, 0}}) {
    Random random(static_cast<uint64_t>(s.R * 31 + s.V));
    OpCase c;
    c.op = OpKind::SoftmaxXent;
    c.name =
        fmt::format("softmax_xent {}x{}{} smoothing {}", s.R, s.V, s.weights ? " weights" : "", s.smoothing);
    c.step.label_smoothing = static_cast<float>(s.smoothing);
    c.in = {random.normal({s.R, s.V}, 0.5, 2.0), random.integers({s.R}, 0, static_cast<int32_t>(s.V - 1)),
            s.weights ? random.normal({s.R}, 1.0, 0.3) : absent()};
    c.in[2].differentiable = false;
    for (float& w : c.in[2].values) w = std::abs(w);
    for (int64_t r = 4; r < s.R; r += 5)  // ignored positions: no symbol below or above
      c.in[1].ints[at(r)] = r % 2 == 0 ? -1 : static_cast<int32_t>(s.V);
    c.in[0].terms = static_cast<double>(s.V);
    c.in[0].zero_gradient = s.V == 1;
    c.out = {1};
    c.saved = {{s.R}, {s.R}};
    c.terms = static_cast<double>(s.R + s.V);
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<OpCase> squared_error_cases() {
  std::vector<OpCase> cases;
  struct Size {
    int64_t R, D;
    bool weights;
  };
  for (const Size s : {Size{1, 1, false},
                       {3, 31, false},
                       {31, 33, true},
                       {7, 1, true},
                       {129, 65, false},
                       {5, 257, true},
                       {1001, 31, true},
                       {3, 3001, false}}) {
    Random random(static_cast<uint64_t>(s.R * 37 + s.D));
    OpCase c;
    c.op = OpKind::SquaredError;
    c.name = fmt::format("squared_error {}x{}{}", s.R, s.D, s.weights ? " weights" : "");
    c.in = {random.normal({s.R, s.D}, 0.5, 2.0), random.normal({s.R, s.D}, -0.5),
            s.weights ? random.normal({s.R}, 1.0, 0.3) : absent()};
    c.in[2].differentiable = false;
    for (float& w : c.in[2].values) w = std::abs(w);
    if (s.weights)
      for (int64_t r = 4; r < s.R; r += 5) c.in[2].values[at(r)] = 0;
    c.in[0].terms = c.in[1].terms = static_cast<double>(s.R);  // of the weights' sum
    c.out = {1};
    c.saved = {{s.R}};
    c.terms = static_cast<double>(s.R + s.D);
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace normscope::test

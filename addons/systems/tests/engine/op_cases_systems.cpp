// Cases of convolution, of the largest under a window and of attention over a memory: see op_cases.h. Odd images, one
// channel and many, windows that overlap, leave pixels out or reach into the padding, and equal numbers under one
// window.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "addons/systems/engine/image_ops.h"
#include "addons/systems/engine/relative_attention.h"
#include "engine/support/op_cases.h"
#include "training/spec/update_rule.h"

namespace normscope::test {

namespace {

std::string words(const ImageWindow& w) {
  return fmt::format("{}x{}x{} window {} stride {} padding {}", w.height, w.width, w.channels, w.size,
                     w.stride, w.padding);
}

OpCase conv2d_case(int64_t B, const ImageWindow& w, int64_t O, bool bias) {
  Random random(static_cast<uint64_t>(B * 1009 + w.height * 131 + w.width * 17 + w.channels * 7 + O));
  OpCase c;
  c.op = OpKind::Conv2d;
  c.name = fmt::format("conv2d B{} {} O{}{}", B, words(w), O, bias ? " bias" : "");
  c.attributes = Conv2dSpec{w};
  c.in = {random.normal({B, w.numbers()}, 0.4), random.normal({w.patch(), O}, 0.3),
          bias ? random.normal({O}, -0.8) : absent()};
  c.in[0].terms = static_cast<double>(O * w.size * w.size);
  c.in[1].terms = c.in[2].terms = static_cast<double>(B * w.windows());
  c.out = {B, w.windows() * O};
  c.terms = static_cast<double>(w.patch());
  return c;
}

/// Rounds to halves, if asked, so that some numbers are equal: the first of them counts.
OpCase max_pool_case(int64_t B, const ImageWindow& w, bool rounded) {
  Random random(static_cast<uint64_t>(B * 2003 + w.height * 31 + w.width * 13 + w.channels));
  OpCase c;
  c.op = OpKind::MaxPool;
  c.corners = true;
  c.name = fmt::format("max_pool B{} {}{}", B, words(w), rounded ? " equal numbers" : "");
  c.attributes = MaxPoolSpec{w};
  c.in = {random.normal({B, w.numbers()})};
  if (rounded)
    for (float& v : c.in[0].values) v = std::round(2 * v) / 2;
  c.in[0].terms = static_cast<double>(w.size * w.size);
  c.out = {B, w.windows() * w.channels};
  return c;
}

}  // namespace

std::vector<OpCase> image_cases() {
  std::vector<OpCase> cases;
  struct Size {
    int64_t B;
    ImageWindow window;  // height, width, channels, size, stride, padding
    int64_t O;
  };
  // The smallest image has sixteen outputs: in a single one, product and bias may cancel, which blows up its error.
  for (const Size& s : {Size{4, {1, 1, 1, 1, 1, 0}, 4},
                        {2, {5, 7, 1, 3, 1, 0}, 3},
                        {3, {9, 8, 3, 3, 2, 1}, 17},
                        {2, {6, 6, 5, 5, 1, 2}, 4},
                        {1, {12, 11, 33, 2, 3, 0}, 31},  // pixels that no window reads
                        {4, {7, 9, 16, 1, 1, 0}, 20},
                        {2, {28, 28, 1, 5, 1, 0}, 20},
                        {1, {12, 12, 20, 5, 1, 0}, 50}})
    for (const bool bias : {false, true}) cases.push_back(conv2d_case(s.B, s.window, s.O, bias));
  for (const Size& s : {Size{1, {1, 1, 1, 1, 1, 0}, 0},
                        {2, {4, 6, 3, 2, 2, 0}, 0},
                        {3, {7, 5, 17, 3, 2, 0}, 0},  // windows that overlap
                        {2, {9, 9, 31, 2, 3, 0}, 0},  // pixels under none
                        {1, {5, 5, 33, 5, 1, 0}, 0},  // one window
                        {3, {24, 24, 20, 2, 2, 0}, 0}})
    for (const bool rounded : {false, true}) cases.push_back(max_pool_case(s.B, s.window, rounded));
  return cases;
}

namespace {

/// `beyond`: rows of distances that no key is away.
OpCase relative_case(std::string name, reference::RelativeShape a, int64_t beyond = 0, double dropout = 0) {
  Random random(static_cast<uint64_t>(a.B * 1013 + a.Tq * 37 + a.Tk * 5 + a.D));
  OpCase c;
  c.op = OpKind::RelativeAttention;
  c.name = fmt::format("relative_attention {} B{} H{} Tq{} Tk{} D{}", name, a.B, a.H, a.Tq, a.Tk, a.D);
  RelativeAttentionSpec spec{.heads = static_cast<int32_t>(a.H)};
  c.in = {random.normal({a.B, a.Tq, a.D}, 0.3), random.normal({a.B, a.Tk, a.D}, -0.2),
          random.normal({a.B, a.Tk, a.D}),      random.normal({a.B, a.Tq, a.D}, -0.4),
          random.normal({a.Tk + beyond, a.D}),  absent()};
  if (!a.memory_lengths.empty()) {
    c.in[5] = random.integers({a.B}, 0, 0);
    c.in[5].ints = a.memory_lengths;
  }
  if (dropout > 0) {
    spec.dropout_site = site_of("L02.attn.heads");
    c.step.seed = 98;
    c.step.step = 6;
    c.step.dropout[static_cast<int>(DropoutKind::Attention)] = DropoutInputs::of(dropout);
  }
  c.attributes = spec;
  for (const size_t i : {0, 1, 3, 4}) c.in[i].zero_gradient = a.Tk == 1;
  for (const size_t i : {0, 1, 2, 3}) c.in[i].terms = static_cast<double>(a.Tq + a.Tk + a.width());
  c.in[4].terms = static_cast<double>(a.B * a.Tq + a.Tk + a.width());
  c.out = {a.B, a.Tq, a.D};
  c.saved = {{a.B, a.H, a.Tq, a.Tk}};
  c.terms = static_cast<double>(a.Tk + 2 * a.width());
  return c;
}

}  // namespace

std::vector<OpCase> relative_attention_cases() {
  std::vector<OpCase> cases;
  const auto shape = [](int64_t B, int64_t H, int64_t Tq, int64_t Tk, int64_t D,
                        std::vector<int32_t> lengths = {}) {
    return reference::RelativeShape{{B, H, Tq, Tk, D}, std::move(lengths)};
  };
  cases.push_back(relative_case("one key", shape(1, 1, 1, 1, 1)));
  cases.push_back(relative_case("no memory", shape(2, 1, 3, 3, 3)));
  cases.push_back(relative_case("no memory", shape(2, 3, 31, 31, 33), 2));
  cases.push_back(relative_case("no memory", shape(1, 4, 64, 64, 64)));
  cases.push_back(relative_case("memory", shape(2, 2, 5, 9, 8)));
  cases.push_back(relative_case("memory", shape(3, 2, 33, 66, 34)));
  cases.push_back(relative_case("memory", shape(1, 2, 65, 82, 16), 7));
  cases.push_back(relative_case("memory longer than the segment", shape(2, 3, 7, 40, 21)));
  cases.push_back(relative_case("lengths", shape(4, 2, 13, 30, 10, {0, 17, 5, 1})));
  cases.push_back(relative_case("lengths", shape(2, 4, 32, 64, 64, {31, 32})));
  cases.push_back(relative_case("lengths beyond the memory", shape(2, 1, 6, 11, 7, {9, -3}), 3));
  // Several blocks of queries, and more keys than a packed panel holds.
  cases.push_back(relative_case("blocks", shape(1, 1, 200, 220, 5)));
  cases.push_back(relative_case("blocks of lengths", shape(2, 1, 130, 300, 3, {170, 40})));
  cases.push_back(relative_case("long memory", shape(1, 2, 3, 1100, 6)));
  cases.push_back(relative_case("dropout", shape(2, 2, 13, 26, 14), 0, 0.3));
  cases.push_back(relative_case("dropout lengths", shape(3, 3, 9, 17, 15, {8, 0, 3}), 1, 0.2));
  cases.push_back(relative_case("dropout blocks", shape(1, 1, 190, 201, 4), 0, 0.3));
  return cases;
}

}  // namespace normscope::test

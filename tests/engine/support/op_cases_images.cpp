// Cases of convolution and of the largest under a window: see op_cases.h. Odd images, one channel and many, windows
// that overlap, leave pixels out or reach into the padding, and equal numbers under one window.
#include <fmt/format.h>

#include <cmath>

#include "engine/ops/images/conv2d.h"
#include "engine/ops/images/max_pool.h"
#include "engine/support/op_cases.h"

namespace normscope::test {

using reference::at;

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

}  // namespace normscope::test

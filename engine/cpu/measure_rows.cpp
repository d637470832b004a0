#include "engine/cpu/measure_rows.h"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/measure_rows.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: this is compiled once per target.
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

Moments moments_of(const float* x, int64_t n) { return {sum_of_row(x, n), sum_of_products(x, x, n)}; }

float mean_of_scaled(const CarryMap& map, const float* row, int64_t width) {
  const double sum = sum_over(width, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = lanes.load(row + i);
    return map.scale ? hn::Mul(v, lanes.load(map.scale + i)) : v;
  });
  return static_cast<float>(sum / static_cast<double>(width));
}

Moments carry(const CarryMap& map, float* c, float* total, int64_t rows, int64_t width, Moments* by_row) {
  const DF d;
  Moments all;
  for (int64_t r = 0; r < rows; ++r, c += width, total += width) {
    const float mean = map.inverse_sigma && map.centre ? mean_of_scaled(map, c, width) : 0.0f;
    const VF centre = hn::Set(d, mean), inverse = hn::Set(d, map.inverse_sigma ? map.inverse_sigma[r] : 1.0f);
    VF sum = hn::Zero(d), square = hn::Zero(d);
    each_vector(width, [&](int64_t i, auto lanes) HWY_ATTR {
      VF v = lanes.load(c + i);
      if (map.scale) v = hn::Mul(v, lanes.load(map.scale + i));
      v = hn::Mul(hn::Sub(v, centre), inverse);
      if (map.factor) v = hn::Mul(v, lanes.load(map.factor + r * width + i));
      if (map.gain) v = hn::Mul(v, lanes.load(map.gain + i));
      if (map.bias) v = hn::Add(v, lanes.load(map.bias + i));
      lanes.store(v, c + i);
      lanes.store(hn::Add(v, lanes.load(total + i)), total + i);
      v = lanes.zero_rest(v);
      sum = hn::Add(sum, v);
      square = hn::MulAdd(v, v, square);
    });
    const Moments row{static_cast<double>(sum_of(d, sum)), static_cast<double>(sum_of(d, square))};
    all.sum += row.sum;
    all.square += row.square;
    if (by_row) by_row[r] = row;
  }
  return all;
}

double difference(const float* a, const float* b, int64_t n) {
  const DF d;
  VF worst = hn::Zero(d), sum = hn::Zero(d);
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = lanes.zero_rest(hn::Abs(hn::Sub(lanes.load(a + i), lanes.load(b + i))));
    worst = hn::Max(worst, v);
    sum = hn::Add(sum, v);  // the maximum may drop a NaN; the sum does not
  });
  const float total = sum_of(d, sum);
  return static_cast<double>(total != total ? total : max_of(d, worst));
}

Dots dot_products(const float* a, const float* b, int64_t n) {
  return {sum_of_products(a, a, n), sum_of_products(a, b, n), sum_of_products(b, b, n)};
}

void add_row(const float* x, float factor, float* sum, int64_t n) {
  const VF f = hn::Set(DF(), factor);
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(hn::MulAdd(f, lanes.load(x + i), lanes.load(sum + i)), sum + i);
  });
}

double entropy_of(const float* p, int64_t n) {
  const DF d;
  return -sum_over(n, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = lanes.load(p + i);
    return hn::Mul(v, hn::Log(d, hn::Max(v, hn::Set(d, 1e-30f))));  // 0 log 0 = 0
  });
}

/// Maps floats to integers in the same order.
int32_t place_of(float x) {
  const auto bits = std::bit_cast<int32_t>(x);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
float at_place(int32_t place) { return std::bit_cast<float>(place < 0 ? place ^ 0x7fffffff : place); }

/// Bisects the range of floats for the middle number. Sorting would be slower: its comparisons cannot be predicted.
double median_of(const float* x, int64_t n) {
  const DF d;
  const auto count_to = [&](float most) HWY_ATTR {
    const VF bound = hn::Set(d, most), beyond = hn::Set(d, __builtin_nanf(""));
    size_t count = 0;
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
      count += hn::CountTrue(d, hn::Le(lanes.fill_rest(lanes.load(x + i), beyond), bound));
    });
    return static_cast<int64_t>(count);
  };
  const float infinity = __builtin_inff();
  if (count_to(infinity) < n) return __builtin_nan("");
  int64_t low = place_of(-infinity), high = place_of(infinity);
  while (low < high) {
    const int64_t between = (low + high) >> 1;
    if (count_to(at_place(static_cast<int32_t>(between))) > n / 2)
      high = between;
    else
      low = between + 1;
  }
  const float middle = at_place(static_cast<int32_t>(low));
  const float below = at_place(static_cast<int32_t>(low - 1));
  if (n % 2 == 1 || count_to(below) < n / 2) return static_cast<double>(middle) + 0.0;  // no -0
  VF largest = hn::Set(d, -infinity);
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = lanes.fill_rest(lanes.load(x + i), largest);
    largest = hn::IfThenElse(hn::Lt(v, hn::Set(d, middle)), hn::Max(largest, v), largest);
  });
  return (static_cast<double>(middle) + static_cast<double>(max_of(d, largest))) / 2 + 0.0;
}

constexpr int64_t kUpdateBlock = 4096;  // numbers that float lanes add up, before doubles add the blocks

/// Adds the sums over n numbers from `begin` on.
void add_update_block(const UpdateRows& u, int64_t begin, int64_t n, UpdateSums& sums) {
  const DF d;
  const VF factor = hn::Set(d, u.factor), l2 = hn::Set(d, u.l2), correction = hn::Set(d, u.correction);
  const VF least = hn::Max(hn::Set(d, u.least), hn::Set(d, 1.17549435e-38f));  // 0 / 0 would be NaN
  VF ratio = hn::Zero(d), gradient = hn::Zero(d), product = hn::Zero(d), step = hn::Zero(d);
  each_vector(n, [&](int64_t k, auto lanes) HWY_ATTR {
    const int64_t i = begin + k;
    const VF g = lanes.load(u.gradient + i), w = lanes.load(u.before + i);
    const VF s = hn::Sub(w, lanes.load(u.after + i));
    gradient = hn::MulAdd(g, g, gradient);
    product = hn::MulAdd(g, s, product);
    step = hn::MulAdd(s, s, step);
    if (!u.second) return;
    const VF read = hn::MulAdd(l2, w, hn::Mul(g, factor));
    const VF moment = hn::Max(hn::Mul(correction, lanes.load(u.second + i)), least);
    ratio = hn::Add(ratio, hn::Div(hn::Mul(read, read), moment));
  });
  sums.ratio += static_cast<double>(sum_of(d, ratio));
  sums.gradient += static_cast<double>(sum_of(d, gradient));
  sums.product += static_cast<double>(sum_of(d, product));
  sums.step += static_cast<double>(sum_of(d, step));
}

UpdateSums sums_of_update(const UpdateRows& rows, int64_t n) {
  UpdateSums sums;
  for (int64_t begin = 0; begin < n; begin += kUpdateBlock)
    add_update_block(rows, begin, smaller(kUpdateBlock, n - begin), sums);
  return sums;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
HWY_EXPORT(moments_of);
HWY_EXPORT(carry);
HWY_EXPORT(difference);
HWY_EXPORT(dot_products);
HWY_EXPORT(add_row);
HWY_EXPORT(entropy_of);
HWY_EXPORT(median_of);
HWY_EXPORT(sums_of_update);
Moments moments(const float* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(moments_of)(x, n); }
Moments carry_rows(const CarryMap& map, float* c, float* total, int64_t rows, int64_t width,
                   Moments* by_row) {
  return HWY_DYNAMIC_DISPATCH(carry)(map, c, total, rows, width, by_row);
}
double largest_difference(const float* a, const float* b, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(difference)(a, b, n);
}
Dots dots(const float* a, const float* b, int64_t n) { return HWY_DYNAMIC_DISPATCH(dot_products)(a, b, n); }
void add_scaled(const float* x, float factor, float* sum, int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_row)(x, factor, sum, n);
}
double entropy(const float* p, int64_t n) { return HWY_DYNAMIC_DISPATCH(entropy_of)(p, n); }
double median(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(median_of)(x.data(), static_cast<int64_t>(x.size()));
}
UpdateSums update_sums(const UpdateRows& rows, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(sums_of_update)(rows, n);
}
}  // namespace normscope::cpu
#endif

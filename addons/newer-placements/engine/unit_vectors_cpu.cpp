// unit_vectors on the CPU. A chunk has some rows, or a strip of columns, which it passes over twice: for the squares,
// row by row of the matrix, and for the division. Either fits a cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/newer-placements/engine/unit_vectors_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/newer-placements/engine/unit_vectors.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kStrip = 64;  // columns of a chunk: four cache lines

void unit_rows(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const int64_t cols = call.in[0].shape.cols(), rows = call.in[0].shape.rows();
  const Cut of = row_cut(call.in[0].shape);
  for (int64_t r = of.begin(chunk); r < of.end(chunk, rows); ++r) {
    float* row = call.in[0].p + r * cols;
    const double square = sum_of_products(row, row, cols);
    if (!(square > 0)) continue;
    const VF by = hn::Set(d, static_cast<float>(1.0 / __builtin_sqrt(square)));
    each_vector(cols, [&](int64_t j, auto lanes)
                          HWY_ATTR { lanes.store(hn::Mul(lanes.load(row + j), by), row + j); });
  }
}

void unit_columns(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const int64_t cols = call.in[0].shape.cols(), rows = call.in[0].shape.rows(), first = chunk * kStrip,
                n = smaller(kStrip, cols - first);
  float* strip = call.in[0].p + first;
  HWY_ALIGN float by[kStrip] = {};
  for (int64_t r = 0; r < rows; ++r)
    each_vector(n, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF x = lanes.load(strip + r * cols + j);
      lanes.store(hn::MulAdd(x, x, lanes.load(by + j)), by + j);
    });
  each_vector(n, [&](int64_t j, auto lanes) HWY_ATTR {
    const VF square = lanes.load(by + j), one = hn::Set(d, 1.0f);
    lanes.store(hn::IfThenElse(hn::Gt(square, hn::Zero(d)), hn::Div(one, hn::Sqrt(square)), one), by + j);
  });
  for (int64_t r = 0; r < rows; ++r)
    each_vector(n, [&](int64_t j, auto lanes) HWY_ATTR {
      float* at = strip + r * cols + j;
      lanes.store(hn::Mul(lanes.load(at), lanes.load(by + j)), at);
    });
}

Stages unit_vectors_forward(const Call& call) {
  const Shape& shape = call.in[0].shape;
  if (call.attributes.as<UnitVectorsSpec>().columns)
    return one_stage(unit_columns, div_up(shape.cols(), kStrip));
  return one_stage(unit_rows, row_cut(shape).chunks);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_FORWARD_KERNELS(unit_vectors)

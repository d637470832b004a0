// add on the CPU, over x, f, out (..,D). Each of the scales skip and branch is a constant, a learned scalar or a
// learned row (D):
//   out      =  skip * x + branch * f
// Backward, with sums over all numbers for a learned scalar and over the rows for a learned row:
//   dx       =  skip * dout
//   df       =  branch * dout
//   dskip    =  sum of dout * x
//   dbranch  =  sum of dout * f
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/add/add_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/simd_inl.h"
#include "engine/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// The factor of one of the two terms: a learned number or row, else the constant.
struct Scale {
  const float* learned;
  bool row;        // learned, one number per column
  float constant;  // else
  HWY_INLINE float scalar() const { return learned && !row ? learned[0] : constant; }
  template <typename Lanes>
  HWY_INLINE VF at(int64_t j, const Lanes& lanes, VF scalar) const {
    return row ? lanes.load(learned + j) : scalar;
  }
};

Scale scale_of(const Call& call, int side) {
  const Tensor& learned = call.in[2 + side];
  return {learned.p, learned && learned.shape.size() > 1,
          side == 0 ? call.attributes.as<AddSpec>().skip : call.attributes.as<AddSpec>().branch};
}

/// The rows of a chunk; without a learned row the chunk is one long row.
struct Rows {
  int64_t begin, count, cols;
};
Rows rows_of(const Call& call, int64_t chunk, bool flat) {
  const Cut c = row_cut(call.in[0].shape);
  const int64_t d = call.in[0].shape.cols();
  const int64_t begin = c.begin(chunk), end = c.end(chunk, call.in[0].shape.rows());
  return flat ? Rows{begin * d, 1, (end - begin) * d} : Rows{begin * d, end - begin, d};
}

/// Computes n numbers from `begin` on, which is in column `col`.
void forward_run(const Call& call, const Scale& skip, const Scale& branch, int64_t begin, int64_t n,
                 int64_t col) {
  const DF d;
  const VF s = hn::Set(d, skip.scalar()), b = hn::Set(d, branch.scalar());
  const float *x = call.in[0].p + begin, *f = call.in[1].p + begin;
  float* out = call.out.p + begin;
  each_vector(n, [&](int64_t j, auto lanes) HWY_ATTR {
    const VF scaled = hn::Mul(branch.at(col + j, lanes, b), lanes.load(f + j));
    lanes.store(hn::MulAdd(skip.at(col + j, lanes, s), lanes.load(x + j), scaled), out + j);
  });
}

void forward_region(const Call& call, const StepInputs&, const Region& region, Scratch) noexcept {
  const Scale skip = scale_of(call, 0), branch = scale_of(call, 1);
  const int64_t cols = call.in[0].shape.cols();
  if (skip.row || branch.row) {
    for (int64_t r = region.row; r < region.row + region.rows; ++r)
      forward_run(call, skip, branch, r * cols + region.col, region.cols, region.col);
  } else {
    each_run(region, cols,
             [&](int64_t begin, int64_t n) HWY_ATTR { forward_run(call, skip, branch, begin, n, 0); });
  }
}

void forward(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Cut c = row_cut(call.in[0].shape);
  const int64_t begin = c.begin(chunk), end = c.end(chunk, call.in[0].shape.rows());
  forward_region(call, step, {begin, end - begin, 0, call.in[0].shape.cols()}, scratch);
}

// Gradients of learned scales take two stages: each chunk writes a partial row (or double), a last stage adds them.
bool learns(const Call& call, int side) { return call.write[2 + side] != Write::Skip; }
int64_t partial_stride(const Call& call) { return round_up(larger(2, call.in[0].shape.cols()), 16); }
float* partial_of(const Call& call, int side, int64_t chunk) {
  return call.workspace + (side * row_cut(call.in[0].shape).chunks + chunk) * partial_stride(call);
}

/// Computes dx or df of a chunk.
void scaled_gradient(const Call& call, int side, int64_t chunk) {
  const DF d;
  const Scale scale = scale_of(call, side);
  const Rows rows = rows_of(call, chunk, !scale.row);
  const VF s = hn::Set(d, scale.scalar());
  const bool add = call.write[side] == Write::Add;
  for (int64_t r = 0; r < rows.count; ++r) {
    const float* dout = call.dout.p + rows.begin + r * rows.cols;
    float* din = call.din[side].p + rows.begin + r * rows.cols;
    each_vector(rows.cols, [&](int64_t j, auto lanes) HWY_ATTR {
      put(lanes, hn::Mul(scale.at(j, lanes, s), lanes.load(dout + j)), din + j, add);
    });
  }
}

/// Computes this chunk's part of dskip or dbranch.
void scale_partial(const Call& call, int side, int64_t chunk) {
  float* partial = partial_of(call, side, chunk);
  const bool row = scale_of(call, side).row;
  const Rows rows = rows_of(call, chunk, !row);
  const float *x = call.in[side].p + rows.begin, *dout = call.dout.p + rows.begin;
  if (!row) {
    *doubles(partial) = sum_of_products(dout, x, rows.cols);
    return;
  }
  for (int64_t r = 0; r < rows.count; ++r, x += rows.cols, dout += rows.cols) {
    each_vector(rows.cols, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF product = hn::Mul(lanes.load(dout + j), lanes.load(x + j));
      put(lanes, product, partial + j, r > 0);
    });
  }
}

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  for (int side = 0; side < 2; ++side) {
    if (call.write[side] != Write::Skip) scaled_gradient(call, side, chunk);
    if (learns(call, side)) scale_partial(call, side, chunk);
  }
}

void reduce_scales(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  const int64_t chunks = row_cut(call.in[0].shape).chunks, stride = partial_stride(call);
  for (int side = 0; side < 2; ++side) {
    if (!learns(call, side)) continue;
    float* to = call.din[2 + side].p;
    const bool add = call.write[2 + side] == Write::Add;
    if (scale_of(call, side).row) {
      reduce_rows(partial_of(call, side, 0), chunks, stride, call.in[0].shape.cols(), to, add);
    } else {
      reduce_doubles(doubles(partial_of(call, side, 0)), chunks, stride / 2, *to, add);
    }
  }
}

Stages add_forward(const Call& call) {
  return one_stage(forward, row_cut(call.in[0].shape).chunks, forward_region);
}

Stages add_backward(const Call& call) {
  Stages stages = one_stage(backward, row_cut(call.in[0].shape).chunks);
  if (!learns(call, 0) && !learns(call, 1)) return stages;
  stages.workspace_floats = static_cast<size_t>(2 * row_cut(call.in[0].shape).chunks * partial_stride(call));
  stages.add(reduce_scales, 1);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(add)

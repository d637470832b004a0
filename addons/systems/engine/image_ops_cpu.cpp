// Convolutions and their pooling on the CPU: image_ops.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/systems/engine/image_ops_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/systems/engine/image_ops.h"
#include "engine/cpu/gemm_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

// conv2d on the CPU lays out the patches P (windows of all images, numbers under one) in the workspace, then
// multiplies. W (numbers under a window, O), b (O), out (windows, O):
//   out  =  P W + b
//   dW   =  P^T dout
//   dP   =  dout W^T
//   dx   =  at each pixel the sum of dP over the windows that read it
//   db   =  sum over windows of dout
// P is made again backward: kept, it would take its bytes from every other instruction.

ImageWindow window_of(const Call& call) { return call.attributes.as<Conv2dSpec>().window; }

/// The sizes of the products: windows of all images, numbers under one, channels that are written.
struct Sizes {
  int64_t windows, patch, channels;
};
Sizes sizes_of(const Call& call) {
  const ImageWindow w = window_of(call);
  return {call.in[0].shape[0] * w.windows(), w.patch(), call.in[1].shape.cols()};
}

/// The floats of P, rounded up so that what follows begins on a cache line.
int64_t patch_floats(const Call& call) {
  const Sizes s = sizes_of(call);
  return round_up(s.windows * s.patch, 16);
}

Gemm product(const Call& call) {
  const Sizes s = sizes_of(call);
  return {s.windows,  s.channels,   s.patch, {call.workspace, s.patch, 1}, {call.in[1].p, s.channels, 1},
          call.out.p, call.in[2].p, false};
}

Gemm weight_gradient(const Call& call) {
  const Sizes s = sizes_of(call);
  return {s.patch,
          s.channels,
          s.windows,
          {call.workspace, 1, s.patch},
          {call.dout.p, s.channels, 1},
          call.din[1].p,
          nullptr,
          call.write[1] == Write::Add};
}

/// The product that gives dP, which it writes to `to`.
Gemm patch_gradient(const Call& call, float* to) {
  const Sizes s = sizes_of(call);
  return {s.windows, s.patch, s.channels, {call.dout.p, s.channels, 1}, {call.in[1].p, 1, s.channels}, to};
}

/// Makes one line of windows of one image a piece of the work.
Cut line_cut(const Call& call) {
  const ImageWindow w = window_of(call);
  return cut(call.in[0].shape[0] * w.rows(), kFlatChunk / (w.columns() * w.patch()));
}

/// Copies line `y` of the image under a window that begins at column x0: what is outside is zero.
inline void copy_line(const ImageWindow& w, const float* image, int64_t y, int64_t x0, float* to) {
  const int64_t n = w.size * int64_t{w.channels}, inside = y >= 0 && y < w.height ? w.size : 0;
  const int64_t from = larger(0, -x0) * w.channels, end = smaller(inside, w.width - x0) * w.channels;
  const DF d;
  // Vectors: calls of memcpy and memset for a few numbers each took a quarter of the time of a pass.
  if (from > 0 || end < n)
    each_vector(n, [&](int64_t k, auto lanes) HWY_ATTR { lanes.store(hn::Zero(d), to + k); });
  const float* line = image + (y * w.width + x0) * w.channels;
  each_vector(end - from, [&](int64_t k, auto lanes)
                              HWY_ATTR { lanes.store(lanes.load(line + from + k), to + from + k); });
}

void make_patches(const Call& call, int64_t chunk) {
  const ImageWindow w = window_of(call);
  const int64_t rows = w.rows(), columns = w.columns(), patch = w.patch(), all = call.in[0].shape[0] * rows;
  const Cut c = line_cut(call);
  for (int64_t r = c.begin(chunk); r < c.end(chunk, all); ++r) {
    const float* image = call.in[0].p + r / rows * w.numbers();
    const int64_t y0 = r % rows * w.stride - w.padding;
    float* to = call.workspace + r * columns * patch;
    for (int64_t q = 0; q < columns; ++q, to += patch)
      for (int64_t i = 0; i < w.size; ++i)
        copy_line(w, image, y0 + i, q * w.stride - w.padding, to + i * w.size * w.channels);
  }
}

float* forward_packed(const Call& call) { return call.workspace + patch_floats(call); }

/// Lays out the patches, and packs W.
void forward_first(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const int64_t lines = line_cut(call).chunks;
  if (chunk < lines) return make_patches(call, chunk);
  gemm_pack_chunk(product(call), plans_of(call)[0], chunk - lines, forward_packed(call));
}

void forward_multiply(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  gemm_chunk(product(call), plans_of(call)[0], chunk, forward_packed(call), scratch.p);
}

Stages conv2d_forward(const Call& call) {
  Stages stages;
  // Only W is packed: P is read along its rows.
  const GemmPlan& plan = stages.plans[0] = plan_gemm(product(call));
  stages.workspace_floats = static_cast<size_t>(patch_floats(call)) + plan.packed_floats;
  stages.add(forward_first, line_cut(call).chunks + plan.pack_chunks);
  stages.add(forward_multiply, plan.chunks());
  return stages;
}

/// The chunks of each part of the work, none where it is not needed, and the offsets in the workspace, in floats, of
/// dP and of the packed operands of both products.
struct Backward {
  int64_t patches = 0, pack_input = 0, bias = 0;  // first stage
  int64_t pack_weight = 0, input = 0;             // second
  int64_t weight = 0, gather = 0;                 // third
  int64_t gradient_at = 0, packed_weight_at = 0, packed_input_at = 0, floats = 0;
};

Cut gather_cut(const Call& call) {
  const ImageWindow w = window_of(call);
  return cut(call.in[0].shape[0] * w.height, kFlatChunk / (int64_t{w.width} * w.channels * w.size * w.size));
}

constexpr int kWeight = 0, kInput = 1;  // of Call::plans

Backward backward_of(const Call& call, const GemmPlan* plans) {
  Backward b;
  if (call.write[1] != Write::Skip) {
    const GemmPlan& plan = plans[kWeight];
    b.patches = line_cut(call).chunks;
    b.pack_weight = plan.pack_chunks;
    b.weight = plan.chunks();
    b.floats = b.packed_weight_at = patch_floats(call);
    b.floats += round_up(static_cast<int64_t>(plan.packed_floats), 16);
  }
  if (call.write[0] != Write::Skip) {
    const GemmPlan& plan = plans[kInput];
    b.pack_input = plan.pack_chunks;
    b.input = plan.chunks();
    b.gather = gather_cut(call).chunks;
    b.gradient_at = b.floats;
    b.packed_input_at = b.gradient_at + patch_floats(call);
    b.floats = b.packed_input_at + static_cast<int64_t>(plan.packed_floats);
  }
  if (call.write[2] != Write::Skip) b.bias = div_up(sizes_of(call).channels, kSumColumns);
  return b;
}

/// windows_over finds the Span of windows r, in one direction, that a pixel lies under:
///   r * stride + offset  =  pixel + padding,  0 <= offset < size
struct Span {
  int64_t first, last;
};
HWY_INLINE Span windows_over(int64_t pixel, const ImageWindow& w, int64_t count) {
  const int64_t at = pixel + w.padding;
  return {at < w.size ? 0 : (at - w.size) / w.stride + 1, smaller(count - 1, at / w.stride)};
}

/// Sums dx of some lines: the numbers of dP from every window that reads a pixel, in the windows' order.
void gather_lines(const Call& call, int64_t chunk, const float* gradient) {
  const ImageWindow w = window_of(call);
  const int64_t columns = w.columns(), patch = w.patch(), all = call.in[0].shape[0] * w.height;
  const bool add = call.write[0] == Write::Add;
  const Cut c = gather_cut(call);
  for (int64_t line = c.begin(chunk); line < c.end(chunk, all); ++line) {
    const int64_t y = line % w.height;
    const float* image = gradient + line / w.height * w.windows() * patch;
    const Span down = windows_over(y, w, w.rows());
    for (int64_t x = 0; x < w.width; ++x) {
      const Span across = windows_over(x, w, columns);
      float* to = call.din[0].p + (line * w.width + x) * w.channels;
      each_vector(w.channels, [&](int64_t j, auto lanes) HWY_ATTR {
        VF sum = hn::Zero(DF());
        for (int64_t r = down.first; r <= down.last; ++r)
          for (int64_t q = across.first; q <= across.last; ++q) {
            const int64_t i = y + w.padding - r * w.stride, k = x + w.padding - q * w.stride;
            const float* from = image + (r * columns + q) * patch + (i * w.size + k) * w.channels;
            sum = hn::Add(sum, lanes.load(from + j));
          }
        put(lanes, sum, to + j, add);
      });
    }
  }
}

void backward_first(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const Backward b = backward_of(call, plans_of(call));
  if (chunk < b.patches) return make_patches(call, chunk);
  const int64_t column_chunk = chunk - b.patches - b.pack_input;
  if (column_chunk >= 0) {
    const Sizes s = sizes_of(call);
    return sum_columns(call.dout.p, s.windows, s.channels, column_chunk, call.din[2].p,
                       call.write[2] == Write::Add);
  }
  const Gemm g = patch_gradient(call, call.workspace + b.gradient_at);
  gemm_pack_chunk(g, plans_of(call)[kInput], chunk - b.patches, call.workspace + b.packed_input_at);
}

void backward_second(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  const Backward b = backward_of(call, plans_of(call));
  if (chunk < b.pack_weight) {
    gemm_pack_chunk(weight_gradient(call), plans_of(call)[kWeight], chunk,
                    call.workspace + b.packed_weight_at);
  } else {
    const Gemm g = patch_gradient(call, call.workspace + b.gradient_at);
    gemm_chunk(g, plans_of(call)[kInput], chunk - b.pack_weight, call.workspace + b.packed_input_at,
               scratch.p);
  }
}

void backward_third(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  const Backward b = backward_of(call, plans_of(call));
  if (chunk >= b.weight) return gather_lines(call, chunk - b.weight, call.workspace + b.gradient_at);
  gemm_chunk(weight_gradient(call), plans_of(call)[kWeight], chunk, call.workspace + b.packed_weight_at,
             scratch.p);
}

Stages conv2d_backward(const Call& call) {
  Stages stages;
  stages.plans[kWeight] = plan_gemm(weight_gradient(call));
  stages.plans[kInput] = plan_gemm(patch_gradient(call, nullptr));
  const Backward b = backward_of(call, stages.plans);
  stages.workspace_floats = static_cast<size_t>(b.floats);
  const int64_t first = b.patches + b.pack_input + b.bias, second = b.pack_weight + b.input;
  stages.add(backward_first, first);
  stages.add(backward_second, second);
  stages.add(backward_third, b.weight + b.gather);
  return stages;
}

// max_pool on the CPU, for window r and channel c of an image, and pixels p:
//   out_{r,c}  =  max over the pixels p under window r of x_{p,c}, NaN where one is
//   dx_{p,c}   =  sum of dout_{r,c} over the windows r whose first largest pixel, row by row, is p
// Forward a chunk is a few rows of windows; backward it is an image, because windows may overlap.

ImageWindow pool_window_of(const Call& call) { return call.attributes.as<MaxPoolSpec>().window; }

/// Counts the floats from an image's beginning to the first pixel under a window.
HWY_INLINE int64_t corner(const ImageWindow& w, int64_t row, int64_t column) {
  return (row * w.stride * w.width + column * w.stride) * w.channels;
}

/// The largest number of some channels under the window whose first pixel is at x.
template <typename Lanes>
HWY_INLINE VF largest(const Lanes& lanes, const ImageWindow& w, const float* x) {
  VF most = lanes.load(x);
  for (int64_t i = 0; i < w.size; ++i)
    for (int64_t j = 0; j < w.size; ++j) {
      const VF v = lanes.load(x + (i * w.width + j) * w.channels);
      most = hn::IfThenElse(hn::Or(hn::Gt(v, most), hn::IsNaN(v)), v, most);
    }
  return most;
}

Cut pool_row_cut(const Call& call) {
  const ImageWindow w = pool_window_of(call);
  return cut(call.in[0].shape[0] * w.rows(), kFlatChunk / (w.columns() * w.size * w.size * w.channels));
}

void pool_rows(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const ImageWindow w = pool_window_of(call);
  const int64_t rows = w.rows(), columns = w.columns(), all = call.in[0].shape[0] * rows;
  const Cut c = pool_row_cut(call);
  for (int64_t r = c.begin(chunk); r < c.end(chunk, all); ++r) {
    const float* image = call.in[0].p + r / rows * w.numbers();
    for (int64_t q = 0; q < columns; ++q) {
      const float* x = image + corner(w, r % rows, q);
      float* out = call.out.p + (r * columns + q) * w.channels;
      each_vector(w.channels,
                  [&](int64_t j, auto lanes) HWY_ATTR { lanes.store(largest(lanes, w, x + j), out + j); });
    }
  }
}

/// Adds one window's gradient to the first pixel that is as large as the largest.
template <typename Lanes>
HWY_INLINE void send(const Lanes& lanes, const ImageWindow& w, const float* x, VF gradient, float* dx) {
  const VF most = largest(lanes, w, x);
  auto open = hn::Eq(hn::Zero(DF()), hn::Zero(DF()));  // channels that have not found theirs yet
  for (int64_t i = 0; i < w.size; ++i)
    for (int64_t j = 0; j < w.size; ++j) {
      const int64_t at = (i * w.width + j) * w.channels;
      const VF v = lanes.load(x + at);
      const auto here = hn::And(open, hn::Or(hn::Eq(v, most), hn::IsNaN(v)));
      lanes.store(hn::Add(lanes.load(dx + at), hn::IfThenElseZero(here, gradient)), dx + at);
      open = hn::AndNot(here, open);
    }
}

void pool_image_back(const Call& call, const StepInputs&, int64_t image, Scratch) noexcept {
  const ImageWindow w = pool_window_of(call);
  const float* x = call.in[0].p + image * w.numbers();
  float* dx = call.din[0].p + image * w.numbers();
  if (call.write[0] == Write::Assign)
    each_vector(w.numbers(), [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(hn::Zero(DF()), dx + i); });
  const float* dout = call.dout.p + image * w.windows() * w.channels;
  for (int64_t r = 0; r < w.rows(); ++r)
    for (int64_t q = 0; q < w.columns(); ++q, dout += w.channels) {
      const int64_t at = corner(w, r, q);
      each_vector(w.channels, [&](int64_t j, auto lanes) HWY_ATTR {
        send(lanes, w, x + at + j, lanes.load(dout + j), dx + at + j);
      });
    }
}

Stages max_pool_forward(const Call& call) { return one_stage(pool_rows, pool_row_cut(call).chunks); }

Stages max_pool_backward(const Call& call) {
  return one_stage(pool_image_back, call.write[0] == Write::Skip ? 0 : call.in[0].shape[0]);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(conv2d)
NORMSCOPE_KERNELS(max_pool)

// affine on the CPU, over rows x, out (D). A gain or shift of n numbers has one for each of n equal parts of a row
// (one part: the whole row); an absent gain is 1, an absent shift 0; c is a constant:
//   out     =  c * gain * x + shift
// Backward, with sums over the rows and the numbers of a part:
//   dx      =  c * gain * dout, or dout where the gradient is kept
//   dgain   =  sum of c * dout * x
//   dshift  =  sum of dout
// Chunks of rows leave partial sums in double; a last stage adds them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/affine/affine_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/simd_inl.h"
#include "engine/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

int64_t parts_of(const Tensor& t) { return t ? t.shape.size() : 1; }
int64_t gains_of(const Call& call) { return parts_of(call.in[1]); }

/// The rows of a chunk: floats before them, how many, and their length. Where a row has one part they are one.
struct Rows {
  int64_t begin, count, width;
};
Rows rows_of(const Call& call, int64_t chunk, int64_t parts) {
  const Cut c = row_cut(call.in[0].shape);
  const int64_t d = call.in[0].shape.cols(), first = c.begin(chunk);
  const int64_t count = c.end(chunk, call.in[0].shape.rows()) - first;
  return parts == 1 ? Rows{first * d, 1, count * d} : Rows{first * d, count, d};
}

/// Expands a gain or shift, times a constant, to one number for each of the columns [j0, j0 + n) of a row.
void spread(const Tensor& t, float constant, float absent, int64_t width, int64_t j0, int64_t n, float* to) {
  const int64_t part = width / parts_of(t);
  for (int64_t j = 0, i = j0 / part; j < n; ++i)
    for (const float value = constant * (t ? t.p[i] : absent); j < smaller(n, (i + 1) * part - j0);)
      to[j++] = value;
}

constexpr int64_t kColumns = 4096;  // columns whose factors and shifts are expanded at a time

/// Calls body(at, j, lanes) for vectors of columns of all rows of a chunk; `factor` and `shift` have the
/// numbers of these columns from j on.
template <typename Body>
void each_column(const Call& call, int64_t chunk, float* factor, float* shift, const Body& body) {
  const Rows rows = rows_of(call, chunk, larger(gains_of(call), parts_of(call.in[2])));
  for (int64_t j0 = 0; j0 < rows.width; j0 += kColumns) {
    const int64_t n = smaller(kColumns, rows.width - j0);
    spread(call.in[1], call.attributes.as<AffineSpec>().constant, 1.0f, rows.width, j0, n, factor);
    spread(call.in[2], 1.0f, 0.0f, rows.width, j0, n, shift);
    for (int64_t r = 0; r < rows.count; ++r)
      each_vector(
          n, [&](int64_t j, auto lanes) HWY_ATTR { body(rows.begin + r * rows.width + j0 + j, j, lanes); });
  }
}

void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  float *factor = scratch.p, *shift = factor + kColumns;
  each_column(call, chunk, factor, shift, [&](int64_t at, int64_t j, auto lanes) HWY_ATTR {
    const VF x = lanes.load(call.in[0].p + at);
    lanes.store(hn::MulAdd(lanes.load(factor + j), x, lanes.load(shift + j)), call.out.p + at);
  });
}

bool learns(const Call& call, int which) { return call.write[which] != Write::Skip; }
/// The doubles that a chunk writes: a sum for each number of the gain, then of the shift.
int64_t sums_of(const Call& call) { return gains_of(call) + parts_of(call.in[2]); }

/// Sums dout, or dout times x if x is given, over the rows of a chunk for each part.
void partial_sums(const Rows& rows, int64_t parts, const float* x, const float* dout, double constant,
                  double* sums) {
  for (int64_t i = 0; i < parts; ++i) sums[i] = 0;
  const int64_t width = rows.width / parts;
  for (int64_t r = 0; r < rows.count; ++r) {
    const int64_t row = rows.begin + r * rows.width;
    if (width == 1 && x) {
      for (int64_t i = 0; i < parts; ++i)
        sums[i] += constant * static_cast<double>(dout[row + i] * x[row + i]);
    } else if (width == 1) {
      for (int64_t i = 0; i < parts; ++i) sums[i] += static_cast<double>(dout[row + i]);
    } else {
      for (int64_t i = 0; i < parts; ++i)
        sums[i] += constant * sum_over(width, [&](int64_t j, auto lanes) HWY_ATTR {
                     const int64_t at = row + i * width + j;
                     const VF v = lanes.load(dout + at);
                     return x ? hn::Mul(v, lanes.load(x + at)) : v;
                   });
    }
  }
}

/// Copies out's gradient into a chunk of x's.
void pass_on(const Call& call, int64_t chunk) {
  const bool add = call.write[0] == Write::Add;
  const Rows rows = rows_of(call, chunk, 1);
  each_vector(rows.width, [&](int64_t i, auto lanes) HWY_ATTR {
    const int64_t at = rows.begin + i;
    put(lanes, lanes.load(call.dout.p + at), call.din[0].p + at, add);
  });
}

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  const bool add = call.write[0] == Write::Add;
  float* factor = scratch.p;
  if (learns(call, 0) && call.attributes.as<AffineSpec>().keeps_gradient)
    pass_on(call, chunk);
  else if (learns(call, 0))
    each_column(call, chunk, factor, factor + kColumns, [&](int64_t at, int64_t j, auto lanes) HWY_ATTR {
      put(lanes, hn::Mul(lanes.load(factor + j), lanes.load(call.dout.p + at)), call.din[0].p + at, add);
    });
  double* sums = doubles(call.workspace) + chunk * sums_of(call);
  const auto sum = [&](int which, const float* x, double constant, double* to) HWY_ATTR {
    const int64_t parts = parts_of(call.in[which]);
    if (learns(call, which)) partial_sums(rows_of(call, chunk, parts), parts, x, call.dout.p, constant, to);
  };
  sum(1, call.in[0].p, static_cast<double>(call.attributes.as<AffineSpec>().constant), sums);
  sum(2, nullptr, 1.0, sums + gains_of(call));
}

void reduce(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  const int64_t chunks = row_cut(call.in[0].shape).chunks, stride = sums_of(call);
  const double* partials = doubles(call.workspace);
  for (int which = 1; which <= 2; partials += gains_of(call), ++which) {
    if (!learns(call, which)) continue;
    for (int64_t i = 0; i < parts_of(call.in[which]); ++i) {
      reduce_doubles(partials + i, chunks, stride, call.din[which].p[i], call.write[which] == Write::Add);
    }
  }
}

Stages affine_forward(const Call& call) { return one_stage(forward, row_cut(call.in[0].shape).chunks); }

Stages affine_backward(const Call& call) {
  Stages stages = one_stage(backward, row_cut(call.in[0].shape).chunks);
  if (!learns(call, 1) && !learns(call, 2)) return stages;
  stages.workspace_floats = static_cast<size_t>(2 * row_cut(call.in[0].shape).chunks * sums_of(call));
  stages.add(reduce, 1);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(affine)

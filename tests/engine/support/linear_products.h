// The linear products are the three of one layer through the op's own stages, with the same operands each time. Used by
// the tests of the GEMM.
#pragma once

#include "catch.hpp"
#include "engine/core/philox.h"
#include "engine/cpu/isa.h"
#include "engine/ops/ops.h"
#include "engine/support/op_harness.h"

namespace normscope::test {

/// From -0.4 to 0.6.
inline std::vector<float> uniform_floats(int64_t n, uint32_t salt) {
  std::vector<float> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(philox({static_cast<uint32_t>(i), salt, 0, 0}, 1)[0]) / 4294967296.0f - 0.4f;
  return v;
}

struct LinearResults {
  std::vector<float> out, dx, dw, db;
};

struct LinearCase {
  int64_t r, k, n;
  bool transposed;
  std::vector<float> x = uniform_floats(r * k, 1), w = uniform_floats(k * n, 2), b = uniform_floats(n, 3),
                     dy = uniform_floats(r * n, 4);
  /// What the results are before the first product.
  LinearResults before{uniform_floats(r * n, 5), uniform_floats(r* k, 6), uniform_floats(k* n, 7),
                       uniform_floats(n, 8)};
};

/// Runs forward and all three gradients. `l2_bytes`: as if a cache were of that size.
inline LinearResults run_linear(LinearCase& l, Write write, const Order& order, int64_t l2_bytes = 0) {
  LinearResults result = l.before;
  const Shape w = l.transposed ? Shape{l.n, l.k} : Shape{l.k, l.n};
  Call call{};
  call.op = OpKind::Linear;
  call.attributes = LinearSpec{l.transposed};
  cpu::use_l2_bytes(l2_bytes);
  call.in[0] = {l.x.data(), {l.r, l.k}};
  call.in[1] = {l.w.data(), w};
  call.in[2] = {l.b.data(), {l.n}};
  call.out = {result.out.data(), {l.r, l.n}};
  const cpu::Kernels kernels = kernels_of(OpKind::Linear);
  CHECK(run_stages(kernels.forward(call), call, {}, order));
  call.dout = {l.dy.data(), {l.r, l.n}};
  call.din[0] = {result.dx.data(), {l.r, l.k}};
  call.din[1] = {result.dw.data(), w};
  call.din[2] = {result.db.data(), {l.n}};
  for (int i = 0; i < 3; ++i) call.write[i] = write;
  CHECK(run_stages(kernels.backward(call), call, {}, order));
  cpu::use_l2_bytes(0);
  return result;
}

inline void check_same(const LinearResults& a, const LinearResults& b) {
  CHECK(same_bits(a.out, b.out));
  CHECK(same_bits(a.dx, b.dx));
  CHECK(same_bits(a.dw, b.dw));
  CHECK(same_bits(a.db, b.db));
}

}  // namespace normscope::test

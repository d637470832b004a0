// These tests compute the packed product at sizes where every way of cutting and packing occurs (blocks of k, packed
// rows, panels packed once or per chunk, several chunks in both directions), against double sums, on every instruction
// set and bitwise the same on one and three threads. Small and odd sizes stand in op_cases_matrix.cpp.
#include "catch.hpp"
#include "engine/core/philox.h"
#include "engine/cpu/isa.h"
#include "engine/ops/ops.h"
#include "engine/support/op_harness.h"

// The linear products are the three of one layer through the op's own stages, with the same operands each time. Used
// by the tests of the GEMM.

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

namespace {

double weight(const LinearCase& l, int64_t kk, int64_t j) {
  return static_cast<double>(l.w[static_cast<size_t>(l.transposed ? j * l.k + kk : kk * l.n + j)]);
}
double at(const std::vector<float>& m, int64_t row, int64_t cols, int64_t col) {
  return static_cast<double>(m[static_cast<size_t>(row * cols + col)]);
}

/// The largest error of about 300 elements, in units of eps * terms (the factors are below 1).
template <class Expected>
double worst(const std::vector<float>& got, const std::vector<float>& base, double terms, Expected expected) {
  double worst = 0;
  const size_t step = std::max<size_t>(1, got.size() / 300) | 1;
  for (size_t i = 0; i < got.size(); i += step) {
    const double error = std::abs(static_cast<double>(got[i]) - expected(static_cast<int64_t>(i)) -
                                  static_cast<double>(base[i]));
    worst = error <= worst ? worst : error;  // NaN is worst
  }
  return worst / (std::ldexp(1.0, -24) * terms);
}

constexpr int64_t kMiB = int64_t{1} << 20;

void check(const LinearCase& l, Write write, const LinearResults& got) {
  const bool add = write == Write::Add;
  const auto base = [&](const std::vector<float>& before) {
    return add ? before : std::vector<float>(before.size(), 0.0f);
  };
  CHECK(worst(got.out, std::vector<float>(got.out.size(), 0.0f), static_cast<double>(l.k), [&](int64_t e) {
          double sum = static_cast<double>(l.b[static_cast<size_t>(e % l.n)]);
          for (int64_t kk = 0; kk < l.k; ++kk) sum += at(l.x, e / l.n, l.k, kk) * weight(l, kk, e % l.n);
          return sum;
        }) < 1);
  CHECK(worst(got.dx, base(l.before.dx), static_cast<double>(l.n), [&](int64_t e) {
          double sum = 0;
          for (int64_t j = 0; j < l.n; ++j) sum += at(l.dy, e / l.k, l.n, j) * weight(l, e % l.k, j);
          return sum;
        }) < 1);
  CHECK(worst(got.dw, base(l.before.dw), static_cast<double>(l.r), [&](int64_t e) {
          const int64_t kk = l.transposed ? e % l.k : e / l.n, j = l.transposed ? e / l.k : e % l.n;
          double sum = 0;
          for (int64_t i = 0; i < l.r; ++i) sum += at(l.x, i, l.k, kk) * at(l.dy, i, l.n, j);
          return sum;
        }) < 1);
  CHECK(worst(got.db, base(l.before.db), static_cast<double>(l.r), [&](int64_t e) {
          double sum = 0;
          for (int64_t i = 0; i < l.r; ++i) sum += at(l.dy, i, l.n, e);
          return sum;
        }) < 1);
}

}  // namespace

TEST_CASE("gemm: every way of cutting and packing", "[kernels]") {
  for (const std::string& isa : instruction_sets()) {
    use_instruction_set(isa);
    for (const auto& [r, k, n] : {std::array<int64_t, 3>{1027, 67, 61},
                                  {700, 515, 261},
                                  {515, 261, 700},
                                  {90, 1100, 300},
                                  {2050, 40, 300},
                                  {301, 1030, 515},
                                  {64, 64, 64},
                                  {1024, 64, 256}})
      for (const bool transposed : {false, true})
        for (const Write write : {Write::Assign, Write::Add}) {
          INFO(fmt::format("{} r{} k{} n{} {} {}", isa, r, k, n, transposed ? "x W^T" : "x W",
                           write == Write::Add ? "add" : ""));
          LinearCase l{r, k, n, transposed};
          const LinearResults one = run_linear(l, write, orders()[0]);
          check(l, write, one);
          for (size_t other = 2; other < orders().size(); ++other)
            check_same(one, run_linear(l, write, orders()[other]));
        }
  }
  use_instruction_set("");
}

TEST_CASE("gemm: no size of the L2 cache changes a bit, and a chunk's panels fit the scratch", "[kernels]") {
  // Rows of A^T within a page and beyond; sums of one block of k and of several; a panel that is not whole; few rows,
  // of which each chunk packs its own panels; one row of tiles, whose chunks are as wide as the panels may be, and
  // blocks as deep as they get.
  constexpr std::array<int64_t, 3> kShapes[] = {{64, 2048, 160}, {90, 512, 260},   {50, 1030, 200},
                                                {1027, 67, 61},  {300, 1026, 330}, {4, 384, 8192}};
  const Order& three = orders()[std::min<size_t>(2, orders().size() - 1)];
  for (const std::string& isa : instruction_sets()) {
    use_instruction_set(isa);
    for (const auto& [r, k, n] : kShapes)
      for (const bool transposed : {false, true}) {
        const Write write = transposed ? Write::Assign : Write::Add;
        LinearCase l{r, k, n, transposed};
        const LinearResults usual = run_linear(l, write, orders()[0]);
        for (const int64_t kib : {0, 1, 256, 512, 2048, 65536}) {
          INFO(fmt::format("{} r{} k{} n{} {} L2 {} KiB", isa, r, k, n, transposed ? "x W^T" : "x W, add",
                           kib));
          // In reverse: its scratch stands between canaries.
          check_same(usual, run_linear(l, write, Order{}, kib << 10));
#ifdef __SANITIZE_ADDRESS__
          if (kib > 0)
            continue;  // the same chunks in another order: one size of the cache is enough to watch
#endif
          check_same(usual, run_linear(l, write, three, kib << 10));
        }
      }
  }
  use_instruction_set("");
}

TEST_CASE("gemm: what is packed, copied and read in place follows from shape, layout and cache",
          "[kernels]") {
  using PackB = cpu::GemmPlan::PackB;
  for (const std::string& isa : instruction_sets()) {
    use_instruction_set(isa);
    INFO(isa);
    // At planning time only shapes are read.
    const auto backward = [](int64_t r, int64_t k, int64_t n, int64_t l2_bytes) {
      Call call{};
      call.op = OpKind::Linear;
      cpu::use_l2_bytes(l2_bytes);
      call.in[0].shape = {r, k};
      call.in[1].shape = {k, n};
      call.dout.shape = call.out.shape = {r, n};
      call.write[0] = call.write[1] = Write::Assign;
      return kernels_of(OpKind::Linear).backward(call);
    };
    const auto weight = [&](int64_t r, int64_t k, int64_t n, int64_t l2_bytes = kMiB) {
      return backward(r, k, n, l2_bytes).plans[0];
    };
    // A^T, the weight gradient's x: rows that collide are copied where enough panels use them, others are not.
    CHECK(weight(256, 2048, 512).copy_a);
    CHECK(weight(256, 1026, 512).copy_a);
    CHECK_FALSE(weight(256, 896, 512).copy_a);
    CHECK_FALSE(weight(256, 2400, 512).copy_a);
    CHECK_FALSE(weight(256, 2048, 16).copy_a);
    CHECK(weight(256, 2048, 512).fetch_a);
    CHECK_FALSE(weight(256, 2048, 512, 4 * kMiB).fetch_a);
    // B: short rows in place, once where more rows use it than it is deep, else by each chunk.
    CHECK(weight(256, 2048, 64).pack_b == PackB::InPlace);
    CHECK(weight(256, 2048, 512).pack_b == PackB::ByStage);
    CHECK(weight(2048, 256, 512).pack_b == PackB::ByChunk);
    // Transposed: once where several chunks of rows use it, else by the one chunk that does.
    CHECK(backward(1024, 256, 512, kMiB).plans[1].pack_b == PackB::ByStage);
    CHECK(backward(64, 256, 512, kMiB).plans[1].pack_b == PackB::ByChunk);
    // Half of the cache is for panels.
    CHECK(weight(256, 4096, 4096, kMiB / 4).cols.per_chunk < weight(256, 4096, 4096).cols.per_chunk);
    // The order of sums is the shape's.
    CHECK(weight(1000, 256, 512, 1).kc == weight(1000, 256, 512, 64 * kMiB).kc);
  }
  cpu::use_l2_bytes(0);
  use_instruction_set("");
}

namespace {

/// Q, k and v in one tensor, whose gradient is the sum of three: dq is assigned and the others
/// are added, also where a later block of queries follows, and where a cap has dv computed first.
void check_one_tensor(int64_t t, int64_t d, const AttentionSpec& spec) {
  std::vector<float> x = uniform_floats(t * d, 1), dout = uniform_floats(t * d, 2), out(x.size()),
                     p(static_cast<size_t>(t * t));
  for (float& e : x) e *= 0.1f;
  Call call{};
  call.op = OpKind::Attention;
  call.attributes = spec;
  for (int i = 0; i < 3; ++i) call.in[i] = {x.data(), {1, t, d}};
  call.out = {out.data(), {1, t, d}};
  call.saved[0] = {p.data(), {1, 1, t, t}};
  call.dout = {dout.data(), {1, t, d}};
  const cpu::Kernels kernels = kernels_of(OpKind::Attention);
  CHECK(run_stages(kernels.forward(call), call, {}, orders()[1]));
  std::vector<float> separate[3], shared(x.size(), std::nanf(""));
  for (int i = 0; i < 3; ++i) {
    separate[i].assign(x.size(), std::nanf(""));
    call.din[i] = {separate[i].data(), {1, t, d}};
    call.write[i] = Write::Assign;
  }
  CHECK(run_stages(kernels.backward(call), call, {}, orders()[1]));
  for (int i = 0; i < 3; ++i) {
    call.din[i].p = shared.data();
    call.write[i] = i == 0 ? Write::Assign : Write::Add;
  }
  CHECK(run_stages(kernels.backward(call), call, {}, orders()[1]));
  double worst = 0, largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double sum = static_cast<double>(separate[0][i]) + static_cast<double>(separate[1][i]) +
                       static_cast<double>(separate[2][i]);
    const double error = std::abs(static_cast<double>(shared[i]) - sum);
    worst = error <= worst ? worst : error;
    largest = std::max(largest, std::abs(sum));
  }
  CHECK(largest > 0.1);
  CHECK(worst < 1e-5 * largest);
}

}  // namespace

TEST_CASE("attention: one tensor as queries and keys, in several blocks of queries", "[kernels]") {
  for (const std::string& isa : instruction_sets()) {
    use_instruction_set(isa);
    INFO(isa);
    check_one_tensor(300, 1040, {.causal = true});  // a head wider than a packed panel is deep
    check_one_tensor(300, 40, {.causal = true, .window = 70});
    check_one_tensor(300, 40, {.window = 70});
    check_one_tensor(300, 40, {.causal = true, .cap = 0.01f});
    check_one_tensor(20, 40, {.causal = true, .window = 7, .cap = 0.01f});
  }
  use_instruction_set("");
}

}  // namespace normscope::test

// GEMM at the shapes that training has, through the linear op's own stages, beside oneDNN's sgemm; each
// result is checked against a double-precision sum on sampled elements.
#include <fmt/format.h>

#include <cmath>
#include <random>
#include <vector>

#include "bench/bench.h"
#include "cpu/denormals.h"
#include "cpu/kernel.h"
#include "cpu/pool.h"

#ifdef HAVE_DNNL
#include <dnnl.h>
#endif

namespace normscope::bench {
namespace {

enum class Layout { NN, NT, TN };
constexpr const char* kLayoutNames[] = {"NN", "NT", "TN"};

std::vector<float> random_floats(size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(n);
  for (float& v : values) v = uniform(engine);
  return values;
}

struct Problem {
  int64_t m, n, k;
  Layout layout;
  std::vector<float> a, b, c;
  Problem(int64_t m, int64_t n, int64_t k, Layout layout)
      : m(m),
        n(n),
        k(k),
        layout(layout),
        a(random_floats(static_cast<size_t>(m * k), 1)),
        b(random_floats(static_cast<size_t>(k * n), 2)),
        c(static_cast<size_t>(m * n), NAN) {}
  double at_a(int64_t i, int64_t kk) const {
    return a[static_cast<size_t>(layout == Layout::TN ? kk * m + i : i * k + kk)];
  }
  double at_b(int64_t kk, int64_t j) const {
    return b[static_cast<size_t>(layout == Layout::NT ? j * k + kk : kk * n + j)];
  }

  /// Largest error on about 500 elements, over the sum of absolute products.
  double error() const {
    double worst = 0;
    const int64_t step = std::max<int64_t>(1, m * n / 500);
    for (int64_t e = 0; e < m * n; e += step) {
      double sum = 0, size = 0;
      for (int64_t kk = 0; kk < k; ++kk) {
        const double p = at_a(e / n, kk) * at_b(kk, e % n);
        sum += p;
        size += std::abs(p);
      }
      const double error = std::abs(sum - static_cast<double>(c[static_cast<size_t>(e)])) / size;
      worst = error <= worst ? worst : error;  // NaN counts as worst
    }
    return worst;
  }
};

/// The problem as a call of the linear op: NN and NT are forward, TN is the weight gradient.
class LinearCall {
 public:
  explicit LinearCall(Problem& p) {
    const auto kernels = cpu::linear_kernels();
    call_.op = OpKind::Linear;
    if (p.layout == Layout::TN) {  // a = x (K,M), b = dout (K,N), c = dW (M,N)
      call_.in[0] = {p.a.data(), {p.k, p.m}};
      call_.in[1] = {p.c.data(), {p.m, p.n}};
      call_.dout = {p.b.data(), {p.k, p.n}};
      call_.out = call_.dout;
      call_.din[1] = call_.in[1];
      call_.write[1] = Write::Assign;
      stages_ = kernels.backward(call_);
    } else {
      call_.attributes.transposed = p.layout == Layout::NT;
      call_.in[0] = {p.a.data(), {p.m, p.k}};
      call_.in[1] = {p.b.data(), p.layout == Layout::NT ? Shape{p.n, p.k} : Shape{p.k, p.n}};
      call_.out = {p.c.data(), {p.m, p.n}};
      stages_ = kernels.forward(call_);
    }
    workspace_.resize(stages_.workspace_floats + 16);
    const auto address = reinterpret_cast<uintptr_t>(workspace_.data());
    call_.workspace = workspace_.data() + (64 - address % 64) % 64 / 4;
  }
  void run(cpu::Pool& pool) const {
    for (int i = 0; i < stages_.count; ++i) pool.run(stages_.stage[i], call_, inputs_);
  }

 private:
  cpu::Call call_{};
  cpu::Stages stages_;
  StepInputs inputs_;
  std::vector<float> workspace_;
};

#ifdef HAVE_DNNL
void onednn(Problem& p) {
  const bool ta = p.layout == Layout::TN, tb = p.layout == Layout::NT;
  dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', p.m, p.n, p.k, 1.0f, p.a.data(), ta ? p.m : p.k, p.b.data(),
             tb ? p.k : p.n, 0.0f, p.c.data(), p.n);
}
#endif

struct Size {
  int64_t m, n, k;
};
constexpr Size kSizes[] = {
    {1024, 64, 64},   {1024, 256, 64},   {1024, 64, 256},   {1024, 256, 256}, {1024, 30, 64},
    {2048, 256, 256}, {2048, 1024, 256}, {4096, 512, 2048}, {512, 512, 4096}, {2048, 512, 4096},
    {4096, 512, 512}, {4096, 2048, 512}, {64, 64, 1024},    {64, 256, 1024},  {256, 64, 1024},
    {256, 256, 2048}, {256, 1024, 2048}, {512, 2048, 4096}, {1023, 65, 33},
};

}  // namespace

double onednn_rate([[maybe_unused]] int64_t m, [[maybe_unused]] int64_t n, [[maybe_unused]] int64_t k,
                   [[maybe_unused]] double budget) {
#ifdef HAVE_DNNL
  Problem p(m, n, k, Layout::NN);
  return 2e-9 * static_cast<double>(m * n * k) / time_call([&] { onednn(p); }, budget).median;
#else
  return 0;
#endif
}

bool bench_gemm(const Options& options) {
  cpu::Pool pool(options.threads);
  const cpu::FlushDenormals flush;
  bool right = true;
  fmt::print("\nGEMM, GFLOP/s: median (best)\n{:>5} {:>5} {:>5}     {:>16} {:>16} {:>6} {:>9}\n", "M", "N",
             "K", "normscope", "oneDNN", "ratio", "error");
  for (const Size& s : kSizes) {
    for (Layout layout : {Layout::NN, Layout::NT, Layout::TN}) {
      const std::string name =
          fmt::format("{}x{}x{} {}", s.m, s.n, s.k, kLayoutNames[static_cast<int>(layout)]);
      if (name.find(options.filter) == std::string::npos) continue;
      const double gflop = 2e-9 * static_cast<double>(s.m * s.n * s.k);
      Problem p(s.m, s.n, s.k, layout);
      const LinearCall call(p);
      const Timing ours = time_call([&] { call.run(pool); }, options.budget);
      const double error = p.error();
      right = right && error < 1e-6;
      double theirs = 0, best = 0;
#ifdef HAVE_DNNL
      const Timing timing = time_call([&] { onednn(p); }, options.budget);
      theirs = gflop / timing.median;
      best = gflop / timing.minimum;
#endif
      fmt::print("{:5} {:5} {:5} {}  {:6.0f} ({:6.0f})  {:6.0f} ({:6.0f}) {:6.2f} {:9.1e}{}\n", s.m, s.n, s.k,
                 kLayoutNames[static_cast<int>(layout)], gflop / ours.median, gflop / ours.minimum, theirs,
                 best, theirs > 0 ? gflop / ours.median / theirs : 0, error, error < 1e-6 ? "" : "  WRONG");
    }
  }
  return right;
}

}  // namespace normscope::bench

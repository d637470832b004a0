// GEMM at the shapes that training has, through the linear op's own stages, beside oneDNN's and OpenBLAS's
// sgemm; every result is checked against a double-precision sum on sampled elements.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>
#include <vector>

#include "app/bench/bench.h"
#include "app/bench/sgemm_anchor.h"
#include "app/bench/timing.h"
#include "engine/cpu/denormals.h"
#include "engine/cpu/gemm/gemm_choice.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/pool.h"
#include "engine/ops/ops.h"

namespace normscope::bench {
namespace {

enum class Layout { NN, NT, TN };
constexpr const char* kLayoutNames[] = {"NN", "NT", "TN"};
constexpr Layout kLayouts[] = {Layout::NN, Layout::NT, Layout::TN};
constexpr double kLargestError = 1e-6;

struct Size {
  int64_t m, n, k;
};
constexpr Size kListed[] = {{1024, 64, 64},    {1024, 64, 256},   {1024, 256, 64},  {1024, 256, 256},
                            {2048, 256, 256},  {2048, 1024, 256}, {4096, 512, 512}, {4096, 512, 2048},
                            {4096, 2048, 512}, {4096, 2048, 2048}};
// Beyond the list: gradients of weights, whose sums run over all rows of a batch, and an odd size.
constexpr Size kGradients[] = {{64, 64, 1024},    {64, 256, 1024},  {256, 64, 1024},   {256, 256, 2048},
                               {256, 1024, 2048}, {512, 512, 4096}, {512, 2048, 4096}, {1023, 65, 33}};
// Attention's products of one head: on one core, as attention runs them.
constexpr Size kPerHead[] = {{64, 64, 16}, {64, 16, 64}, {128, 128, 64}};

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
  Problem(Size s, Layout layout)
      : m(s.m),
        n(s.n),
        k(s.k),
        layout(layout),
        a(random_floats(static_cast<size_t>(m * k), 1)),
        b(random_floats(static_cast<size_t>(k * n), 2)),
        c(static_cast<size_t>(m * n), NAN) {}

  double gflop() const { return 2e-9 * static_cast<double>(m * n * k); }
  SgemmProblem sgemm() {
    return {m, n, k, layout == Layout::TN, layout == Layout::NT, a.data(), b.data(), c.data()};
  }
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
    call_.gemm = &choice_;
    if (p.layout == Layout::TN) {  // a = x (K,M), b = dout (K,N), c = dW (M,N)
      call_.in[0] = {p.a.data(), {p.k, p.m}};
      call_.in[1] = {p.c.data(), {p.m, p.n}};
      call_.dout = {p.b.data(), {p.k, p.n}};
      call_.out = call_.dout;
      call_.din[1] = call_.in[1];
      call_.write[1] = Write::Assign;
      stages_ = kernels.backward(call_);
    } else {
      call_.attributes = LinearSpec{p.layout == Layout::NT};
      call_.in[0] = {p.a.data(), {p.m, p.k}};
      call_.in[1] = {p.b.data(), p.layout == Layout::NT ? Shape{p.n, p.k} : Shape{p.k, p.n}};
      call_.out = {p.c.data(), {p.m, p.n}};
      stages_ = kernels.forward(call_);
    }
    workspace_.resize(stages_.workspace_floats + 16);
    const auto address = reinterpret_cast<uintptr_t>(workspace_.data());
    call_.workspace = workspace_.data() + (64 - address % 64) % 64 / 4;
  }
  LinearCall(const LinearCall&) = delete;
  LinearCall& operator=(const LinearCall&) = delete;
  void run(cpu::Pool& pool) const {
    for (int i = 0; i < stages_.count; ++i) pool.run(stages_.stage[i], call_, inputs_);
  }

 private:
  const cpu::GemmChoice choice_ = cpu::gemm_choice();
  Call call_{};
  cpu::Stages stages_;
  StepInputs inputs_;
  std::vector<float> workspace_;
};

nlohmann::json measure(Problem& p, cpu::Pool& pool, const Settings& settings, const Machine& machine) {
  const LinearCall call(p);
  Timing ours;
  {
    const cpu::FlushDenormals flush;
    ours = time_call([&] { call.run(pool); }, settings.budget);
  }
  const double error = p.error(), gflop = p.gflop();
  nlohmann::json row = {{"m", p.m},
                        {"n", p.n},
                        {"k", p.k},
                        {"layout", kLayoutNames[static_cast<int>(p.layout)]},
                        {"threads", pool.threads()},
                        {"gflops", gflop / ours.median},
                        {"best_gflops", gflop / ours.minimum},
                        {"error", error}};
  const double peak = machine.peak_gflops * pool.threads() / machine.threads;
  row["share_of_peak"] = gflop / ours.median / peak;
  const SgemmAnchor* anchors[] = {find_onednn(pool.threads()), find_openblas(pool.threads())};
  constexpr const char* kKeys[] = {"onednn", "openblas"};
  for (int i = 0; i < 2; ++i) {
    if (!anchors[i]) continue;
    const SgemmProblem problem = p.sgemm();
    const Timing theirs = time_call([&] { anchors[i]->run(problem); }, settings.budget);
    row[fmt::format("{}_gflops", kKeys[i])] = gflop / theirs.median;
    row[fmt::format("{}_best_gflops", kKeys[i])] = gflop / theirs.minimum;
  }
  const double fastest = std::max(row.value("onednn_gflops", 0.0), row.value("openblas_gflops", 0.0));
  if (fastest > 0) row["ratio"] = row["gflops"].get<double>() / fastest;
  return row;
}

void print(const nlohmann::json& row) {
  const auto anchor = [&](const std::string& key) {
    return row.contains(key + "_gflops")
               ? fmt::format("{:6.0f} ({:5.0f})", row[key + "_gflops"].get<double>(),
                             row[key + "_best_gflops"].get<double>())
               : std::string("–");
  };
  const double error = row["error"];
  fmt::print("{:5} {:5} {:5} {} {:3} {:6.0f} ({:5.0f}) {:4.0f}% {:>14} {:>14} {:>6} {:8.1e}{}\n",
             row["m"].get<int>(), row["n"].get<int>(), row["k"].get<int>(), row["layout"].get<std::string>(),
             row["threads"].get<int>(), row["gflops"].get<double>(), row["best_gflops"].get<double>(),
             100 * row["share_of_peak"].get<double>(), anchor("onednn"), anchor("openblas"),
             row.contains("ratio") ? fmt::format("{:.2f}", row["ratio"].get<double>()) : "–", error,
             error < kLargestError ? "" : "  WRONG");
}

}  // namespace

double best_sgemm(const Settings& settings, const nlohmann::json& gemm) {
  double best = 0;
  for (const nlohmann::json& row : gemm)
    if (row["threads"] == settings.threads && row["group"] == "listed")
      best = std::max({best, row.value("onednn_gflops", 0.0), row.value("openblas_gflops", 0.0)});
  if (best > 0) return best;
  for (const SgemmAnchor* anchor : {find_onednn(settings.threads), find_openblas(settings.threads)}) {
    if (!anchor) continue;
    for (const Size& s : kListed) {
      for (Layout layout : kLayouts) {
        Problem p(s, layout);
        const SgemmProblem problem = p.sgemm();
        best =
            std::max(best, p.gflop() / time_call([&] { anchor->run(problem); }, settings.budget / 8).median);
      }
    }
  }
  return best;
}

Part bench_gemm(const Settings& settings, const Machine& machine) {
  Part part;
  if (!settings.quiet) {
    const SgemmAnchor* anchors[] = {find_onednn(settings.threads), find_openblas(settings.threads)};
    fmt::print(
        "\nGEMM, GFLOP/s: median (best); the ratio is to the faster library\n{:>5} {:>5} {:>5} {:>6} {:>14} {:>5} {:>14} "
        "{:>14} {:>6} {:>8}\n",
        "M", "N", "K", "thr", "normscope", "peak",
        anchors[0] ? "oneDNN " + anchors[0]->version() : "no oneDNN",
        anchors[1] ? "OpenBLAS " + anchors[1]->version() : "no OpenBLAS", "ratio", "error");
  }
  const auto run = [&](const Size& s, cpu::Pool& pool, const char* group) {
    for (Layout layout : kLayouts) {
      if (std::string_view(group) == "gradients" && layout != Layout::TN) continue;
      Problem p(s, layout);
      part.rows.push_back(measure(p, pool, settings, machine));
      part.rows.back()["group"] = group;
      part.right = part.right && part.rows.back()["error"].get<double>() < kLargestError;
      if (!settings.quiet) print(part.rows.back());
    }
  };
  cpu::Pool pool(settings.threads), single(1);
  for (const Size& s : kListed) run(s, pool, "listed");
  for (const Size& s : kGradients) run(s, pool, "gradients");
  for (const Size& s : kPerHead) run(s, single, "per-head");
  return part;
}

}  // namespace normscope::bench

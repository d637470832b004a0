// Times GEMM at the shapes that training has, through the linear op's own stages, and the sgemm of oneDNN and OpenBLAS
// to compare with. It checks sampled elements of every result against sums in double precision.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <random>

#include "addons/bench/app/bench.h"
#include "engine/cpu/denormals.h"
#include "engine/cpu/pool.h"
#include "engine/ops/ops.h"

namespace normscope::bench {
namespace {

// Keeps the libraries' symbols apart by RTLD_LOCAL, and their handles as long as their threads live.
void* open_first(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  return nullptr;
}

template <typename Function>
Function symbol(void* handle, const char* name) {
  return handle ? reinterpret_cast<Function>(dlsym(handle, name)) : nullptr;
}

/// Sets the threads of the OpenMP runtime that a library loaded, if it loaded one.
void set_openmp_threads(void* handle, int threads) {
  if (const auto set = symbol<void (*)(int)>(handle, "omp_set_num_threads")) set(threads);
}

class OneDnn final : public SgemmAnchor {
 public:
  OneDnn() : handle_(open_first({"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"})) {
    sgemm_ = symbol<Sgemm>(handle_, "dnnl_sgemm");
    version_ = symbol<const Version* (*)()>(handle_, "dnnl_version");
  }
  explicit operator bool() const { return sgemm_ != nullptr; }
  std::string name() const override { return "oneDNN"; }
  std::string version() const override {
    const Version* v = version_ ? version_() : nullptr;
    return v ? fmt::format("{}.{}.{}", v->major, v->minor, v->patch) : "?";
  }
  void set_threads(int threads) override { set_openmp_threads(handle_, threads); }
  void run(const SgemmProblem& p) const override {
    sgemm_(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k, 1.0f, p.a,
           p.transpose_a ? p.m : p.k, p.b, p.transpose_b ? p.k : p.n, 0.0f, p.c, p.n);
  }

 private:
  struct Version {
    int major, minor, patch;
  };
  using Sgemm = int (*)(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t, const float*,
                        int64_t, float, float*, int64_t);
  void* handle_;
  Sgemm sgemm_ = nullptr;
  const Version* (*version_)() = nullptr;
};

class OpenBlas final : public SgemmAnchor {
 public:
  OpenBlas() : handle_(open_first({"libopenblas.so.0", "libopenblas.so"})) {
    sgemm_ = symbol<Sgemm>(handle_, "cblas_sgemm");
    config_ = symbol<const char* (*)()>(handle_, "openblas_get_config");
    core_ = symbol<const char* (*)()>(handle_, "openblas_get_corename");
    set_threads_ = symbol<void (*)(int)>(handle_, "openblas_set_num_threads");
  }
  explicit operator bool() const { return sgemm_ != nullptr; }
  std::string name() const override { return "OpenBLAS"; }
  /// Names the kernels too, "0.3.21 (Haswell)": OPENBLAS_CORETYPE in the environment asks for others
  /// than the best of this processor.
  std::string version() const override {
    const std::string config = config_ ? config_() : "?";  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
    const size_t first = config.find(' ');
    const std::string number =
        first == config.npos ? config : config.substr(first + 1, config.find(' ', first + 1) - first - 1);
    return core_ ? fmt::format("{} ({})", number, core_()) : number;
  }
  void set_threads(int threads) override {
    if (set_threads_) set_threads_(threads);
  }
  void run(const SgemmProblem& p) const override {
    constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
    const auto i = [](int64_t x) { return static_cast<int>(x); };
    sgemm_(kRowMajor, p.transpose_a ? kTransposed : kPlain, p.transpose_b ? kTransposed : kPlain, i(p.m),
           i(p.n), i(p.k), 1.0f, p.a, i(p.transpose_a ? p.m : p.k), p.b, i(p.transpose_b ? p.k : p.n), 0.0f,
           p.c, i(p.n));
  }

 private:
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                         float*, int);
  void* handle_;
  Sgemm sgemm_ = nullptr;
  const char* (*config_)() = nullptr;
  const char* (*core_)() = nullptr;
  void (*set_threads_)(int) = nullptr;
};

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
// Gradients of weights, whose sums run over all rows of a batch, and an odd size.
constexpr Size kGradients[] = {{64, 64, 1024},    {64, 256, 1024},  {256, 64, 1024},   {256, 256, 2048},
                               {256, 1024, 2048}, {512, 512, 4096}, {512, 2048, 4096}, {1023, 65, 33}};
// Attention's products of one head, timed on one core because attention runs them so.
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

  /// The largest error among some 500 elements, relative to the sum of an element's absolute products.
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
      call_.attributes = LinearSpec{p.layout == Layout::NT};
      call_.in[0] = {p.a.data(), {p.m, p.k}};
      call_.in[1] = {p.b.data(), p.layout == Layout::NT ? Shape{p.n, p.k} : Shape{p.k, p.n}};
      call_.out = {p.c.data(), {p.m, p.n}};
      stages_ = kernels.forward(call_);
    }
    workspace_ = cpu::allocate_block(stages_.workspace_floats);  // as the backend does
    call_.workspace = workspace_.get();
    call_.extra = stages_.plans;
  }
  LinearCall(const LinearCall&) = delete;
  LinearCall& operator=(const LinearCall&) = delete;
  void run(cpu::Pool& pool) const {
    for (int i = 0; i < stages_.count; ++i) pool.run(stages_.stage[i], call_, inputs_);
  }

 private:
  Call call_{};
  cpu::Stages stages_;
  StepInputs inputs_;
  cpu::Block workspace_;
};

nlohmann::json row_of(const Problem& p, const cpu::Pool& pool, const MachinePeak& machine,
                      const Timing& ours) {
  const double gflop = p.gflop(), peak = machine.gflops * pool.threads() / machine.threads;
  return {{"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"layout", kLayoutNames[static_cast<int>(p.layout)]},
          {"threads", pool.threads()},
          {"gflops", gflop / ours.median},
          {"best_gflops", gflop / ours.minimum},
          {"share_of_peak", gflop / ours.median / peak},
          {"error", p.error()}};
}

Timing time_ours(const LinearCall& call, cpu::Pool& pool, double budget) {
  const cpu::FlushDenormals flush;
  return time_call([&] { call.run(pool); }, budget);
}

nlohmann::json measure(Problem& p, cpu::Pool& pool, const Settings& settings, const MachinePeak& machine) {
  const LinearCall call(p);
  nlohmann::json row = row_of(p, pool, machine, time_ours(call, pool, settings.budget));
  const SgemmAnchor* anchors[] = {find_onednn(pool.threads()), find_openblas(pool.threads())};
  constexpr const char* kKeys[] = {"onednn", "openblas"};
  for (int i = 0; i < 2; ++i) {
    if (!anchors[i]) continue;
    const SgemmProblem problem = p.sgemm();
    const Timing theirs = time_call([&] { anchors[i]->run(problem); }, settings.budget);
    row[fmt::format("{}_gflops", kKeys[i])] = p.gflop() / theirs.median;
    row[fmt::format("{}_best_gflops", kKeys[i])] = p.gflop() / theirs.minimum;
  }
  const double fastest = std::max(row.value("onednn_gflops", 0.0), row.value("openblas_gflops", 0.0));
  if (fastest > 0) row["ratio"] = row["gflops"].get<double>() / fastest;
  return row;
}

bool right(const nlohmann::json& row) { return row["error"].get<double>() < kLargestError; }

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
             right(row) ? "" : "  WRONG");
}

}  // namespace

const SgemmAnchor* find_onednn(int threads) {
  static OneDnn library;
  if (!library) return nullptr;
  library.set_threads(threads);
  return &library;
}

const SgemmAnchor* find_openblas(int threads) {
  static OpenBlas library;
  if (!library) return nullptr;
  library.set_threads(threads);
  return &library;
}

double best_sgemm(const Settings& settings, const nlohmann::json& gemm) {
  double best = 0;
  for (const nlohmann::json& row : gemm)
    if (row["threads"] == settings.threads && row["group"] == "listed")
      best = std::max({best, row.value("onednn_gflops", 0.0), row.value("openblas_gflops", 0.0)});
  if (best > 0) return best;
  const bool trial = settings.budget < kTrial;
  const double budget = trial ? settings.budget : std::max(kTrial, settings.budget / 8);
  const std::span<const Size> sizes = std::span(kListed).first(trial ? 1 : std::size(kListed));
  for (const SgemmAnchor* anchor : {find_onednn(settings.threads), find_openblas(settings.threads)}) {
    if (!anchor) continue;
    for (const Size& s : sizes) {
      for (Layout layout : kLayouts) {
        Problem p(s, layout);
        const SgemmProblem problem = p.sgemm();
        best = std::max(best, p.gflop() / time_call([&] { anchor->run(problem); }, budget).median);
      }
    }
  }
  return best;
}

Part bench_gemm(const Settings& settings, const MachinePeak& machine) {
  Part part;
  if (!settings.quiet) {
    std::vector<std::string> libraries;
    for (const SgemmAnchor* anchor : {find_onednn(settings.threads), find_openblas(settings.threads)})
      if (anchor) libraries.push_back(fmt::format("{} {}", anchor->name(), anchor->version()));
    fmt::print("\nGEMM, GFLOP/s: median (best); the ratio is to the faster library{}{}\n",
               libraries.empty() ? ", and none is installed" : ": ", fmt::join(libraries, ", "));
    fmt::print("{:>5} {:>5} {:>5} {:>6} {:>14} {:>5} {:>14} {:>14} {:>6} {:>8}\n", "M", "N", "K", "thr",
               "normscope", "peak", "oneDNN", "OpenBLAS", "ratio", "error");
  }
  const auto run = [&](const Size& s, cpu::Pool& pool, const char* group) {
    for (Layout layout : kLayouts) {
      if (std::string_view(group) == "gradients" && layout != Layout::TN) continue;
      Problem p(s, layout);
      nlohmann::json row = measure(p, pool, settings, machine);
      row["group"] = group;
      part.right = part.right && right(row);
      if (!settings.quiet) print(row);
      part.rows.push_back(std::move(row));
    }
  };
  cpu::Pool pool(settings.threads), single(1);
  if (const std::vector<int64_t>& asked = settings.shape; !asked.empty()) {
    run({asked[0], asked[1], asked[2]}, pool, "asked");
  } else {
    for (const Size& s : kListed) run(s, pool, "listed");
    for (const Size& s : kGradients) run(s, pool, "gradients");
    for (const Size& s : kPerHead) run(s, single, "per-head");
  }
  return part;
}

}  // namespace normscope::bench

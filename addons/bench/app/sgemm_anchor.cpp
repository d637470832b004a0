#include "addons/bench/app/sgemm_anchor.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <initializer_list>

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

/// Acts on the OpenMP runtime that a library brought along, if it brought one.
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

}  // namespace normscope::bench

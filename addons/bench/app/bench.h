// The parts of normscope bench. Each one measures, prints its table as it goes (unless `quiet`), and returns its rows
// for --json. Called by commands/bench.cpp.
#pragma once

#include <sys/types.h>
#include <iosfwd>
#include <nlohmann/json.hpp>

#include "training/measure/step/profile.h"

namespace normscope::bench {

struct Model;

struct Settings {
  int threads = 2;
  double budget = 0.25;  ///< seconds a timing
  bool quiet = false;
  std::string model;           ///< the only model to measure; empty: each part has a list
  std::vector<int64_t> shape;  ///< of the only product: rows, columns, inner; empty: those listed
};

/// The rows of a part, and whether every result was right.
struct Part {
  nlohmann::json rows = nlohmann::json::array();
  bool right = true;
};

Part bench_gemm(const Settings& settings, const MachinePeak& machine);
/// The largest median of a library over the listed shapes, GFLOP/s. It reads the rows of `gemm`, and measures where
/// they have none. 0: no library is installed.
double best_sgemm(const Settings& settings, const nlohmann::json& gemm);

Part bench_ops(const Settings& settings, const MachinePeak& machine);
Part bench_models(const Settings& settings, const MachinePeak& machine, double best_sgemm);
/// How fast a model's steps were: the part of a row that bench_models() and bench_turns() share.
nlohmann::json step_row(const Model& model, const Timing& step);
/// Shows the time of a step on 1 to 16 threads: simulated from its chunks, and measured on up to all cores.
Part bench_scaling(const Settings& settings, const MachinePeak& machine);
/// Compares a step on --threads with a step on one thread more, and with a step while other processes use the cores.
Part bench_crowded(const Settings& settings);

/// The name under which bench_turns() measures the libraries' best product.
inline constexpr const char* kSgemmTurn = "sgemm";
/// Measures once for each line of `names`, a model's name or kSgemmTurn, and gives the row to `answer`.
/// It stops at the first other line and returns it; it returns "" at the end of `names`.
std::string bench_turns(const Settings& settings, std::istream& names,
                        const std::function<void(const nlohmann::json&)>& answer);

// The sgemm of oneDNN or OpenBLAS, to which the benchmark compares our products. The libraries are loaded at run time
// and never linked, so that nothing depends on them.

/// Row-major C(m,n) = op(A) op(B); a transposed A is stored (k,m), a transposed B (n,k).
struct SgemmProblem {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
};

class SgemmAnchor {
 public:
  virtual ~SgemmAnchor() = default;
  virtual std::string name() const = 0;     ///< "oneDNN"
  virtual std::string version() const = 0;  ///< "2.6.3"
  virtual void set_threads(int threads) = 0;
  virtual void run(const SgemmProblem& problem) const = 0;
};

/// The find_ functions return nullptr where this machine lacks the library.
const SgemmAnchor* find_onednn(int threads);
const SgemmAnchor* find_openblas(int threads);

// Child processes that spin without a pause while this object lives. In a session of their own they share one part of
// the processors, where the system divides its time by session (Linux's autogroup).

class BusyProcesses {
 public:
  /// Throws Error where fork() fails.
  BusyProcesses(int count, bool own_session);
  ~BusyProcesses();
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;

 private:
  pid_t first_ = -1;
};

}  // namespace normscope::bench

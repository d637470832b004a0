// The compared runs are made by hand: histories of two layers whose numbers are known, and that differ only where a
// test says so.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "addons/compare/app/comparison.h"

namespace normscope::compared {

/// What a test makes of a number: stat ("loss" is one), step, the unchanged number.
using Change = std::function<double(const std::string&, int32_t, double)>;

inline double unchanged(const std::string&, int32_t, double value) { return value; }

inline std::vector<StatInfo> layout(bool gradients = true) {
  std::vector<StatInfo> stats;
  for (int32_t layer = 1; layer <= 2; ++layer)
    for (const char* matrix : {"attn.wq", "attn.wk", "ffn.w2"})
      for (const char* norm : {"grad_norm", "update_norm", "weight_norm"})
        if (gradients || std::string(norm) != "grad_norm")
          stats.push_back({fmt::format("L{:02}.{}.{}", layer, matrix, norm), layer});
  stats.push_back({"L01.ffn.sum.mean_square", 1});
  stats.push_back({"total.grad_norm", 0});
  return stats;
}

/// Loss 3 + 0.1 seed, gradient norms 0.1, updates 0.02, weights 4, states 1; constant in time.
inline std::shared_ptr<History> history(int32_t steps, uint64_t seed = 1, const Change& change = unchanged,
                                        bool gradients = true) {
  auto result = std::make_shared<History>(layout(gradients));
  std::vector<double> stats;
  for (int32_t step = 1; step <= steps; ++step) {
    stats.clear();
    for (const StatInfo& stat : result->layout()) {
      const double value = stat.name.ends_with("grad_norm")     ? 0.1
                           : stat.name.ends_with("update_norm") ? 0.02
                           : stat.name.ends_with("weight_norm") ? 4.0
                                                                : 1.0;
      stats.push_back(change(stat.name, step, value));
    }
    result->append(step, change("loss", step, 3 + 0.1 * static_cast<double>(seed)), 1e-3, stats);
  }
  return result;
}

/// What all of them read, unless a test says otherwise.
inline DataIdentity data() { return {"corpus.txt", "00000000000000aa", 29, "letter"}; }

inline void add_seed(records::Recording& run, uint64_t seed, std::shared_ptr<const History> history) {
  run.seeds.emplace_back().origin.seed = seed;
  run.seeds.back().history = std::move(history);
}

/// A run of this program, whose batches every other run with the same seed has too.
inline records::Recording ours(std::string name, std::vector<std::shared_ptr<History>> histories) {
  records::Recording run;
  run.name = std::move(name);
  run.path = "runs.jsonl";
  run.maker = "normscope";
  run.spec = RunSpec();
  run.settings = field_values(*run.spec);
  run.data = data();
  for (size_t i = 0; i < histories.size(); ++i) add_seed(run, i + 1, std::move(histories[i]));
  return run;
}

/// A run of another program: its own batches, no settings.
inline records::Recording theirs(std::string name, std::shared_ptr<History> history) {
  records::Recording run;
  run.name = std::move(name);
  run.path = "port.jsonl";
  run.maker = "PyTorch";
  run.data = data();
  add_seed(run, 11, std::move(history));
  return run;
}

}  // namespace normscope::compared

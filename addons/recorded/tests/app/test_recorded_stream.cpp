// A run that the Python package recorded has the stream under the engine's names, whatever its modules are called.
// tests/fixtures/twins.py made the logs.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "addons/recorded/training/recorded_run.h"
#include "catch.hpp"
#include "test_paths.h"

namespace normscope::records {
namespace {

RecordedRun recorded(const std::string& name) {
  const RecordedFile file = read_recorded(NORMSCOPE_SOURCE_DIR "/addons/recorded/tests/fixtures/" + name);
  CHECK(file.broken == 0);
  REQUIRE(file.runs.size() == 1);
  return file.runs[0];
}

/// The largest |a - b| / |b| over the steps, infinite where one of them lacks a number.
double factor_apart(const Series& a, const Series& b) {
  if (a.steps != b.steps) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < a.values.size(); ++i)
    if (!std::isnan(b.values[i]))
      most = std::max(most, static_cast<double>(std::abs(a.values[i] - b.values[i])) /
                                std::abs(static_cast<double>(b.values[i])));
  return most;
}

}  // namespace

// Two programs of the same numbers in another order: 1e-7 apart in forward passes, and after 40 steps of Adam, which
// divides by the root of small gradients, 1e-3 in their norms. The bias of W_K has no gradient but roundings.
TEST_CASE("a model of one's own is recorded as its twin with names that are known") {
  const RecordedRun own = recorded("own.jsonl"), known = recorded("hf.jsonl");
  for (const RecordedRun* run : {&own, &known}) {
    CHECK(run->placement == "pre");
    CHECK(run->layers == 2);
    CHECK(run->missing.empty());  // every name is known, without a mapping
  }
  CHECK(factor_apart(own.history->loss(), known.history->loss()) < 1e-5);
  const auto names = [](const RecordedRun& run) {
    std::vector<std::string> all;
    for (const StatInfo& stat : run.history->layout()) all.push_back(stat.name);
    std::sort(all.begin(), all.end());
    return all;
  };
  CHECK(names(own) == names(known));
  for (const std::string& name : names(own)) {
    if (name.find(".bk.") != name.npos) continue;
    INFO(name);
    const Series a = own.history->series(own.history->find(name)),
                 b = known.history->series(known.history->find(name));
    CHECK(factor_apart(a, b) < 1e-3);
  }
}

TEST_CASE("what is recorded of a stream has the names of the engine's own measurements") {
  const RecordedRun own = recorded("own.jsonl");
  for (const char* name : {"L01.attn.branch.variance", "L02.ffn.branch.variance", "L01.attn.input.variance",
                           "L02.ffn.sum.mean_square", "beta2.1.1", "beta2.4.4", "L02.attn.wq.grad_norm",
                           "L01.ffn.w2.update_norm", "L01.attn.before.gain.weight_norm",
                           "emb.tokens.grad_norm", "emb.positions.grad_norm"})
    CHECK(own.history->find(name) >= 0);
}

}  // namespace normscope::records

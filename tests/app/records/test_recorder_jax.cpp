// These tests run the recorder that `normscope record --jax` prints, on a tree such as Flax has, where there is JAX.
// What may go wrong is in test_recorder_failures.cpp.

#include "app/records/recorder_script.h"
#include "catch.hpp"
#include "training/records/log_reader.h"
#include "training/records/recorded_run.h"
#include "training/records/recorders.h"

namespace normscope::records {
using test::Folder, test::run_python;

namespace {

// `kJaxScript` has a loss whose gradient is known: of the sum of squares it is twice the parameter.
constexpr const char* kJaxScript = R"(
import jax, jax.numpy as jnp
from recorder import Recorder

layer = {"attn": {n: {"kernel": jnp.ones((8, 2, 4)), "bias": jnp.ones((2, 4))} for n in ("query", "key", "value")},
         "LayerNorm_0": {"scale": jnp.ones(8)}, "mlp": {"wi": {"kernel": jnp.ones((8, 16)), "bias": jnp.zeros(16)}}}
params = {"params": {"layers_0": layer, "layers_1": layer}}
recorder = Recorder("run.jsonl", name="flax", placement="pre", width=8)
for step in range(1, 4):
    grads = jax.grad(lambda p: sum(jnp.sum(x * x) for x in jax.tree_util.tree_leaves(p)))(params)
    updates = jax.tree_util.tree_map(lambda g: -0.25 * g, grads)
    loss = jnp.array(jnp.nan if step == 2 else 1.5)
    recorder.step(step, loss, 0.25, grads, params, updates, {"layers_1": 2 * jnp.ones((2, 3, 8))}, validation=jnp.float32(0.5))
)";

}  // namespace

TEST_CASE("the recorder for JAX writes norms of the trees that it is given") {
  NEEDS_PYTHON(python, "jax", "Python with JAX");
  const Folder folder;
  REQUIRE(run_python(python, folder, kJaxRecorder, kJaxScript) == "");
  const RecordedFile file = read_recorded(folder.file("run.jsonl"));
  CHECK(file.broken == 0);
  const RecordedRun& run = file.runs.at(0);
  CHECK(run.name == "flax");
  CHECK(run.maker.starts_with("JAX "));
  CHECK(run.history->loss().steps == std::vector<int32_t>{1, 2, 3});
  CHECK(std::isnan(run.history->loss().values[1]));
  const auto newest = [&](const char* stat) {
    const Series series = run.history->series(run.history->find(stat));
    return series.values.empty() ? NAN : series.values.back();
  };
  CHECK(newest("L02.attn.wq.grad_norm") == Approx(2 * std::sqrt(64.0)));
  CHECK(newest("L01.ffn.w1.update_norm") == Approx(0.5 * std::sqrt(128.0)));
  CHECK(newest("L01.ffn.w1.weight_norm") == Approx(std::sqrt(128.0)));
  CHECK(newest("L02.ffn.sum.mean_square") == Approx(4));
  CHECK(newest("L01.attn.bq.grad_norm") == Approx(2 * std::sqrt(8.0)));
  CHECK(newest("L02.attn.norm.gain.weight_norm") == Approx(std::sqrt(8.0)));
  CHECK(run.history->validation().values == std::vector<float>(3, 0.5f));
}

}  // namespace normscope::records

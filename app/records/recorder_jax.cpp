// The Python file that `normscope record --jax` prints: the same lines for JAX and Flax, from trees of arrays.
#include "app/records/recorders.h"

namespace normscope::records {

const char* const kJaxRecorder =
    R"py("""Records a JAX or Flax training run for normscope, a JSON line a step; needs nothing beyond JAX.

    recorder = Recorder("run.jsonl", name="wide", placement="pre", width=512)  # and settings to show
    recorder.step(step, loss, rate, grads=grads, params=params, updates=updates, states={"layers_0": x0})
Trees as they come from jax.grad and optax, `params` after the update; `states`: outputs of the layers by name. What is
not handed over is not in the log."""
import functools, json, math, time, jax, jax.numpy as jnp


@jax.jit
def norms_of(trees):
    squares = lambda x: jnp.sum(jnp.square(x.astype(jnp.float32)))
    sums = jax.tree_util.tree_map(squares, trees)
    means = {field: jax.tree_util.tree_map(jnp.sqrt, tree) for field, tree in sums.items() if field != "mean_square"}
    if "mean_square" in trees:
        means["mean_square"] = jax.tree_util.tree_map(lambda s, x: s / x.size, sums["mean_square"], trees["mean_square"])
    return means


def named(tree):
    """A tree's numbers under the names of their places, "params/layers_3/attn/query/kernel"."""
    part = lambda key: str(next(getattr(key, a) for a in ("key", "name", "idx") if hasattr(key, a)))
    return {"/".join(map(part, path)): x for path, x in jax.tree_util.tree_flatten_with_path(tree)[0]}


class Recorder:
    def __init__(self, path, first=0, name="", placement="", **settings):
        """`first`: steps done before, whose log goes on."""
        self.file, self.start = open(path, "a" if first else "w", buffering=1), time.perf_counter()
        head = {"format": "normscope log 2", "maker": "JAX " + jax.__version__, "name": name, "placement": placement}
        self.file.write(json.dumps({**head, "settings": {k: str(v) for k, v in settings.items()}}) + "\n")

    def step(self, step, loss, rate, grads, params=None, updates=None, states=None, **more):
        trees = {"grad_norm": grads, "weight_norm": params, "update_norm": updates, "mean_square": states}
        matrices = {field: {n: x for n, x in named(tree).items() if x.ndim > 1} for field, tree in trees.items() if tree is not None}
        plain = lambda v: float(f"{float(v):.9g}") if math.isfinite(v) else None
        line = {"step": int(step), "loss": plain(loss), "lr": plain(rate), "seconds": time.perf_counter() - self.start, **more}
        for field, numbers in jax.device_get(norms_of(matrices)).items():
            line[field] = {name: plain(v) for name, v in numbers.items()}
        self.file.write(json.dumps(line) + "\n")
)py";

}  // namespace normscope::records

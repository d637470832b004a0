// This is the Python file that `normscope record --jax` prints: the same lines for JAX and Flax, from trees of arrays.
#include "training/records/recorders.h"

namespace normscope::records {

const char* const kJaxRecorder =
    R"py("""Records a JAX or Flax training run for normscope, a JSON line a step; needs nothing beyond JAX.

    recorder = Recorder("run.jsonl", name="wide", placement="pre", width=512)  # and settings to show
    recorder.step(step, loss, rate, grads=grads, params=params, updates=updates, states={"layers_0": x0})
Trees as they come from jax.grad and optax, `params` after the update; `states`: outputs of the layers by name. What is
not handed over is not in the log. `data`: the data's name, or {"name", "hash", "symbols"}. Of several processes the
first one writes; all make a recorder, after jax.distributed.initialize()."""
import contextlib, functools, json, math, sys, time, jax, jax.numpy as jnp
)py"
#include "training/records/recorder_shared.def"
    R"py(
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
    part = lambda key: str(next((getattr(key, a) for a in ("key", "name", "idx") if hasattr(key, a)), key))
    leaves = {"/".join(map(part, path)): x for path, x in jax.tree_util.tree_flatten_with_path(tree)[0]}
    return {name: x for name, x in leaves.items() if hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.floating)}

class Recorder:
    def __init__(self, path, first=0, name="", placement="", data=None, **settings):
        """`first`: steps done before, whose log goes on."""
        self.together = jax.process_count() > 1  # all compute an array that is spread over them, or all wait
        self.file = open(path, "a" if first else "w", buffering=1) if jax.process_index() == 0 else None
        self.begin(first, ("JAX " + jax.__version__, name, placement, data, settings))

    @guarded
    def begin(self, first, about):
        self.start = time.perf_counter()
        self.write("\n" * (first > 0) + header(*about))  # the log before may end within a line

    @guarded
    def step(self, step, loss, rate, grads, params=None, updates=None, states=None, **more):
        trees = {"grad_norm": grads, "weight_norm": params, "update_norm": updates, "mean_square": states}
        found = jax.device_get(norms_of({field: named(tree) for field, tree in trees.items() if tree is not None}))
        line = {"step": int(step), "loss": plain(loss), "lr": plain(rate), "seconds": time.perf_counter() - self.start}
        self.write(json.dumps({**line, **plain(more), **plain(found)}) + "\n")

    def write(self, text):
        if self.file:
            self.file.write(text)
)py";

}  // namespace normscope::records

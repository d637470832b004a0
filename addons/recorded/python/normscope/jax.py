"""Records a training in JAX or Flax (linen, nnx): what is handed over, under the names of its places in the trees.

    recording = normscope.jax.watch("run.jsonl", name="wide", placement="pre")
    recording.step(step, loss, rate, grads=grads, params=params, updates=updates)

A function is traced once, so nothing can be seen from outside: the stream is recorded where `states` has the layers'
outputs by name. `params` are those after the update.
"""
from __future__ import annotations

import time
from typing import Any

import jax
import jax.numpy as jnp

from ._writer import Log, guarded, plain, unfailing

__all__ = ["watch", "Recording"]


@jax.jit
def numbers_of(trees: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    def number(field: str, x: Any) -> Any:
        square = jnp.sum(jnp.square(x.astype(jnp.float32)))
        return square / x.size if field == "mean_square" else jnp.sqrt(square)

    return {field: {name: number(field, x) for name, x in tree.items()} for field, tree in trees.items()}


def named(tree: Any) -> dict[str, Any]:
    """A tree's floating leaves under the names of their places, "params/layers_3/attn/query/kernel"."""

    def part(key: Any) -> str:
        return str(next((getattr(key, a) for a in ("key", "name", "idx") if hasattr(key, a)), key))

    leaves = {"/".join(part(k) for k in path if part(k) != "value"): x
              for path, x in jax.tree_util.tree_flatten_with_path(tree)[0]}
    return {name: x for name, x in leaves.items() if hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.floating)}


class Recording:
    def __init__(self, path: str, first: int, name: str, placement: str, data: Any, show: bool,
                 settings: dict[str, Any]) -> None:
        self.log = Log(path, jax.process_index(), show, jax.process_count() > 1, first)
        self.begin(name, placement, data, settings)

    @unfailing
    def begin(self, name: str, placement: str, data: Any, settings: dict[str, Any]) -> None:
        self.log.begin()
        self.start = time.perf_counter() - self.log.seconds
        about: dict[str, Any] = {"format": "normscope log 2", "maker": "JAX " + jax.__version__, "name": name,
                                 "placement": placement, "settings": {k: str(v) for k, v in settings.items()}}
        if data:
            about["data"] = data if isinstance(data, dict) else {"name": str(data)}
        self.log.write(about)

    @guarded
    def step(self, step: int, loss: Any, rate: Any, grads: Any = None, params: Any = None, updates: Any = None,
             states: Any = None, **more: Any) -> None:
        trees = {"grad_norm": grads, "weight_norm": params, "update_norm": updates, "mean_square": states}
        found = jax.device_get(numbers_of({field: named(tree) for field, tree in trees.items() if tree is not None}))
        self.log.write({"step": int(step), "loss": loss, "lr": rate, "seconds": time.perf_counter() - self.start,
                        **plain(more), **found}, shows=True)

    @unfailing
    def close(self) -> None:
        self.log.stop()

    def fail(self, why: Exception) -> None:
        self.log.stop(why)


def watch(path: str = "run.jsonl", *, first: int = 0, name: str = "", placement: str = "", data: Any = None,
          show: bool = False, **settings: Any) -> Recording:
    """Opens a log, which goes on after `first` updates; of several processes the first one writes, and all make a
    recording."""
    return Recording(path, first, name, placement, data, show, settings)

"""Records a training run for the program normscope: `normscope.watch(model, optimizer, "run.jsonl")`, one line.
`normscope.open("run.jsonl")` shows it in the program's window. `normscope.compare` trains runs and judges them.

PyTorch is imported when `watch` is first called; `normscope.jax` is for JAX and Flax. addons/recorded/README.md has the rest.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

if TYPE_CHECKING:
    import os
    import subprocess

    from ._grids import study, sweep
    from ._inside import inside
    from ._lab import Comparison, Error, compare, instant
    from ._model import Model, load
    from ._watch import Recording
    from ._widget import widget

__all__ = ["Comparison", "Error", "Model", "compare", "inside", "instant", "load", "open", "study", "sweep", "watch", "widget"]
ASKS = {"Comparison": "_lab", "Error": "_lab", "Model": "_model", "compare": "_lab", "inside": "_inside", "instant": "_lab",
        "load": "_model", "study": "_grids", "sweep": "_grids", "widget": "_widget"}  # what needs the program, and where it is


def __getattr__(name: str) -> Any:
    """Imports what needs the program when it is first asked for: a recording needs none."""
    if name not in ASKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("." + ASKS[name], __name__), name)


def open(*paths: Union[str, "os.PathLike[str]"]) -> "subprocess.Popen[bytes]":
    """Opens normscope's window with logs, saved runs or folders of published models, or with none of them as it is.

    Logs may still be growing. The window is a process of its own, which is returned, and outlives this one. Where
    there is no display, or no program normscope, a RuntimeError says so in one line.
    """
    from ._program import open_window

    return open_window(*paths)


def watch(model: Any, optimizer: Any = None, path: str = "run.jsonl", *, every: int = 1, stream_every: int = 1,
          update_every: int = 20, first: int = 0, name: str = "", placement: Optional[str] = None, data: Any = None,
          show: bool = False, tensorboard: Optional[str] = None, **settings: Any) -> "Recording":
    """Records the training of `model` from now on. Without an optimizer, every one that steps its parameters counts.

    Each `every`-th update has a line; the stream is measured in each `stream_every`-th of these, and the norms of
    weights and update in each `update_every`-th. A training that goes on after `first` updates goes on with its log;
    otherwise a recording that is there is kept, as run.1.jsonl. `placement` is what was found, unless it is said here.
    `show` opens the window of normscope beside the training, and `tensorboard` names a folder that gets the same numbers
    as TensorBoard's files.
    """
    from ._watch import Recording

    return Recording(model, optimizer, path, every=every, stream_every=stream_every, update_every=update_every,
                     first=first, name=name, placement=placement, data=data, show=show, tensorboard=tensorboard, settings=settings)

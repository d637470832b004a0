"""`normscope.Model`: one run, a step at a time, whose tensors, series, copies and forks are at hand."""
from __future__ import annotations

import functools
import math
import operator
import os
import threading
import weakref
from typing import Any, Optional, Union

from . import _lab, _program, _show
from ._held import Held, numbers
from ._show import Error, Series


@functools.lru_cache(maxsize=4)
def fields_of(program: str) -> "dict[str, dict[str, Any]]":
    """Returns the settings of a run as this program has them, which never change."""
    return _lab.fields_of_runs()


def words_of(settings: "dict[str, Any]") -> "list[str]":
    return _lab.words_of_settings(settings, fields_of(_program.find() or ""))


def tensor(told: "dict[str, Any]") -> Any:
    """Returns numbers of the program in their shape: as an array where numpy is there, else as lists of rows."""
    flat = numbers(told)
    try:
        import numpy
    except ImportError:
        return nested(list(flat), told["shape"])
    return numpy.array(flat, dtype=numpy.float32).reshape(told["shape"])


def nested(flat: "list[Any]", shape: "list[int]") -> "list[Any]":
    for width in shape[:0:-1]:
        flat = [flat[i:i + width] for i in range(0, len(flat), width)]
    return flat


def whole(name: str, value: Any) -> int:
    """Returns a number, of numpy too, as Python's own."""
    try:
        return operator.index(value)
    except TypeError:
        raise Error(f"{name} {value!r}: expected a whole number") from None


def absolute(path: Any) -> str:
    try:
        return os.path.abspath(os.fspath(path))
    except TypeError:
        raise Error(f"path {path!r}: expected the path of a file") from None


class Tape(_show.Shown):
    """The ops of a step in their order: `rows` has `op`, `name` and `shape` of each."""

    def __init__(self, rows: "list[dict[str, Any]]") -> None:
        self.rows = rows

    def __repr__(self) -> str:
        return "\n".join(f"{row['op']:12} {row['name']} {tuple(row['shape'])}" for row in self.rows)

    def _table_html(self) -> str:
        return _show.table(("op", "name", "shape"),
                           ((row["op"], row["name"], " × ".join(map(str, row["shape"]))) for row in self.rows))


class Model:
    """A run that waits for `step`. `preset` is a placement's name, other names are settings; `size="small"` and `steps`,
    its budget, are those of `normscope.compare`.

    A model has a process of the program, which its copies and forks share, as they begin with its weights. Models that
    were made apart so train at the same time, one for each thread, and none can end the process of another."""

    def __init__(self, preset: str = "post", *, seed: int = 1, size: str = "usual", steps: "Optional[int]" = None,
                 **settings: Any) -> None:
        if not isinstance(preset, str):
            raise Error(f"preset {preset!r}: expected the name of a placement, as \"pre\"")
        budget = {} if steps is None else {"steps": whole("steps", steps)}
        words = words_of(settings)
        self._take(Held(), "open", runs=[f"A={preset}"], set=words, size=size, seed=whole("seed", seed), **budget)

    def _take(self, held: Held, do: str, **what: Any) -> "Model":
        """Becomes the run that a request opens."""
        self._process: "Optional[Held]" = held
        self._run: int = held.ask(do, **what)["run"]
        self._left = weakref.finalize(self, held.leave, self._run)  # a finalizer may not wait for an answer
        self._left.atexit = False
        self._end, self._reaching = 0, threading.Lock()  # the step to which of_arm has yet to train it; 0: none
        return self

    def _held(self) -> Held:
        if self._process is None:
            raise Error("the model is closed: expected one that is open")
        return self._process

    def _ask(self, do: str, **what: Any) -> "dict[str, Any]":
        self._reach()
        return self._held().ask(do, run=self._run, **what)

    def _other(self, do: str, **what: Any) -> "Model":
        return Model.__new__(Model)._take(self._held(), do, run=self._run, **what)

    def _make(self, steps: int) -> "dict[str, Any]":
        far = _show.Progress()
        try:
            return self._held().ask("step", lambda done, of: far.show(f"step {done} of {of}"), run=self._run, steps=steps)
        finally:
            far.end()

    def _reach(self, step: "Optional[int]" = None) -> None:
        """Trains the run of a comparison as far as what is asked of it needs: to its end, or to `step`."""
        if not self._end:
            return
        with self._reaching:
            to = self._end if step is None else min(step, self._end)
            done = self._held().ask("state", run=self._run)["step"]
            if done < to and self._make(to - done)["interrupted"]:
                raise Error(f"another process interrupted the run on its way to step {to}: expected to be asked again")
            if to == self._end:
                self._end = 0

    def step(self, steps: int = 1) -> "Model":
        """Makes steps. Ctrl+C ends them between two, and those that are made stay; so does a number that is not finite."""
        steps = whole("steps", steps)
        self._reach()
        told = self._make(steps)
        if told["interrupted"]:
            raise Error(f"another process interrupted the run at step {told['step']}: expected the rest to be asked for again")
        return self

    @property
    def step_count(self) -> int:
        return int(self._ask("state")["step"])

    @property
    def loss(self) -> float:
        """The training loss of the last step; NaN before the first."""
        loss = self._ask("state")["loss"]
        return math.nan if loss is None else float(loss)

    @property
    def losses(self) -> Any:
        """The training loss of every step."""
        return tensor(self._ask("losses")["values"])

    @property
    def verdict(self) -> str:
        return str(self._ask("state")["verdict"])

    @property
    def parameters(self) -> "dict[str, tuple[int, ...]]":
        """The shape of each parameter, by name."""
        return {one["name"]: tuple(one["shape"]) for one in self._ask("names")["parameters"]}

    @property
    def tape(self) -> Tape:
        return Tape(self._ask("tape")["rows"])

    def value(self, name: str) -> Any:
        """Returns a parameter as it is now, or what the last step had at a place of the tape."""
        return tensor(self._ask("value", name=name))

    __getitem__ = value

    def grad(self, name: str) -> Any:
        """Returns the gradient of a parameter or of a value in the last step, before clipping."""
        return tensor(self._ask("gradient", name=name))

    def series(self, pattern: str) -> Series:
        """Returns numbers of every step: `loss`, `lr`, or names with a star for any letters, L*.ffn.w2.grad_norm."""
        told = self._ask("series", name=pattern)
        rows = nested(list(numbers(told["values"])), told["values"]["shape"])
        return Series(told["names"], told["steps"], rows)

    def set(self, **settings: Any) -> None:
        """Changes settings from the next step on: those that are no part of the network, such as lr."""
        self._ask("set", set=words_of(settings))

    def at(self, step: int) -> "Model":
        """Returns a copy as the model was after that step. It is trained again from the nearest state that was kept."""
        step = whole("step", step)
        self._reach(step)
        return self._other("at", step=step)

    def fork(self, **settings: Any) -> "Model":
        """Returns a copy that goes on with other settings, as a fork in the window does, and to the same bits."""
        self._reach()
        return self._other("fork", set=words_of(settings))

    def save(self, path: "Union[str, os.PathLike[str]]") -> None:
        """Writes the model, which `normscope.load` and the window open, and which goes on from there to the bit."""
        self._ask("save", path=absolute(path))

    def close(self) -> None:
        """Gives the model's memory back. The process ends with the last of those that share it."""
        held, self._process = self._process, None
        if held and self._left.detach():
            held.ask("close", run=self._run)

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        told = self._ask("state") if self._process else None
        return f"<Model at step {told['step']} of {told['budget']}, {told['state']}>" if told else "<Model, closed>"


def load(path: "Union[str, os.PathLike[str]]") -> Model:
    """Opens a saved run as a model, at the step at which it was saved."""
    return Model.__new__(Model)._take(Held(), "load", path=absolute(path))


def of_arm(words: "list[str]", letter: str, seed: int, small: bool) -> Model:
    """Returns the run of a comparison at its last step. It is trained again when it is asked, and by `at` to that step alone.
    `words` are the options that trained all its runs."""
    given: "dict[str, list[str]]" = {"--run": [], "--set": [], "--steps": [], "--seeds": []}
    for option, value in zip(words[::2], words[1::2]):
        given[option].append(value)
    what: "dict[str, Any]" = {"size": "small"} if small else {}  # small runs have a budget of their own
    if given["--steps"] and not small:
        what["steps"] = int(given["--steps"][0])
    model = Model.__new__(Model)._take(Held(), "open", runs=given["--run"], set=given["--set"], letter=letter, seed=seed, **what)
    model._end = model._ask("state")["budget"]
    return model

"""Writes the log, a JSON object a line (docs/log-format.md), and never ends the training that it records."""
from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import json
import math
import os
import subprocess
import sys
from typing import IO, Any, Callable, Iterator, Optional

from ._program import environment, find, nowhere


def plain(value: Any) -> Any:
    """As JSON has it: numbers of any library, texts, lists and objects of these; what is none of them is null."""
    if type(value) is float:  # most are
        return float(f"{value:.9g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    with contextlib.suppress(Exception):
        value = value.item() if hasattr(value, "item") else value
        if isinstance(value, (str, bool)) or isinstance(value, int) and abs(value) < 2**63:
            return value
        return float(f"{float(value):.9g}") if math.isfinite(value) else None
    return None


def say(line: str) -> None:
    with contextlib.suppress(Exception):
        print("normscope: " + line.replace("\n", " "), file=sys.stderr)


def unfailing(work: Callable[..., Any]) -> Callable[..., Any]:
    """Whatever the user's process calls of ours goes through here: what fails in `work` is told to its object, whose
    `fail` ends what is recorded, and the training goes on."""

    @functools.wraps(work)
    def attempt(self: Any, *values: Any, **more: Any) -> Any:
        try:
            return work(self, *values, **more)
        except Exception as why:
            with contextlib.suppress(Exception):
                self.fail(why)
            return None

    return attempt


def guarded(work: Callable[..., Any]) -> Callable[..., Any]:
    """`unfailing`, and nothing is done once the object's `log` has ended."""

    @unfailing
    @functools.wraps(work)
    def attempt(self: Any, *values: Any, **more: Any) -> Any:
        return work(self, *values, **more) if self.log.open else None

    return attempt


class Log:
    """A log that is open until something fails; of several processes the first one writes, and no child of it."""

    def __init__(self, path: str, rank: int, show: bool, together: bool = False, first: int = 0,
                 tensorboard: Optional[str] = None) -> None:
        """`together`: the other processes measure too, as numbers are computed by all. After `first` updates a log goes
        on; otherwise one that is there is kept, under another name. `tensorboard` is a folder that gets each line's
        numbers too."""
        self.path, self.rank, self.show, self.together = path, rank, show, together
        self.first, self.tensorboard = first, tensorboard
        self.file: Optional[IO[str]] = None
        self.board: Any = None
        self.ended = False
        self.process = os.getpid()
        self.seconds = 0.0  # that a log which goes on has recorded

    def begin(self) -> None:
        """Opens the file, and makes its folder. The path is from now on whole, as the training may change its folder."""
        self.path = path = os.path.abspath(self.path)
        if self.rank != 0:
            return
        if self.tensorboard is not None:
            self.board = board(os.path.abspath(self.tensorboard), self.first)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if self.first:
            self.seconds = last_seconds(path)
        elif os.path.isfile(path) and os.path.getsize(path) > 0:
            kept = free_name(path)
            os.replace(path, kept)
            say(f"{path}: the recording that was there is {kept} now (first=STEPS goes on with one)")
        self.file = open(path, "a" if self.first else "w", buffering=1)
        if self.first and os.path.getsize(path) > 0:
            self.file.write("\n")  # the last line may have been cut off

    def is_at(self, path: str) -> bool:
        return self.file is not None and os.path.isfile(path) and os.path.samefile(path, self.path)

    @property
    def open(self) -> bool:
        return (self.file is not None or self.together) and os.getpid() == self.process

    def write(self, line: dict[str, Any], shows: bool = False) -> None:
        if self.file is None or not self.open:
            return
        line = plain(line)
        self.file.write(json.dumps(line) + "\n")
        if self.board is not None and "step" in line:
            self.mirror(line)
        if self.show and shows:  # the window wants a log with a step in it
            self.show = False
            show(self.path)

    def mirror(self, line: dict[str, Any]) -> None:
        """What fails here ends TensorBoard's files, and not the log."""
        try:
            for name, value in scalars(line):
                self.board.add_scalar(name, value, line["step"])
        except Exception as why:
            self.board = None
            say(f"{self.path}: nothing more is written for TensorBoard: {why!r}")

    def stop(self, why: Optional[BaseException] = None) -> None:
        if os.getpid() != self.process:
            return  # a child that a fork made has the same files open
        file, self.file, self.together = self.file, None, False
        if why is not None and not self.ended:
            say(f"{self.path}: nothing {'more ' if file else ''}is recorded: {why!r}")
        self.ended = True
        for open_file in (file, self.board):
            with contextlib.suppress(Exception):
                if open_file is not None:
                    open_file.close()


def board(folder: str, first: int) -> Any:
    """What writes TensorBoard's files, of PyTorch with the package tensorboard, or of tensorboardX; steps behind `first`
    that are there already are taken back."""
    for module in ("torch.utils.tensorboard", "tensorboardX"):
        with contextlib.suppress(Exception):
            return importlib.import_module(module).SummaryWriter(folder, purge_step=first + 1 if first else None)
    say(f"{folder}: nothing is written for TensorBoard, which takes the package tensorboard or tensorboardX")
    return None


def scalars(line: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """A line's numbers under TensorBoard's names: "loss", "grad_norm/layers.3.attn.wq"; NaN where they are not finite."""
    for key, value in line.items():
        if key in ("step", "seed") or isinstance(value, (str, bool)):
            continue
        of_groups = {f"group_{i}": v for i, v in enumerate(value)} if isinstance(value, list) else None
        for name, v in (of_groups or value).items() if of_groups or isinstance(value, dict) else [("", value)]:
            if v is None or isinstance(v, (int, float)):
                yield f"{key}/{name}" if name else key, math.nan if v is None else v


def last_seconds(path: str) -> float:
    """When the last whole line of a log was written, in seconds since its beginning."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - (1 << 24)))
        for line in reversed(file.read().splitlines()):
            with contextlib.suppress(ValueError, KeyError, TypeError):
                return float(json.loads(line)["seconds"])
    return 0.0


def free_name(path: str) -> str:
    stem, end = os.path.splitext(path)
    return next(name for n in itertools.count(1) for name in [f"{stem}.{n}{end}"] if not os.path.lexists(name))


def show(path: str) -> None:
    """Opens the window beside this process; it follows the log while it grows and stays when the training has ended.
    What fails here costs the window, and not the log."""
    try:
        program = find()
        if not program:
            say(f"no window: {nowhere()}; later: normscope open {path}")
            return
        subprocess.Popen([program, "open", "--", path], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, start_new_session=True, env=environment(program))
    except OSError as why:
        say(f"no window: {why.filename or program}: {why.strerror}")
    except Exception as why:
        say(f"no window: {why!r}")

"""`normscope.widget`: small runs that train anew whenever a norm is moved, in a program that is held. This is the
training, on a thread of its own; `_view.py` has the traits that a notebook sees, `widget.js` what it draws."""
from __future__ import annotations

import dataclasses
import math
import re
import threading
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _lab
from ._held import Held, numbers
from ._show import Error

if TYPE_CHECKING:
    from ._view import Widget

PLACEMENT = "model.placement"
FIRST, PARTS = 10, 20  # steps of a run's first part, and about how many parts it has
SUBLAYER = re.compile(r"((?:\w+\.)?L\d+\.\w+)\.(\w+)\Z")  # a value of one, such as L01.attn.before


def arms_of(words: "list[str]") -> "dict[str, dict[str, str]]":
    """Returns the preset and the settings of each run from the options of the command line that trains them."""
    arms: "dict[str, dict[str, str]]" = {}
    common: "dict[str, str]" = {}
    for option, value in zip(words, words[1:]):
        key, _, text = re.sub(r"\A[A-D]:", "", value).partition("=")
        if option == "--run":
            arms[key] = {"preset": text}
        elif option == "--set":
            (arms[value[0]] if value[1] == ":" else common)[key] = text
    return {letter: {**common, **own} for letter, own in arms.items()}


def norms_of(rows: "list[dict[str, Any]]") -> "dict[str, float]":
    """Returns which share of the sub-layers has a norm before its branch, after it, and on the stream."""
    values = {(found[1], found[2]) for found in (SUBLAYER.match(row["name"]) for row in rows) if found}
    sublayers = {name for name, _ in values}
    counts = {slot: sum((name, slot) in values for name in sublayers) for slot in ("before", "after", "stream")}
    return {slot: count / len(sublayers) for slot, count in counts.items() if count}


@dataclasses.dataclass
class Small:
    """A run that is open, and what is known of it."""

    settings: "dict[str, str]"
    number: int = 0
    of: int = 0
    norms: "dict[str, float]" = dataclasses.field(default_factory=dict)
    step: int = 0


class Trainer:
    """Trains the runs by turns, part by part. A movement comes before what is under way, and ends what it changes. `tell`
    is called on the trainer's thread: with an arm, what it is and its losses so far, or with a line of error."""

    def __init__(self, tell: "Callable[[dict[str, Any]], None]", settings: "dict[str, dict[str, str]]", seed: int,
                 steps: Optional[int]) -> None:
        self._tell, self._wanted = tell, settings
        self._options: "dict[str, Any]" = {"seed": seed, **({} if steps is None else {"steps": steps})}
        self._held = Held()
        self._closed, self._whole = False, threading.Event()
        self._changed = threading.Condition()
        self._runs: "dict[str, Small]" = {}
        try:
            self._runs.update((letter, self._open(one)) for letter, one in settings.items())
        except BaseException:
            self._held.close()
            raise

    def places(self, names: "list[str]") -> "list[dict[str, Any]]":
        """Returns the placements, each with the slots that it fills in two layers, as the program builds them."""
        found = []
        for name in names:
            if name == "custom":  # no place, but the name of a wiring of one's own
                continue
            run = self._open({"preset": "post", PLACEMENT: name, "model.layers": "2"})
            self._held.ask("close", run=run.number)
            found.append({"name": name, "norms": run.norms})
        return found

    def start(self) -> None:
        threading.Thread(target=self._work, name="normscope widget", daemon=True).start()

    def want(self, settings: "dict[str, dict[str, str]]") -> None:
        with self._changed:
            if self._closed:
                raise Error("the widget is closed: expected one that is open")
            self._wanted = settings
            self._whole.clear()
            self._changed.notify()

    def wait(self, seconds: float) -> bool:
        """Waits until every run is whole, or so long."""
        return self._whole.wait(seconds)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._held.close()

    def _open(self, settings: "dict[str, str]") -> Small:
        words = [f"{key}={value}" for key, value in settings.items() if key != "preset"]
        told = self._held.ask("open", runs=["A=" + settings["preset"]], set=words, size="small", **self._options)
        norms = norms_of(self._held.ask("tape", run=told["run"])["rows"])
        return Small(settings, told["run"], told["budget"], norms)

    def _due(self) -> Optional[str]:
        """Returns the run whose turn it is: one that was moved, or else the one that has come least far."""
        moved = [letter for letter, settings in self._wanted.items() if self._runs[letter].settings != settings]
        unfinished = [letter for letter, run in self._runs.items() if run.step < run.of]
        return moved[0] if moved else min(unfinished, key=lambda letter: self._runs[letter].step, default=None)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._closed and self._due() is None:
                    self._whole.set()
                    self._changed.wait()
                if self._closed:
                    return
                letter = self._due()
                assert letter
                settings = self._wanted[letter]
            try:
                self._train(letter, settings)
            except Error as error:
                self._runs[letter] = Small(settings)  # it waits for the next movement
                if not self._closed:
                    self._tell({"error": f"{letter}: {error}"})
            except RuntimeError:  # Python ends, and no thread may ask any more
                return

    def _train(self, letter: str, settings: "dict[str, str]") -> None:
        """Trains one part of a run, which begins anew where its settings are others."""
        run = self._runs[letter]
        if run.settings != settings:
            if run.number:
                run.of = 0  # should the new one be refused
                self._held.ask("close", run=run.number)
            run = self._runs[letter] = self._open(settings)
        steps = min(max(FIRST, run.of // PARTS) if run.step else FIRST, run.of - run.step)
        told = self._held.ask("step", run=run.number, steps=steps)
        if told["step"] < run.step + steps:
            run.of = told["step"]  # a loss was not finite: there is no more
        run.step = told["step"]
        losses = numbers(self._held.ask("losses", run=run.number)["values"])
        self._tell({"arm": letter, "losses": [loss if math.isfinite(loss) else None for loss in losses],
                    "verdict": told["verdict"],
                    "drawn": {"norms": run.norms, "step": run.step, "of": run.of, "since": told["since"]}})


def widget(lab: "Optional[_lab.Comparison]" = None, *, seed: int = 1, steps: Optional[int] = None,
           **settings: Any) -> "Widget":
    """Shows two to four small runs in a notebook, as `compare` takes them or a comparison has them, whose norms are
    dragged. What is moved trains anew at once. It needs `pip install "normscope[widget]"`."""
    try:
        from ._view import Widget
    except ImportError:
        raise Error('a widget needs the package anywidget: expected pip install "normscope[widget]"') from None
    runs = {letter: settings.pop(letter) for letter in _lab.LETTERS if letter in settings}
    if lab is None:
        words = _lab.words_of(runs, settings)
    elif runs or settings:
        raise Error("a comparison has its runs and settings: expected it alone")
    elif not isinstance(lab, _lab.Comparison) or not lab._words:
        raise Error(f"{lab!r}: expected a comparison of normscope.compare or instant, or runs A= and B=")
    else:
        words = lab._words
    return Widget(arms_of(words), seed, steps)

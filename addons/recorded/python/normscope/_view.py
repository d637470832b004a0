"""The widget as a notebook sees it: traits, and the messages of its script `widget.js`."""
from __future__ import annotations

import asyncio
import pathlib
import queue
from typing import Any, Optional

import anywidget
import traitlets

from . import _lab
from ._show import Error
from ._widget import PLACEMENT, Trainer

FORMAT = 1  # of the traits and messages


def slider(key: str, low: float, high: float, logarithmic: bool, fields: "dict[str, dict[str, Any]]") -> "dict[str, Any]":
    """Returns what the script needs for a slider: the setting as the program's table has it, and the slider's ends."""
    field = fields[key]
    return {"key": key, "label": field["label"], "unit": field["unit"], "help": field["help"], "usual": field["default"],
            "low": max(low, field["low"]), "high": min(high, field["high"]), "logarithmic": logarithmic}


class Widget(anywidget.AnyWidget):
    """Small runs whose norms are dragged. `settings` may be set; `losses` and `verdict`, both by arm, follow."""

    _esm = pathlib.Path(__file__).with_name("widget.js")
    format = traitlets.Int(FORMAT, read_only=True).tag(sync=True)
    settings = traitlets.Dict().tag(sync=True)  # by arm: preset, and settings by their keys
    losses = traitlets.Dict().tag(sync=True)
    verdict = traitlets.Dict().tag(sync=True)
    drawn = traitlets.Dict().tag(sync=True)  # by arm: where the program has its norms, and how far it has come
    places: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    sliders: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    seed = traitlets.Int(read_only=True).tag(sync=True)
    error = traitlets.Unicode().tag(sync=True)
    _trainer: Optional[Trainer] = None

    def __init__(self, arms: "dict[str, dict[str, str]]", seed: int, steps: Optional[int]) -> None:
        self._fields = _lab.fields_of_runs()
        self._told: "queue.SimpleQueue[dict[str, Any]]" = queue.SimpleQueue()
        trainer = self._trainer = Trainer(self._tell, arms, seed, steps)
        try:
            self._loop: Optional[asyncio.AbstractEventLoop] = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None  # no kernel: the trainer's thread sets the traits
        self.set_trait("seed", seed)
        super().__init__(
            settings=arms, places=trainer.places(self._fields[PLACEMENT]["choices"]),
            sliders=[slider("train.lr", 1e-5, 0.1, True, self._fields),
                     slider("train.warmup", 0, float(self._fields["train.steps"]["default"]), False, self._fields)])
        self.observe(self._moved, "settings")
        self.on_msg(self._heard)
        trainer.start()

    def move(self, arm: str, **settings: Any) -> None:
        """Changes settings of an arm, as `move("B", placement="pre")`."""
        if arm not in self.settings:
            raise Error(f"there is no run {arm}: expected {', '.join(self.settings)}")
        self.settings = {**self.settings, arm: {**self.settings[arm], **self._keyed(settings)}}

    def wait(self, seconds: float = 60) -> bool:
        """Waits until the runs are whole, or so long, and says whether they are; a cell that must have them needs it."""
        whole = self._trainer is not None and self._trainer.wait(seconds)
        self._take()
        return whole

    def close(self) -> None:
        """Removes the widget, and ends the program that trains for it."""
        if self._trainer:  # there is none where the program refused the runs
            self._trainer.close()
        super().close()

    def _keyed(self, settings: "dict[str, Any]") -> "dict[str, str]":
        keyed = {name if name == "preset" else _lab.key_of(name, self._fields): value for name, value in settings.items()}
        return {key: _lab.text_of(key, value, self._fields) for key, value in keyed.items()}

    @traitlets.validate("settings")
    def _checked(self, proposal: Any) -> "dict[str, dict[str, str]]":
        arms = proposal["value"]
        if self.settings and list(arms) != list(self.settings):
            raise Error(f"settings of {', '.join(map(str, arms))}: expected those of {', '.join(self.settings)}")
        return {letter: {"preset": "post", **self._keyed(arm)} for letter, arm in arms.items()}

    def _moved(self, _change: Any) -> None:
        self.error = ""
        if self._trainer:
            self._trainer.want(self.settings)

    def _heard(self, _widget: Any, message: "dict[str, Any]", _buffers: Any) -> None:
        """Does what the script asks: a setting of an arm has another value."""
        try:
            if message.get("format") != FORMAT:
                raise Error(f"a message of format {message.get('format')}: expected {FORMAT}; load the page again")
            self.move(message["arm"], **{message["key"]: message["value"]})
        except Error as error:
            self.error = str(error)

    def _tell(self, part: "dict[str, Any]") -> None:
        """Hands a part from the trainer's thread to the kernel's."""
        self._told.put(part)
        try:
            if self._loop:
                self._loop.call_soon_threadsafe(self._take)
            else:
                self._take()
        except RuntimeError:  # the kernel's loop has ended
            self.close()

    def _take(self) -> None:
        """Sets the traits to what has been told, in one message to the page."""
        with self.hold_sync():
            while not self._told.empty():
                part = self._told.get()
                if "error" in part:
                    self.error = part["error"]
                    continue
                for trait in ("losses", "drawn", "verdict"):
                    setattr(self, trait, {**getattr(self, trait), part["arm"]: part[trait]})

"""`normscope.inside`: what the layers of a model do with a text, as the program's command `inspect` measures it."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any, Optional, Sequence, Union

from . import _lab, _show
from ._show import Error


class Look(_show.Shown):
    """What a model does with one text, by sub-layer and token. `told` has all that `inspect --json` prints."""

    def __init__(self, told: "dict[str, Any]", svg: str) -> None:
        self.told, self._svg = told, svg
        self.tokens = [token["text"] for token in told["tokens"]]
        self.names = [part["name"] for part in told["sublayers"]]
        self.loss: Optional[float] = told["loss"]

    @property
    def norms(self) -> Any:
        """How long each token's state is behind each sub-layer."""
        return _show.array([part["norms"] for part in self.told["sublayers"]])

    @property
    def own_shares(self) -> Any:
        """Of each sub-layer and token, the share of the state's variance that the branch added there."""
        return _show.array([part["beta2_by_token"] for part in self.told["sublayers"]])

    @property
    def table(self) -> Any:
        """One row a sub-layer: a DataFrame where pandas is installed, else a list."""
        kept = ("name", "layer", "branch_variance", "input_variance", "beta2", "beta2_median", "token_cosine", "layer_cosine")
        return _show.frame([{key: part.get(key) for key in kept} for part in self.told["sublayers"]])

    def svg(self) -> str:
        return self._svg

    def _table_html(self) -> str:
        def number(value: "Optional[float]") -> str:
            return "" if value is None else f"{value:.3g}"
        return _show.table(["sub-layer", "own share (β²)", "median by token", "token cosine"],
                           ([part["name"], number(part["beta2"]), number(part["beta2_median"]), number(part["token_cosine"])]
                            for part in self.told["sublayers"]))

    def __repr__(self) -> str:
        return f"<look at {len(self.tokens)} tokens through {len(self.names)} sub-layers>"


class Inside:
    """A published model or a saved run, as it lies in its folder or file."""

    def __init__(self, path: "Union[str, os.PathLike[str]]") -> None:
        self.path = os.fspath(path)
        self.told: "dict[str, Any]" = json.loads(_lab.run("inspect", "--json", "--", self.path))

    @property
    def tensors(self) -> Any:
        """One row a tensor: name, shape and size of its values."""
        return _show.frame(self.told["tensors"])

    def look(self, text: Optional[str] = None, *, ids: "Optional[Sequence[int]]" = None, leave_out: bool = False,
             attention: bool = False) -> Look:
        """Has the model read a text, or the numbers of its tokens. `leave_out` also measures the loss without each
        sub-layer; `attention` keeps the probabilities of each head, most of a long text's numbers."""
        if (text is None) == (ids is None):
            raise Error("look: expected a text, or ids=[...]")
        if text is not None and (not isinstance(text, str) or not text or "\0" in text):
            raise Error(f"look {text!r}: expected a text of one character or more, none of them NUL")
        words = ["--text=" + text] if text is not None else ["--ids=" + " ".join(str(int(one)) for one in ids or ())]
        words += ["--leave-out"] * leave_out + ["--no-attention"] * (not attention)
        with tempfile.TemporaryDirectory() as folder:
            picture = pathlib.Path(folder) / "norms.svg"
            told = json.loads(_lab.run("inspect", *words, "--json", "--svg", str(picture), "--", self.path))
            return Look(told, picture.read_text())

    def __repr__(self) -> str:
        return f"<model of {self.told['parameters']} parameters in {self.path}>"


def inside(path: "Union[str, os.PathLike[str]]") -> Inside:
    """Opens a published model (a folder, or a file) or a saved run; `.look("text")` says what its layers do with it."""
    return Inside(path)

"""How results show themselves: as a table in a notebook, with the program's picture beside it, and as numbers for
pandas and numpy where these are installed."""
from __future__ import annotations

import base64
import html
import sys
from typing import Any, Iterable, Sequence


class Error(ValueError):
    """What was asked for cannot be had: one line, the program's own where it is the program that refused."""


def frame(rows: "list[dict[str, Any]]") -> Any:
    """Returns rows as a DataFrame where pandas is there, else as they are."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def array(rows: "list[list[Any]]") -> Any:
    """Returns rows of numbers as an array where numpy is there, else as they are."""
    try:
        import numpy
    except ImportError:
        return rows
    return numpy.array(rows, dtype=float)


class Series:
    """Numbers by step: `values` has a row for each of `steps` and a number for each of `columns`, as an array where numpy
    is there, else as lists. The series itself reads as they do."""

    def __init__(self, columns: "list[str]", steps: "list[int]", rows: "list[list[Any]]") -> None:
        self.columns, self.steps, self.values = columns, steps, array(rows)
        if not isinstance(self.values, list):
            self.values = self.values.reshape(self.shape)  # of no steps, too

    @property
    def shape(self) -> "tuple[int, int]":
        return len(self.steps), len(self.columns)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: Any) -> Any:
        return self.values[index]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)

    def __repr__(self) -> str:
        return f"<Series of {len(self.steps)} steps: {', '.join(self.columns)}>"


def table(heads: "Sequence[str]", rows: "Iterable[Sequence[str]]") -> str:
    """Returns a table in HTML; the first word of each row is its head."""
    head = "".join(f"<th>{html.escape(word)}</th>" for word in heads)
    lines = "".join(f"<tr><th>{html.escape(first)}</th>" + "".join(f"<td>{html.escape(word)}</td>" for word in rest) + "</tr>"
                    for first, *rest in rows)
    return f"<table><tr>{head}</tr>{lines}</table>"


class Progress:
    """A line that says how far the program is, in the place of the one before it: in a notebook, or on a terminal."""

    def __init__(self) -> None:
        self._display: Any = None
        self._line = ""

    def show(self, line: str) -> None:
        self._line = line
        ipython = sys.modules.get("IPython")  # a notebook has imported it
        shell = ipython.get_ipython() if ipython else None
        if hasattr(shell, "kernel"):
            words = {"text/plain": line}
            if self._display is None:
                from IPython.display import display

                self._display = display(words, raw=True, display_id=True)
            else:
                self._display.update(words, raw=True)
        elif sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K" + line)
            sys.stderr.flush()

    def end(self) -> None:
        """Takes the line away."""
        if self._line:
            self.show("")


class Shown:
    """A result that a notebook shows. It has its table as HTML, and the program's picture of it if there is one."""

    def _table_html(self) -> str:
        raise NotImplementedError

    def svg(self) -> str:
        """Returns the program's picture, for both themes."""
        raise Error("there is no picture of it")

    def _repr_html_(self) -> str:
        rows = self._table_html()
        try:
            picture = base64.b64encode(self.svg().encode()).decode()  # an image keeps its styles and ids to itself
        except (Error, OSError):
            return rows  # of small runs, or in a notebook that is shown again where there is no program
        return f'<div style="display: flex; gap: 1em">{rows}<img src="data:image/svg+xml;base64,{picture}"></div>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> "dict[str, str]":
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

"""`normscope.sweep` trains a grid of one or two settings' values, `normscope.study` a study that comes with the program."""
from __future__ import annotations

import collections
import html
import json
import pathlib
import tempfile
from typing import Any, Iterable, Optional

from . import _lab, _show
from ._show import Error


def axis_words(key: str, values: Any, fields: "dict[str, dict[str, Any]]") -> "list[str]":
    """Returns the option of one axis: `values` is a list, or text such as 1e-4:1e-2:log7, which the program reads."""
    if not isinstance(values, str):
        texts = [_lab.text_of(key, value, fields) for value in values]
        values = (";" if any("," in text for text in texts) else ",").join(texts)
    return ["--axis", f"{key}={values}"]


def same(wanted: Any, text: str) -> bool:
    """Says whether a value of an axis is the wanted one: 0.001 is 1e-3, and True is true."""
    wanted = str(wanted).lower() if isinstance(wanted, bool) else str(wanted)
    try:
        return float(wanted) == float(text)
    except ValueError:
        return bool(wanted == text)


class Cell:
    """Runs of one value of each axis over their seeds."""

    def __init__(self, told: "dict[str, Any]") -> None:
        self.told, self.values = told, told["values"]
        self.seeds = [one["seed"] for one in told["runs"]]
        self.verdict: Optional[str] = told.get("verdict")
        self.loss: Optional[float] = told.get("loss")
        self.band = (told.get("loss_low"), told.get("loss_high"))

    @property
    def tally(self) -> str:
        counted = collections.Counter(one["verdict"] for one in self.told["runs"])
        said = ", ".join(f"{word} {count} of {len(self.seeds)}" for word, count in counted.items())
        return str(said or self.told.get("refused") or "not trained")

    def __repr__(self) -> str:
        where = ", ".join(f"{key}={value}" for key, value in self.values.items())
        return f"{where}: {self.tally}" + ("" if self.loss is None else f", loss {self.loss:.3f}")


class Sweep(_show.Shown):
    """The cells of a sweep, as `sweep --json` has them."""

    def __init__(self, told: "dict[str, Any]", svg: str) -> None:
        self.told, self._svg = told, svg
        self.axes = {axis["key"]: axis["values"] for axis in told["axes"]}
        self.cells = [Cell(cell) for cell in told["cells"]]
        self.best: Optional[float] = told.get("best")

    def cell(self, **values: Any) -> Cell:
        """Returns the cell at these values, as cell(lr=1e-3, placement="post"): one for each axis."""
        fields: "dict[str, dict[str, Any]]" = {key: {} for key in self.axes}
        wanted = {}
        for name, value in values.items():
            try:
                wanted[_lab.key_of(name, fields)] = value
            except Error:
                raise Error(f"[{name}] is no axis: expected {' and '.join(self.axes)}") from None
        if set(wanted) != set(self.axes):
            raise Error(f"a cell of {', '.join(wanted) or 'nothing'}: expected a value of {' and of '.join(self.axes)}")
        for key, value in wanted.items():
            if not any(same(value, text) for text in self.axes[key]):
                raise Error(f"[{key}] {value!r} was not swept: expected {', '.join(self.axes[key])}")
        return next(cell for cell in self.cells if all(same(value, cell.values[key]) for key, value in wanted.items()))

    def _rows(self) -> "list[dict[str, Any]]":
        kept = ("verdict", "learns", "known", "loss", "loss_low", "loss_high", "since")
        return [{**cell.values, **{key: cell.told.get(key) for key in kept}} for cell in self.cells]

    @property
    def table(self) -> Any:
        """One row a cell: a DataFrame where pandas is installed, else a list."""
        return _show.frame(self._rows())

    @property
    def runs(self) -> Any:
        """One row a run, in the same form."""
        return _show.frame([{**cell.values, **one} for cell in self.cells for one in cell.told["runs"]])

    def svg(self) -> str:
        return self._svg or super().svg()

    def _table_html(self) -> str:
        first, *second = self.axes
        columns, rows = self.axes[first], self.axes[second[0]] if second else [""]
        at = {(cell.told["column"], cell.told["row"]): cell for cell in self.cells}

        def words(cell: Cell) -> str:
            return cell.tally + ("" if cell.loss is None else f"; {cell.loss:.3f}")

        lines = [[rows[row], *(words(at[column, row]) for column in range(len(columns)))] for row in range(len(rows))]
        return _show.table([" / ".join([*second, first]), *columns], reversed(lines))

    def __repr__(self) -> str:
        return f"<sweep of {' and '.join(self.axes)}: {len(self.cells)} cells, {self.told['seeds']} seeds in each>"


class Study(_show.Shown):
    """The parts of a study, each a sweep, and the page that the program writes of it."""

    def __init__(self, told: "dict[str, Any]", markdown: str, parts: "dict[str, Sweep]") -> None:
        self.told, self.markdown, self.parts = told, markdown, parts
        self.name, self.title = told["study"], told["title"]

    @property
    def table(self) -> Any:
        """One row a cell, with the name of its part."""
        return _show.frame([{"part": name, **row} for name, part in self.parts.items() for row in part._rows()])

    def _repr_html_(self) -> str:
        return f"<h3>{html.escape(self.title)}</h3>" + "".join(
            f"<h4>{html.escape(name)}</h4>{part._repr_html_()}" for name, part in self.parts.items())

    def __repr__(self) -> str:
        return f"<study {self.name}: {', '.join(self.parts)}>"


def in_folder(words: "Iterable[str]", name: str) -> "tuple[dict[str, Any], pathlib.Path, tempfile.TemporaryDirectory[str]]":
    """Runs a study of the program with all its files in a folder, and its results in the store as without one."""
    folder = tempfile.TemporaryDirectory()
    try:
        _lab.run(*words, "--store", _lab.store(), "--out", folder.name, watched=True)
        path = pathlib.Path(folder.name)
        return json.loads((path / f"{name}.json").read_text()), path, folder
    except BaseException:
        folder.cleanup()
        raise


def sweep(*axes: str, seeds: int = 3, steps: Optional[int] = None, metric: str = "loss", **settings: Any) -> Sweep:
    """Trains Post-LN over one or two settings' values. An axis is a list, lr=[1e-3, 1e-2], or text as on the command
    line, "train.lr=1e-4:1e-2:log7"; "warmup", "depth" and "placement" are sweeps that are ready. Other names are settings
    of all runs."""
    asked_seeds = _lab.seeds_words(seeds)
    fields = _lab.fields_of_runs()
    words = ["sweep"]
    for axis in axes:
        name, equals, values = axis.partition("=")
        words += axis_words(_lab.key_of(name, fields), values, fields) if equals else [axis]
    for name, value in settings.items():
        key = _lab.key_of(name, fields)
        if not isinstance(value, str) and hasattr(value, "__iter__"):
            words += axis_words(key, value, fields)
        else:
            words += ["--set", f"{key}={_lab.text_of(key, value, fields)}"]
    words += [*asked_seeds, "--metric", metric, *_lab.steps_words(steps)]
    told, path, folder = in_folder(words, "sweep")
    with folder:
        return Sweep(told, (path / "sweep.svg").read_text())


def study(name: str, *, quick: bool = False) -> Study:
    """Trains a study of the program, as `normscope study` lists them; `quick` is one seed in each cell."""
    told, path, folder = in_folder(["study", name, *(["--quick"] if quick else [])], name)
    with folder:
        parts = {part["title"]: Sweep(part["sweep"], (path / f"{name}-{part['name']}.svg").read_text())
                 for part in told["parts"]}
        return Study(told, (path / f"{name}.md").read_text(), parts)

"""`normscope.compare`: trains a few runs over several seeds by the program, and says what the seeds allow to say.

Every request is a process of its own, so a signal ends it, and nothing of it stays in Python but what it wrote."""
from __future__ import annotations

import html
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from typing import Any, Optional, Union

from . import _program

LETTERS = "ABCD"
EXPECTED = "expected 'X learns', 'X is stuck', 'X learns earlier than Y' or 'X ends lower than Y', each with 'not' before it"


class Error(ValueError):
    """What was asked for cannot be had: one line, the program's own where it is the program that refused."""


def run(*words: str) -> str:
    """Runs the program, passes its progress on to a terminal, and returns its output. An interruption goes to the
    program, which keeps what is trained, and then to the caller."""
    program = _program.find()
    if not program:
        raise Error(_program.nowhere())
    with tempfile.TemporaryFile() as output:
        try:
            started = subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE,
                                       start_new_session=True, env=_program.environment(program))
        except OSError as error:
            raise Error(f"{program}: {error.strerror}") from None
        last = ""
        assert started.stderr
        try:
            for line in started.stderr:
                last = line.decode(errors="replace").strip() or last
                if sys.stderr is not None and sys.stderr.isatty():
                    sys.stderr.write("\r\x1b[K" + last)
                    sys.stderr.flush()
            code = started.wait()
        except BaseException:
            started.send_signal(signal.SIGINT)
            started.communicate()
            raise
        finally:
            started.stderr.close()
            if last and sys.stderr is not None and sys.stderr.isatty():
                sys.stderr.write("\r\x1b[K")
        if code != 0:
            raise Error(last[len("normscope: "):] if last.startswith("normscope: ") else last or f"{program} ended with {code}")
        output.seek(0)
        return output.read().decode()


def key_of(name: str, fields: "dict[str, dict[str, Any]]") -> str:
    """Returns the key of a name, which is a whole key, or the last word of only one."""
    ends = [key for key in fields if key == name or key.rpartition(".")[2] == name]
    if name in fields or name.startswith("wiring."):
        return name
    if len(ends) != 1:
        raise Error(f"[{name}] " + (f"names several settings: expected {' or '.join(ends)}" if ends else "is no setting: expected "
                    "one of `normscope settings --json`"))
    return ends[0]


def text_of(key: str, value: Any, field: "dict[str, Any]") -> str:
    """Returns a value as the program reads it, or refuses it before anything is trained."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    kind, low, high = field["type"], field.get("low"), field.get("high")
    if kind in ("integer", "real"):
        try:
            number = int(text) if kind == "integer" else float(text)
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            raise Error(f"[{key}] {value!r}: expected {'a whole number' if kind == 'integer' else 'a number'} from {low:g} to {high:g}")
    choices = ["true", "false"] if kind == "flag" else field.get("choices")
    if choices and text not in choices:
        raise Error(f"[{key}] {value!r}: expected {', '.join(choices)}")
    return text


def words_of(runs: "dict[str, Union[str, dict[str, Any]]]", common: "dict[str, Any]") -> "list[str]":
    """Returns the options of the runs for the program's command line."""
    if list(runs) != list(LETTERS[:len(runs)]) or len(runs) < 2:
        raise Error(f"runs {', '.join(runs) or 'none'}: expected A and B, and then C and D")
    fields = {field["key"]: field for field in json.loads(run("settings", "--json"))}
    words = []
    for letter, wanted in [*runs.items(), ("", common)]:
        if not isinstance(wanted, (str, dict)):
            raise Error(f"run {letter}: {wanted!r}: expected a preset's name or a dict of settings")
        settings = {"preset": wanted} if isinstance(wanted, str) else dict(wanted)
        if letter:
            words += ["--run", f"{letter}={settings.pop('preset', None) or settings.get('placement') or 'post'}"]
        for name, value in settings.items():
            key = key_of(name, fields)
            if key == "run.seed":
                raise Error("[run.seed] is what the seeds are: expected seeds=N")
            text = text_of(key, value, fields.get(key, {"type": "text"}))
            words += ["--set", f"{letter}:{key}={text}" if letter else f"{key}={text}"]
    return words


class Verdict:
    """What the seeds say of a statement. `strength` is holds, leans, does not hold, leans against or cannot be told."""

    def __init__(self, strength: str, words: str, rule: str) -> None:
        self.strength, self.words, self.rule = strength, words, rule

    def __str__(self) -> str:
        return f"{self.strength}{self.words}; rule: {self.rule}"

    __repr__ = __str__


class Arm:
    """A run over its seeds."""

    def __init__(self, lab: "Comparison", told: "dict[str, Any]") -> None:
        self._lab, self.told = lab, told
        self.letter, self.name, self.seeds = told["run"], told["name"], told["seeds"]
        self.verdict: Optional[str] = told["verdict"]  # None: the seeds disagree, or are too few
        self.band = (told["loss"]["low"], told["loss"]["high"])

    @property
    def tally(self) -> str:
        return ", ".join(f"{word} {count} of {len(self.seeds)}" for word, count in self.told["verdicts"].items())

    def series(self, pattern: str, seed: Optional[int] = None) -> Any:
        """Returns a parameter's gradient sizes of one seed, step by layer, as an array where numpy is there."""
        name = pattern[:-len(".grad_norm")] if pattern.endswith(".grad_norm") else ""
        fits = re.compile(re.escape(name).replace(r"\*", r"\d+") + r"\Z")
        rows = []
        for line in self._lab.log().splitlines():
            step = json.loads(line)
            if (step.get("run"), step.get("seed")) == (self.letter, seed or self.seeds[0]) and "grad_norm" in step:
                rows.append([number for key, number in sorted(step["grad_norm"].items()) if fits.match(key)])
        if not rows or not rows[0]:
            raise Error(f"[{pattern}] is not in the log: expected a name such as L*.ffn.w2.grad_norm, and a seed that was trained")
        try:
            import numpy
        except ImportError:
            return rows
        return numpy.array(rows, dtype=float)


class Comparison:
    """Runs over seeds, of which `A` to `D` are the arms."""

    def __init__(self, told: "dict[str, Any]", words: "Optional[list[str]]") -> None:
        self.told, self._words, self._log = told, words, ""
        self.pairs = told["pairs"]
        self.arms = {arm["run"]: Arm(self, arm) for arm in told["arms"]}

    def __getattr__(self, name: str) -> Arm:
        arms = self.__dict__.get("arms", {})
        if name in arms:
            return arms[name]
        raise AttributeError(name)

    @property
    def table(self) -> Any:
        """One row a run and seed, as `compare --json` has them: a DataFrame where pandas is there, else a list."""
        try:
            import pandas
        except ImportError:
            return self.told["runs"]
        return pandas.DataFrame(self.told["runs"])

    def log(self) -> str:
        """Returns the runs' log, which the program writes from its stored results."""
        if not self._words:
            raise Error("small runs keep no log: expected size='usual'")
        if not self._log:
            cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
            with tempfile.TemporaryDirectory() as folder:
                run("compare", *self._words, "--store", f"{cache}/normscope/results", "--out", folder)
                self._log = (pathlib.Path(folder) / "runs.jsonl").read_text()
        return self._log

    def verdict(self, statement: str) -> Verdict:
        """Judges 'C learns earlier than B', 'C ends lower than B', 'A learns' or 'A is stuck', or 'not' and one of these."""
        said = re.match(r"(not )?([A-D]) (?:(learns earlier|ends lower) than ([A-D])|(learns|is stuck))\Z", statement.strip())
        if not said or said[2] == said[4]:
            raise Error(f"{statement!r} is no statement: {EXPECTED}")
        for letter in filter(None, (said[2], said[4])):
            if letter not in self.arms:
                raise Error(f"{statement!r}: there is no run {letter}: expected {', '.join(self.arms)}")
        return self._paired(said) if said[4] else self._alone(said)

    def _paired(self, said: "re.Match[str]") -> Verdict:
        rule = "the same seeds read the same batches; all of three or four pairs lean, all of five or more hold"
        pair = next(pair for pair in self.pairs if {said[2], said[4]} == set(pair["runs"]))
        seen = pair[said[3].replace(" ", "_")]
        if not seen["finding"]:
            return Verdict("cannot be told", f": {seen['why']}", rule)
        arm, strong = seen["finding"]["arm"], seen["finding"]["strength"] == "holds"
        agrees = (arm == said[2]) != bool(said[1])
        pairs = seen[said[2]] + seen[said[4]] + seen["neither"]
        words = f" in {seen[arm]} of {pairs} pairs (sign test p = {seen['p']:.2g})"
        return Verdict(strength(agrees, strong), words, rule)

    def _alone(self, said: "re.Match[str]") -> Verdict:
        rule = "all of three or four seeds lean, all of five or more hold"
        arm = self.arms[said[2]]
        wanted = "learns" if said[5] == "learns" else "stuck"
        if arm.verdict is None or arm.verdict in ("not decided", "too slow to tell"):
            return Verdict("cannot be told", f": {arm.told.get('why') or arm.verdict}", rule)
        return Verdict(strength((arm.verdict == wanted) != bool(said[1]), len(arm.seeds) >= 5), f": {arm.tally} seeds", rule)

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{arm.letter}</th><td>{html.escape(arm.name)}</td><td>{html.escape(arm.tally)}</td>"
                       f"<td>{arm.band[0]:.3f} to {arm.band[1]:.3f}</td></tr>" for arm in self.arms.values())
        return f"<table><tr><th>run</th><th>name</th><th>verdicts</th><th>loss</th></tr>{rows}</table>"


def strength(agrees: bool, strong: bool) -> str:
    return ("holds" if strong else "leans") if agrees else ("does not hold" if strong else "leans against")


def compare(*, seeds: int = 5, steps: Optional[int] = None, size: str = "usual", **settings: Any) -> Comparison:
    """Trains two to four runs, `A=` to `D=`, of each a preset's name or a dict of settings; other names are common settings."""
    runs = {letter: settings.pop(letter) for letter in LETTERS if letter in settings}
    if size not in ("usual", "small") or size == "small" and seeds != 5:
        raise Error(f"size {size!r} with {seeds} seeds: expected 'usual', or 'small' with its five seeds")
    if type(seeds) is not int or not 1 <= seeds <= 1000:
        raise Error(f"seeds {seeds!r}: expected a whole number from 1 to 1000")
    words = words_of(runs, settings) + ([] if steps is None else ["--steps", str(steps)])
    if size == "small":
        return Comparison(json.loads(run("instant", *words, "--json")), None)
    words += ["--seeds", str(seeds)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "compare.json"
        run("compare", *words, "--json", str(path))
        return Comparison(json.loads(path.read_text()), words)

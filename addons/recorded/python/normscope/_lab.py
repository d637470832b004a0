"""`normscope.compare`: trains a few runs over several seeds by the program, and says what the seeds allow to say.

Every request is a process of its own, so a signal ends it, and nothing of it stays in Python but what it wrote."""
from __future__ import annotations

import difflib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Collection, Dict, Optional, Union

from . import _program, _show
from ._show import Error

if TYPE_CHECKING:  # type checkers know typing_extensions without the package
    from typing_extensions import Unpack

    from ._model import Model
    from ._settings import Settings, Words

    Wanted = Union[str, Settings, Dict[str, Any], None]  # a preset's name, or settings

LETTERS = "ABCD"
FIRST = ("run", "name", "seed", "verdict", "loss")  # the columns of a table that stand first
EXPECTED = "expected 'X learns', 'X is stuck', 'X learns earlier than Y' or 'X ends lower than Y', each with 'not' before it"


def run(*words: str, watched: bool = False) -> str:
    """Runs the program and returns its output; of a watched one that is its progress, which is shown instead. An
    interruption goes to the program, which keeps what is trained, and then to the caller."""
    program = _program.find()
    if not program:
        raise Error(_program.nowhere())
    with tempfile.TemporaryFile() as output:
        streams: "dict[str, Any]" = {"stdout": output, "stderr": subprocess.PIPE}
        variables = _program.environment(program)
        if watched:
            streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            variables[_program.PROGRESS] = "1"
        try:
            started = subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, start_new_session=True, env=variables,
                                       **streams)
        except OSError as error:
            raise Error(f"{program}: {error.strerror}") from None
        last, progress = "", _show.Progress()
        lines = started.stdout if watched else started.stderr
        assert lines
        try:
            for line in lines:
                last = line.decode(errors="replace").strip() or last
                if watched and re.search(r" step \d+ of \d+ ", last):
                    progress.show(last)
            code = started.wait()
        except BaseException:
            started.send_signal(signal.SIGINT)
            started.communicate()
            raise
        finally:
            lines.close()
            progress.end()
        if code != 0:
            raise Error(refusal(last) or f"{program} ended with {code}")
        output.seek(0)
        return output.read().decode()


def refusal(line: str) -> str:
    """Returns what the program says of an error, without its own name."""
    return line[len("normscope: "):] if line.startswith("normscope: ") else line


def store() -> str:
    """Returns the folder where the program keeps results by default. With --out it would keep them beside its files."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return f"{cache}/normscope/results"


def fields_of_runs() -> "dict[str, dict[str, Any]]":
    """Returns the settings of a run by their keys, from the program's own table."""
    return {field["key"]: field for field in json.loads(run("settings", "--json"))}


def key_of(name: str, fields: "dict[str, dict[str, Any]]") -> str:
    """Returns the key of a name, which is a whole key, or the last word of only one."""
    ends = [key for key in fields if key == name or key.rpartition(".")[2] == name]
    if name in fields or name.startswith("wiring."):
        return name
    if len(ends) > 1:
        raise Error(f"[{name}] names several settings: expected {' or '.join(ends)}")
    if not ends:
        words = {word: key for key in fields for word in (key, key.rpartition(".")[2])}
        near = difflib.get_close_matches(str(name), words, 1)
        raise Error(f"[{name}] is no setting: " + (f"did you mean {words[near[0]]}? " if near else "") +
                    "expected one of `normscope settings --json`")
    return ends[0]


def text_of(key: str, value: Any, fields: "dict[str, dict[str, Any]]") -> str:
    """Returns a value as the program reads it, or refuses it before anything is trained."""
    field = fields.get(key, {"type": "text"})
    text = str(value).lower() if isinstance(value, bool) else str(value)
    kind, low, high = field["type"], field.get("low"), field.get("high")
    if kind in ("integer", "real"):
        try:
            number = int(text) if kind == "integer" else float(text)
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            wanted = "a whole number" if kind == "integer" else "a number"
            raise Error(f"[{key}] {value!r}: expected {wanted} from {low:g} to {high:g}")
    choices = ["true", "false"] if kind == "flag" else field.get("choices")
    if choices and text not in choices:
        raise Error(f"[{key}] {value!r}: expected {', '.join(choices)}")
    return text


def words_of_settings(settings: "dict[str, Any]", fields: "dict[str, dict[str, Any]]") -> "list[str]":
    """Returns settings as the program reads them: KEY=VALUE."""
    return [f"{key}={text_of(key, value, fields)}" for name, value in settings.items() for key in [key_of(name, fields)]]


def statement_of(text: str, letters: "Collection[str]") -> "re.Match[str]":
    """Reads a statement on runs of these letters, for Comparison.verdict."""
    said = re.match(r"(not )?([A-D]) (?:(learns earlier|ends lower) than ([A-D])|(learns|is stuck))\Z", str(text).strip())
    if not said or said[2] == said[4]:
        raise Error(f"{text!r} is no statement: {EXPECTED}")
    for letter in filter(None, (said[2], said[4])):
        if letter not in letters:
            raise Error(f"{text!r}: there is no run {letter}: expected {', '.join(letters)}")
    return said


def rule_of(said: "re.Match[str]") -> str:
    """Returns the rule by which a statement is judged."""
    if said[4]:
        return "the same seeds read the same batches; all of three or four pairs lean, all of five or more hold"
    return "all of three or four seeds lean, all of five or more hold"


def series_of(log: str, letter: str, seed: int, pattern: str) -> "tuple[list[str], list[int], list[list[Any]]]":
    """Returns the names that fit a pattern such as L*.ffn.w2.grad_norm or loss, the steps, and their numbers by step."""
    name, _, field = str(pattern).rpartition(".")
    fits = re.compile(re.escape(name).replace(r"\*", ".*") + r"\Z")
    keys: "list[str]" = []
    steps, rows = [], []
    for line in log.splitlines():
        step = json.loads(line)
        if (step.get("run"), step.get("seed")) != (letter, seed) or "step" not in step or field not in step:
            continue
        numbers = step[field] if name else {"": step[field]}
        if isinstance(step[field], dict) != bool(name):
            break
        keys = keys or [key for key in sorted(numbers) if fits.match(key)]
        steps.append(step["step"])
        rows.append([numbers.get(key) for key in keys])
    if not keys:
        raise Error(f"[{pattern}] is not in the log of run {letter} and seed {seed}: expected a name such as "
                    "L*.ffn.w2.grad_norm or loss, and a seed that was trained")
    return [f"{key}.{field}" if key else field for key in keys], steps, rows


def seeds_words(seeds: int) -> "list[str]":
    """Returns the option of seeds 1 to `seeds`."""
    if type(seeds) is not int or not 1 <= seeds <= 1000:
        raise Error(f"seeds {seeds!r}: expected a whole number from 1 to 1000")
    return ["--seeds", str(seeds)]


def steps_words(steps: "Optional[int]") -> "list[str]":
    """Returns the option of the budget, if one is given."""
    return [] if steps is None else ["--steps", str(steps)]


def words_of(runs: "dict[str, Any]", common: "dict[str, Any]") -> "list[str]":
    """Returns the options of the runs for the program's command line."""
    if list(runs) != list(LETTERS[:len(runs)]) or len(runs) < 2:
        raise Error(f"runs {', '.join(runs) or 'none'}: expected A and B, and if you like C, or C and D")
    extra = [name for name in common if re.fullmatch("[E-Z]", name)]
    if extra:
        raise Error(f"runs {', '.join([*runs, *extra])}: expected at most A, B, C and D")
    fields = fields_of_runs()
    words = []
    for letter, wanted in [*runs.items(), ("", common)]:
        if not isinstance(wanted, (str, dict)) or wanted == "":
            raise Error(f"run {letter}: {wanted!r}: expected a preset's name or a dict of settings")
        settings = {"preset": wanted} if isinstance(wanted, str) else dict(wanted)
        if letter:
            words += ["--run", f"{letter}={settings.pop('preset', None) or settings.get('placement') or 'post'}"]
        for word in words_of_settings(settings, fields):
            if word.startswith("run.seed="):
                raise Error("[run.seed] is what the seeds are: expected seeds=N")
            words += ["--set", f"{letter}:{word}" if letter else word]
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

    def __repr__(self) -> str:
        return f"<run {self.letter}, {self.name}: {self.tally}>"

    def series(self, pattern: str, seed: Optional[int] = None) -> _show.Series:
        """Returns numbers of one seed, step by layer."""
        return _show.Series(*series_of(self._lab.log(), self.letter, seed or self.seeds[0], pattern))

    def run(self, seed: Optional[int] = None) -> "Model":
        """Returns the run of one seed as a model at its last step. What you ask of it trains it again, to the same bits; `at`
        trains it to that step alone."""
        from ._model import of_arm

        seed = self.seeds[0] if seed is None else seed
        if seed not in self.seeds:
            raise Error(f"run {self.letter} has no seed {seed!r}: expected {', '.join(map(str, self.seeds))}")
        return of_arm(self._lab.words(), self.letter, seed, self._lab.small)


class Comparison(_show.Shown):
    """Runs over seeds, of which `A` to `D` are the arms. `words` are the options that train them, `log` is what they left
    where the program keeps no results of them."""

    def __init__(self, told: "dict[str, Any]", words: "Optional[list[str]]", log: str = "") -> None:
        self.told, self._words, self._log, self._svg, self._plot = told, words, log, "", "loss"
        self.link: str = told.get("link", "")  # `normscope --link` opens it, as the page does behind its "#"
        self.pairs = told["pairs"]
        self.arms = {arm["run"]: Arm(self, arm) for arm in told["arms"]}

    def __getattr__(self, name: str) -> Arm:
        arms = self.__dict__.get("arms", {})
        if name in arms:
            return arms[name]
        runs = f": expected {', '.join(arms)} of its runs" if name in LETTERS else ""
        raise AttributeError(f"a comparison has no {name!r}{runs}")

    @property
    def table(self) -> Any:
        """One row a run and seed, as `compare --json` has them: a DataFrame where pandas is there, else a list."""
        return _show.frame([{**{key: row[key] for key in FIRST if key in row}, **row} for row in self.told["runs"]])

    @property
    def small(self) -> bool:
        """Whether its runs are small."""
        return str(self.told["format"]).startswith("normscope instant")

    def words(self) -> "list[str]":
        """Returns the options that train the runs."""
        if not self._words:
            raise Error("what trained it is not known: expected a comparison of normscope.compare")
        return self._words

    def log(self) -> str:
        """Returns the runs' log; that of usual runs the program writes from its stored results."""
        if not self._log:
            with tempfile.TemporaryDirectory() as folder:
                run("compare", *self.words(), "--store", store(), "--out", folder)
                self._log = (pathlib.Path(folder) / "runs.jsonl").read_text()
        return self._log

    def svg(self) -> str:
        """Returns the program's picture of the losses."""
        if not self._svg:
            with tempfile.TemporaryDirectory() as folder:
                self._draw(folder, "--svg", folder)
                self._svg = (pathlib.Path(folder) / "loss.svg").read_text()
        return self._svg

    def _draw(self, folder: str, *words: str) -> None:
        log = pathlib.Path(folder) / "runs.jsonl"
        log.write_text(self.log())
        run("compare", str(log), *words)

    def figure(self, path: "Union[str, os.PathLike[str]]", *, plot: str = "loss", width: str = "84mm", font: str = "8pt",
               grey: bool = False) -> pathlib.Path:
        """Writes a plot as a paper needs it, as PDF or SVG, and its data beside it as CSV. `width` is 1column (84 mm),
        2columns (174 mm) or as 120mm, `font` the size of the numbers. `caption` says what stands below it."""
        target = pathlib.Path(path)
        for name, value in (("width", width), ("font", font)):
            if not isinstance(value, str):
                raise Error(f"{name} {value!r}: expected text such as '{'84mm' if name == 'width' else '8pt'}'")
        if target.suffix not in (".pdf", ".svg"):
            raise Error(f"figure {str(target)!r}: expected a name that ends in .pdf or .svg")
        with tempfile.TemporaryDirectory() as folder:
            self._draw(folder, "--figure", folder, "--figure-width", width, "--figure-font", font, *["--grey"] * bool(grey))
            drawn = {file.stem: file for file in pathlib.Path(folder).glob("*.pdf")}
            if plot not in drawn:
                raise Error(f"plot {plot!r}: expected one of {', '.join(sorted(drawn))}")
            try:
                for ending in (target.suffix, ".csv"):
                    shutil.copyfile(drawn[plot].with_suffix(ending), target.with_suffix(ending))
            except OSError as error:
                raise Error(f"figure {str(target)!r}: {error.strerror}") from None
        self._plot = plot
        return target

    @property
    def command(self) -> str:
        """The command line that trains these runs again."""
        return shlex.join(["normscope", "instant" if self.small else "compare", *(self._words or ())])

    @property
    def caption(self) -> str:
        """What a caption of the last figure needs, or of the losses: what it shows, runs, settings that differ, seeds, ends,
        the rule of the verdicts, and the command."""
        with tempfile.TemporaryDirectory() as folder:
            self._draw(folder, "--figure", folder)
            words = (pathlib.Path(folder) / f"{self._plot}.txt").read_text()
        facts = "\n".join(words.splitlines()[:-2]).rstrip()  # the program's own command reads the log, which is gone
        return (f"{facts}\n\nA finding needs three seeds or more that agree; five or more that all agree hold.\n"
                f"This command trains the runs:\n{self.command}\n")

    def save(self, path: "Union[str, os.PathLike[str]]") -> pathlib.Path:
        """Writes the log, which compare and the window open, and the table as JSON into a folder, which it returns."""
        if not os.fspath(path):
            raise Error("save '': expected the name of a folder")
        folder = pathlib.Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "runs.jsonl").write_text(self.log())
            (folder / "compare.json").write_text(json.dumps(self.told, indent=1) + "\n")
        except OSError as error:
            raise Error(f"save {str(folder)!r}: {error.strerror}") from None
        return folder

    def verdict(self, statement: str) -> Verdict:
        """Judges 'C learns earlier than B', 'C ends lower than B', 'A learns' or 'A is stuck', or 'not' and one of these."""
        said = statement_of(statement, self.arms)
        return self._paired(said) if said[4] else self._alone(said)

    def _paired(self, said: "re.Match[str]") -> Verdict:
        rule = rule_of(said)
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
        rule = rule_of(said)
        arm = self.arms[said[2]]
        wanted = "learns" if said[5] == "learns" else "stuck"
        if arm.verdict is None or arm.verdict in ("not decided", "too slow to tell"):
            return Verdict("cannot be told", f": {arm.told.get('why') or arm.verdict}", rule)
        agrees = (arm.verdict == wanted) != bool(said[1])
        return Verdict(strength(agrees, len(arm.seeds) >= 5), f": {arm.tally} seeds", rule)

    def __repr__(self) -> str:
        lines = [f"{arm.letter}  {arm.name}: {arm.tally}, loss {arm.band[0]:.3f} to {arm.band[1]:.3f}"
                 for arm in self.arms.values()]
        return f"<comparison of {len(self.arms)} runs>\n" + "\n".join(lines)

    def _table_html(self) -> str:
        return _show.table(("run", "name", "verdicts", "loss"),
                           ((arm.letter, arm.name, arm.tally, f"{arm.band[0]:.3f} to {arm.band[1]:.3f}")
                            for arm in self.arms.values()))


def strength(agrees: bool, strong: bool) -> str:
    return ("holds" if strong else "leans") if agrees else ("does not hold" if strong else "leans against")


def compare(*, A: "Wanted" = None, B: "Wanted" = None, C: "Wanted" = None, D: "Wanted" = None, seeds: int = 5,
            steps: Optional[int] = None, size: str = "usual", **settings: "Unpack[Words]") -> Comparison:
    """Trains two to four runs, a preset's name or settings each; `settings` are those of all."""
    runs = {letter: wanted for letter, wanted in zip(LETTERS, (A, B, C, D)) if wanted is not None}
    if size not in ("usual", "small") or size == "small" and seeds != 5:
        raise Error(f"size {size!r} with {seeds} seeds: expected 'usual', or 'small' with its five seeds")
    if size == "small" and steps is not None:
        raise Error(f"steps {steps!r}: small runs have their own number: expected size='usual'")
    asked_seeds = seeds_words(seeds)
    words = words_of(runs, {**settings}) + steps_words(steps)
    if size == "small":
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "runs.jsonl"
            told = json.loads(run("instant", *words, "--json", "--log", str(path)))
            return Comparison(told, words, path.read_text())
    words += asked_seeds
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "compare.json"
        run("compare", *words, "--json", str(path), "--csv", folder + "/rows.csv", watched=True)  # JSON alone has no progress
        return Comparison(json.loads(path.read_text()), words)


def instant(*, A: "Wanted" = None, B: "Wanted" = None, C: "Wanted" = None, D: "Wanted" = None,
            steps: Optional[int] = None, **settings: "Unpack[Words]") -> Comparison:
    """Trains the same runs small, over five seeds, in a second or so. Of the sizes that you set, only the layers stay;
    `steps` is refused."""
    return compare(A=A, B=B, C=C, D=D, steps=steps, size="small", **settings)

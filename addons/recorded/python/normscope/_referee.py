"""The tools of the server: questions to the program, of which each is kept with its answer."""
from __future__ import annotations

import asyncio
import collections
import contextvars
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import tempfile
from typing import Annotated, Any, Awaitable, Callable, Literal, Optional, Union

import anyio
from pydantic import Field

from . import _grids, _lab, _program

MOST_SECONDS, MOST_RUNS, WAIT = 600.0, 200, 10.0
UNITS = {"s": 1, "min": 60, "h": 3600}
Runs = dict[str, Union[str, dict[str, Any]]]
Told = Callable[[float, float, str], Awaitable[None]]  # is told of progress: steps that are done, all of them, and in words
TOLD: "contextvars.ContextVar[Optional[Told]]" = contextvars.ContextVar("TOLD", default=None)  # by the request's client


async def end(started: "asyncio.subprocess.Process") -> None:
    """Interrupts the program, which keeps what is trained, and waits for its end."""
    started.send_signal(signal.SIGINT)
    try:
        await asyncio.wait_for(started.wait(), WAIT)
    except asyncio.TimeoutError:
        started.kill()
        await started.wait()


async def follow(started: "asyncio.subprocess.Process") -> str:
    """Waits for the program's end, and tells its progress on; returns the last line that it said. Progress only goes up,
    as the protocol wants it: looking through the store is none."""
    told, last, done = TOLD.get(), "", -1
    lines = started.stdout or started.stderr
    assert lines
    async for line in lines:
        last = line.decode(errors="replace").strip() or last
        at = re.match(r"training +step (\d+) of (\d+)", last)
        if told and at and int(at[1]) > done:
            done = int(at[1])
            await told(done, int(at[2]), last)
    await started.wait()
    return last


async def run(words: "list[str]", seconds: float, watched: bool = False) -> str:
    """Runs the program and returns its output, which of a watched one is its progress. At the end of the time, and when
    the request is cancelled, it is interrupted and keeps what is trained, so that the same request goes on from there."""
    program = _program.find()
    if not program:
        raise _lab.Error(_program.nowhere())
    with tempfile.TemporaryFile() as output:
        streams: "dict[str, Any]" = {"stdout": output, "stderr": asyncio.subprocess.PIPE}
        variables = _program.environment(program)
        if watched:
            streams = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.STDOUT}
            variables[_program.PROGRESS] = "1"
        try:
            started = await asyncio.create_subprocess_exec(program, *words, stdin=asyncio.subprocess.DEVNULL,
                                                           start_new_session=True, env=variables, **streams)
        except OSError as error:
            raise _lab.Error(f"{program}: {error.strerror}") from None
        try:
            last = await asyncio.wait_for(follow(started), seconds)
        except asyncio.TimeoutError:
            raise _lab.Error(f"ended after {seconds:g} s, what is trained is kept: expected more seconds, or the same "
                             "request again") from None
        finally:
            if started.returncode is None:
                with anyio.CancelScope(shield=True):  # a cancelled request, too, is over only when the program is
                    await end(started)
        if started.returncode != 0:
            raise _lab.Error(_lab.refusal(last) or f"{program} ended with {started.returncode}")
        output.seek(0)
        return output.read().decode()


def inside(folder: pathlib.Path, runs: Runs) -> None:
    """Refuses a setting that names a file outside the folder."""
    fields = _lab.fields_of_runs()
    for wanted in runs.values():
        for name, value in (wanted.items() if isinstance(wanted, dict) else ()):
            key = "" if name == "preset" else _lab.key_of(name, fields)
            path = pathlib.Path(os.path.realpath(folder / str(value)))
            if fields.get(key, {}).get("file") and value and folder not in path.parents:
                raise _lab.Error(f"[{key}] {value!r} is outside the server's folder: expected a file in it")


def axes_of(axes: "dict[str, Any]") -> "list[str]":
    """Returns the options of one or two axes for the program's command line."""
    if len(axes) not in (1, 2):
        raise _lab.Error(f"{len(axes)} axes: expected one or two settings with their values")
    fields = _lab.fields_of_runs()
    words: "list[str]" = []
    for name, values in axes.items():
        key = _lab.key_of(name, fields)
        if fields.get(key, {}).get("file"):
            raise _lab.Error(f"[{key}] names a file: expected a setting that can be an axis")
        words += _grids.axis_words(key, values, fields)
    return words


def within(seeds: int, seconds: float, most_runs: int) -> None:
    if not 3 <= seeds <= 20:
        raise _lab.Error(f"seeds {seeds}: expected 3 to 20, as fewer allow no finding")
    if not 0 < seconds <= MOST_SECONDS or not 0 < most_runs <= MOST_RUNS:
        raise _lab.Error(f"a budget of {seconds:g} s and {most_runs} runs: expected at most {MOST_SECONDS:g} s "
                         f"and {MOST_RUNS} runs")


async def afford(words: "list[str]", seconds: float, most_runs: int) -> None:
    """Refuses what the program guesses to take longer, or to be more runs, than the budget has."""
    plan = await run([*words, "--dry-run"], seconds)
    runs = re.search(r"(\d+) runs?: \d+ are in the store", plan)
    if not runs:
        raise _lab.Error("--dry-run did not count the runs: expected a program of this package's version")
    if int(runs[1]) > most_runs:
        raise _lab.Error(f"{runs[1]} runs: expected at most {most_runs}, the budget")
    guess = re.search(r"^about ([\d.]+) (s|min|h) on ", plan, re.MULTILINE)
    needed = float(guess[1]) * UNITS[guess[2]] if guess else 0
    if needed > seconds:
        raise _lab.Error(f"the runs take about {needed:g} s: expected at most {seconds:g} s, the budget")


def recorded() -> pathlib.Path:
    """Returns the numbers of the papers' claims: those that NORMSCOPE_CLAIMS names, that the program was installed
    with, or that lie in the sources in which it was built."""
    program = pathlib.Path(os.path.realpath(_program.find() or "/"))
    named = os.environ.get("NORMSCOPE_CLAIMS")
    prefix, sources = program.parent.parent, program.parent.parent.parent
    places = [pathlib.Path(named)] if named else [prefix / "share/normscope/claims", sources / "addons/papers/claims"]
    for folder in places:
        if (folder / "recorded.json").is_file():
            return folder / "recorded.json"
    raise _lab.Error("no recorded.json of claims: expected it with the program, or in the folder of NORMSCOPE_CLAIMS")


class Referee:
    """The questions since the server started. A question that is asked again is added, and replaces none."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = pathlib.Path(os.path.realpath(folder))
        self.questions: "list[dict[str, Any]]" = []
        self.words: "list[list[str]]" = []  # of each question, for its series and plots; none of one that has neither
        self.registered: "dict[str, str]" = {}  # as JSON, so that nothing that is handed out can change them
        self.findings: "dict[str, dict[str, Any]]" = {}  # of a study by the id of its registration

    def keep(self, kind: str, words: "list[str]", asked: "dict[str, Any]", answer: "dict[str, Any]") -> "dict[str, Any]":
        """Keeps a question with its answer; returns the answer with the question's number."""
        self.words.append(words)
        self.questions.append({"question": len(self.words), "kind": kind, **asked, **answer})
        return {"question": len(self.words), **answer}

    async def settings(self, search: str = "") -> "list[dict[str, Any]]":
        """The settings of a run whose key, label or help has these letters."""
        return [field for field in json.loads(_lab.run("settings", "--json"))
                if search.lower() in f"{field['key']} {field['label']} {field['help']}".lower()]

    async def trained(self, words: "list[str]", seconds: float) -> "dict[str, Any]":
        """Trains what the words of a study ask for; returns its JSON."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "told.json"
            await run([*words, "--json", str(path), "--csv", folder + "/rows.csv"], seconds, watched=True)  # JSON alone has no progress
            told: "dict[str, Any]" = json.loads(path.read_text())
            return told

    def compared(self, runs: Runs, seeds: int, steps: int) -> "list[str]":
        inside(self.folder, runs)
        return ["compare", *_lab.words_of(runs, {}), "--seeds", str(seeds), "--steps", str(steps)]

    async def compare(self, runs: Runs, seeds: int = 5, steps: int = 300, seconds: float = MOST_SECONDS,
                      most_runs: int = MOST_RUNS) -> "dict[str, Any]":
        """Trains two to four runs (A, B ...: a preset's name, or settings) over 3 to 20 seeds; returns arms and pairs."""
        within(seeds, seconds, most_runs)
        words = self.compared(runs, seeds, steps)
        await afford(words, seconds, most_runs)
        told = await self.trained(words, seconds)
        return self.keep("compare", words, {"runs": runs, "seeds": seeds, "steps": steps},
                         {"arms": told["arms"], "pairs": told["pairs"]})

    async def instant(self, runs: Runs, seconds: float = 60) -> "dict[str, Any]":
        """Trains two to four small runs over five seeds, in a second or so; returns arms and pairs. Only the layers
        that you set stay. It counts as a question asked."""
        within(5, seconds, MOST_RUNS)
        inside(self.folder, runs)
        told = json.loads(await run(["instant", *_lab.words_of(runs, {}), "--json"], seconds))
        return self.keep("instant", [], {"runs": runs, "seeds": 5, "steps": told["steps"]},
                         {"arms": told["arms"], "pairs": told["pairs"]})

    async def sweep(self, axes: "dict[str, Union[str, list[Any]]]", seeds: int = 3, steps: int = 300,
                    settings: "dict[str, Any]" = {}, seconds: float = MOST_SECONDS,
                    most_runs: int = MOST_RUNS) -> "dict[str, Any]":
        """Trains Post-LN over one or two settings' values (a list, or text such as 1e-4:1e-2:log7), 3 to 20 seeds in
        each cell, with `settings` for all; returns the cells with their verdicts counted."""
        within(seeds, seconds, most_runs)
        inside(self.folder, {"": settings})
        # The common settings go as those of a comparison would, which words_of checks.
        common = _lab.words_of({"A": "post", "B": "post"}, settings)[4:]
        words = ["sweep", *axes_of(axes), *common, "--seeds", str(seeds), "--steps", str(steps)]
        await afford(words, seconds, most_runs)
        told = await self.trained(words, seconds)
        cells = [{**{key: cell.get(key) for key in ("values", "sign", "learns", "known", "loss", "loss_low", "loss_high")},
                  "verdicts": dict(collections.Counter(one["verdict"] for one in cell["runs"])),
                  "seeds": [one["seed"] for one in cell["runs"]], "refused": cell.get("refused")}
                 for cell in told["cells"]]
        asked = {"axes": axes, "settings": settings, "seeds": seeds, "steps": steps}
        return self.keep("sweep", words, asked, {"cells": cells})

    async def preregister(self, question: str, runs: Runs, seeds: int = 5, steps: int = 300) -> "dict[str, Any]":
        """Registers one question before its runs are trained: 'X learns', 'X is stuck', 'X learns earlier than Y' or
        'X ends lower than Y', or 'not' and one of these. `asked_before` has the questions on these runs that came first.
        Nothing changes a registration; `study` answers it."""
        within(seeds, MOST_SECONDS, MOST_RUNS)
        said = _lab.statement_of(question, runs)
        words = self.compared(runs, seeds, steps)
        await afford(words, MOST_SECONDS, MOST_RUNS)  # what the program would refuse, it refuses now
        wanted = {"question": question.strip(), "runs": runs, "seeds": seeds, "steps": steps}
        whole = hashlib.sha256(json.dumps(wanted, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        time = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        before = [kept["question"] for kept in self.questions if kept.get("runs") == runs]
        registration = {"id": whole[:12], "rule": _lab.rule_of(said), "hash": whole, "time": time, "asked_before": before,
                        **wanted}
        kept: "dict[str, Any]" = json.loads(self.registered.setdefault(whole[:12], json.dumps(registration)))
        return kept

    async def study(self, id: str, seconds: float = MOST_SECONDS) -> "dict[str, Any]":
        """Trains the runs of a registration and answers its question by its rule, and nothing else."""
        if id not in self.registered:
            raise _lab.Error(f"id {id!r}: expected one that preregister gave: {', '.join(self.registered) or 'none yet'}")
        registration = json.loads(self.registered[id])
        if id not in self.findings:
            within(registration["seeds"], seconds, MOST_RUNS)
            words = self.compared(registration["runs"], registration["seeds"], registration["steps"])
            await afford(words, seconds, MOST_RUNS)
            told = await self.trained(words, seconds)
        if id not in self.findings:  # nor has another request for it come to its end meanwhile
            verdict = _lab.Comparison(told, None).verdict(registration["question"])
            self.findings[id] = {"strength": verdict.strength, "words": str(verdict)}
            asked = {"registration": id, "asked": registration["question"],
                     **{key: registration[key] for key in ("runs", "seeds", "steps")}}
            self.keep("study", [], asked, {"finding": self.findings[id]})
        return {"registration": registration, "finding": self.findings[id]}

    def words_of(self, question: int, kinds: "tuple[str, ...]") -> "list[str]":
        """Returns the words of a question of these kinds, of which the program draws and prints."""
        if not 1 <= question <= len(self.questions):
            raise _lab.Error(f"question {question}: expected 1 to {len(self.questions)}, as many as were asked")
        kind = self.questions[question - 1]["kind"]
        if kind not in kinds:
            why = {"instant": "small runs keep no log", "study": "its finding stands alone",
                   "sweep": "it has no runs A to D"}
            raise _lab.Error(f"question {question} is of {kind}, {why[kind]}: expected one of {' or '.join(kinds)}")
        return self.words[question - 1]

    async def log(self, words: "list[str]", folder: str) -> pathlib.Path:
        """Has the program write the log of a question from its stored results."""
        await run([*words, "--store", _lab.store(), "--out", folder], MOST_SECONDS)
        return pathlib.Path(folder) / "runs.jsonl"

    async def series(self, run: str, numbers: str, seed: int = 1) -> "dict[str, Any]":
        """Numbers of one run of a comparison, step by step: `run` as 1.A (question 1, run A), `numbers` as
        L*.ffn.w2.grad_norm or loss. One run is no finding."""
        said = re.match(r"(\d{1,9})\.([A-D])\Z", run)
        if not said:
            raise _lab.Error(f"run {run!r}: expected the number of a question and a letter, as 1.A")
        words = self.words_of(int(said[1]), ("compare",))
        with tempfile.TemporaryDirectory() as folder:
            text = (await self.log(words, folder)).read_text()
        names, steps, rows = _lab.series_of(text, said[2], seed, numbers)
        return {"run": run, "seed": seed, "note": "one run: no finding", "names": names, "steps": steps, "values": rows}

    async def plot(self, question: int, form: Annotated[Literal["text", "svg"], Field(alias="as")] = "text") -> str:
        """The program's own text or SVG of a comparison or sweep that was asked."""
        words = self.words_of(question, ("compare", "sweep"))
        with tempfile.TemporaryDirectory() as folder:
            if words[0] == "compare":
                words = ["compare", str(await self.log(words, folder))]
            path = pathlib.Path(folder) / "plot.svg"
            text = await run([*words, *(["--svg", str(path)] if form == "svg" else [])], MOST_SECONDS)
            return path.read_text() if form == "svg" else text

    async def coverage(self, paper: str = "") -> "list[dict[str, Any]]":
        """The claims of the papers whose name has these letters, as judged here by numbers recorded before; trains
        nothing."""
        with tempfile.TemporaryDirectory() as folder:
            numbers, path = pathlib.Path(folder) / "recorded.json", pathlib.Path(folder) / "claims.json"
            shutil.copy(recorded(), numbers)  # the program writes what it measures into the file that it is given
            await run(["reproduce", "all", "--stored", "--store", "none", "--recorded", str(numbers), "--json", str(path)],
                      MOST_SECONDS)
            claims = json.loads(path.read_text())["claims"]
        found = [{**{key: claim[key] for key in ("id", "paper", "item", "claim", "verdict", "why", "seeds")},
                  "regime": claim.get("regime")} for claim in claims if paper.lower() in claim["paper"].lower()]
        if not found:
            raise _lab.Error(f"paper {paper!r}: expected one of {'; '.join(sorted({claim['paper'] for claim in claims}))}")
        return found

    async def asked(self) -> "dict[str, Any]":
        """Every question and registration since the server started, with its findings, and how many chance would give."""
        found, by_chance = [], []
        for question in self.questions:
            chance = 2 * 0.5 ** question["seeds"]
            tests = [pair[kind]["finding"] for pair in question.get("pairs", ())
                     for kind in ("learns_earlier", "ends_lower")]
            if question["kind"] == "study" and " than " in question["asked"]:
                tests = [question["finding"]["strength"] != "cannot be told"]
            found += tests
            by_chance += [chance] * len(tests)
        registrations = [{**json.loads(text), "studied": id in self.findings} for id, text in self.registered.items()]
        return {"questions": self.questions, "registrations": registrations, "tests": len(found),
                "findings": sum(map(bool, found)), "by_chance": sum(by_chance)}

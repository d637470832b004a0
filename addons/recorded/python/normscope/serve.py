"""`python -m normscope.serve`: a server of the Model Context Protocol over stdio, so that an agent asks the program and
is told no more than the seeds allow. It needs the package mcp (`pip install mcp`); nothing it does uses the network."""
from __future__ import annotations

import argparse
import asyncio
import json
import os
import pathlib
import signal
import sys
import tempfile
from typing import Any, Union

from . import _lab, _program

MOST_SECONDS, MOST_RUNS = 600, 200
Runs = dict[str, Union[str, dict[str, Any]]]


async def run(words: "list[str]", seconds: float) -> None:
    """Runs the program. At the end of the time, and when the request is cancelled, it is interrupted and keeps what is
    trained, so that the same request goes on from there."""
    program = _program.find()
    if not program:
        raise _lab.Error(_program.nowhere())
    started = await asyncio.create_subprocess_exec(program, *words, stdin=asyncio.subprocess.DEVNULL, start_new_session=True,
                                                   stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
                                                   env=_program.environment(program))
    try:
        _, said = await asyncio.wait_for(started.communicate(), seconds)
    except asyncio.TimeoutError:
        raise _lab.Error(f"ended after {seconds:g} s, what is trained is kept: expected more seconds, or the same request again") from None
    finally:
        if started.returncode is None:
            started.send_signal(signal.SIGINT)
    if started.returncode != 0:
        lines = said.decode(errors="replace").strip().splitlines()
        raise _lab.Error(lines[-1] if lines else f"{program} ended with {started.returncode}")


def inside(folder: pathlib.Path, runs: Runs) -> None:
    """Refuses a setting that names a file outside the folder."""
    fields = {field["key"]: field for field in json.loads(_lab.run("settings", "--json"))}
    for wanted in runs.values():
        for name, value in (wanted.items() if isinstance(wanted, dict) else ()):
            key = "" if name == "preset" else _lab.key_of(name, fields)
            path = pathlib.Path(os.path.realpath(folder / str(value)))
            if fields.get(key, {}).get("file") and value and folder not in path.parents:
                raise _lab.Error(f"[{key}] {value!r} is outside the server's folder: expected a file in it")


class Referee:
    """The questions since the server started. A question that is asked again is added, and replaces none."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = pathlib.Path(os.path.realpath(folder))
        self.questions: "list[dict[str, Any]]" = []

    def settings(self, search: str = "") -> "list[dict[str, Any]]":
        """The settings of a run whose key, label or help has these letters."""
        return [field for field in json.loads(_lab.run("settings", "--json"))
                if search.lower() in f"{field['key']} {field['label']} {field['help']}".lower()]

    async def compare(self, runs: Runs, seeds: int = 5, steps: int = 300, seconds: float = MOST_SECONDS,
                      most_runs: int = MOST_RUNS) -> "dict[str, Any]":
        """Trains two to four runs (A, B ...: a preset's name, or settings) over 3 to 20 seeds; returns arms and pairs."""
        if not 3 <= seeds <= 20:
            raise _lab.Error(f"seeds {seeds}: expected 3 to 20, as fewer allow no finding")
        if not 0 < seconds <= MOST_SECONDS or not 0 < most_runs <= MOST_RUNS:
            raise _lab.Error(f"a budget of {seconds:g} s and {most_runs} runs: expected at most {MOST_SECONDS} and {MOST_RUNS}")
        if len(runs) * seeds > most_runs:
            raise _lab.Error(f"{len(runs) * seeds} runs: expected at most {most_runs}, the budget")
        inside(self.folder, runs)
        words = _lab.words_of(runs, {})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "compare.json"
            await run(["compare", *words, "--seeds", str(seeds), "--steps", str(steps), "--json", str(path)], seconds)
            told = json.loads(path.read_text())
        answer = {"arms": told["arms"], "pairs": told["pairs"]}
        self.questions.append({"runs": runs, "seeds": seeds, "steps": steps, **answer})
        return answer

    def asked(self) -> "dict[str, Any]":
        """Every question since the server started, with its findings, and how many of those chance alone would give."""
        tests = [pair[kind] for question in self.questions for pair in question["pairs"] for kind in ("learns_earlier", "ends_lower")]
        found = [test for test in tests if test["finding"]]
        return {"questions": self.questions, "tests": len(tests), "findings": len(found),
                "by_chance": sum(2 * 0.5 ** question["seeds"] * 2 * len(question["pairs"]) for question in self.questions)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m normscope.serve", description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path.cwd(), help="where files that settings name must lie")
    folder = parser.parse_args().folder
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        print("normscope: the server needs the package mcp, 2 or later: pip install 'mcp>=2'", file=sys.stderr)
        return 1
    os.chdir(folder)  # where the program looks for relative paths
    referee, server = Referee(pathlib.Path.cwd()), MCPServer("normscope")

    @server.tool(description=Referee.settings.__doc__)
    def settings(search: str = "") -> "list[dict[str, Any]]":
        return referee.settings(search)

    @server.tool(description=Referee.compare.__doc__)
    async def compare(runs: Runs, seeds: int = 5, steps: int = 300, seconds: float = MOST_SECONDS,
                      most_runs: int = MOST_RUNS) -> "dict[str, Any]":
        try:
            return await referee.compare(runs, seeds, steps, seconds, most_runs)
        except _lab.Error as error:
            raise ToolError(str(error)) from None  # only the words of this one reach the client

    @server.tool(description=Referee.asked.__doc__)
    def asked() -> "dict[str, Any]":
        return referee.asked()

    server.run("stdio")
    return 0


if __name__ == "__main__":
    sys.exit(main())

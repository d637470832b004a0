"""The server, asked by the official client over stdio: skipped without mcp, and partly without a program that knows
`settings --json`, in whose place a script stands where only the server's own rules matter."""
from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from typing import Any, AsyncIterator, Awaitable, Callable
from unittest import mock

import normscope
from normscope import _lab

try:
    import anyio
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from normscope import _referee
    MISSING = ""
except ImportError as error:
    MISSING = str(error)

try:
    _lab.run("settings", "--json")
    UNTRAINED = MISSING
except normscope.Error as error:
    UNTRAINED = MISSING or str(error)

TINY = {"layers": 2, "d_model": 16}
RUNS = {"A": {"preset": "post", **TINY}, "B": {"preset": "pre", **TINY}}
NAMES = {"A": "post", "B": "pre"}
SHORT = {"runs": RUNS, "seeds": 3, "steps": 8}

# Plans six runs of a second, answers small runs at once, and trains until it is interrupted.
SCRIPT = """#!/bin/sh
case "$*" in
settings*) echo '[]' ;;
*--dry-run*) echo '2 runs with 3 seeds, 6 runs: 0 are in the store, 0 cannot be trained, 6 are to be trained here'
             echo 'about 1 s on 2 cores' ;;
instant*) cat FOLDER/instant.json ;;
*) trap 'sleep 0.2; touch FOLDER/kept; exit 130' INT
   echo 'looking through the store  step 900 of 900'
   for step in 3 3 2 40; do echo "training  step $step of 60  1 of 6 runs"; done
   touch FOLDER/started
   while :; do sleep 0.05; done ;;
esac
"""


class Client:
    """A session with a server."""

    def __init__(self, session: "ClientSession") -> None:
        self.session = session

    async def text(self, tool: str, **wanted: Any) -> str:
        answer = await self.session.call_tool(tool, wanted)
        if answer.is_error:
            raise AssertionError(answer.content[0].text)
        return "\n".join(part.text for part in answer.content)

    async def ask(self, tool: str, **wanted: Any) -> Any:
        return json.loads(await self.text(tool, **wanted))

    async def refusal(self, tool: str, wanted: "dict[str, Any]") -> str:
        answer = await self.session.call_tool(tool, wanted)
        return answer.content[0].text if answer.is_error else ""


@contextlib.asynccontextmanager
async def served(folder: str, **variables: str) -> "AsyncIterator[Client]":
    sources = str(pathlib.Path(normscope.__file__).parents[1])
    environment = {**os.environ, "XDG_CACHE_HOME": folder, "PYTHONPATH": sources, **variables}
    server = StdioServerParameters(command=sys.executable, args=["-m", "normscope.serve", "--folder", folder],
                                   env=environment)
    with open(os.devnull, "w") as nowhere:
        async with stdio_client(server, errlog=nowhere) as streams, ClientSession(*streams) as session:
            await session.initialize()
            yield Client(session)


def in_a_folder(test: "Callable[[Any, str], Awaitable[None]]") -> "Callable[[Any], None]":
    def run(self: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(asyncio.wait_for(test(self, folder), 120))
    return run


def script(folder: str, text: str = SCRIPT) -> str:
    path = pathlib.Path(folder) / "program"
    path.write_text(text.replace("FOLDER", folder))
    path.chmod(0o755)
    return str(path)


async def appears(path: pathlib.Path) -> None:
    while not path.exists():
        await asyncio.sleep(0.02)


@unittest.skipIf(UNTRAINED, UNTRAINED)
class Server(unittest.TestCase):
    @in_a_folder
    async def test_what_it_refuses(self, folder: str) -> None:
        async with served(folder) as client:
            tools = (await client.session.list_tools()).tools
            self.assertNotRegex(" ".join(tool.description for tool in tools), r"\n|  ")
            self.assertEqual([tool.name for tool in tools],
                             ["settings", "compare", "instant", "sweep", "preregister", "study", "series", "plot",
                              "coverage", "asked"])
            for tool, wanted, line in (
                    ("compare", {"runs": RUNS, "seeds": 1}, "seeds 1: expected 3 to 20"),
                    ("compare", {"runs": RUNS, "most_runs": 5}, "10 runs: expected at most 5"),
                    ("compare", {"runs": RUNS, "seconds": 601}, "at most 600"),
                    ("compare", {"runs": {**RUNS, "C": {"text": "/etc/hostname"}}}, "outside the server's folder"),
                    ("compare", {"runs": RUNS, "steps": 3000000, "seconds": 7}, r"about \d+ s: expected at most 7 s"),
                    ("compare", {"runs": 7}, "valid"),
                    ("compare", {"runs": RUNS, "sedes": 3}, "(?s)sedes.*not permitted"),
                    ("instant", {"runs": {"A": "psot", "B": "pre"}}, "'psot' is unknown"),
                    ("instant", {"runs": {"A": "post", "B": {"text": "../x"}}}, "outside the server's folder"),
                    ("sweep", {"axes": {"warmup": [0, 4]}, "seeds": 2}, "seeds 2: expected 3 to 20"),
                    ("sweep", {"axes": {}}, "0 axes: expected one or two"),
                    ("sweep", {"axes": {"text": ["/etc/hostname"]}}, "names a file"),
                    ("sweep", {"axes": {"warmup": [0, "four"]}}, r"\[train.warmup\] 'four': expected a whole number"),
                    ("sweep", {"axes": {"warmup": [0, 4]}, "settings": {"text": "/etc/hostname"}}, "outside"),
                    ("sweep", {"axes": {"warmup": "0:99:lin100"}}, "300 runs: expected at most 200"),
                    ("preregister", {"question": "A is better than B", **SHORT}, "is no statement: expected 'X learns'"),
                    ("preregister", {"question": "C learns", **SHORT}, "there is no run C: expected A, B"),
                    ("preregister", {"question": "A learns", "runs": {"A": "psot", "B": "pre"}}, "'psot' is unknown"),
                    ("study", {"id": "1"}, "expected one that preregister gave: none yet"),
                    ("series", {"run": "1.A", "numbers": "loss"}, "question 1: expected 1 to 0"),
                    ("series", {"run": "A", "numbers": "loss"}, "expected the number of a question and a letter, as 1.A"),
                    ("plot", {"question": 1, "as": "png"}, "'text' or 'svg'"),
                    ("coverage", {"paper": "nobody"}, "paper 'nobody': expected one of .*Xiong et al. 2020")):
                with self.subTest(tool=tool, line=line):
                    self.assertRegex(await client.refusal(tool, wanted), line)
            asked = await client.ask("asked")
            self.assertEqual((asked["questions"], asked["registrations"], asked["tests"]), ([], [], 0))

    @in_a_folder
    async def test_comparisons(self, folder: str) -> None:
        async with served(folder) as client:
            progress: "list[float]" = []

            async def heard(done: float, total: Any, words: Any) -> None:
                progress.append(done)

            await client.session.call_tool("compare", {"runs": RUNS, "seeds": 3, "steps": 9}, progress_callback=heard)
            self.assertEqual(progress[-1:], [54])
            for seeds in (5, 3):
                told = await client.ask("compare", runs=RUNS, seeds=seeds, steps=8)
                self.assertEqual([len(arm["seeds"]) for arm in told["arms"]], [seeds, seeds])
            small = await client.ask("instant", runs=RUNS)
            self.assertEqual((small["question"], [arm["seeds"] for arm in small["arms"]]), (4, [[1, 2, 3, 4, 5]] * 2))
            asked = await client.ask("asked")
            self.assertEqual([question["seeds"] for question in asked["questions"]], [3, 5, 3, 5])
            self.assertEqual((asked["tests"], asked["by_chance"]), (8, 2 * (0.25 + 0.0625 + 0.25 + 0.0625)))

            series = await client.ask("series", run="3.B", numbers="L*.ffn.w2.grad_norm", seed=2)
            self.assertEqual((series["note"], series["steps"]), ("one run: no finding", list(range(1, 9))))
            self.assertEqual(series["names"], ["L01.ffn.w2.grad_norm", "L02.ffn.w2.grad_norm"])
            with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}):
                lab = normscope.compare(A=RUNS["A"], B=RUNS["B"], seeds=3, steps=8)
                self.assertEqual(series["values"], [list(row) for row in lab.B.series("L*.ffn.w2.grad_norm", 2)])
            self.assertIn("at step 1", await client.text("plot", question=1))
            picture = await client.text("plot", **{"question": 1, "as": "svg"})
            self.assertEqual(ElementTree.fromstring(picture).tag, "{http://www.w3.org/2000/svg}svg")
            for tool, wanted, line in (("plot", {"question": 4}, "of instant, small runs keep no log"),
                                       ("series", {"run": "1.C", "numbers": "loss"}, "not in the log of run C"),
                                       ("series", {"run": "1.A", "numbers": "loss", "seed": 4}, "run A and seed 4"),
                                       ("series", {"run": "1.A", "numbers": "L*.loss"}, "not in the log")):
                with self.subTest(line):
                    self.assertRegex(await client.refusal(tool, wanted), line)

    @in_a_folder
    async def test_a_sweep(self, folder: str) -> None:
        async with served(folder) as client:
            told = await client.ask("sweep", axes={"warmup": [0, 4], "placement": "post,pre"}, steps=8, settings=TINY)
            self.assertEqual([(cell["values"]["train.warmup"], cell["values"]["model.placement"]) for cell in told["cells"]],
                             [("0", "post"), ("4", "post"), ("0", "pre"), ("4", "pre")])
            for cell in told["cells"]:
                self.assertEqual((cell["verdicts"], cell["seeds"]), ({"not decided": 3}, [1, 2, 3]))
            asked = await client.ask("asked")
            self.assertEqual((asked["questions"][0]["cells"], asked["tests"]), (told["cells"], 0))
            picture = await client.text("plot", **{"question": 1, "as": "svg"})
            self.assertEqual(ElementTree.fromstring(picture).tag, "{http://www.w3.org/2000/svg}svg")
            line = await client.refusal("series", {"run": "1.A", "numbers": "loss"})
            self.assertIn("of sweep, it has no runs A to D", line)

    @in_a_folder
    async def test_a_registration_cannot_be_changed(self, folder: str) -> None:
        async with served(folder) as client:
            first = await client.ask("preregister", question="A ends lower than B", **SHORT)
            wanted = {"question": "A ends lower than B", **SHORT}
            canonical = json.dumps(wanted, sort_keys=True, separators=(",", ":"))
            self.assertEqual(first["hash"], hashlib.sha256(canonical.encode()).hexdigest())
            self.assertIn("all of three or four pairs lean", first["rule"])
            self.assertEqual(await client.ask("preregister", **wanted), first)  # with its time
            other = await client.ask("preregister", question="B ends lower than A", **SHORT)
            self.assertNotEqual(other["id"], first["id"])

            answer = await client.ask("study", id=first["id"])
            self.assertIn("question", await client.refusal("study", {"id": first["id"], "question": "B ends lower than A"}))
            self.assertEqual(await client.ask("study", id=first["id"]), answer)
            self.assertEqual(answer["registration"], first)
            self.assertEqual(answer["finding"]["strength"], "leans")
            self.assertRegex(answer["finding"]["words"], r"leans in 3 of 3 pairs \(sign test p = 0.25\); rule: ")
            self.assertEqual(set(answer), {"registration", "finding"})
            asked = await client.ask("asked")
            self.assertEqual([one["studied"] for one in asked["registrations"]], [True, False])
            self.assertEqual({key: asked["registrations"][0][key] for key in first}, first)
            self.assertEqual([one["registration"] for one in asked["questions"]], [first["id"]])
            self.assertEqual((asked["tests"], asked["findings"], asked["by_chance"]), (1, 1, 0.25))
            self.assertIn("its finding stands alone", await client.refusal("plot", {"question": 1}))
            late = await client.ask("preregister", question="A learns", **SHORT)
            self.assertEqual((first["asked_before"], late["asked_before"]), ([], [1]))

    @in_a_folder
    async def test_coverage(self, folder: str) -> None:
        path = _referee.recorded()
        before = path.read_bytes()
        async with served(folder) as client:
            claims = (await client.session.call_tool("coverage", {"paper": "xiong"})).structured_content["result"]
        self.assertEqual({claim["paper"] for claim in claims}, {"Xiong et al. 2020"})
        self.assertIn("reproduced", {claim["verdict"] for claim in claims})
        self.assertEqual(path.read_bytes(), before)


@unittest.skipIf(MISSING, MISSING)
class WithAScript(unittest.TestCase):
    @in_a_folder
    async def test_200_questions_are_kept(self, folder: str) -> None:
        test = {"A": 5, "B": 0, "neither": 0, "p": 0.0625, "finding": {"arm": "A", "strength": "holds"}}
        pair = {"runs": ["A", "B"], "learns_earlier": test, "ends_lower": {**test, "finding": None, "why": "seeds disagree"}}
        (pathlib.Path(folder) / "instant.json").write_text(json.dumps({"arms": [], "pairs": [pair], "steps": 200}))
        async with served(folder, NORMSCOPE=script(folder)) as client:
            for number in range(1, 201):
                self.assertEqual((await client.ask("instant", runs=NAMES))["question"], number)
            asked = await client.ask("asked")
        self.assertEqual([question["question"] for question in asked["questions"]], list(range(1, 201)))
        self.assertEqual((asked["tests"], asked["findings"], asked["by_chance"]), (400, 200, 25))

    @in_a_folder
    async def test_the_time_ends(self, folder: str) -> None:
        async with served(folder, NORMSCOPE=script(folder)) as client:
            line = await client.refusal("compare", {"runs": NAMES, "seeds": 3, "seconds": 1})
            self.assertIn("ended after 1 s, what is trained is kept", line)
            self.assertTrue((pathlib.Path(folder) / "kept").exists())
            line = await client.refusal("compare", {"runs": NAMES, "seeds": 3, "seconds": 0.5})
            self.assertIn("the runs take about 1 s: expected at most 0.5 s, the budget", line)

    @in_a_folder
    async def test_a_request_is_cancelled(self, folder: str) -> None:
        async with served(folder, NORMSCOPE=script(folder)) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(client.refusal, "compare", {"runs": NAMES, "seeds": 3})
                await appears(pathlib.Path(folder) / "started")
                group.cancel_scope.cancel()
            await appears(pathlib.Path(folder) / "kept")
            self.assertEqual((await client.ask("asked"))["questions"], [])

    @in_a_folder
    async def test_progress_is_told_and_only_goes_up(self, folder: str) -> None:
        told: "list[tuple[float, Any, Any]]" = []

        async def progress(done: float, total: Any, words: Any) -> None:
            told.append((done, total, words))

        async with served(folder, NORMSCOPE=script(folder)) as client:
            answer = await client.session.call_tool("compare", {"runs": NAMES, "seeds": 3, "seconds": 1},
                                                    progress_callback=progress)
            self.assertTrue(answer.is_error)
        self.assertEqual([(done, total) for done, total, _ in told], [(3, 60), (40, 60)])
        self.assertEqual(told[-1][2], "training  step 40 of 60  1 of 6 runs")

    async def cancelled(self, folder: str) -> None:
        with mock.patch.dict(os.environ, {"NORMSCOPE": str(pathlib.Path(folder) / "program")}):
            async with anyio.create_task_group() as group:  # as the server cancels: whatever awaits inside ends, too
                group.start_soon(_referee.run, ["compare"], 60)
                await appears(pathlib.Path(folder) / "started")
                group.cancel_scope.cancel()

    @in_a_folder
    async def test_it_waits_for_the_end_of_the_program(self, folder: str) -> None:
        script(folder)
        await self.cancelled(folder)
        self.assertTrue((pathlib.Path(folder) / "kept").exists())

    @in_a_folder
    async def test_what_does_not_end_is_killed(self, folder: str) -> None:
        script(folder, "#!/bin/sh\ntrap '' INT\necho $$ >FOLDER/pid\ntouch FOLDER/started\nwhile :; do sleep 0.05; done\n")
        with mock.patch.object(_referee, "WAIT", 0.3):
            await self.cancelled(folder)
        with self.assertRaises(ProcessLookupError):
            os.kill(int((pathlib.Path(folder) / "pid").read_text()), 0)


if __name__ == "__main__":
    unittest.main()

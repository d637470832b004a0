"""`normscope.compare`, against the program: skipped where there is none that knows `settings --json`."""
from __future__ import annotations

import base64
import io
import json
import multiprocessing
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

import normscope
from normscope import _lab, _program
from of_program import TINY, OfProgram

PROGRAM = _program.find()


def learned(finding: object, why: str = "") -> "dict[str, object]":
    return {"A": 5, "B": 0, "neither": 0, "p": 0.0625, "finding": finding, "why": why}


class Grammar(unittest.TestCase):
    def setUp(self) -> None:
        arms = [{"run": run, "name": run, "seeds": [1, 2, 3, 4, 5], "verdict": verdict, "verdicts": {"learns": 5},
                 "loss": {"low": 1, "high": 2}, "why": "seeds disagree"} for run, verdict in (("A", "learns"), ("B", None))]
        pair = {"runs": ["A", "B"], "learns_earlier": learned({"arm": "A", "strength": "holds"}),
                "ends_lower": learned(None, "one seed: expected at least 3")}
        self.lab = _lab.Comparison({"arms": arms, "pairs": [pair], "runs": []}, None)

    def test_statements(self) -> None:
        for statement, begin in (("A learns earlier than B", "holds in 5 of 5 pairs (sign test p = 0.062); rule: "),
                                 ("B learns earlier than A", "does not hold in 5 of 5 pairs"),
                                 ("not B learns earlier than A", "holds in 5 of 5"),
                                 ("A ends lower than B", "cannot be told: one seed: expected at least 3"),
                                 ("A learns", "holds: learns 5 of 5"), ("A is stuck", "does not hold"),
                                 ("not A is stuck", "holds"), ("B learns", "cannot be told: seeds disagree")):
            with self.subTest(statement):
                self.assertTrue(str(self.lab.verdict(statement)).startswith(begin), self.lab.verdict(statement))

    def test_nonsense(self) -> None:
        for statement in ("", "A", "A wins", "A learns earlier than A", "C learns", "A learns earlier than D", "a learns"):
            with self.subTest(statement), self.assertRaises(normscope.Error):
                self.lab.verdict(statement)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def verdicts_of_a_fork(queue: "multiprocessing.Queue[list[str]]") -> None:
    queue.put(list(normscope.compare(A="post", B="pre", seeds=3, **TINY).arms))


def knows_settings() -> bool:
    try:
        return bool(_lab.run("settings", "--json"))
    except normscope.Error:
        return False


@unittest.skipUnless(knows_settings(),
                     "no program that knows `settings --json`")
class Trained(OfProgram):
    def test_numbers_are_those_of_the_program(self) -> None:
        lab = normscope.compare(A="post", B=dict(placement="pre", warmup=4), seeds=3, **TINY)
        path = self.folder / "own.json"
        subprocess.run([PROGRAM, "compare", "--run", "A=post", "--run", "B=pre", "--set", "B:train.warmup=4", "--set",
                        "model.layers=2", "--set", "model.d_model=16", "--steps", "8", "--seeds", "3", "--json", str(path)],
                       check=True, capture_output=True)
        self.assertEqual(lab.told, json.loads(path.read_text()))
        series = lab.A.series("L*.ffn.w2.grad_norm")
        self.assertEqual((len(series), len(series[0])), (8, 2))
        with mock.patch.dict(sys.modules, {"numpy": None, "pandas": None}):
            self.assertIsInstance(lab.A.series("L*.ffn.w2.grad_norm").values, list)
            self.assertEqual(lab.table, lab.told["runs"])
        self.assertEqual(len(lab.B.series("loss", seed=2)), 8)
        with self.assertRaises(normscope.Error):
            lab.A.series("no such number")

    def test_a_terminal_shows_runs(self) -> None:
        lab = normscope.compare(A="post", B="pre", seeds=3, **TINY)
        self.assertRegex(repr(lab), r"<comparison of 2 runs>\nA  Post-LN.*: .* 3 of 3, loss [\d.]+ to [\d.]+\nB  Pre-LN")
        self.assertRegex(repr(lab.A), "<run A, Post-LN.*>")
        with mock.patch.dict(sys.modules, {"pandas": None}):
            self.assertEqual(list(lab.table[0])[:5], ["run", "name", "seed", "verdict", "loss"])
        with self.assertRaisesRegex(AttributeError, "no 'D': expected A, B of its runs"):
            lab.D
        for call, line in ((lambda: lab.series_of, "no 'series_of'"), (lambda: lab.verdict(3), "'?3'? is no statement"),
                           (lambda: lab.A.series(None), r"\[None\] is not in the log"),
                           (lambda: lab.save(""), "save ''"), (lambda: lab.figure("a.pdf", width=84), "width 84"),
                           (lambda: lab.figure("a.pdf", font=8), "font 8: expected text such as '8pt'")):
            with self.subTest(line), self.assertRaisesRegex((normscope.Error, AttributeError), line):
                call()

    def test_a_notebook_shows_table_and_losses(self) -> None:
        lab = normscope.compare(A="post", B="pre", seeds=3, **TINY)
        shown = lab._repr_mimebundle_()
        self.assertEqual(shown["text/html"], lab._repr_html_())
        table, picture = re.match(r'<div.*?>(<table>.*</table>)<img src="data:image/svg\+xml;base64,(.*)"></div>\Z',
                                  shown["text/html"]).groups()
        self.assertIn("Post-LN", table)
        drawn = ElementTree.fromstring(base64.b64decode(picture))
        self.assertEqual(drawn.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertIn("loss", " ".join(drawn.itertext()))
        small = normscope.compare(A="post", B="pre", layers=2, size="small")
        self.assertIn("<img src=", small._repr_html_())
        with mock.patch.object(lab, "_svg", ""), mock.patch.dict(os.environ, {"NORMSCOPE": "/no/such/program"}):
            self.assertEqual(lab._repr_html_(), table)

    def test_one_seed_is_no_finding(self) -> None:
        lab = normscope.compare(A="post", B="pre", seeds=1, **TINY)
        for statement in ("A ends lower than B", "A learns"):
            self.assertEqual(lab.verdict(statement).strength, "cannot be told")

    def test_errors_come_before_training(self) -> None:
        for wanted, line in (({"A": "psot", "B": "pre"}, "psot"), ({"A": "post"}, "expected A and B"),
                             ({"A": 3, "B": "pre"}, "run A: 3"),
                             ({"A": "post", "B": "pre", "wamrup": 3}, r"\[wamrup\] .*did you mean train.warmup\?"),
                             ({"A": "", "B": "pre"}, "run A: ''"),
                             ({"A": "post", "B": "pre", "E": "pre"}, "runs A, B, E: expected at most"),
                             ({"A": "post", "B": "pre", "size": "small", "steps": 7}, "steps 7: small runs"),
                             ({"A": "post", "B": "pre", "lr": "fast"}, r"\[train.lr\] 'fast': expected a number from 0 to"),
                             ({"A": "post", "B": "pre", "layers": 2.5}, "a whole number"),
                             ({"A": "post", "B": "pre", "norm": "lm"}, "expected ln"),
                             ({"A": "post", "B": "pre", "seeds": 0}, "seeds 0")):
            with self.subTest(line), self.assertRaisesRegex(normscope.Error, line):
                normscope.compare(**wanted)

    def test_progress_is_shown_in_its_place(self) -> None:
        """On a terminal; test_notebook.py has a notebook."""
        for size in ({"seeds": 3}, {"seeds": 1}):  # of the second what is in the store
            with mock.patch.object(sys, "stderr", Terminal()) as terminal:
                normscope.compare(A="post", B="pre", **size, **TINY)
            shown = terminal.getvalue().split("\r\x1b[K")
            self.assertEqual((shown[0], shown[-1]), ("", ""))
            self.assertRegex(" ".join(shown), r"step \d+ of \d+ .* s left")
            self.assertNotIn("wrote", terminal.getvalue())
        with mock.patch.object(sys, "stderr", io.StringIO()) as pipe:
            normscope.compare(A="post", B="pre", seeds=4, **TINY)
        self.assertEqual(pipe.getvalue(), "")

    def test_a_forked_process_compares(self) -> None:
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        process = context.Process(target=verdicts_of_a_fork, args=(queue,))
        process.start()
        self.assertEqual(queue.get(timeout=60), ["A", "B"])
        process.join()

    def test_an_interruption_keeps_what_is_done(self) -> None:
        code = "import normscope; normscope.compare(A='post', B='pre', seeds=300, layers=2, d_model=16, steps=8)"
        started = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, env={**os.environ,
                                   "PYTHONPATH": str(pathlib.Path(normscope.__file__).parents[1])})
        store = self.folder / "normscope/results"
        end = time.monotonic() + 60
        while time.monotonic() < end and not any(store.rglob("*-run-*.json")):
            time.sleep(0.05)
        started.send_signal(signal.SIGINT)
        self.assertIn(b"KeyboardInterrupt", started.communicate(timeout=60)[1])
        self.assertTrue(any(store.rglob("*-run-*.json")))

    @unittest.skipUnless(os.path.isdir("/proc/self"), "no /proc")
    def test_the_program_ends_with_its_python(self) -> None:
        """A kernel that is started again is killed, and its comparison must not train on."""
        code = "import normscope; normscope.compare(A='post', B='pre', seeds=900, layers=2, d_model=16, steps=80)"
        started = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, env={**os.environ,
                                   "PYTHONPATH": str(pathlib.Path(normscope.__file__).parents[1])})

        def command_of(folder: pathlib.Path) -> bytes:
            try:
                return (folder / "cmdline").read_bytes()
            except OSError:
                return b""  # it has ended meanwhile

        def trains() -> bool:
            return any(b"\0--seeds\000900\0" in command_of(folder) for folder in pathlib.Path("/proc").glob("[0-9]*"))

        until = time.monotonic() + 30
        while time.monotonic() < until and not any((self.folder / "normscope/results").rglob("*-run-*.json")):
            time.sleep(0.05)
        self.assertTrue(trains())
        started.kill()
        started.communicate()
        until = time.monotonic() + 15
        while time.monotonic() < until and trains():
            time.sleep(0.1)
        self.assertFalse(trains())


if __name__ == "__main__":
    unittest.main()

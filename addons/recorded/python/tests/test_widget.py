"""`normscope.widget`: its training, its traits, and its script in Chromium beside a real kernel. What a machine lacks is
skipped by name: anywidget, jupyter_client with ipykernel, Chromium, a program that holds runs."""
from __future__ import annotations

import array
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any
from unittest import mock

import normscope
from normscope import _held, _widget
from of_program import OfProgram

ROOT = pathlib.Path(__file__).resolve().parents[4]
SIX = {"layers": 6}
try:
    import anywidget  # noqa: F401
    MISSING = ""
except ImportError as error:
    MISSING = str(error)


def holds_runs() -> bool:
    try:
        held = _held.Held()
        held.ask("open", runs=["A=post"], size="small")
        held.close()
        return True
    except normscope.Error:
        return False


HOLDS = holds_runs()


class Settings(unittest.TestCase):
    def test_arms_of_a_command_line(self) -> None:
        words = ["--run", "A=post", "--set", "A:train.warmup=50", "--run", "B=pre", "--set", "model.layers=6",
                 "--set", "wiring.L*=before=rms:1e-6", "--steps", "8"]
        common = {"model.layers": "6", "wiring.L*": "before=rms:1e-6"}
        self.assertEqual(_widget.arms_of(words), {"A": {**common, "preset": "post", "train.warmup": "50"},
                                                  "B": {**common, "preset": "pre"}})

    def test_norms_of_a_tape(self) -> None:
        names = ("L01.attn.before", "L01.attn.sum", "L01.ffn.wq", "dec.L02.cross.stream", "L02.ffn.before.mean", "emb")
        self.assertEqual(_widget.norms_of([{"name": name} for name in names]), {"before": 1 / 3, "stream": 1 / 3})

    def test_without_its_package_a_widget_says_what_to_install(self) -> None:
        with mock.patch.dict(sys.modules, {"anywidget": None}):
            sys.modules.pop("normscope._view", None)
            with self.assertRaisesRegex(normscope.Error, r'pip install "normscope\[widget\]"'):
                normscope.widget(A="post", B="pre")


@unittest.skipUnless(HOLDS, "no program that holds runs")
class Trained(OfProgram):
    def test_a_movement_ends_what_it_changes(self) -> None:
        """The first part of a moved run is its last where another movement comes."""
        steps: "dict[int, int]" = {}
        ask = _held.Held.ask

        def counted(held: _held.Held, do: str, **what: Any) -> "dict[str, Any]":
            if do == "step":
                steps[what["run"]] = steps.get(what["run"], 0) + what["steps"]
            return ask(held, do, **what)

        told = []
        moves = [{"preset": "pre"}, {"preset": "sandwich"}]

        def tell(part: "dict[str, Any]") -> None:
            told.append(part)
            if moves and len(part["losses"]) == _widget.FIRST:
                trainer.want({"A": moves.pop(0)})

        with mock.patch.object(_held.Held, "ask", counted):
            trainer = _widget.Trainer(tell, {"A": {"preset": "post"}}, 1, None)
            trainer.start()
            self.assertTrue(trainer.wait(60))
            trainer.close()
        self.assertEqual(steps, {1: _widget.FIRST, 2: _widget.FIRST, 3: 200})
        self.assertEqual((len(told[-1]["losses"]), told[-1]["verdict"]), (200, "learns"))
        self.assertEqual(told[-1]["drawn"]["norms"], {"before": 1, "after": 1})

    def test_the_losses_are_those_of_instant(self) -> None:
        told: "dict[str, Any]" = {}
        trainer = _widget.Trainer(lambda part: told.update({part["arm"]: part["losses"]}), {"A": {"preset": "post"}}, 1, None)
        trainer.start()
        self.assertTrue(trainer.wait(60))
        trainer.close()
        lab = normscope.instant(A="post", B="pre")
        self.assertEqual(array.array("f", told["A"]), array.array("f", [row[0] for row in lab.A.series("loss", seed=1)]))

    def test_what_the_program_refuses_is_told(self) -> None:
        told: "list[dict[str, Any]]" = []
        trainer = _widget.Trainer(told.append, {"A": {"preset": "post"}}, 1, 12)
        trainer.start()
        trainer.wait(60)
        trainer.want({"A": {"preset": "psot"}})
        trainer.wait(60)
        self.assertIn("A: [preset] 'psot' is unknown", told[-1]["error"])
        trainer.want({"A": {"preset": "pre"}})
        trainer.wait(60)
        self.assertEqual(len(told[-1]["losses"]), 12)
        trainer.close()
        with self.assertRaisesRegex(normscope.Error, "the widget is closed"):
            trainer.want({"A": {"preset": "post"}})
        with self.assertRaisesRegex(normscope.Error, "was closed"):
            trainer._held.ask("state", run=1)


@unittest.skipIf(MISSING, MISSING)
@unittest.skipUnless(HOLDS, "no program that holds runs")
class Traits(OfProgram):
    def test_they_follow_a_movement(self) -> None:
        widget = normscope.widget(A="post", B=dict(placement="post", warmup=50), **SIX)
        self.addCleanup(widget.close)
        seen = []
        widget.observe(lambda change: seen.append(change.new["A"]), "verdict")
        self.assertTrue(widget.wait())
        self.assertEqual((widget.verdict["A"], len(widget.losses["B"])), ("stuck", 200))
        widget.move("A", placement="pre")
        self.assertTrue(widget.wait())
        self.assertEqual(widget.verdict["A"], "learns")
        self.assertEqual(seen[-1], "learns")
        self.assertEqual(widget.drawn["A"]["norms"], {"before": 1})
        self.assertEqual({place["name"]: place["norms"] for place in widget.places}["sandwich"], {"before": 1, "after": 1})

    def test_what_is_wrong_is_one_line(self) -> None:
        widget = normscope.widget(A="post", B="pre", steps=8)
        self.addCleanup(widget.close)
        for moved, line in ((lambda: widget.move("C", lr=1), "no run C"), (lambda: widget.move("A", lr="fast"), "'fast'"),
                            (lambda: widget.set_trait("settings", {"A": {}}), "settings of A: expected those of A, B"),
                            (lambda: normscope.widget(A="psot", B="pre"), "psot"),
                            (lambda: normscope.widget(A="post"), "expected A and B"),
                            (lambda: normscope.widget(3), "expected a comparison"),
                            (lambda: normscope.widget(normscope.compare(A="post", B="pre", steps=8, layers=2), lr=1), "expected it alone")):
            with self.subTest(line), self.assertRaisesRegex(normscope.Error, line):
                moved()
        for message, line in (({"format": 2}, "format 2: expected 1"),
                              ({"format": 1, "arm": "A", "key": "train.lr", "value": -1}, "from 0 to")):
            widget._heard(widget, message, [])
            self.assertIn(line, widget.error)

    def test_python_ends_while_it_trains(self) -> None:
        for seconds in ("0", "0.1", "0.4"):
            code = f"""import normscope, time
w = normscope.widget(A="post", B="pre", layers=24)
print(w._trainer._held._process.pid)
time.sleep({seconds})"""
            ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60, env={
                **os.environ, "PYTHONPATH": str(pathlib.Path(normscope.__file__).parents[1])})
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))
            with self.assertRaises(ProcessLookupError):
                os.kill(int(ended.stdout), 0)

    def test_it_has_the_runs_of_a_comparison(self) -> None:
        lab = normscope.compare(A="post", B=dict(placement="pre", warmup=4), layers=2, d_model=16, steps=8, seeds=1)
        widget = normscope.widget(lab, steps=8)
        self.addCleanup(widget.close)
        self.assertEqual(widget.settings["B"], {"preset": "pre", "model.layers": "2", "model.d_model": "16",
                                                "model.placement": "pre", "train.warmup": "4"})


def without_browser() -> str:
    try:
        import jupyter_client  # noqa: F401
        import ipykernel  # noqa: F401
    except ImportError as error:
        return str(error)
    if not HOLDS:
        return "no program that holds runs"
    return MISSING or ("" if shutil.which(os.environ.get("CHROMIUM", "chromium")) else "Chromium is not installed")


# Waits until run A is whole, and then keeps in `took` how many ms after the first message from then on a frame has another.
WATCH = """(async () => { const curve = () => document.querySelector('[data-curve="A"]')?.getAttribute("d") ?? "";
while (curve().split("L").length < 200) await new Promise(requestAnimationFrame);
window.took = window.sent = 0;
const before = curve(), watch = new MutationObserver(() => { if (curve() === before) return;
  watch.disconnect();
  requestAnimationFrame(() => { window.took = performance.now() - window.sent; }); });
watch.observe(document.body, { subtree: true, childList: true, attributes: true }); })()"""


@unittest.skipIf(without_browser(), without_browser())
class InChromium(OfProgram):
    """One kernel and one browser for all; each test has a widget and a page."""

    @classmethod
    def setUpClass(cls) -> None:
        sys.path.insert(0, str(ROOT / "tests/web"))
        cls.addClassCleanup(sys.path.remove, str(ROOT / "tests/web"))
        from cdp import Chromium

        cls.kernel = cls.new_kernel()
        cls.addClassCleanup(cls.kernel.close)
        cls.browser = Chromium(webgl=False)
        cls.addClassCleanup(cls.browser.close)

    @staticmethod
    def new_kernel() -> Any:
        from notebook_page import NotebookPage

        sources = str(pathlib.Path(normscope.__file__).parents[1])
        kernel = NotebookPage({**os.environ, "PYTHONPATH": sources}, tempfile.gettempdir())
        kernel.run("import normscope as ns")
        return kernel

    def setUp(self) -> None:
        super().setUp()
        self.kernel.run('w = ns.widget(A="post", B="pre", layers=6)')
        self.addCleanup(self.kernel.run, "w.close()")
        self.page = self.open()

    def open(self, scheme: str = "light") -> Any:
        page = self.browser.page(800, 640, scheme=scheme)
        self.addCleanup(page.close)
        page.open(self.kernel.url)
        self.wait_for(page, {"A": "stuck", "B": "learns since step 31"})
        return page

    def wait_for(self, page: Any, verdicts: "dict[str, str]") -> None:
        for arm, words in verdicts.items():
            page.wait(f"""document.querySelector('[data-verdict="{arm}"]')?.textContent === "{words}" """, 30, f"{arm}: {words}")

    def centre(self, arm: str, slot: str) -> "tuple[float, float]":
        """Returns where the norm in this slot is on the page, or would be."""
        box = self.page.evaluate(f"""(() => {{ const svg = document.querySelector('[data-norm="{arm}.{slot}"]').closest("svg");
            const index = ["before", "after", "stream"].indexOf("{slot}");
            const box = svg.querySelectorAll(".slot")[index].getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")
        return box[0], box[1]

    def shown(self, arm: str) -> "list[str]":
        found: "list[str]" = self.page.evaluate(f"""[...document.querySelectorAll('[data-norm^="{arm}."]')]
            .filter((norm) => norm.style.display !== "none").map((norm) => norm.dataset.norm.slice(2))""")
        return found

    def drag(self, begin: "tuple[float, float]", end: "tuple[float, float]") -> None:
        self.page.mouse("Moved", *begin)
        self.page.mouse("Pressed", *begin, "left")
        for part in range(1, 9):
            self.page.mouse("Moved", *(a + (b - a) * part / 8 for a, b in zip(begin, end)), "left")

    def test_a_norm_is_dragged(self) -> None:
        times = []
        for slot, verdict in (("before", "learns since step 31"), ("stream", "stuck")) * 3:
            self.page.evaluate(WATCH)
            begin, end = self.centre("A", self.shown("A")[0]), self.centre("A", slot)
            self.drag(begin, end)
            times.append(self.page.wait("window.took", 30, "another curve"))
            self.page.mouse("Released", *end, "left")
            self.wait_for(self.page, {"A": verdict})
            self.assertEqual(self.shown("A"), [slot])
        print(f"widget: {', '.join(f'{took:.0f}' for took in times)} ms from a movement to another curve", file=sys.stderr)
        self.assertEqual(self.kernel.run("""w.wait(); print(w.settings["A"]["model.placement"], w.verdict["A"],
                                            len(w.losses["A"]))""").strip(), "post stuck 200")
        self.assertEqual(self.page.problems(), [])

    def test_escape_takes_a_drag_back(self) -> None:
        self.drag(self.centre("B", "before"), self.centre("B", "stream"))
        self.wait_for(self.page, {"B": "stuck"})
        self.page.key("Escape")
        self.wait_for(self.page, {"B": "learns since step 31"})
        self.assertEqual(self.shown("B"), ["before"])

    def test_keys_move_a_norm_and_a_slider(self) -> None:
        self.page.evaluate("""document.querySelector('[data-norm="A.stream"]').focus()""")
        self.page.key("Left")
        self.page.wait("""document.activeElement.dataset.norm === "A.after" """, 30, "the norm one place to the left")
        self.page.key("Left")
        self.page.wait("""document.activeElement.dataset.norm === "A.before" """, 30, "the norm before the branch")
        self.assertEqual(self.page.evaluate("document.activeElement.getAttribute('aria-valuenow')"), "1")
        self.page.evaluate("""document.querySelectorAll('[data-key="train.warmup"]')[1].focus()""")
        self.page.key("Right")
        end = time.monotonic() + 30
        while self.kernel.run("print(w.settings['B'].get('train.warmup'))").strip() != "1":
            self.assertLess(time.monotonic(), end)

    def test_a_busy_kernel_answers_after_its_cell(self) -> None:
        self.kernel.client.execute("import time; time.sleep(2)")
        self.page.evaluate("""document.querySelector('[data-norm="B.before"]').focus()""")
        self.page.key("Right")
        self.page.wait("document.querySelector('[role=status]').textContent.startsWith('The kernel is busy')", 30, "busy")
        self.page.wait("""document.activeElement.dataset.norm === "B.after" """, 30, "the norm after the branch")
        self.assertEqual(self.page.evaluate("document.querySelector('[role=status]').textContent"), "")

    def test_both_themes_and_what_it_refuses(self) -> None:
        background = "getComputedStyle(document.querySelector('.normscope')).backgroundColor"
        self.assertEqual(self.page.evaluate(background), "rgb(255, 255, 255)")
        dark = self.open("dark")
        self.assertEqual(dark.evaluate(background), "rgb(26, 27, 31)")
        dark.evaluate("document.body.dataset.jpThemeLight = 'true'")  # a light notebook on a dark desktop
        self.assertEqual(dark.evaluate(background), "rgb(255, 255, 255)")
        self.kernel.run("w.error = 'A: no'")
        self.page.wait("document.querySelector('.error').textContent === 'A: no'", 30, "the line of the error")

    def test_the_program_ends_with_the_widget_and_with_the_kernel(self) -> None:
        program = int(self.kernel.run("print(w._trainer._held._process.pid)"))
        os.kill(program, 0)
        self.assertEqual(self.kernel.run("w.close(); print(w._trainer._held._process.poll())").strip(), "-9")
        kernel = self.new_kernel()
        program = int(kernel.run("w = ns.widget(A='post', B='pre'); print(w._trainer._held._process.pid)"))
        kernel.close()
        with self.assertRaises(ProcessLookupError):
            os.kill(program, 0)


if __name__ == "__main__":
    unittest.main()

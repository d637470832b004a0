"""Sweeps, studies, small runs, looks into models, figures and stubs, against the program: skipped where there is none that
has its usual add-ons."""
from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

import normscope
from normscope import _grids, _lab, _program, _stubs
from of_program import TINY, OfProgram

SVG = "{http://www.w3.org/2000/svg}svg"


def has_its_addons() -> bool:
    try:
        said = _lab.run("--help")
    except normscope.Error:
        return False
    return all(re.search(rf"^  {command} ", said, re.MULTILINE) for command in ("sweep", "study", "inspect", "bleu"))


def picture_in(shown: str) -> "ElementTree.Element":
    found = re.search(r'<img src="data:image/svg\+xml;base64,(.*?)">', shown)
    assert found, shown[:200]
    return ElementTree.fromstring(base64.b64decode(found[1]))


class Reading(unittest.TestCase):
    """What needs no program."""

    def test_values_of_an_axis(self) -> None:
        fields = {"train.lr": {"type": "real", "low": 0, "high": 1}, "on": {"type": "flag"}}
        self.assertEqual(_grids.axis_words("train.lr", [1e-3, 0.5], fields), ["--axis", "train.lr=0.001,0.5"])
        self.assertEqual(_grids.axis_words("on", (True, False), fields), ["--axis", "on=true,false"])
        self.assertEqual(_grids.axis_words("text", ["a,b", "c"], fields), ["--axis", "text=a,b;c"])
        with self.assertRaisesRegex(normscope.Error, r"\[train.lr\] 2: expected a number from 0 to 1"):
            _grids.axis_words("train.lr", [0.5, 2], fields)
        for wanted, text, expected in ((1e-3, "0.001", True), ("1e-3", "0.001", True), (True, "true", True),
                                       ("post", "post", True), ("post", "pre", False), (1, "2", False)):
            self.assertEqual(_grids.same(wanted, text), expected, (wanted, text))

    def test_types_of_settings(self) -> None:
        field = {"key": "k", "label": "l", "unit": "", "default": "1", "help": "h", "type": "integer", "low": 1.0,
                 "high": 9.0}
        self.assertEqual(_stubs.lines_of(field), ["    # l, 1 to 9 (by default 1). h", '    "k": int,'])
        self.assertEqual(_stubs.type_of({"type": "choice", "choices": ["a", "b"]}), 'Literal["a", "b"]')


@unittest.skipUnless(has_its_addons(), "no program with its usual add-ons")
class Asked(OfProgram):
    def test_a_sweep_has_the_cells_of_the_program(self) -> None:
        grid = normscope.sweep("train.lr=1e-3,1e-2", placement=["post", "pre"], seeds=2, **TINY)
        path = self.folder / "own.json"
        subprocess.run([str(_program.find()), "sweep", "--axis", "train.lr=1e-3,1e-2", "--axis", "model.placement=post,pre",
                        "--set", "model.layers=2", "--set", "model.d_model=16", "--steps", "8", "--seeds", "2", "--json",
                        str(path)], check=True, capture_output=True)
        self.assertEqual(grid.told, json.loads(path.read_text()))
        cell = grid.cell(lr=1e-2, placement="pre")
        self.assertEqual(cell.values, {"train.lr": "0.01", "model.placement": "pre"})
        self.assertEqual((cell.tally, cell.seeds), ("not decided 2 of 2", [1, 2]))
        assert cell.loss is not None
        self.assertTrue(cell.band[0] <= cell.loss <= cell.band[1])
        with mock.patch.dict(sys.modules, {"numpy": None, "pandas": None}):
            self.assertEqual([row["train.lr"] for row in grid.table], ["0.001", "0.01"] * 2)
            self.assertEqual(len(grid.runs), 8)
        self.assertEqual(picture_in(grid._repr_html_()).tag, SVG)
        self.assertEqual(set(grid._repr_mimebundle_()), {"text/plain", "text/html"})
        for wanted, line in (({"lr": 5, "placement": "pre"}, r"\[train.lr\] 5 was not swept: expected 0.001, 0.01"),
                             ({"lr": 1e-2}, "expected a value of train.lr and of model.placement"),
                             ({"seed": 1}, r"\[seed\] is no axis: expected train.lr and model.placement")):
            with self.subTest(line), self.assertRaisesRegex(normscope.Error, line):
                grid.cell(**wanted)

    def test_a_sweep_refuses_before_training(self) -> None:
        for axes, settings, line in (((), {}, "expected something to sweep"), (("wamrup=1,2",), {}, r"\[wamrup\] is no setting"),
                                     ((), {"lr": [1e-3, "fast"]}, r"\[train.lr\] 'fast': expected a number"),
                                     (("warmup",), {"seeds": 0}, "seeds 0"), (("nothing",), {}, "nothing not in"),
                                     ((), {"warmup": [0, 4], "metric": "beauty"}, "beauty not in")):
            with self.subTest(line), self.assertRaisesRegex(normscope.Error, line):
                normscope.sweep(*axes, **settings)
        self.assertEqual([path for path in self.folder.rglob("*") if path.is_file()], [])

    def test_small_runs_have_losses_of_five_seeds(self) -> None:
        lab = normscope.instant(A="post", B="pre", layers=2)
        self.assertEqual(lab.A.seeds, [1, 2, 3, 4, 5])
        steps = lab.told["steps"]
        for seed in lab.A.seeds:
            self.assertEqual(len(lab.B.series("loss", seed=seed)), steps)
        self.assertEqual(len(lab.A.series("L*.ffn.w2.grad_norm")[0]), 2)
        with self.assertRaisesRegex(normscope.Error, "not in the log of run A and seed 2"):
            lab.A.series("L*.ffn.w2.grad_norm", seed=2)
        last = [row[0] for row in lab.B.series("loss", seed=3)][-1]
        self.assertTrue(lab.B.band[0] - 0.5 < last < lab.B.band[1] + 0.5)
        self.assertIn("loss", " ".join(picture_in(lab._repr_html_()).itertext()))
        caption = lab.caption  # the reruns are seeds of their runs, and no runs of their own
        self.assertRegex(caption, r"A  Post-LN.* 5 seeds +baseline\nB .* 5 seeds\n\n1 setting differs")
        self.assertNotIn("\nC ", caption)
        self.assertIn("instant=on", lab.link)
        told = subprocess.run([str(_program.find()), "instant", "--link", lab.link, "--json"], check=True,
                              capture_output=True, text=True).stdout
        self.assertEqual(json.loads(told)["arms"], lab.told["arms"])

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "no /proc")
    def test_comparisons_leave_nothing(self) -> None:
        def used() -> "tuple[int, int]":
            for _ in range(20):
                normscope.compare(A="post", B="pre", seeds=1, **TINY).verdict("A learns")
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd"))

        (memory, files), (later, open_then) = used(), used()
        self.assertLess(later - memory, 1 << 20)
        self.assertEqual(open_then, files)

    def test_names_that_were_promised_are_there(self) -> None:
        """What README.md promises, in What stays: a name may be added here, and goes only with its minor version."""
        self.assertLessEqual({"Comparison", "Error", "Model", "compare", "inside", "instant", "load", "open", "study",
                              "sweep", "watch", "widget"}, set(normscope.__all__))
        lab = normscope.instant(A="post", B="pre", layers=2)
        self.assertLessEqual({"run", "seed", "name", "steps", "loss", "validation", "difference", "verdict"},
                             set(lab.told["runs"][0]))
        self.assertLessEqual({"letter", "seeds", "band", "tally", "verdict"}, set(dir(lab.A)) | set(vars(lab.A)))

    def test_a_comparison_is_linked_and_saved(self) -> None:
        lab = normscope.compare(A="post", B=dict(placement="pre", warmup=4), seeds=2, **TINY)
        self.assertIn("step=8", lab.link)
        folder = lab.save(self.folder / "kept")
        self.assertEqual(json.loads((folder / "compare.json").read_text()), lab.told)
        said = subprocess.run([str(_program.find()), "compare", str(folder / "runs.jsonl"), "--json"], check=True,
                              capture_output=True, text=True).stdout
        self.assertEqual(len(json.loads(said)["runs"]), 2)
        with self.assertRaisesRegex(normscope.Error, "save '.*runs.jsonl'"):
            lab.save(folder / "runs.jsonl")

    def test_a_figure_for_a_paper(self) -> None:
        lab = normscope.compare(A="post", B="pre", seeds=2, **TINY)
        drawn = lab.figure(self.folder / "fig1.pdf", width="120mm", font="7pt", grey=True)
        self.assertTrue(drawn.read_bytes().startswith(b"%PDF-"))
        self.assertRegex(drawn.read_bytes().decode("latin-1"), r"/MediaBox \[0 0 340\.1")  # 120 mm in points
        self.assertTrue((self.folder / "fig1.csv").read_text().startswith("series,step,"))
        self.assertEqual(ElementTree.parse(lab.figure(self.folder / "d.svg", plot="difference")).getroot().tag, SVG)
        self.assertTrue(lab.caption.startswith("Difference to A: "), lab.caption)
        lab.figure(self.folder / "loss.pdf")
        caption = lab.caption
        self.assertTrue(caption.startswith("Loss: "), caption)
        for words in ("Pre-LN", "1 setting differs", "2 seeds", "normscope compare --run A=post --run B=pre", "--seeds 2"):
            self.assertIn(words, caption)
        self.assertNotIn("/tmp", caption)
        for path, wanted, line in (("fig1.png", {}, "ends in .pdf or .svg"), ("f.pdf", {"plot": "beauty"}, "expected one of"),
                                   ("f.pdf", {"width": "1mm"}, "--figure-width 1mm"),
                                   ("no/f.pdf", {}, "No such file")):
            with self.subTest(line), self.assertRaisesRegex(normscope.Error, line):
                lab.figure(self.folder / path, **wanted)

    def test_a_look_inside(self) -> None:
        path = self.folder / "m.safetensors"
        subprocess.run([str(_program.find()), "train", "--run", "A=post", "--set", "model.layers=2", "--set",
                        "model.d_model=16", "--steps", "8", "--save", str(path)], check=True, capture_output=True)
        model = normscope.inside(path)
        self.assertEqual(model.told["step"], 8)
        seen = model.look("the cat")
        self.assertEqual((seen.tokens, seen.names), (list("the cat"), ["L01.attn", "L01.ffn", "L02.attn", "L02.ffn"]))
        for numbers in (seen.norms, seen.own_shares):
            self.assertEqual([len(row) for row in numbers], [7] * 4)
        self.assertTrue(all(0 < share < 2 for row in seen.own_shares for share in row))
        self.assertEqual(picture_in(seen._repr_html_()).tag, SVG)
        numbers = [token["token"] for token in seen.told["tokens"]]
        self.assertEqual(model.look(ids=numbers, leave_out=True).told["loss"], seen.loss)
        with self.assertRaisesRegex(normscope.Error, "expected a text, or ids"):
            model.look()
        with self.assertRaisesRegex(normscope.Error, "not in the vocabulary"):
            model.look("THE CAT")
        with self.assertRaisesRegex(normscope.Error, "there is no such folder"):
            normscope.inside(self.folder / "none")

    def test_a_study_has_parts_and_a_page(self) -> None:
        real = _lab.run
        few = mock.patch.object(_lab, "run", lambda *words, **more: real(*words, "--stored", **more))
        with few:  # 72 runs are too many for a test
            answer = normscope.study("streams", quick=True)
        self.assertTrue(answer.markdown.startswith("# "))
        self.assertEqual(len(answer.parts), 2)
        with mock.patch.dict(sys.modules, {"pandas": None}):
            self.assertEqual({row["part"] for row in answer.table}, set(answer.parts))
        self.assertEqual(answer._repr_html_().count("data:image/svg+xml"), 2)
        with self.assertRaisesRegex(normscope.Error, "nothing"):
            normscope.study("nothing")

    def test_the_stubs_are_those_of_the_program(self) -> None:
        self.assertEqual(_stubs.PATH.read_text(), _stubs.text(), "expected the output of python -m normscope._stubs")


if __name__ == "__main__":
    unittest.main()

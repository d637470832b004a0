"""A notebook as a researcher writes it, executed by nbclient in a kernel of its own: skipped without nbclient, ipykernel,
pandas and numpy, and without a program."""
from __future__ import annotations

import os
import pathlib
import tempfile
import unittest
from typing import Any

import normscope
from test_results import has_its_addons

try:
    import ipykernel  # noqa: F401
    import nbformat
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    from nbclient import NotebookClient
    MISSING = "" if has_its_addons() else "no program with its usual add-ons"
except ImportError as error:
    MISSING = str(error)

# Each is a cell; together some 40 statements.
CELLS = ("""
import normscope as ns, numpy as np, pandas as pd, pathlib
lab = ns.instant(A="post", B=dict(placement="post", warmup=50), C="pre", layers=6)
lab
""", """
assert lab.A.tally == "stuck 5 of 5" and lab.A.band[0] > lab.C.band[1]
print(lab.verdict("C learns earlier than A"), lab.verdict("A ends lower than C"), sep="\\n")
""", """
losses = np.hstack([lab.C.series("loss", seed=seed) for seed in lab.C.seeds])
assert losses.shape == (lab.told["steps"], 5) and np.isfinite(losses).all()
losses.mean(axis=1)[-1]
""", """
from normscope import _show
lines, show = [], _show.Progress.show
_show.Progress.show = lambda progress, line: (lines.append(line), show(progress, line))
small = dict(layers=2, d_model=16, steps=60)
usual = ns.compare(A="post", B="pre", seeds=3, **small)
assert lines[-1] == "" and any("training  step" in line and "s left" in line for line in lines), lines
assert isinstance(usual.table, pd.DataFrame)
usual.table[["run", "seed", "loss"]].groupby("run").loss.mean()
""", """
usual
""", """
g = usual.A.series("L*.ffn.w2.grad_norm")
h = usual.B.series("L*.ffn.w2.grad_norm")
assert g.shape == h.shape == (60, 2)
np.median(g[:, 0] / h[:, 0])
""", """
try:
    ns.compare(A="psot", B="pre")
except ns.Error as error:
    print(error)
""", """
s = ns.sweep("train.lr=1e-3:1e-2:log3", placement=["post", "pre"], seeds=3, **small)
s
""", """
assert s.cell(lr=1e-3, placement="post").seeds == [1, 2, 3]
assert s.table.shape[0] == 6 and s.runs.shape[0] == 18
best = s.table.sort_values("loss").iloc[0]
best["train.lr"], best["model.placement"]
""", """
drawn = lab.figure("fig1.pdf", width="84mm", font="8pt")
assert drawn.read_bytes()[:5] == b"%PDF-" and pathlib.Path("fig1.csv").exists()
print(lab.caption)
print(lab.link)
""", """
kept = usual.save("kept")
sorted(path.name for path in kept.iterdir())
""", """
import subprocess
from normscope import _program
trained = subprocess.run([_program.find(), "train", "--run", "A=post", "--set", "model.layers=2", "--set", "model.d_model=16",
                          "--steps", "20", "--save", "model.safetensors"], check=True, capture_output=True)
i = ns.inside("model.safetensors").look("the cat sat")
assert i.norms.shape == i.own_shares.shape == (4, 11)
i
""", """
i.table.set_index("name").beta2.idxmax()
""")


@unittest.skipIf(MISSING, MISSING)
class Notebook(unittest.TestCase):
    def test_it_runs_and_shows_what_it_found(self) -> None:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.strip()) for cell in CELLS])
        with tempfile.TemporaryDirectory() as folder:
            sources = str(pathlib.Path(normscope.__file__).parents[1])
            environment = {**os.environ, "PYTHONPATH": sources, "XDG_CACHE_HOME": folder}
            NotebookClient(notebook, timeout=120, kernel_name="python3",
                           resources={"metadata": {"path": folder}}).execute(env=environment)
        outputs = [cell.outputs for cell in notebook.cells]

        def shown(place: int) -> "dict[str, Any]":
            found: "dict[str, Any]" = next(one for one in outputs[place] if one.output_type == "execute_result").data
            return found

        def said(place: int) -> str:
            return "".join(one.text for one in outputs[place] if one.output_type == "stream" and one.name == "stdout")

        for place in (0, 4, 7, 11):
            self.assertIn("data:image/svg+xml", shown(place)["text/html"])
            self.assertIn("<table>", shown(place)["text/html"])
        progress = [one.data["text/plain"] for one in outputs[3] if one.output_type == "display_data"]
        self.assertEqual(progress, [""])  # one place, where nothing is left at the end
        self.assertRegex(said(1), r"\Aholds in 5 of 5 pairs .*\ndoes not hold in 5 of 5 pairs")
        self.assertIn("'psot' is unknown", said(6))
        self.assertIn("This command trains the runs:\nnormscope instant --run A=post", said(9))
        self.assertIn("'compare.json', 'runs.jsonl'", shown(10)["text/plain"])


if __name__ == "__main__":
    unittest.main()

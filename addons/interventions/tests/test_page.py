#!/usr/bin/env python3
"""Compares what-keeps-post-ln-stuck.md with the study fog, with the grammar of the built-in sentences, and with the rows
of fog_in_pytorch.py, which is read and not run: it needs PyTorch. CTest runs it as addons.interventions.test_page."""
import ast
import json
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))
import bands

PAGE = (HERE / "what-keeps-post-ln-stuck.md").read_text()
FOG = HERE.parent / "papers/docs/studies/fog.json"  # of an add-on that may be missing
GRAMMAR = HERE.parents[1] / "training/data/corpus.cpp"
COLUMNS = [("six", "0.005"), ("six", "0.00167"), ("twelve", "0.001"), ("twelve", "0.005"), ("eighteen", "0.001"), ("eighteen", "0.005")]
WIDER = [("width-128", "0.003"), ("width-128-third", "0.001"), ("width-256", "0.001"), ("usual-twelve", "0.001")]


def rows_below(heading):
    """Returns the rows of the page's table whose first line begins so, by their first cell."""
    lines = PAGE[PAGE.index(heading):].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first: rest for first, *rest in cells}


def arms_of_the_script():
    script = ast.parse((HERE / "fog_in_pytorch.py").read_text())
    (arms,) = [one.value for one in script.body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "ARMS"]
    return [key.value for key in arms.keys]


def rules_of_the_program():
    """Returns each rule's alternatives with their weights over the weights' sum, names of rules in capitals."""
    source = GRAMMAR.read_text()
    source = source[source.index("kRules[]"):source.index("\n};", source.index("kRules[]"))]
    rules = {}
    for name, phrases, words in re.findall(r'\{"(\w+)",\s*\{(.*?)\},\s*(\{\}|(?:"[^"]*"\s*)+)\}', source, re.DOTALL):
        found = {re.sub("<(.*?)>", lambda rule: rule[1].upper(), body).strip(): float(weight)
                 for weight, body in re.findall(r'\{([\d.]+), "([^"]*)"\}', phrases)}
        for word in "".join(re.findall('"([^"]*)"', words)).split():
            found[word.split("*")[0]] = float((word + "*1").split("*")[1])
        rules[name.upper()] = found
    return {name: {phrase: round(weight / sum(found.values()), 9) for phrase, weight in found.items()} for name, found in rules.items()}


def rules_of_the_page():
    rules = {}
    for line in re.search(r"```text\n(SENTENCE: .*?)```", PAGE, re.DOTALL)[1].splitlines():
        name, alternatives = line.split(": ")
        found = dict((one + "*1").split("*")[:2] for one in alternatives.split(" | "))
        total = sum(map(float, found.values()))
        rules[name] = {phrase: round(float(weight) / total, 9) for phrase, weight in found.items()}
    return rules


class Page(unittest.TestCase):
    @unittest.skipUnless(FOG.is_file(), "the add-on papers is missing")
    def test_the_first_table_is_the_study(self):
        study = json.loads(FOG.read_text())
        cells = [bands.cells_of(study, part) for part, _ in COLUMNS]
        rows = rows_below("| | six, 0.005 |")
        self.assertEqual(list(rows), list(bands.ROWS))
        for row, shown in rows.items():
            found = [of.get((bands.ROWS[row], rate)) for of, (_, rate) in zip(cells, COLUMNS)]
            self.assertEqual(shown, [f"{cell['learns']}, {cell['loss']:.2f}" if cell else "–" for cell in found], row)

    @unittest.skipUnless(FOG.is_file(), "the add-on papers is missing")
    def test_the_bands_are_the_study_s(self):
        for line in bands.table(json.loads(FOG.read_text())):
            self.assertIn("\n" + line.removesuffix("|"), PAGE)

    @unittest.skipUnless(FOG.is_file(), "the add-on papers is missing")
    def test_the_wider_and_deeper_models_are_the_study_s(self):
        study = json.loads(FOG.read_text())
        parts = [(bands.cells_of(study, part), rate) for part, rate in WIDER]
        rows = rows_below("| | width 128, 0.003 |")
        self.assertGreater(len(rows), 4)
        for row, shown in rows.items():
            found = [cells[bands.ROWS[row], rate] for cells, rate in parts]
            self.assertEqual(shown, [f"{cell['learns']}, {cell['loss']:.2f}" for cell in found], row)

    @unittest.skipUnless(FOG.is_file(), "the add-on papers is missing")
    def test_the_encoder_is_the_study_s(self):
        cells = bands.cells_of(json.loads(FOG.read_text()), "encoder")
        rows = rows_below("| | encoder, 0.001 |")
        self.assertEqual(len(rows), 7)
        for row, shown in rows.items():
            found = [cells[bands.ROWS[row], rate] for rate in ("0.001", "0.003")]
            self.assertEqual(shown, [f"{cell['learns']}, {cell['loss']:.2f}" for cell in found], row)

    def test_the_script_has_the_rows_with_bands(self):
        self.assertEqual(arms_of_the_script(), bands.IN_PYTORCH)
        self.assertEqual(list(rows_below("| | 0.005 |")), bands.IN_PYTORCH)

    def test_the_grammar_is_the_program_s(self):
        self.assertGreater(len(rules_of_the_page()), 10)
        self.assertEqual(rules_of_the_page(), rules_of_the_program())

    def test_wilson_s_interval(self):
        """Ends of the interval solve (share - p)² = z² p (1 - p) / n."""
        for count in range(11):
            for end in bands.wilson(count, 10):
                self.assertAlmostEqual((count / 10 - end) ** 2, 1.96 ** 2 * end * (1 - end) / 10)


if __name__ == "__main__":
    unittest.main()

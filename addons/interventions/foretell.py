#!/usr/bin/env python3
"""Says how well numbers of a run's beginning foretell whether it learns or is stuck, without a warm-up:
  foretell.py skip-product.json        the small size: what `normscope study skip-product --json` writes
  foretell.py share.json ZOO.md        the usual size: what `normscope study share --studies addons/interventions --json`
                                       writes, and the zoo's page, which has each row's verdict and Σβ²
For every number it prints the AUC: the chance that, of a row that learns with most seeds and one that is stuck with most,
the first has the larger number, or of Σβ² the smaller (Hanley and McNeil 1982); half a point where they are equal. 0.5 is a
coin. Rows that diverge are left out."""
import json, math, pathlib, re, sys

BETA, PRODUCT, RATIO, LATER = "Σβ² before training", "skip product, step 5", "gradient ratio, step 5", "gradient ratio, step 20"
GROUPS = {"placements": "", "norms": "-norms", "initialisations": "-inits"}


def cells_of(study, name):
    """Returns the cells of the first column, without a warm-up, by the row's name."""
    for part in study["parts"]:
        if part["name"] == name:
            cells = {cell["row"]: cell for cell in part["sweep"]["cells"] if cell["column"] == 0}
            return {row["name"]: cells[place] for place, row in enumerate(part["rows"]) if place in cells}
    return {}


def of_study(study, suffix):
    """Returns whether each row learns, and its numbers that a part of the study has beside that."""
    kept = {row: cell for row, cell in cells_of(study, "fate" + suffix).items() if cell["sign"] != "diverges"}
    learns = {row: cell["learns"] * 2 > cell["known"] for row, cell in kept.items()}
    beta = {row: -cell["beta2"] for row, cell in kept.items() if cell["beta2"] is not None}
    return learns, {BETA: beta, LATER: {row: cell["gradient_ratio"] for row, cell in kept.items()}}


def of_page(page, names):
    """Returns the same of the zoo's page, of the rows with these names."""
    learns, beta = {}, {}
    for name, shares, verdict in re.findall(r"(?m)^\| `(.+?)` \| .+? \| (\S+) \| (.+?) \|", page):
        some = re.match(r"\**(\d+) of (\d+)", verdict)
        if name not in names or name in learns or not (some or verdict.startswith("**from") or verdict == "stuck"):
            continue
        learns[name] = int(some[1]) * 2 > int(some[2]) if some else verdict != "stuck"
        if shares != "–":
            beta[name] = -float(shares)
    return learns, {BETA: beta, LATER: {}}


def auc(learns, stuck):
    pairs = [(a > b) + 0.5 * (a == b) for a in learns for b in stuck]
    return sum(pairs) / len(pairs) if pairs else math.nan


def show(name, learns, numbers):
    print(f"{name}: {sum(learns.values())} learn, {len(learns) - sum(learns.values())} are stuck")
    for number, of in numbers.items():
        groups = [[of[row] for row in learns if learns[row] == want and of.get(row) is not None] for want in (True, False)]
        if all(groups):
            print(f"  {number}: AUC {auc(*groups):.2f} ({len(groups[0])} and {len(groups[1])} rows)")


def main():
    study = json.loads(pathlib.Path(sys.argv[1]).read_text())
    page = pathlib.Path(sys.argv[2]).read_text() if len(sys.argv) > 2 else None
    everything = ({}, {key: {} for key in (BETA, PRODUCT, RATIO, LATER)})
    for name, suffix in GROUPS.items():
        early = {number: {row: cell["measured"] for row, cell in cells_of(study, of + suffix).items()}
                 for number, of in ((PRODUCT, "product"), (RATIO, "ratio"))}
        if not early[RATIO]:
            continue
        learns, numbers = of_page(page, early[RATIO]) if page else of_study(study, suffix)
        numbers |= early
        show(name, learns, {key: numbers[key] for key in everything[1]})
        everything[0].update(learns)
        for key, of in numbers.items():
            everything[1][key].update(of)
    show("all", *everything)


main()

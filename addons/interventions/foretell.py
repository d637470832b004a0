#!/usr/bin/env python3
"""Says how well numbers of a run's beginning foretell whether it learns or is stuck: foretell.py skip-product.json, the file
that `normscope study skip-product --json` writes. For every number it prints the AUC without a warm-up: the chance that, of
a row that learns with most seeds and one that is stuck with most, the first has the larger number, or of Σβ² the smaller
(Hanley and McNeil 1982); half a point where they are equal. 0.5 is a coin. Rows that diverge are left out."""
import json, math, sys


def cells_of(study, name):
    """Returns the cells of the first column, without a warm-up, by the row's name."""
    part = next(part for part in study["parts"] if part["name"] == name)
    cells = {cell["row"]: cell for cell in part["sweep"]["cells"] if cell["column"] == 0}
    return {row["name"]: cells[place] for place, row in enumerate(part["rows"]) if place in cells}


def auc(learns, stuck):
    pairs = [(a > b) + 0.5 * (a == b) for a in learns for b in stuck]
    return sum(pairs) / len(pairs) if pairs else math.nan


def main():
    study = json.load(open(sys.argv[1]))
    for name, parts in (("placements", [""]), ("norms", ["-norms"]), ("initialisations", ["-inits"]), ("all", ["", "-norms", "-inits"])):
        learns, numbers = {}, {key: {} for key in ("Σβ² before training", "skip product, step 5", "gradient ratio, step 5", "gradient ratio, step 20")}
        for part in parts:
            for row, cell in cells_of(study, "fate" + part).items():
                if cell["sign"] == "diverges":
                    continue
                learns[row] = cell["learns"] * 2 > cell["known"]
                numbers["Σβ² before training"][row] = -cell["beta2"] if cell["beta2"] is not None else None
                numbers["gradient ratio, step 20"][row] = cell["gradient_ratio"]
            for number, of in (("skip product, step 5", "product"), ("gradient ratio, step 5", "ratio")):
                numbers[number] |= {row: cell["measured"] for row, cell in cells_of(study, of + part).items()}
        print(f"{name}: {sum(learns.values())} learn, {len(learns) - sum(learns.values())} are stuck")
        for number, of in numbers.items():
            groups = [[of[row] for row in learns if learns[row] == want and of.get(row) is not None] for want in (True, False)]
            print(f"  {number}: AUC {auc(*groups):.2f} ({len(groups[0])} and {len(groups[1])} rows)")


main()

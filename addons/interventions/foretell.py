#!/usr/bin/env python3
"""Says how well numbers of a run's first five steps foretell whether it learns: foretell.py skip-product.json, the file that
`normscope study skip-product --json` writes, or its folder's. For every number it prints the AUC without a warm-up: the
chance that, of a placement that learns with most seeds and one that does not, the first has the larger number (Hanley and
McNeil 1982); half a point where they are equal. 0.5 is a coin."""
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
    for name, parts in (("placements", [""]), ("placements and norms", ["", "-norms"])):
        fate, numbers = {}, {"Σβ² before training": {}, "skip product at step 5": {}, "gradient ratio at step 5": {}}
        for part in parts:
            for row, cell in cells_of(study, "fate" + part).items():
                fate[row] = cell["learns"] * 2 > cell["known"]
                numbers["Σβ² before training"][row] = -cell["beta2"] if cell["beta2"] is not None else None
            for number, of in (("skip product at step 5", "product"), ("gradient ratio at step 5", "ratio")):
                for row, cell in cells_of(study, of + part).items():
                    numbers[number][row] = cell["measured"]
        common = [row for row in fate if all(of.get(row) is not None for of in numbers.values())]
        print(f"{name}: {len(fate)}, {sum(fate.values())} learn; {len(common)} have all three numbers")
        for number, of in numbers.items():
            known = [row for row in fate if of.get(row) is not None]
            for rows in (known, common):
                learns, stuck = ([of[row] for row in rows if fate[row] == want] for want in (True, False))
                print(f"  {number}: AUC {auc(learns, stuck):.2f} ({len(learns)} learn, {len(stuck)} do not)")


main()

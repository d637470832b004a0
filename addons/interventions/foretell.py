#!/usr/bin/env python3
"""Says how well numbers of a run's beginning foretell whether it learns or is stuck, without a warm-up:
  foretell.py skip-product.json [identity.json [fog.json]]   the small size: what `normscope study skip-product --json`
                                       writes, then `study identity --studies addons/interventions` and `study fog`
  foretell.py share.json ZOO.md [identity.json]              the usual size: what `normscope study share --studies
                                       addons/interventions --json` writes, and the zoo's page, which has each row's
                                       verdict and Σβ²
For every number it prints the AUC: the chance that, of a row that learns with most seeds and one that is stuck with most,
the first has the larger number, or of Σβ² the smaller (Hanley and McNeil 1982); half a point where they are equal. 0.5 is a
coin. The range is the middle 95 % of 2,000 draws of the rows with replacement (Efron 1979). Then it names the rows on the
wrong side of the value that tells most rows apart. Rows that diverge are left out."""
import json, math, pathlib, random, re, sys

BETA, PRODUCT, RATIO, LATER = "Σβ² before training", "skip product, step 5", "gradient ratio, step 5", "gradient ratio, step 20"
FRESH, TEN = "token identity at the output, untrained", "token identity at the output, step 10"
SEEN_FRESH, SEEN = "identity × seen, untrained", "identity × seen, step 10"
RATIO_TEN = "gradient ratio, step 10"
NUMBERS = (BETA, PRODUCT, RATIO, LATER, RATIO_TEN, FRESH, TEN, SEEN_FRESH, SEEN)
GROUPS = {"placements": "", "norms": "-norms", "initialisations": "-inits"}


def cells_of(study, name, column=0):
    """Returns the cells of a column of a part (the first: without a warm-up), by the row's name."""
    for part in study["parts"]:
        if part["name"] == name:
            cells = {cell["row"]: cell for cell in part["sweep"]["cells"] if cell["column"] == column}
            return {row["name"]: cells[place] for place, row in enumerate(part["rows"]) if place in cells}
    return {}


def measured(study, name, column=0):
    return {row: cell["measured"] for row, cell in cells_of(study, name, column).items() if cell["measured"] is not None}


def fates(cells):
    """Returns whether each row learns that does not diverge."""
    return {row: cell["learns"] * 2 > cell["known"] for row, cell in cells.items() if cell["sign"] != "diverges"}


def of_study(study, suffix):
    """Returns whether each row learns, and its numbers that a part of the study has beside that."""
    kept = cells_of(study, "fate" + suffix)
    beta = {row: -cell["beta2"] for row, cell in kept.items() if cell["beta2"] is not None}
    return fates(kept), {BETA: beta, LATER: {row: cell["gradient_ratio"] for row, cell in kept.items()}}


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


def of_identity(study, prefix, suffix):
    """Returns what a study measured of its rows at step 1, before any weight has changed, and at step 10."""
    columns = [[measured(study, prefix + number + suffix, column) for column in (0, 1)]
               for number in ("identity", "seen", "ratio")]
    both = [{row: columns[0][c][row] * columns[1][c][row] ** 2 for row in columns[0][c] if row in columns[1][c]}
            for c in (0, 1)]
    return {FRESH: columns[0][0], TEN: columns[0][1], SEEN_FRESH: both[0], SEEN: both[1], RATIO_TEN: columns[2][1]}


def auc(learns, stuck):
    pairs = [(a > b) + 0.5 * (a == b) for a in learns for b in stuck]
    return sum(pairs) / len(pairs) if pairs else math.nan


def interval(learns, stuck):
    """Returns the middle 95 % of the AUC over rows drawn with replacement, of each kind as many as there are."""
    draw = random.Random(1).choices
    found = sorted(auc(draw(learns, k=len(learns)), draw(stuck, k=len(stuck))) for _ in range(2000))
    return found[50], found[-51]


def wrong_rows(of, learns):
    """Returns the rows on the wrong side of the value that leaves the fewest there, in the mean over the two kinds."""
    kinds = [[row for row in learns if learns[row] == want] for want in (True, False)]
    def wrong(limit):
        return [[row for row in kinds[0] if of[row] < limit], [row for row in kinds[1] if of[row] >= limit]]
    best = min(sorted(of.values()), key=lambda limit: sum(len(w) / len(k) for w, k in zip(wrong(limit), kinds)))
    return [f"{row} learns" for row in wrong(best)[0]] + [f"{row} is stuck" for row in wrong(best)[1]]


def show(name, learns, numbers):
    print(f"{name}: {sum(learns.values())} learn, {len(learns) - sum(learns.values())} are stuck")
    for number in NUMBERS:
        of = {row: value for row, value in numbers.get(number, {}).items() if row in learns and value is not None}
        told = {row: learns[row] for row in of}
        groups = [[of[row] for row in of if learns[row] == want] for want in (True, False)]
        if not all(groups):
            continue
        low, high = interval(*groups)
        print(f"  {number}: AUC {auc(*groups):.2f} [{low:.2f}, {high:.2f}] ({len(groups[0])} and {len(groups[1])} rows)"
              f"; wrong: {', '.join(wrong_rows(of, told)) or 'none'}")


def main():
    files = [pathlib.Path(name).read_text() for name in sys.argv[1:]]
    page = files.pop(1) if len(files) > 1 and not files[1].lstrip().startswith("{") else None
    study, identity, fog = (json.loads(text) for text in files + ["{}"] * (3 - len(files)))
    everything = ({}, {key: {} for key in NUMBERS})

    def take(name, learns, numbers):
        show(name, learns, numbers)
        everything[0].update(learns)
        for key, of in numbers.items():
            everything[1][key].update(of)

    for name, suffix in GROUPS.items():
        early = {PRODUCT: measured(study, "product" + suffix), RATIO: measured(study, "ratio" + suffix)}
        if not early[RATIO]:
            continue
        learns, numbers = of_page(page, early[RATIO]) if page else of_study(study, suffix)
        numbers |= early
        if identity:
            numbers |= of_identity(identity, "usual-" if page else "", suffix)
        take(name, learns, numbers)
    if fog:
        variants = {row: learns for row, learns in fates(cells_of(fog, "six", 1)).items() if row not in ("pre", "plain")}
        take("variants of Post-LN", variants, {key: of for key, of in of_identity(fog, "six-", "").items() if of})
    show("all", *everything)


main()

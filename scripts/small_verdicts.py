#!/usr/bin/env python3
"""Puts the verdicts at Instant's small size beside those at the usual one: small_verdicts.py USUAL.json... SMALL.json
writes the tables of docs/instant.md, and the rows of small_verdicts.def on which the sizes disagree, each into the folder
that has the placement. It reads what studies write; of a row that stands in several at the usual size the last one counts,
so that rows can be measured anew (--only NAMES), and what stands in the tables of rows that SMALL.json does not have stays:
  normscope zoo --only placements,norms --depth 6 --seeds 5 --json USUAL.json
  normscope zoo --only placements,norms --depth 6 --seeds 5 --steps 200 --warmup 133 --set model.d_model=32 \\
    --set model.feed_forward=64 --set model.heads=2 --set model.sequence=16 --set train.batch=8 --set train.lr=0.005 \\
    --json SMALL.json"""
import json, pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/instant.md"
BEGIN, END = "<!-- verdicts: written by scripts/small_verdicts.py -->\n", "<!-- end of the verdicts -->\n"
CORE = ROOT / "training/spec/small_verdicts.def"
ADDED = {name: path.parent for path in ROOT.glob("addons/*/placements.def") for name in re.findall(r'PLACEMENT\(\w+, "(.+?)"', path.read_text())}


def rows_of(file):
    """Returns what a row is called, its settings and its cells without and with a warm-up, by the row's name."""
    rows = {}
    for part in json.loads(pathlib.Path(file).read_text())["parts"]:
        for place, row in enumerate(part["rows"]):
            cells = sorted((cell for cell in part["sweep"]["cells"] if cell["row"] == place), key=lambda cell: cell["column"])
            rows[row["name"]] = (row["title"], row["set"], cells)
    return rows


def kind(cell):
    """Says whether a run learns with all seeds, with some, or with none: then what it does."""
    return "learns" if cell["learns"] == cell["known"] else "learns with some seeds" if cell["learns"] else cell["sign"]


def words(cell, other):
    text = f"learns, {cell['learns']} of {cell['known']}" if cell["learns"] else cell["verdict"]
    return f"**{text}**" if kind(cell) != kind(other) else text


def words_of(settings):
    return ", ".join(json.dumps(setting) for setting in settings) + ")"


def row_of(warmup, usual, small, settings):
    numbers = f"{warmup}, {usual['learns']}, {usual['known']}, {small['learns']}, {small['known']}"
    return f"SMALL_VERDICT({numbers}, {words_of(settings)}\n"


*usual, small = map(rows_of, sys.argv[1:])
usual = {name: row for rows in usual for name, row in rows.items()}
page = PAGE.read_text()
begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
differ = [line + "\n" for line in re.findall(r"(?m)^\| `.+", page[begin:end]) if line.split("`")[1] not in small]
same = {(none, warm): [name for name in names.split(", ") if name.strip("`") not in small]
        for none, warm, names in re.findall(r"\| (\w.+?) \| (\w.+?) \| (`.+`) \|", page[begin:end])}
measured = {words_of(settings) for _, settings, _ in small.values()}
lists = {path: "".join(row + "\n" for row in re.findall(r"SMALL_VERDICT\(\d.+", path.read_text() if path.exists() else "")
                       if row.split(", ", 5)[5] not in measured)
         for path in (CORE, *(folder / CORE.name for folder in ADDED.values()))}
for name, (title, settings, cells) in small.items():
    pairs = list(zip(usual[name][2], cells))
    if not all(cell["known"] for pair in pairs for cell in pair):
        print(f"{name} is left out: it was not measured at both sizes", file=sys.stderr)
        continue
    placement = next((s.removeprefix("model.placement=") for s in settings if s.startswith("model.placement=")), "")
    for warmup, (at_usual, at_small) in zip((0, 200), pairs):
        if kind(at_usual) == kind(at_small):
            continue
        if not at_usual["learns"] + at_small["learns"]:
            sys.exit(f"{name} learns with no seed, and ends otherwise at the other size: the Lab has no words for that")
        lists[ADDED[placement] / CORE.name if placement in ADDED else CORE] += row_of(warmup, at_usual, at_small, settings)
    if all(kind(a) == kind(b) for a, b in pairs):
        same.setdefault(tuple(kind(a) for a, _ in pairs), []).append(f"`{name}`")
    else:
        differ.append(f"| `{name}` | {title} | " + " | ".join(words(*p) for a, b in pairs for p in ((a, b), (b, a))) + " |\n")

text = "| | | no warm-up, usual | small | with a warm-up, usual | small |\n|--|--|--|--|--|--|\n" + "".join(differ)
text += "\nBoth sizes say the same of these:\n\n| no warm-up | with a warm-up | |\n|--|--|--|\n"
text += "".join(f"| {none} | {warm} | {', '.join(names)} |\n" for (none, warm), names in sorted(same.items(), key=lambda item: -len(item[1])) if names)
PAGE.write_text(page[:begin] + text + page[end:])
for path, rows in lists.items():
    if path == CORE:
        rows = "// Runs of which Instant's small size says something else than the usual one, as small_size.h has them. Written by\n" \
               "// scripts/small_verdicts.py:\n" \
               "// SMALL_VERDICT(warm-up at the usual size, seeds that learn there, of how many, seeds that learn at the small\n" \
               "// size, of how many, settings...).\n" + rows + '#include "chosen/small_verdicts.def"\n'
    elif rows:
        rows = "// As training/spec/small_verdicts.def, and written with it.\n" + rows
    path.write_text(rows) if rows else path.unlink(missing_ok=True)

#!/usr/bin/env python3
"""Compares the choices that docs/configuration.md lists for a setting with the rows of the table that it is made from;
--write puts them there. tests/app/cli/test_cli.cpp holds every setting's row to its field."""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/configuration.md"
TABLES = {
    "model.norm": ("engine/ops/layer_norm/norm_kinds.def", r'\.short_name = "(.+?)"'),
    "model.activation": ("engine/ops/ops.def", r"^ACTIVATION\(\w+, (\w+),"),
    "model.init": ("engine/model/init_rules.def", r'^INIT_RULE\(\w+, "(.+?)"'),
    "train.optimizer": ("training/spec/optimizers.def", r'\.name = "(.+?)"'),
    "train.schedule": ("training/spec/schedules.def", r'\.name = "(.+?)"'),
}

page = text = PAGE.read_text()
for key, (table, name) in TABLES.items():
    tables = [ROOT / table, *sorted(ROOT.glob(f"addons/*/{pathlib.Path(table).name}"))]  # an add-on's rows stand last
    choices = [c for t in tables for c in re.findall(name, t.read_text(), re.MULTILINE) if c != "none"]
    text, rows = re.subn(rf"^(\| `{key}` \| [^|]* \|)[^|]*\|", rf"\1 {', '.join(choices)} |", text, flags=re.MULTILINE)
    if rows != 1:
        sys.exit(f"{PAGE.name} has {rows} rows for {key}")
if "--write" in sys.argv:
    PAGE.write_text(text)
elif text != page:
    sys.exit(f"{PAGE.name} lists other choices than the tables: python3 scripts/choices.py --write")

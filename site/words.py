"""What the site says itself, by key: assets/words/site.toml. Called by build.py, pages.py and lessons.py."""
import pathlib
import tomllib

FILE = pathlib.Path(__file__).resolve().parent.parent / "assets/words/site.toml"


def flat(table, before):
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}.{name}")
        else:
            yield f"{before}.{name}", value


TEXTS = dict(flat(tomllib.loads(FILE.read_text()), "site"))


def say(key, **places):
    return TEXTS[key].format(**places)

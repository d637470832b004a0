"""What the site says itself, by key: assets/words/site.toml, and the files of that name of other languages. Called by
build.py, pages.py, lessons.py and markdown.py."""
import pathlib
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "assets/words"
ENGLISH = "en"


def flat(table, before):
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}.{name}")
        else:
            yield f"{before}.{name}", value


def read(folder):
    return dict(flat(tomllib.loads((folder / "site.toml").read_text()), "site"))


TEXTS = read(FOLDER)
language = ENGLISH  # of the course and of what stands around the pages


def use(name):
    """Takes the texts of another language, as "de"; what it lacks stays English."""
    global language
    known = [ENGLISH, *sorted(file.parent.name for file in FOLDER.glob("*/site.toml"))]
    if name not in known:
        raise SystemExit(f"site: --language {name}: expected one of {', '.join(known)}")
    language = name
    if name != ENGLISH:
        TEXTS.update(read(FOLDER / name))


def say(key, **places):
    return TEXTS[key].format(**places)

"""What the site says itself, by key: assets/words/site.toml, the files of that name of other languages, and
those of add-ons. Called by
build.py, pages.py, lessons.py and markdown.py."""
import pathlib
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assets/words"
ENGLISH = "en"


def flat(table, before):
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}.{name}")
        else:
            yield f"{before}.{name}", value


def read(below):
    """The texts of `below` in every folder of words: "." for English, "de" for German."""
    texts = {}
    for folder in (FOLDER, *sorted(ROOT.glob("addons/*/words"))):
        if (file := folder / below / "site.toml").is_file():
            texts |= flat(tomllib.loads(file.read_text()), "site")
    return texts


TEXTS = read(".")
language = ENGLISH  # of the course and of what stands around the pages


def use(name):
    """Takes the texts of another language, as "de"; what it lacks stays English."""
    global language
    known = [ENGLISH, *sorted(file.parent.name for file in FOLDER.glob("*/site.toml"))]
    if name not in known:
        raise SystemExit(f"site: --language {name}: expected one of {', '.join(known)}")
    language = name
    if name != ENGLISH:
        TEXTS.update(read(name))


def say(key, **places):
    return TEXTS[key].format(**places)

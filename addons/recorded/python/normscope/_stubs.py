"""`python -m normscope._stubs` writes `_settings.py`, the settings of a run as TypedDicts, from the program's own table;
with --check it writes nothing and exits with 1 where the file is another."""
from __future__ import annotations

import collections
import json
import pathlib
import sys
import textwrap
from typing import Any

from . import _lab

PATH = pathlib.Path(__file__).with_name("_settings.py")
TYPES = {"integer": "int", "real": "float", "flag": "bool"}
HEAD = '''"""The settings of a run, by their whole keys, as `normscope settings --json` has them. Made by `python -m
normscope._stubs`: write nothing here. Where only one key ends in a word, that word stands for it."""
from __future__ import annotations

from typing import Literal, TypedDict, Union

Whole = TypedDict("Whole", {
    "preset": str,  # a preset's name, the settings of which these change
'''
BETWEEN = '''}, total=False)

Words = TypedDict("Words", {  # each stands for the one key above that ends in it
'''
END = '''}, total=False)


class Settings(Whole, Words, total=False):
    """The settings of a run."""

    steps: int  # a word as those above; functions have it as an argument of their own
'''


def type_of(field: "dict[str, Any]") -> str:
    """Returns the type of a setting's values. What is a number with words beside it, or a text, has no range to say."""
    if field["type"] in TYPES:
        return TYPES[field["type"]]
    choices = field.get("choices")
    return "Literal[" + ", ".join(json.dumps(choice) for choice in choices) + "]" if choices else "Union[str, int, float]"


def lines_of(field: "dict[str, Any]") -> "list[str]":
    """Returns the comment of a setting and its line."""
    words = field["label"]
    if "low" in field:
        words += f", {field['low']:.15g} to {field['high']:.15g}"
    words += f" {field['unit']}" if field["unit"] else ""
    words += f" (by default {field['default']})" if field["default"] else ""
    comment = textwrap.wrap(f"{words}. {field['help']}".strip(), 112, break_long_words=False)
    value = f'    "{field["key"]}": {type_of(field)},'
    if len(value) > 118:
        value = f'    "{field["key"]}": {type_of(field)[:8]}\n        ' + "\n        ".join(
            textwrap.wrap(type_of(field)[8:-1], 108, break_on_hyphens=False)) + "],"
    return [*(f"    # {line}" for line in comment), value]


def text() -> str:
    fields = _lab.fields_of_runs()
    whole = [line for field in fields.values() for line in lines_of(field)]
    ends = collections.Counter(key.rpartition(".")[2] for key in fields)
    words = [line for key, field in fields.items() if ends[(end := key.rpartition(".")[2])] == 1 and end != "steps"
             for line in lines_of({**field, "key": end})[-1:]]
    return HEAD + "\n".join(whole) + "\n" + BETWEEN + "\n".join(words) + "\n" + END


def main() -> int:
    made = text()
    if sys.argv[1:] == ["--check"]:
        same = PATH.is_file() and PATH.read_text() == made
        if not same:
            print(f"{PATH.name} is not what the program says: expected the output of python -m normscope._stubs",
                  file=sys.stderr)
        return 0 if same else 1
    PATH.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())

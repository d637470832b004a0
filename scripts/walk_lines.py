#!/usr/bin/env python3
"""Counts the lines of the walk in engine/README.md: of every function that it names, with the comment above it, and of
every file that it names whole. Prints the sum; with --write puts the numbers into the page."""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "engine/README.md"
BEGIN, END = "<!-- walk -->", "<!-- end of walk -->"


def function_place(path, name):
    """The first and the last line of a function, counted from 0, with the comment above it; None: it is not there."""
    lines = path.read_text().splitlines()
    plain = re.compile(r"^[^{(=]*[\s*&]" + re.escape(name) + r"\(|^" + re.escape(name) + r"\(")
    for first, line in enumerate(lines):
        if not plain.search(line) or line.lstrip().startswith(("//", "return", "if", "for")):
            continue
        indent = len(line) - len(line.lstrip())
        last = first
        while last < len(lines) and not lines[last].rstrip().endswith(("{", ";", "}")):
            last += 1
        if lines[last].rstrip().endswith(";"):
            continue  # a declaration or a call
        if lines[last].rstrip().endswith("{"):
            while lines[last] != " " * indent + "}" and lines[last] != " " * indent + "};":
                last += 1
        while first > 0 and lines[first - 1].lstrip().startswith(("//", "template")):
            first -= 1
        return first, last
    return None


def function_lines(path, name):
    place = function_place(path, name)
    if not place:
        sys.exit(f"{path.relative_to(ROOT)} has no {name}()")
    return place[1] - place[0] + 1


def main():
    page = PAGE.read_text()
    begin, end = page.index(BEGIN), page.index(END)
    total = 0

    def entry(match):
        nonlocal total
        path = ROOT / "engine" / match["file"]
        if not path.is_file():
            sys.exit(f"there is no {path.relative_to(ROOT)}")
        if not match["names"]:
            total += (count := len(path.read_text().splitlines()))
            return f"`{match['file']}` ({count})"
        parts = []
        for name in re.findall(r"`([^`]+)`", match["names"]):
            total += (count := function_lines(path, name))
            parts.append(f"`{name}` ({count})")
        return f"`{match['file']}`: " + ", ".join(parts)

    number = r"(?: \(\d+\))?"
    names = rf"`[\w:~]+`{number}(?:, `[\w:~]+`{number})*"
    walk = re.sub(rf"`(?P<file>[\w/]+\.\w+)`(?:: (?P<names>{names})|{number}(?=[;\n]))",
                  lambda m: entry(m) if m.string[m.string.rfind("\n", 0, m.start()) + 1:m.start()].startswith("   Read") else m[0],
                  page[begin:end])
    walk = re.sub(r"\*\*[\d,]+ lines\*\*", f"**{total:,} lines**", walk)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page[:begin] + walk + page[end:])
    print(total)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Counts the lines of the two walks, in engine/README.md and app/README.md: of every function that a walk names, with
the comment above it and with every overload of that name in its file, and of every file that it names whole. Prints
the sums; with --write puts the numbers into the pages, with --check it fails where a page has others (CTest runs it as
house.walks). tests/house/test_readme.cpp holds each walk to its limits."""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("engine/README.md", "app/README.md")
BEGIN, END = "<!-- walk -->", "<!-- end of walk -->"

NUMBER = r"(?: \(\d+\))?"
NAMES = rf"`[\w:~]+`{NUMBER}(?:, `[\w:~]+`{NUMBER})*"
ENTRY = re.compile(rf"`(?P<file>[\w/]+\.\w+)`(?:: (?P<names>{NAMES})|{NUMBER}(?=;| \|))")
ROW = re.compile(r"\| \d+ \| ")


def function_places(path, name):
    """Returns the first and last line, counted from 0, of each function of that name with the comment above it."""
    lines = path.read_text().splitlines()
    plain = re.compile(r"^[^{(=]*[\s*&]" + re.escape(name) + r"\(|^" + re.escape(name) + r"\(")
    places = []
    for first, line in enumerate(lines):
        if not plain.search(line) or line.lstrip().startswith(("//", "return", "if", "for")):
            continue
        indent = len(line) - len(line.lstrip())
        last = first
        while last < len(lines) and not lines[last].rstrip().endswith(("{", ";", "}")):
            last += 1
        if lines[last].rstrip().endswith(";"):
            continue  # this is a declaration or a call
        if lines[last].rstrip().endswith("{"):
            while lines[last] != " " * indent + "}" and lines[last] != " " * indent + "};":
                last += 1
        while first > 0 and lines[first - 1].lstrip().startswith(("//", "template")):
            first -= 1
        places.append((first, last))
    return places


def function_place(path, name):
    """Returns the place of the first function of that name, or None where the file has none."""
    return next(iter(function_places(path, name)), None)


def counted(walk):
    """Returns the walk with its numbers, the sum of its lines and the number of its files."""
    total, files = 0, set()

    def entry(match):
        nonlocal total
        path = ROOT / match["file"]
        if not path.is_file():
            sys.exit(f"there is no {match['file']}")
        files.add(match["file"])
        if not match["names"]:
            total += (count := len(path.read_text().splitlines()))
            return f"`{match['file']}` ({count})"
        parts = []
        for name in re.findall(r"`([^`]+)`", match["names"]):
            places = function_places(path, name)
            if not places:
                sys.exit(f"{match['file']} has no {name}()")
            total += (count := sum(last - first + 1 for first, last in places))
            parts.append(f"`{name}` ({count})")
        return f"`{match['file']}`: " + ", ".join(parts)

    lines = [ENTRY.sub(entry, line) if ROW.match(line) else line for line in walk.splitlines(keepends=True)]
    walk = re.sub(r"\*\*[\d,]+ lines\*\* in \d+ files", f"**{total:,} lines** in {len(files)} files", "".join(lines))
    return walk, total, len(files)


def main():
    for name in PAGES:
        page = (ROOT / name).read_text()
        begin, end = page.index(BEGIN), page.index(END)
        walk, total, files = counted(page[begin:end])
        if "--check" in sys.argv[1:] and walk != page[begin:end]:
            sys.exit(f"{name} has other numbers than the sources: scripts/walk_lines.py --write")
        if "--write" in sys.argv[1:]:
            (ROOT / name).write_text(page[:begin] + walk + page[end:])
        print(f"{name}: {total:,} lines in {files} files")


if __name__ == "__main__":
    main()

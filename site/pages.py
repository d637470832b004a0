"""Which files become which pages, and what stands around each: header, contents, and the list of all pages. A new file
docs/NAME.md joins the manual by itself. Called by build.py."""
import html
import pathlib
import posixpath
import re

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
CONTENTS = "<!-- contents -->"  # where a page wants its contents; otherwise they follow the title

# Groups of the navigation: source, page, and what it is called there; None: by its first heading.
GROUPS = {
    "Results": [
        ("docs/claims.md", "docs/claims.html", "Claims"),
        ("docs/reproduction.md", "docs/reproduction.html", "Papers, reproduced"),
        ("docs/zoo.md", "docs/zoo.html", "The zoo"),
        ("docs/performance.md", "docs/performance.html", "Speed"),
        ("docs/theory.md", "docs/theory.html", None),
        ("docs/layer-skip.md", "docs/layer-skip.html", None),
    ],
    "Manual": [
        ("README.md", "docs/overview.html", "Overview"),
        ("docs/command-line.md", "docs/command-line.html", None),
        ("docs/configuration.md", "docs/configuration.html", "Configuration"),
    ],
    "Inside": [
        ("engine/README.md", "engine/index.html", "The engine: one training step"),
        ("docs/ops.md", "docs/ops.html", "Ops and their rules"),
        ("docs/design.md", "docs/design.html", "Design"),
        ("training/README.md", "docs/training.html", None),
        ("app/README.md", "docs/the-app.html", None),
        ("docs/site.md", "docs/site.html", None),
        ("CONTRIBUTING.md", "docs/contributing.html", None),
        ("lessons/README.md", "docs/writing-a-lesson.html", None),
        ("claims/README.md", "docs/claims-of-papers.html", None),
        ("tests/fuzz/README.md", "docs/fuzzing.html", "Mutated input"),
        ("tests/fixtures/README.md", "docs/fixtures.html", None),
    ],
}


def groups():
    """The same with every other page of docs/ in the manual, and every name filled in."""
    known = {source for pages in GROUPS.values() for source, _, _ in pages}
    others = [(f"docs/{p.name}", f"docs/{p.stem}.html", None) for p in sorted((ROOT / "docs").glob("*.md"))
              if f"docs/{p.name}" not in known]
    filled = {}
    for group, pages in GROUPS.items():
        pages = pages + (others if group == "Manual" else [])
        filled[group] = [(s, page, name or first_heading(s)) for s, page, name in pages]
    return filled


def first_heading(source):
    for line in (ROOT / source).read_text().splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    raise SystemExit(f"{source}:1: expected a first line '# TITLE', which names its page on the site")


def relative(target, page):
    """A path of the site, as `page` links to it."""
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


class Layout:
    def __init__(self, lessons, has_app):
        self.template = (HERE / "template.html").read_text()
        self.has_app = has_app
        self.groups = {"Course": [(None, "lessons/index.html", "The course")] +
                                 [(None, lesson.page, f"{lesson.number}. {lesson.title}") for lesson in lessons]}
        self.groups.update(groups())

    def link(self, page, target, words):
        here = ' aria-current="page"' if target == page else ""
        return f'<a href="{relative(target, page)}"{here}>{html.escape(words)}</a>'

    def top(self, page):
        """The first page of each group; the one that the reader is in is marked."""
        out = []
        for group, pages in self.groups.items():
            inside = any(target == page for _, target, _ in pages)
            mark = ' class="inside"' if inside else ""
            out.append(f'<a href="{relative(pages[0][1], page)}"{mark}>{group}</a>')
        if self.has_app:
            out.append(f'<a class="button" href="{relative("app/index.html", page)}">Open it</a>')
        return "\n".join(out)

    def all_pages(self, page):
        out = ""
        for group, pages in self.groups.items():
            items = "\n".join(f"<li>{self.link(page, target, name)}</li>" for _, target, name in pages)
            out += f"<section><h2>{group}</h2>\n<ul>\n{items}\n</ul></section>\n"
        return out

    @staticmethod
    def contents(headings):
        """Of a long page, once beside it (wide windows) and once folded above it."""
        entries = [(level, anchor, words) for level, anchor, words in headings if level == 2]
        if len(entries) < 3:
            return "", ""
        items = "\n".join(f'<li><a href="#{anchor}">{html.escape(words)}</a></li>' for _, anchor, words in entries)
        aside = f'<nav class="beside" aria-label="On this page"><p>On this page</p><ul>\n{items}\n</ul></nav>'
        folded = f'<details class="folded"><summary>On this page</summary><ul>\n{items}\n</ul></details>'
        return aside, folded

    def page(self, page, title, body, headings=(), kind=""):
        aside, folded = self.contents(headings)
        place = CONTENTS if CONTENTS in body else "</h1>"
        body = body.replace(place, place + "\n" + folded, 1)
        values = {"title": html.escape(title), "root": "../" * page.count("/"), "home": relative("index.html", page),
                  "top": self.top(page), "beside": aside, "body": body, "pages": self.all_pages(page), "kind": kind}
        return re.sub(r"\{\{(\w+)\}\}", lambda m: values[m[1]], self.template)

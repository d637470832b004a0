"""Which files become which pages, and what stands around each: header, contents, and the list of all pages. A new file
docs/NAME.md joins the manual by itself, and so do addons/NAME/README.md and addons/NAME/docs. Called by build.py."""
import html
import pathlib
import posixpath
import re

import words

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONTENTS = "<!-- contents -->"  # where a page wants its contents; otherwise they follow the title

# Groups of the navigation, by the key of their name: source and page. A page is called as assets/words/site.toml says, or by
# its first heading.
GROUPS = {
    "results": [
        ("docs/claims.md", "docs/claims.html"),
        ("docs/performance.md", "docs/performance.html"),
        ("docs/performance/zen5.md", "docs/performance/zen5.html"),
        ("docs/performance/zen4.md", "docs/performance/zen4.html"),
        ("docs/performance/xeon.md", "docs/performance/xeon.html"),
        ("docs/theory.md", "docs/theory.html"),
        ("docs/layer-skip.md", "docs/layer-skip.html"),
    ],
    "manual": [
        ("README.md", "docs/overview.html"),
        ("docs/README.md", "docs/contents.html"),
        ("docs/command-line.md", "docs/command-line.html"),
        ("docs/configuration.md", "docs/configuration.html"),
    ],
    "inside": [
        ("engine/README.md", "engine/index.html"),
        ("docs/engine.md", "engine/by-itself.html"),
        ("docs/ops.md", "docs/ops.html"),
        ("docs/design.md", "docs/design.html"),
        ("training/README.md", "docs/training.html"),
        ("app/README.md", "docs/the-app.html"),
        ("docs/site.md", "docs/site.html"),
        ("CONTRIBUTING.md", "docs/contributing.html"),
        ("engine/ops/README.md", "docs/adding-an-op.html"),
        ("engine/model/README.md", "docs/adding-a-placement.html"),
        ("training/spec/README.md", "docs/adding-a-setting.html"),
        ("training/measure/README.md", "docs/adding-a-number.html"),
        ("app/panels/README.md", "docs/adding-a-panel.html"),
        ("app/commands/README.md", "docs/adding-a-command.html"),
        ("addons/README.md", "docs/add-ons.html"),
        ("assets/words/README.md", "docs/words.html"),
        ("platforms/README.md", "docs/platforms-folder.html"),
        ("lessons/README.md", "docs/writing-a-lesson.html"),
        ("tests/web/README.md", "docs/web-tests.html"),
        ("tests/fuzz/README.md", "docs/fuzzing.html"),
        ("tests/fixtures/README.md", "docs/fixtures.html"),
    ],
}


def of_addons(pattern):
    """The pages of add-ons that fit, as addons/papers/docs/coverage.md and addons/papers/coverage.html."""
    found = [p.relative_to(ROOT).as_posix() for p in sorted(ROOT.glob(f"addons/*/{pattern}"))]
    return [(source, source.replace("/docs/", "/").replace("/README.md", ".md").removesuffix("md") + "html") for source in found]


def groups():
    """Group, and its pages as source, page and name: every other page of docs/ and an add-on's README.md belong to the
    manual, its pages of docs/ to the results, and the README.md of a folder in it to what is inside."""
    known = {source for pages in GROUPS.values() for source, _ in pages}
    others = [(f"docs/{p.name}", f"docs/{p.stem}.html") for p in sorted((ROOT / "docs").glob("*.md"))
              if f"docs/{p.name}" not in known]
    more = {"manual": others + of_addons("*.md"), "results": of_addons("docs/**/*.md"), "inside": of_addons("*/README.md")}
    filled = {}
    for group, pages in GROUPS.items():
        pages = pages + more.get(group, [])
        filled[words.say("site.group.{}".format(group))] = [(s, page, page_name(s)) for s, page in pages]
    return filled


def translated(source):
    """The file of a page in the site's language, docs/de/NAME.md, where there is one; else the page itself, in English.
    docs/de/README.md is the first page of the repository."""
    if source == "docs/README.md":
        return source
    own = posixpath.join(posixpath.dirname(source) or "docs", words.language, posixpath.basename(source))
    return own if (ROOT / own).is_file() else source


def page_language(source):
    return words.language if source is None or translated(source) != source else words.ENGLISH


def page_name(source):
    return words.TEXTS.get("site.page.{}".format(source)) or first_heading(translated(source))


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
        self.groups = {words.say("site.group.course"): [(None, "lessons/index.html", words.say("site.course.title"))] +
                       [(None, lesson.page, words.say("site.lesson.title", number=lesson.number, title=lesson.title))
                        for lesson in lessons]}
        self.groups.update(groups())

    def link(self, page, target, name):
        here = ' aria-current="page"' if target == page else ""
        return f'<a href="{relative(target, page)}"{here}>{html.escape(name)}</a>'

    def top(self, page):
        """The first page of each group; the one that the reader is in is marked."""
        out = []
        for group, pages in self.groups.items():
            inside = any(target == page for _, target, _ in pages)
            mark = ' class="inside"' if inside else ""
            out.append(f'<a href="{relative(pages[0][1], page)}"{mark}>{group}</a>')
        if self.has_app:
            out.append(f'<a class="button" href="{relative("app/index.html", page)}">{words.say("site.open")}</a>')
        return "\n".join(out)

    def all_pages(self, page):
        out = ""
        for group, pages in self.groups.items():
            for language in dict.fromkeys((words.language, words.ENGLISH)):
                items = "\n".join(f"<li>{self.link(page, target, name)}</li>" for source, target, name in pages
                                  if page_language(source) == language)
                title = group if language == words.language else words.say("site.in_english", group=group)
                if items:
                    out += f"<section><h2>{title}</h2>\n<ul>\n{items}\n</ul></section>\n"
        return out

    @staticmethod
    def contents(headings):
        """Of a long page, once beside it (wide windows) and once folded above it."""
        entries = [(anchor, heading) for level, anchor, heading in headings if level == 2]
        if len(entries) < 3:
            return "", ""
        items = "\n".join(f'<li><a href="#{anchor}">{html.escape(heading)}</a></li>' for anchor, heading in entries)
        here = words.say("site.on_this_page")
        aside = f'<nav class="beside" aria-label="{here}"><p>{here}</p><ul>\n{items}\n</ul></nav>'
        folded = f'<details class="folded"><summary>{here}</summary><ul>\n{items}\n</ul></details>'
        return aside, folded

    def page(self, page, title, body, headings=(), kind="", language=None):
        """`language` is that of the body, where it is another than the site's."""
        aside, folded = self.contents(headings)
        place = CONTENTS if CONTENTS in body else "</h1>"
        body = body.replace(place, place + "\n" + folded, 1)
        values = {"title": html.escape(title), "root": "../" * page.count("/"), "home": relative("index.html", page),
                  "top": self.top(page), "beside": aside, "body": body, "pages": self.all_pages(page), "kind": kind,
                  "language": words.language, "to_text": words.say("site.to_text"), "parts": words.say("site.parts"),
                  "all_pages": words.say("site.all_pages"),
                  "other_language": f' lang="{language}"' if language not in (None, words.language) else ""}
        return re.sub(r"\{\{(\w+)\}\}", lambda m: values[m[1]], self.template)

#!/usr/bin/env python3
"""The site: the course, its claims, the zoo, the manual and the engine's walk as pages that need nothing but
themselves; and the program that runs in a browser where it was built. Everything on them comes from the files of the
repository and from the program, which writes the lessons' pages and figures from what was measured. See docs/site.md;
called by `make site` and by tests/site."""
import argparse
import html
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile

if sys.version_info < (3, 11):
    sys.exit(f"site: this is Python {sys.version.split()[0]}: expected 3.11 or later (it reads TOML)")

import lessons
import markdown
import pages
import words
from words import say

sys.path.append(str(pages.ROOT / "scripts"))
import walk_lines

ROOT = pages.ROOT
IMAGES = {".svg", ".png", ".jpg", ".gif", ".webp"}
LARGEST_SOURCE = 400_000


def first_line(file, name):
    """Where a function begins that the walk names, with the comment above it: as scripts/walk_lines.py finds it."""
    found = walk_lines.function_place(ROOT / file, name)
    return found[0] + 1 if found else 0


class Site:
    def __init__(self, program, out, web):
        self.program, self.out, self.has_app = program, out, (web / "index.html").is_file()
        self.web = web
        self.sources = {}  # of the repository: file -> page
        self.written = set()

    def write(self, page, text):
        path = self.out / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.written.add(page)

    def copy(self, source, target):
        path = self.out / target
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)

    def address(self, source, link, page):
        """Where a link of the file `source` leads to on the site, as `page` names it."""
        if re.match(r"[a-z]+:|#", link):
            return link
        path, _, anchor = link.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        anchor = "#" + anchor if anchor else ""
        target = self.pages.get(path)
        file = ROOT / path
        if not target and file.is_file() and file.suffix in IMAGES:
            target = "images/" + file.name
            self.copy(file, target)
        elif not target and file.is_file():
            target = self.sources.setdefault(path, f"source/{path}.html")
        if not target:
            raise SystemExit(f"{source}: links to {link}: expected a page of the site (platforms/site/pages.py) or a file")
        return pages.relative(target, page) + anchor

    def left_out(self, source, link):
        """Whether a link or a picture is of an add-on that is not there."""
        parts = posixpath.normpath(posixpath.join(posixpath.dirname(source), link.partition("#")[0])).split("/")
        return len(parts) > 2 and parts[0] == "addons" and not (ROOT / "addons" / parts[1]).is_dir()

    def linked(self, text, source, page):
        text = re.sub(r'<a href="([^"]*)">(.*?)</a>', lambda a: a[2] if self.left_out(source, a[1]) else a[0], text)
        text = re.sub(r'<(?:img|source)\b[^>]*?\bsrc(?:set)?="([^"]*)"[^>]*>',
                      lambda picture: "" if self.left_out(source, picture[1]) else picture[0], text)

        def moved(match):
            return f'{match[1]}="{html.escape(self.address(source, html.unescape(match[2]), page))}"'
        return re.sub(r'\b(href|src|srcset)="([^"]*)"', moved, text)

    def with_files(self, text, source, page):
        """A page with a walk: a file that it names becomes a link, a function behind that a link to its first line."""
        file = None

        def named(match):
            nonlocal file
            path = match[2]
            if match[1]:
                return match[0]  # it is a link already
            if "." in path and (ROOT / path).is_file():
                file, line = path, 0
            else:
                if "/" in path:
                    file = None  # of a path that begins elsewhere
                line = first_line(file, html.unescape(path)) if file and match.string[match.start() - 2] in ":," else 0
            if not line and path != file:
                return match[0]
            anchor = f"#L{line}" if line else ""
            return f'<a href="{self.address("", file, page)}{anchor}">{match[0]}</a>'
        return re.sub(r'(<a [^>]*>)?<code>([^<]+)</code>', named, text)

    def document(self, source, page, name):
        text = pages.translated(source)
        try:
            body, headings = markdown.to_html((ROOT / text).read_text())
        except ValueError as error:
            raise SystemExit(f"{text}: {error}")
        body = re.sub(r"<p><a [^>]*hreflang=.*?</p>\n?", "", body)  # to the page in a language that this site does not have
        body = self.linked(body, text, page)
        if source in walk_lines.PAGES:
            body = self.with_files(body, source, page)
        self.write(page, self.layout.page(page, say("site.title", name=name), body, headings, "text",
                                          pages.page_language(source)))

    def source_page(self, path, page):
        data = (ROOT / path).read_bytes()
        if len(data) > LARGEST_SOURCE:
            raise SystemExit(f"{path}: {len(data)} bytes: a page links to it, and the site shows at most {LARGEST_SOURCE}")
        lines = html.escape(data.decode(), quote=False).splitlines()
        rows = "\n".join(f'<span id="L{n}">{line}</span>' for n, line in enumerate(lines, 1))
        body = f'<h1 class="file">{html.escape(path)}</h1>\n<pre class="source" tabindex="0">{rows}</pre>'
        self.write(page, self.layout.page(page, say("site.title", name=path), body, kind="code", language=words.ENGLISH))

    def landing(self, course):
        own = pages.HERE / f"landing.{words.language}.html"
        body = (own if own.is_file() else pages.HERE / "landing.html").read_text()
        values = {"course": lessons.listed(course, "index.html"), "open": self.open_it("index.html")}
        body = re.sub(r"\{\{(\w+)\}\}", lambda m: values[m[1]], self.linked(body, "landing.html", "index.html"))
        self.write("index.html", self.layout.page("index.html", say("site.title_landing"), body, kind="landing"))

    def open_it(self, page):
        if self.has_app:
            return f'<a class="button" href="{pages.relative("app/index.html", page)}">{say("site.open_here")}</a>'
        return f'<p class="small">{say("site.no_program")}</p>'

    def build(self):
        with tempfile.TemporaryDirectory() as scratch:
            course = lessons.read_course(self.program, pathlib.Path(scratch))
            self.layout = pages.Layout(course, self.has_app)
            self.pages = {text: page for group in pages.groups().values() for source, page, _ in group
                          for text in (source, pages.translated(source))}
            self.pages["lessons/index.html"] = "lessons/index.html"  # has no source of its own
            self.pages["lessons/so-why.md"] = "lessons/so-why.html"
            self.copy(pages.HERE / "style.css", "style.css")
            self.copy(pages.ROOT / "assets/icon/normscope.svg", "icon.svg")
            for picture in course.pictures():
                self.copy(picture, "lessons/figures/" + picture.name)
            if self.has_app:
                shutil.copytree(self.web, self.out / "app", dirs_exist_ok=True)
            self.landing(course)
            lessons.write_pages(course, self)
        for group in pages.groups().values():
            for source, page, name in group:
                self.document(source, page, name)
        for path, page in sorted(self.sources.items()):
            self.source_page(path, page)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "build/release/normscope", type=pathlib.Path)
    parser.add_argument("--language", default=words.ENGLISH,
                        help="of the course, of what stands around the pages and of docs/LANGUAGE, as de; all other pages stay English")
    parser.add_argument("--out", type=pathlib.Path,
                        help="the folder to write, made anew: build/site, or build/site-LANGUAGE")
    parser.add_argument("--web", default=ROOT / "build/web", type=pathlib.Path,
                        help="the folder of the program for the browser; without its index.html the site has none")
    options = parser.parse_args()
    words.use(options.language)
    if not options.out:
        options.out = ROOT / ("build/site" if words.language == words.ENGLISH else f"build/site-{words.language}")
    if not markdown.available():
        sys.exit(f"site: {markdown.LIBRARY} is missing, which reads Markdown (Debian: libmd4c-html0)")
    if not options.program.is_file():
        sys.exit(f"site: there is no program {options.program}: expected one that `make` built")
    if options.out.exists() and not (options.out / "index.html").is_file() and any(options.out.iterdir()):
        sys.exit(f"site: --out {options.out} holds other files: expected a new folder or an earlier site")
    # Whole or not at all: an earlier site stands until this one is finished.
    fresh = options.out.with_name(options.out.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    site = Site(options.program, fresh, options.web)
    site.build()
    shutil.rmtree(options.out, ignore_errors=True)
    fresh.rename(options.out)
    print(f"wrote {len(site.written)} pages: {options.out}/index.html"
          + ("" if site.has_app else "\n(without the program for the browser: there is no build/web/index.html)"))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"site: {' '.join(map(str, error.cmd))}: exit {error.returncode}\n{error.stderr or ''}".rstrip())

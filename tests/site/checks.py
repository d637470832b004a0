"""Finds what is wrong with a folder of pages: HTML that is not well formed, links, anchors and images that lead
nowhere, and anything that a browser would ask another host for. It needs the standard library only. test_site.py calls
it, and also shows it pages with each of these faults."""
import html.parser
import os
import pathlib
import re
import urllib.parse

VOID = {"br", "hr", "img", "input", "link", "meta", "source", "col", "wbr"}
ELSEWHERE = re.compile(r"(?:[a-z]+:)?//", re.I)  # an address of another host
IN_A_PICTURE = re.compile(r"(?:href|src)\s*=\s*[\"'](?:[a-z]+:)?//|url\(['\"]?[a-z]+:|@import|<script", re.I)
RESOURCES = {("img", "src"), ("img", "srcset"), ("source", "src"), ("source", "srcset"), ("link", "href"),
             ("script", "src"), ("iframe", "src"), ("object", "data"), ("video", "src"), ("audio", "src"), ("use", "href")}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.faults, self.ids, self.links, self.resources = [], set(), [], []
        self.words, self.open, self.tables, self.navigation = [], [], [], []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]
        if not text.lower().startswith("<!doctype html>"):
            self.faults.append("no <!doctype html>")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag not in VOID:
            if tag == "p" and self.open and self.open[-1] == "p":
                self.faults.append("<p> within <p>")
            self.open.append(tag)
        if len(values) != len(attributes):
            self.faults.append(f"<{tag}> has an attribute twice")
        if "id" in values:
            if values["id"] in self.ids:
                self.faults.append(f"two elements have the id {values['id']}")
            self.ids.add(values["id"])
        if tag == "img" and not values.get("alt"):
            self.faults.append(f"image without words: {values.get('src')}")
        for name, value in attributes:
            if (tag, name) in RESOURCES:
                self.resources.append(value or "")
            elif name == "style" and "url(" in (value or ""):
                self.resources.append(re.search(r"url\(['\"]?([^)'\"]*)", value)[1])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
            if "nav" in self.open:
                self.navigation.append(values["href"])
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th") and self.tables and self.tables[-1]:
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes <{self.open[-1] if self.open else 'nothing'}>")
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        self.words.append(data)
        if ("td" in self.open or "th" in self.open) and self.tables[-1]:
            self.tables[-1][-1][-1] += data

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def style_faults(text):
    faults = []
    for address in re.findall(r"url\(\s*['\"]?([^)'\"]*)|@import\s+['\"]?([^;'\"]*)", text):
        faults.append(f"asks for {''.join(address)}")
    return faults


class Folder:
    """Holds all pages below `root` except those of the program for the browser, which are checked elsewhere."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.pages = {path: Page(path.read_text()) for path in sorted(self.root.rglob("*.html"))
                      if path.relative_to(self.root).parts[0] != "app"}

    def target(self, page, address):
        """Returns the file that an address of `page` names, and the anchor in it."""
        parts = urllib.parse.urlsplit(address)
        path = pathlib.Path(os.path.normpath(page.parent / urllib.parse.unquote(parts.path))) if parts.path else page
        return path, urllib.parse.unquote(parts.fragment)

    def faults(self):
        out = []
        for path, page in self.pages.items():
            name = path.relative_to(self.root)
            out += [f"{name}: {fault}" for fault in page.faults]
            out += [f"{name}: {fault}" for fault in self.dead_links(path, page)]
            out += [f"{name}: {fault}" for fault in self.bad_resources(path, page)]
        for path in sorted(self.root.rglob("*.css")):
            if path.relative_to(self.root).parts[0] != "app":
                out += [f"{path.relative_to(self.root)}: {fault}" for fault in style_faults(path.read_text())]
        for path in sorted(self.root.rglob("*.svg")):
            if IN_A_PICTURE.search(path.read_text()):
                out.append(f"{path.relative_to(self.root)}: asks another host, or runs something")
        return out

    def dead_links(self, path, page):
        for address in page.links:
            if re.match(r"https?://|mailto:", address):
                continue  # the reader follows it, the page requests nothing
            target, anchor = self.target(path, address)
            if not target.is_relative_to(self.root) or not target.is_file():
                yield f"dead link {address}"
            elif anchor and target in self.pages and anchor not in self.pages[target].ids:
                yield f"no anchor {address}"

    def bad_resources(self, path, page):
        for address in page.resources:
            if ELSEWHERE.match(address):
                yield f"asks another host for {address}"
            elif not address.startswith("data:") and not self.target(path, address)[0].is_file():
                yield f"missing {address}"

    def reached(self, start, navigation_only=False):
        """Returns every page that links from `start` lead to, directly or through other pages."""
        found, todo = set(), [self.root / start]
        while todo:
            path = todo.pop()
            if path in found or path not in self.pages:
                continue
            found.add(path)
            page = self.pages[path]
            for address in page.navigation if navigation_only else page.links:
                if not re.match(r"[a-z]+:", address):
                    todo.append(self.target(path, address)[0])
        return found

#!/usr/bin/env python3
"""Checks the site as a reader gets it: builds it into a temporary folder and reads every page. CTest runs it as
site.links: test_site.py PROGRAM. It needs the standard library only. Without libmd4c-html0 or Python 3.11 it says so
and counts as skipped."""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest

try:
    import tomllib
except ModuleNotFoundError:  # platforms/site/lessons.py reads with it, too
    print("SKIPPED: site.links: tomllib is missing (Python 3.11)")
    sys.exit(4)  # tests/skip.h

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "platforms/site"), str(ROOT / "tests/site")]
import build as builder
import checks
import lessons
import markdown
import pages
import tex

PROGRAM = None
SITE = {}


def build(out, *arguments):
    return subprocess.run([sys.executable, ROOT / "platforms/site/build.py", "--program", PROGRAM, "--out", out, *arguments],
                          capture_output=True, text=True)


def number(shown):
    """Returns a shown number and half a unit of its last digit: "19 000 times", "5×10⁻⁸", "−1.8 nats"."""
    text = re.sub(r"(?<=\d)[\u00a0\u2009\u202f ](?=\d{3})", "", shown.replace("−", "-"))
    text = re.sub(r"(?<![\d×])10(?=[⁻⁰¹²³⁴⁵⁶⁷⁸⁹])", "1×10", text)
    found = re.match(r"(-?\d+(?:\.(\d+))?)(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text)
    if not found:
        raise AssertionError(f"{shown!r} begins with no number")
    power = int((found[3] or "⁰").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    unit = 10.0 ** (power - len(found[2] or ""))
    if not found[2] and abs(float(found[1])) >= 1000:
        unit *= 10 ** (len(found[1].lstrip("-")) - len(found[1].lstrip("-").rstrip("0")))
    return float(found[1]) * 10.0 ** power, unit / 2 * 1.001


class Built(unittest.TestCase):
    """Builds one site for all tests that only read it."""

    @classmethod
    def setUpClass(cls):
        if SITE:
            return
        SITE["scratch"] = scratch = tempfile.TemporaryDirectory()
        SITE["out"] = pathlib.Path(scratch.name) / "site"
        done = build(SITE["out"], "--web", pathlib.Path(scratch.name) / "none")
        if done.returncode:
            raise AssertionError(f"the site was not built: {done.stderr}")
        SITE["said"], SITE["folder"] = done.stdout, checks.Folder(SITE["out"])

    def setUp(self):
        self.out, self.said, self.folder = SITE["out"], SITE["said"], SITE["folder"]

    def page(self, name):
        return self.folder.pages[self.folder.root / name]


class Pages(Built):
    def test_no_page_has_a_fault(self):
        self.assertGreater(len(self.folder.pages), 50)
        self.assertEqual(self.folder.faults(), [])

    def test_no_script_is_needed(self):
        for path in self.folder.pages:
            self.assertNotIn("<script", path.read_text().lower(), path)

    def test_every_document_is_in_the_navigation(self):
        reached = self.folder.reached("index.html", navigation_only=True)
        known = set()
        for group in pages.groups().values():
            for source, page, _ in group:
                self.assertIn(self.folder.root / page, reached, source)
                known.add(source)
        own = {p.relative_to(ROOT).as_posix() for glob in ("docs/*.md", "addons/*/README.md", "addons/*/docs/**/*.md") for p in ROOT.glob(glob)}
        self.assertLessEqual(own, known)
        self.assertEqual(set(self.folder.pages), self.folder.reached("index.html"))

    def test_every_picture_has_both_themes(self):
        figures = sorted(p.name for p in (self.out / "lessons/figures").glob("*.svg"))
        self.assertGreater(len(figures), 80)
        for name in figures:
            if "prefers-color-scheme:dark" in (self.out / "lessons/figures" / name).read_text():
                continue  # one picture that has both
            self.assertIn(name.replace(".svg", "-dark.svg") if "-dark" not in name else name, figures)
        self.assertIn("prefers-color-scheme: dark", (self.out / "style.css").read_text())

    def test_no_formula_is_left_as_source(self):
        for path, page in self.folder.pages.items():
            if "source" not in path.relative_to(self.folder.root).parts:
                prose = re.sub(r"<(pre|code)\b.*?</\1>", "", path.read_text(), flags=re.S)
                self.assertNotRegex(prose, r"\\(?:frac|sqrt|sum|text)|x-equation|\$\$", path)
        self.assertIn("<mfrac>", (self.out / "docs/theory.html").read_text())
        self.assertIn("<mfrac>", (self.out / "docs/ops.html").read_text())

    def test_without_the_program_the_site_says_so(self):
        self.assertIn("without the program for the browser", self.said)
        self.assertIn("without the program for the browser", self.page("index.html").text)
        self.assertNotIn("app/index.html", (self.out / "index.html").read_text())

    def test_the_walk_leads_to_its_functions(self):
        links = [a for a in self.page("engine/index.html").links if "/training/run/run.cpp.html#L" in a]
        self.assertGreater(len(links), 3)
        for link in links:
            target, anchor = self.folder.target(self.out.resolve() / "engine/index.html", link)
            self.assertIn(anchor, self.folder.pages[target].ids)


class Lessons(Built):
    def test_each_has_its_page_with_claim_and_figures(self):
        course = [f for f in sorted((ROOT / "lessons").iterdir()) if (f / "lesson.toml").is_file()]
        self.assertGreater(len(course), 10)
        for folder in course:
            with self.subTest(folder.name):
                lesson = tomllib.loads((folder / "lesson.toml").read_text())
                page = self.page(f"lessons/{lesson['id']}.html")
                for words in (lesson["title"], lesson["question"], lesson["claim"], *lesson["sources"]):
                    self.assertIn(" ".join(words.split()), page.text)
                shown = {pathlib.PurePath(r).name for r in page.resources}
                for step in ("compare", "explain"):
                    for figure in lesson["step"][step].get("figures", []):
                        if "tape" not in lesson["figure"][figure]:
                            self.assertIn(f"{lesson['id']}-{figure}.svg", shown)
                            self.assertIn(f"{lesson['id']}-{figure}-dark.svg", shown)
                self.check_numbers(folder, lesson, page)

    def check_numbers(self, folder, lesson, page):
        measured = json.loads((folder / "measured.json").read_text())["measures"]
        table = next(t for t in page.tables if t[0][0] == "claim")
        self.assertEqual(len(table) - 1, len(lesson["check"]))
        for row, check in zip(table[1:], lesson["check"]):
            kept = measured[check["measure"]]
            self.assertTrue(row[0].startswith(check["says"]), row[0])
            self.assertEqual(row[-1], "holds")
            self.check_number(row[1], kept["mean"], check)
            ends = row[2].split(" to ")
            self.check_number(ends[0], min(kept["values"]), check)
            self.check_number(ends[-1], max(kept["values"]), check)

    def check_number(self, shown, value, check):
        if shown.startswith(("never", "–")):
            self.assertFalse(isinstance(value, float) and abs(value) < float("inf"), check)
            return
        read, room = number(shown)
        self.assertAlmostEqual(read, value, delta=room, msg=f"{check['says']} {shown}")

    def test_nothing_of_the_paper_is_left(self):
        for path in (self.out / "lessons").glob("*.html"):
            self.assertNotRegex(path.read_text(), r'class="(?:blank|box|line)"|Teacher')

    def test_before_the_comparison_numbers_are_folded_away(self):
        for path in (self.out / "lessons").glob("*.html"):
            if path.name in ("index.html", "so-why.html"):  # no lessons
                continue
            before = path.read_text().partition('id="compare"')[0].partition('id="predict"')[2]
            self.assertTrue(before, path)
            unfolded = re.sub(r"<details\b.*?</details>", "", before, flags=re.S)
            self.assertNotIn('class="answer"', unfolded, path)


    def test_the_last_page_has_its_ranges_and_leads_to_the_lessons(self):
        page = self.page("lessons/so-why.html")
        text = (self.out / "lessons/so-why.html").read_text()
        self.assertNotIn("{", re.sub(r"<style.*?</style>", "", text, flags=re.S))
        self.assertNotIn("–<", text)
        targets = {self.folder.target(self.folder.root / "lessons/so-why.html", a)[0].name for a in page.links}
        self.assertLessEqual({"admin.html", "dependency.html", "two-stacks.html"}, targets)

    def test_the_circle_of_causes_is_drawn_and_told_in_words(self):
        text = (self.out / "lessons/so-why.html").read_text()
        picture, words = re.search(r'<figure class="causes".*?<img src="([^"]+)" alt="[^"]{20,}".*?</figure>\s*'
                                   r"<details.*?<ol>(.*?)</ol>", text, re.S).groups()
        drawn = (self.out / "lessons" / picture).read_text()
        items = re.findall(r"<li>(.*?)</li>", words, re.S)
        self.assertGreaterEqual(len(items), 5)
        for item in items:
            cause, switch = re.search(r"<em>(.*?)</em>.*<code>([\w.]+)=", item, re.S).groups()
            self.assertIn(f">{cause}</text>", drawn)
            self.assertIn(f"{switch} =", drawn)


class InGerman(unittest.TestCase):
    def test_the_course_is_in_german_and_no_page_has_a_fault(self):
        with tempfile.TemporaryDirectory() as scratch:
            out = pathlib.Path(scratch) / "site"
            done = build(out, "--web", pathlib.Path(scratch) / "none", "--language", "de")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(checks.Folder(out).faults(), [])
            for page, words in (("lessons/warm-up.html", "Wie Post-LN anfangen muss"),
                                ("lessons/so-why.html", "Was offen ist"), ("index.html", "Warum also?")):
                text = (out / page).read_text()
                self.assertIn(words, text)
                self.assertIn('<html lang="de"', text)
                self.assertIn("Handbuch (auf Englisch)", text)  # it is told before a click
            own, english = (out / "docs/files.html").read_text(), (out / "docs/configuration.html").read_text()
            self.assertIn("Dateien</h1>", own)
            self.assertNotIn('lang="en"', own)
            self.assertIn('lang="en"', english)
            manual = re.search(r"<h2>Handbuch</h2>\n<ul>(.*?)</ul>", english, re.S)[1]
            names = re.findall(r"<a[^>]*>(.*?)</a>", manual)
            self.assertEqual(names[:3], ["Überblick", "Dateien", "Links"])
            self.assertEqual(len(names), sum(len([*ROOT.glob(f"{folder}/de/*.md")]) for folder in ("docs", "addons/*")))
            overview = (out / "docs/overview.html").read_text()
            self.assertIn("Drei Dinge zum Ausprobieren</h2>", overview)
            self.assertNotIn("hreflang", overview)  # README.md, to which that link leads, is the page itself here
            self.assertIn("Attention mittelt</text>", (out / "lessons/figures/so-why.svg").read_text())
            picture = (out / "lessons/figures/warm-up-losses.svg").read_text()
            self.assertIn("Verlust", picture)
            self.assertNotIn("loss", re.sub(r"<[^>]*>", " ", picture))


def frame(page):
    """Headings, rows of tables and commands: the lines of a page that stand in another language one by one."""
    lines, code = [], False
    for line in page.splitlines():
        if line.startswith("```"):
            code = not code
        elif code or line.startswith(("#", "|")):
            lines.append(line)
    return lines


def outline(page):
    """Of each line of the frame what is the same in every language: its level, its cells and its numbers."""
    return [(re.match("#*", line)[0], line.count("|"), sorted(re.findall(r"\d+", line))) for line in frame(page)]


def fingerprint(page):
    return hashlib.sha256("\n".join(frame(page)).encode()).hexdigest()[:12]


class Translations(unittest.TestCase):
    def test_each_follows_its_english_page(self):
        languages = [file.parent.name for file in (ROOT / "assets/words").glob("*/site.toml")]
        files = [file for language in languages for folder in (f"docs/{language}", f"addons/*/{language}")
                 for file in sorted(ROOT.glob(f"{folder}/*.md"))]
        self.assertTrue(files)
        for file in files:
            with self.subTest(file):
                beside = (file.parent.parent / file.name).relative_to(ROOT).as_posix()
                source = "README.md" if beside == "docs/README.md" else beside
                english, own = (ROOT / source).read_text(), file.read_text()
                for there, here in zip(outline(english) + [None], outline(own) + [None]):
                    self.assertEqual(there, here)
                mark = f"<!-- {source}: {fingerprint(english)} -->"
                self.assertTrue(own.endswith(mark + "\n"), f"{source} changed: translate that in {file}, then end it with {mark}")

    def test_a_change_is_noticed(self):
        page = "# A\n\nText.\n\n| a | 2 |\n\n```\nmake\n```\n"
        for before, after in (("# A", "# B"), ("| a |", "| b |"), ("make", "make run")):
            self.assertNotEqual(fingerprint(page), fingerprint(page.replace(before, after)))
        for before, after in (("# A", "## A"), ("| 2 |", "| 3 |"), ("| 2 |", "| 2 | 3 |"), ("make", "make\nmake")):
            self.assertNotEqual(outline(page), outline(page.replace(before, after)))


class WithTheProgram(unittest.TestCase):
    def test_its_pages_are_copied_and_linked(self):
        with tempfile.TemporaryDirectory() as scratch:
            web, out = pathlib.Path(scratch, "web"), pathlib.Path(scratch, "site")
            web.mkdir()
            (web / "index.html").write_text("<!doctype html><title>the program</title>")
            (web / "normscope.wasm").write_bytes(b"\0asm")
            self.assertEqual(build(out, "--web", web).returncode, 0)
            self.assertTrue((out / "app/normscope.wasm").is_file())
            folder = checks.Folder(out)
            self.assertEqual(folder.faults(), [])
            for page in ("index.html", "lessons/warm-up.html"):
                links = [folder.target(folder.root / page, a)[0] for a in folder.pages[folder.root / page].links]
                self.assertIn(folder.root / "app/index.html", links, page)

                figures = re.findall(r'<figure tabindex="0">.*?</figure>', (out / "lessons/warm-up.html").read_text(), re.S)
                self.assertGreater(len(figures), 1)
                for figure in figures:
                    self.assertRegex(figure, r'app/index.html#1&amp;screen=lessons:warm-up:(run|compare|explain)&amp;'
                                             r'lesson.figure=[\w-]+&amp;end"')

    def test_a_link_carries_the_runs_of_a_lesson(self):
        lesson = types.SimpleNamespace(id="x", number=3, page="lessons/x.html", fragment='v1&run="A"', sheet="")
        with_app, without = types.SimpleNamespace(has_app=True), types.SimpleNamespace(has_app=False)
        self.assertIn('href="../app/index.html#v1&amp;run=&quot;A&quot;"', lessons.lab_link(lesson, with_app))
        self.assertIn("normscope --link", lessons.lab_link(lesson, without))
        lesson.fragment, lesson.sheet = None, "<pre>normscope lesson check x\nnormscope train --run A=post\n</pre>"
        self.assertIn("normscope --run A=post", lessons.lab_link(lesson, without))


class WithoutAnAddon(unittest.TestCase):
    def test_its_links_and_pictures_are_left_out(self):
        site = builder.Site(None, pathlib.Path("none"), pathlib.Path("none"))
        text = '<a href="none/README.md#a">A</a><img alt="b" src="none/b.svg"><source srcset="none/c.png" media="d">'
        self.assertEqual(site.linked(text, "addons/README.md", "index.html"), "A")


class Refused(unittest.TestCase):
    def test_a_folder_with_other_files_stays_as_it_is(self):
        with tempfile.TemporaryDirectory() as scratch:
            pathlib.Path(scratch, "mine.txt").write_text("mine")
            done = build(scratch)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"^site: --out .* holds other files: expected [^\n]*\n$")
            self.assertEqual(pathlib.Path(scratch, "mine.txt").read_text(), "mine")

    def test_no_program(self):
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run([sys.executable, ROOT / "platforms/site/build.py", "--program", "/none", "--out", scratch],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^site: there is no program /none: expected [^\n]*\n$")

    def test_a_command_of_tex_that_is_not_known(self):
        for formula in (r"\nonsense", r"\frac{1}", "{x", r"\left( x", r"\text{words"):
            with self.assertRaisesRegex(ValueError, "formula"):
                tex.mathml(formula)


class Faults(unittest.TestCase):
    """Shows that each fault which the checks look for is found on a page that has it."""

    def faults(self, body, **others):
        with tempfile.TemporaryDirectory() as scratch:
            pathlib.Path(scratch, "a.html").write_text(f"<!doctype html><html><body>{body}</body></html>")
            for name, text in others.items():
                pathlib.Path(scratch, name.replace("_", ".")).write_text(text)
            return " ".join(checks.Folder(scratch).faults())

    def test_each(self):
        self.assertEqual(self.faults('<p id="x">good <a href="#x">link</a><br></p>'), "")
        for body, fault in (("<p>open", "</body> closes <p>"), ("<b><i>x</b></i>", "</b> closes <i>"),
                            ('<a href="b.html">x</a>', "dead link b.html"), ('<a href="#y">x</a>', "no anchor #y"),
                            ('<a href="../a.html">x</a>', "dead link"), ('<img src="x.png" alt="x">', "missing x.png"),
                            ('<img src="https://e.org/x.png" alt="x">', "another host"),
                            ('<p id="x"></p><b id="x"></b>', "two elements"),
                            ('<link rel="stylesheet" href="//e.org/x.css">', "another host"),
                            ('<script src="http://e.org/x.js"></script>', "another host"),
                            ('<img src="data:image/png;base64,">', "image without words")):
            self.assertIn(fault, self.faults(body), body)
        self.assertIn("asks for", self.faults("", a_css="@import 'https://e.org/x.css';"))
        self.assertIn("another host", self.faults("", a_svg='<svg><image href="https://e.org/x.png"/></svg>'))

    def test_numbers_are_read_as_shown(self):
        for shown, value, room in (("19 000 times", 19000, 500), ("−1.8 nats", -1.8, 0.05), ("5×10⁻⁸", 5e-8, 5e-9),
                                   ("10⁻⁸", 1e-8, 5e-9),
                                   ("0.006 nats", 0.006, 0.0005), ("30 steps", 30, 0.5), ("1", 1, 0.5)):
            read, half = number(shown)
            self.assertAlmostEqual(read, value)
            self.assertAlmostEqual(half, room, delta=room * 0.01)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("test_site.py: expected the program as its first argument")
    PROGRAM = sys.argv.pop(1)
    if not markdown.available():
        print(f"SKIPPED: site.links: {markdown.LIBRARY} is missing (Debian: libmd4c-html0)")
        sys.exit(4)
    unittest.main()

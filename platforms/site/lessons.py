"""The course as pages to read. `normscope lesson worksheet --answers` writes each lesson's prose with what was measured
in its sentences, its table and its verdicts; `normscope lesson report` writes the figures. Here the paper's lines and
boxes go, what was measured is folded away below the question that asks for it, and the figures come in both themes.
Called by build.py."""
import html
import json
import os
import re
import subprocess
import tomllib
import xml.etree.ElementTree as ET

import markdown
import pages
import words
from words import say

FOLDER = pages.ROOT / "lessons"


class Lesson:
    def __init__(self, folder):
        with open(folder / "lesson.toml", "rb") as file:
            self.toml = tomllib.load(file)
        self.folder, self.id, self.number = folder, self.toml["id"], int(folder.name.split("-")[0])
        self.title, self.question, self.claim = self.toml["title"], self.toml["question"], self.toml["claim"]
        self.minutes, self.page = self.toml["minutes"], f"lessons/{self.id}.html"
        self.language = words.ENGLISH

    def take_sheet(self, sheet):
        """The worksheet tells in which language the lesson is: English where it lacks the one asked for."""
        self.sheet, self.language = sheet, re.search(r'<html lang="([^"]*)"', sheet)[1]
        if self.language == words.ENGLISH:
            return
        texts = tomllib.loads((self.folder / self.language / "texts.toml").read_text())
        self.title, self.question, self.claim = texts["title"], texts["question"], texts["claim"]
        for name, figure in texts.get("figure", {}).items():
            self.toml["figure"][name] |= figure


class Course(list):
    def __init__(self, items, report):
        super().__init__(items)
        self.report = report

    def pictures(self):
        return sorted(self.report.glob("*.svg"))


def read_course(program, scratch):
    # The lessons of this checkout, in the site's language, whatever the reader's own setting.
    language = "" if words.language == words.ENGLISH else words.language
    setting = os.environ | {"NORMSCOPE_LESSONS": str(FOLDER), "NORMSCOPE_LANGUAGE": language}

    def run(*arguments):
        subprocess.run([str(program), "lesson", *arguments], check=True, capture_output=True, text=True, env=setting)
    report = scratch / "report"
    run("report", "--out", str(report), *(["--language", language] if language else []))
    course = Course([Lesson(f) for f in sorted(FOLDER.iterdir()) if (f / "lesson.toml").is_file()], report)
    fragments = json.loads((report / "links.json").read_text())  # see lab_link
    for lesson in course:
        sheet = scratch / f"{lesson.id}.html"
        run("worksheet", lesson.id, "--answers", "--out", str(sheet))
        lesson.take_sheet(sheet.read_text())
        lesson.fragment = fragments.get(lesson.id)
        lesson.figures = {name: link for name, link in fragments.items() if name.startswith(f"{lesson.id}:")}
    return course


def lab_link(lesson, site):
    """THE ONE PLACE that says how a reader gets from a lesson's page to its runs in the Lab. `lesson report` writes
    links.json, {lesson's id: fragment}: the link carries the runs, to the browser's program where the site has it, else
    as a command. A lesson without a fragment: the way by hand."""
    if site.has_app:
        target = pages.relative("app/index.html", lesson.page)
        if lesson.fragment:
            return f'<p><a class="button" href="{target}#{html.escape(lesson.fragment)}">{say("site.lesson.open_lab")}</a></p>'
        where = say("site.lesson.where", number=lesson.number)
        return (f'<p><a class="button" href="{target}">{say("site.lesson.open_program")}</a> '
                f'<span class="small">{where}</span></p>')
    if lesson.fragment:
        return command(say("site.lesson.command"), f"normscope --link '{lesson.fragment}'")
    runs = re.search(r"^normscope train (.*)$", html.unescape(lesson.sheet), re.M)
    if not runs:
        return f'<p class="small">{say("site.lesson.in_program", number=lesson.number)}</p>'
    return command(say("site.lesson.command_or", number=lesson.number), f"normscope {runs[1]}")


def command(lead, line):
    return f'<p class="small">{html.escape(lead)}</p>\n<pre tabindex="0">{html.escape(line)}</pre>'


def live(lesson, step, name, site):
    """The way from a figure to the same one in the browser's program, at its step; nothing where the site has none."""
    fragment = lesson.figures.get(f"{lesson.id}:{step}:{name}")
    if not site.has_app or not fragment:
        return ""
    target = pages.relative("app/index.html", lesson.page)
    return (f'<figcaption><a href="{target}#{html.escape(fragment)}">{html.escape(say("site.lesson.live"))}</a>'
            "</figcaption>")


def figure(lesson, name):
    """The figure of that name, as the report drew it: in both themes, with the title of the plot."""
    if name not in lesson.toml["figure"]:
        raise SystemExit(f"{lesson.folder}/lesson.toml: has no figure {name}, which its worksheet shows")
    title = html.escape(lesson.toml["figure"][name]["title"])
    base = f"figures/{lesson.id}-{name}"
    return (f'<picture><source media="(prefers-color-scheme: dark)" srcset="{base}-dark.svg"/>'
            f'<img src="{base}.svg" alt="{title}" width="640" height="400"/></picture>')


def classes(element):
    return (element.get("class") or "").split()


def within(element, style):
    return any(style in classes(e) for e in element.iter())


def drop(parent, child):
    """Takes a child out; what stands behind it stays."""
    at = list(parent).index(child)
    if child.tail and child.tail.strip():
        before = parent[at - 1] if at else parent
        if at:
            before.tail = (before.tail or "") + child.tail
        else:
            before.text = (before.text or "") + child.tail
    parent.remove(child)


def without_paper(section):
    """No boxes to tick, no lines to write on, no blanks, and nobody is asked why where nobody can answer."""
    for child in list(section):
        at = list(section).index(child)
        following = section[at + 1] if at + 1 < len(section) else None
        lines_follow = following is not None and "line" in classes(following)
        choices = child.tag == "p" and within(child, "box")
        if "line" in classes(child) or within(child, "blank") or (choices and "small" in classes(child)) or (
                lines_follow and "ask" not in classes(child)):
            section.remove(child)
        elif child.tag == "ul" and within(child, "box"):
            for answer in child:
                box = answer[0]
                answer.text = box.tail.strip()
                answer.remove(box)
        elif "solution" in classes(child):
            section.remove(child)
            details = ET.Element("details", {"class": "measured"})
            ET.SubElement(details, "summary").text = say("site.lesson.solution")
            details.extend(child)
            section.insert(at, details)
        elif choices:
            values = ", ".join(box.tail.strip() for box in child if (box.tail or "").strip())
            child.clear()
            child.text, child.attrib["class"], child.tail = say("site.lesson.one_of", values=values), "choices", "\n"


def folded_answers(section, summary, predicting=False):
    """Before the comparison what was measured opens only for who asks. Of Predict, the cards of an order are shown,
    their places not."""
    answers = [child for child in section if child.tag in ("p", "table") and within(child, "answer")]
    if not answers:
        return
    at = list(section).index(answers[0])
    details = ET.Element("details", {"class": "measured"})
    ET.SubElement(details, "summary").text = summary
    for answer in answers:
        if answer.tag == "table" and predicting:
            cards = ET.Element("ul", {"class": "cards"})
            for row in answer.findall("tr")[1:]:
                ET.SubElement(cards, "li").text = "".join(row.findall("td")[1].itertext())
            section.insert(at, cards)
            at += 1
        section.remove(answer)
        details.append(answer)
    section.insert(at, details)


def to_text(element):
    return ET.tostring(element, encoding="unicode", method="html")


def prose(lesson, site):
    """The sheet's sections as HTML: Predict, Run, Compare, Explain, Claim with Sources."""
    sheet = lesson.sheet.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    sheet = re.sub(r'<figure id="([a-z]+)-([\w-]+)">\s*<svg .*?</svg>',
                   lambda m: '<figure tabindex="0">' + figure(lesson, m[2]) + live(lesson, m[1], m[2], site), sheet,
                   flags=re.S)
    body = ET.fromstring(sheet[sheet.index("<html"):]).find("body")
    sections = body.findall("section")
    for section in sections:
        without_paper(section)
        section.attrib.clear()
    for empty in sections[0].findall("figure"):  # axes to draw on
        sections[0].remove(empty)
    folded_answers(sections[0], say("site.lesson.measured"), predicting=True)
    folded_answers(sections[1], say("site.lesson.measured_all"))
    claim = ET.Element("section")
    after = list(body)[list(body).index(sections[-1]) + 1:]
    claim.extend(after)
    out, headings = "", []
    for section in [*sections, claim]:
        for heading in section.findall("h2"):
            heading.attrib["id"] = heading.text.lower()
            headings.append((2, heading.attrib["id"], heading.text))
        for tile in section.iter("b"):
            if "tile" in classes(tile):
                tile.attrib["class"] = f"tile run-{tile.text}"
        out += to_text(section) + "\n"
    return markdown.scrolling(out), headings


def reach(lesson):
    """limits.md: how far the effect reaches; a lesson may have none."""
    file = lesson.folder / "limits.md"
    if not file.is_file():
        return "", []
    table = markdown.to_html(re.sub(r"^# .*\n", "", file.read_text()))[0]
    if lesson.language != words.ENGLISH:
        table = f'<div lang="{words.ENGLISH}">{table}</div>'
    return f'<section><h2 id="reach">{say("site.lesson.reach")}</h2>\n{table}</section>', [
        (2, "reach", say("site.lesson.reach_brief"))]


def titled(lesson):
    return say("site.lesson.title", number=lesson.number, title=lesson.title)


def lesson_page(lesson, course, site):
    text, headings = prose(lesson, site)
    limits, more = reach(lesson)
    neighbours = ""
    for step, where in ((-1, say("site.lesson.before")), (1, say("site.lesson.next"))):
        at = course.index(lesson) + step
        if 0 <= at < len(course):
            other = course[at]
            neighbours += (f'<a href="{pages.relative(other.page, lesson.page)}"><span class="small">{where}</span> '
                           f"{html.escape(titled(other))}</a>\n")
    around = say("site.lesson.neighbours")
    length = say("site.lesson.length", number=lesson.number, minutes=lesson.minutes)
    body = (f'<p class="small above">{length}</p>\n'
            f"<h1>{html.escape(lesson.title)}</h1>\n<p class=\"question\">{html.escape(lesson.question)}</p>\n"
            f"{pages.CONTENTS}\n"
            f'<div class="lab">{lab_link(lesson, site)}</div>\n{text}{limits}\n'
            f'<nav class="neighbours" aria-label="{around}">{neighbours}</nav>')
    site.write(lesson.page, site.layout.page(lesson.page, say("site.title", name=titled(lesson)), body,
                                             headings + more, "lesson", lesson.language))


def listed(course, page, claims=False):
    items = ""
    for lesson in course:
        claim = f'<span class="claim">{html.escape(lesson.claim)}</span>' if claims else ""
        items += (f'<li><a href="{pages.relative(lesson.page, page)}"><b><span class="number">{lesson.number}</span> '
                  f"{html.escape(lesson.title)}</b></a> <span>{html.escape(lesson.question)}</span>{claim}</li>\n")
    why = pages.relative("lessons/so-why.html", page)
    items += (f'<li><a href="{why}"><b>{html.escape(say("site.why.title"))}</b></a> '
              f'<span>{html.escape(say("site.why.what"))}</span></li>\n')
    return f'<ul class="lessons">\n{items}</ul>'


def with_picture(body):
    """The picture of the last page in place of its list, which is folded away below it, for whoever cannot see it."""
    shown, in_words = html.escape(say("site.why.picture")), html.escape(say("site.why.in_words"))
    picture = (rf'<figure class="causes" tabindex="0"><img src="figures/\1" alt="{shown}"/></figure>' "\n"
               rf'<details class="measured"><summary>{in_words}</summary>\2</details>')
    body, found = re.subn(r'<p><img src="([\w.-]+\.svg)"[^>]*></p>\s*(<ol>.*?</ol>)', picture, body, flags=re.S)
    if found != 1:
        raise SystemExit(f"lessons/so-why.md: {found} pictures of causes: expected one, a numbered list")
    return body


def last_page(course, site):
    """What the course found, as `lesson report` puts it together."""
    name = say("site.why.title")
    own = course.report / f"so-why.{words.language}.md"
    body, headings = markdown.to_html((own if own.is_file() else course.report / "so-why.md").read_text())
    body = with_picture(body)
    site.write("lessons/so-why.html", site.layout.page(
        "lessons/so-why.html", say("site.title", name=name), f"<h1>{html.escape(name)}</h1>\n{body}", headings, "text"))


def write_pages(course, site):
    for lesson in course:
        lesson_page(lesson, course, site)
    last_page(course, site)
    page = "lessons/index.html"
    name, about = say("site.course.title"), say("site.course.about")
    body = f"<h1>{name}</h1>\n<p>{html.escape(about)}</p>\n{listed(course, page)}"
    site.write(page, site.layout.page(page, say("site.title", name=name), body, kind="text"))

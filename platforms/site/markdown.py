"""Markdown as HTML: md4c, the reader that the program itself has, through its C interface (libmd4c-html0); then what a
page of a site needs: headings with the anchors that the files link to, formulas as MathML, tables and code that scroll
inside themselves. Called by build.py and lessons.py."""
import ctypes
import html
import re

import tex
import words

# md4c.h and md4c-html.h: GitHub's dialect (bare links, tables, strike-through, task lists) and $...$; output as XHTML.
PERMISSIVE_LINKS, TABLES, STRIKE, TASKS, MATH = 0x0004 | 0x0008 | 0x0400, 0x0100, 0x0200, 0x0800, 0x1000
XHTML = 0x0008
LIBRARY = "libmd4c-html.so.0"
COMMENT = re.compile(r"<!--.*?-->\n?", re.S)
UNDERLINE = re.compile(r"^\|[-:| ]+\|$", re.M)
HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>", re.S)


def available():
    try:
        ctypes.CDLL(LIBRARY)
        return True
    except OSError:
        return False


def md4c(text):
    out, data = [], text.encode()
    take = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_char), ctypes.c_uint, ctypes.c_void_p)
    callback = take(lambda piece, size, _: out.append(piece[:size]))
    md_html = ctypes.CDLL(LIBRARY).md_html
    md_html.argtypes = [ctypes.c_char_p, ctypes.c_uint, take, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
    if md_html(data, len(data), callback, None, PERMISSIVE_LINKS | TABLES | STRIKE | TASKS | MATH, XHTML):
        raise ValueError("md4c could not read the page")
    return b"".join(out).decode()


def plain(fragment):
    return html.unescape(re.sub(r"<[^>]+>", "", fragment))


def slug(title, taken):
    """The anchor that GitHub gives a heading; a second one of the same words gets a number."""
    name = re.sub(r"[^\w\- ]", "", plain(title).lower()).replace(" ", "-")
    count = taken.get(name, 0)
    taken[name] = count + 1
    return f"{name}-{count}" if count else name


LONG = 60  # letters of a cell that is not to be squeezed on a narrow screen


def scrolling(fragment):
    """Tables and code scroll inside themselves; a keyboard can reach them for that."""
    fragment = re.sub(r"<td>((?:(?!</td>).)*)", lambda m: ('<td class="long">' if len(plain(m[1])) > LONG else "<td>") +
                      m[1], fragment, flags=re.S)
    label = words.say("site.table")
    return re.sub(r"<table>.*?</table>",
                  lambda m: f'<div class="wide" tabindex="0" role="region" aria-label="{label}">{m[0]}</div>', fragment,
                  flags=re.S).replace("<pre>", '<pre tabindex="0">')


def to_html(text):
    """The page's HTML and its headings below the title, as (level, anchor, words)."""
    text = re.sub(r"\$`([^`$]+)`\$", r"$\1$", COMMENT.sub("", text))
    text = UNDERLINE.sub(lambda m: m[0].replace("--", "---"), text)  # md4c wants three
    text = re.sub(r"^```math\n(.*?)^```$", lambda m: "$$" + " ".join(m[1].split()) + "$$", text, flags=re.S | re.M)
    page = md4c(text)
    page = re.sub(r'<x-equation type="display">(.*?)</x-equation>',
                  lambda m: f'<span class="formula" tabindex="0">{tex.mathml(html.unescape(m[1]), True)}</span>', page,
                  flags=re.S)
    page = re.sub(r"<x-equation>(.*?)</x-equation>", lambda m: tex.mathml(html.unescape(m[1])), page, flags=re.S)
    taken, headings = {}, []

    def anchored(match):
        level, anchor = int(match[1]), slug(match[2], taken)
        headings.append((level, anchor, plain(match[2])))
        return f'<h{level} id="{anchor}">{match[2]}</h{level}>'

    return scrolling(HEADING.sub(anchored, page)), headings

#!/usr/bin/env python3
"""Makes German-English sentence pairs from Debian's package descriptions and their translations.

    python3 addons/translation/debian_pairs.py [--out FOLDER] [--german FILE... --english FILE...]

Writes de-en.train.tsv, de-en.valid.tsv and de-en.test.tsv, a pair a line, German TAB English, where `normscope
reproduce` looks for them. Without files, apt fetches the indexes of this machine's own package sources (about 8 MB)
into a folder that is removed again; this needs no root and changes nothing of the system.

Both languages of a description are cut into title, paragraphs and items of lists. Where both have as many parts, these
are paired, then their sentences if the numbers agree, else whole parts. Pairs are left out if their texts are equal,
too long, too different in length, without words or with markup. No sentence occurs twice, whatever its case and marks.
A hash of the text orders the pairs; the last 1,500 are the test split, the 1,500 before them validate.

Exit codes: 0 done, 2 command line, 3 apt or an index is missing or unusable, 5 the pairs cannot be written.
"""
import argparse
import bz2
import collections
import gzip
import hashlib
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

NAME = "de-en"
LONGEST, RATIO, SLACK = 60, 2.0, 20  # words a side; the longer side has at most RATIO * shorter + SLACK letters

BULLET = re.compile(r"[-*+o•·–] +(?=\S)")
MARKUP = re.compile(r"<[^>]*>|&\w+;|\\\w|[{}|\t\x00-\x08]|https?://\S+$|<!--")
ABBREVIATED = re.compile(r"(?:\b(?:[A-Za-z]|bzw|ca|dt|engl|etc|evtl|ggf|inkl|max|min|Mio|Nr|resp|sog|usw|vgl|z\.B|d\.h|u\.a|"
                         r"e\.g|i\.e|cf|vs|approx|incl|no|St|Dr|Prof|Inc|Ltd|Co|Corp|al)|\b\d{1,2})\.$")
BROKEN = re.compile(r"\w-\n(?!(?:und|oder|bzw|sowie|bis|and|or|to)\b)\w")  # a line that ends within a compound
SENTENCE_END = re.compile(r"(?<=[.!?])[\"“”»«')\]]*\s+(?=[\"“„»«'(\[]*[A-ZÄÖÜ0-9])")


class Unusable(Exception):
    """Says in one line why an index, or apt, gives no pairs."""


def apt(config, *words):
    try:
        done = subprocess.run(["apt-get", "-c", config, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              env=dict(os.environ, LC_ALL="C"), check=False)
    except OSError as error:
        raise Unusable("apt-get is missing: expected a Debian system, or the indexes with --german and --english") from error
    complaints = [line for line in done.stderr.decode(errors="replace").splitlines() if line[:2] in ("E:", "W:")]
    if done.returncode != 0:
        raise Unusable(f"apt-get {words[0]} failed: {(complaints or ['no reason given'])[0]}")
    return done.stdout.decode(), complaints


def fetch(folder):
    """Returns {language: texts of its indexes}, fetched with the machine's own sources into a folder of our own."""
    config = pathlib.Path(folder, "apt.conf")
    pathlib.Path(folder, "lists", "partial").mkdir(parents=True)
    os.chmod(folder, 0o755)  # apt as root fetches as another user
    config.write_text(f"""Dir::State "{folder}"; Dir::State::Lists "{folder}/lists"; Dir::State::status "/dev/null";
Dir::Cache "{folder}/cache"; Acquire::GzipIndexes "false"; Acquire::PDiffs "false";
#clear APT::Update;
#clear Acquire::Languages;
Acquire::Languages {{ "de"; "en"; }};
Acquire::IndexTargets::deb::Packages::DefaultEnabled "false";
""")
    _, complaints = apt(str(config), "update")
    listed, _ = apt(str(config), "indextargets", "--format", "$(LANGUAGE) $(FILENAME)", "Identifier: Translations")
    found = {"de": [], "en": []}
    for line in listed.splitlines():
        language, _, path = line.partition(" ")
        if language in found and os.path.exists(path):
            found[language].append(path)
    for language, name in (("de", "German"), ("en", "English")):
        if not found[language]:
            why = f" ({complaints[0]})" if complaints else ""
            raise Unusable(f"apt has no {name} package descriptions, Translation-{language}{why}: expected package sources "
                           "that carry them, or --german and --english")
    return {language: [read(path) for path in paths] for language, paths in found.items()}


def read(path):
    opened = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(pathlib.Path(path).suffix, open)
    try:
        with opened(path, "rb") as file:
            return file.read().decode()
    except (OSError, EOFError, lzma.LZMAError, zlib.error, UnicodeDecodeError) as error:
        raise Unusable(f"{path}: {getattr(error, 'strerror', None) or error}: expected a Translation index") from error


def descriptions(index, language):
    """Returns {(package, md5 of the English description): lines}; the first line is the title."""
    found = {}
    for stanza in re.split(r"\n\n+", index):
        package = re.search(r"^Package: (.+)$", stanza, re.M)
        md5 = re.search(r"^Description-md5: (\w+)$", stanza, re.M)
        text = re.search(rf"^Description-{language}: (.*(?:\n .*)*)", stanza, re.M)
        if package and md5 and text:
            found[package[1], md5[1]] = text[1].split("\n")
    return found


def parts(lines):
    """Returns the sections between " ." lines as lists of (is an item, text); the first has only the title."""
    sections, indent = [[(False, " ".join(lines[0].split()))], []], 1
    for line in lines[1:]:
        text, depth = " ".join(line.split()), len(line) - len(line.lstrip())
        section = sections[-1]
        if text == ".":
            sections.append([])
        elif BULLET.match(text):
            section.append((True, text))
        elif section and (text[:1].islower() or depth > 1 and section[-1][0] or depth == indent and not section[-1][0]):
            item, before = section[-1]
            section[-1] = (item, before + ("" if BROKEN.search(f"{before}\n{text}") else " ") + text)
        else:
            section.append((False, text))
        indent = depth
    return [section for section in sections if section]


def sentences(text):
    """Cuts behind . ! ? where a capital letter follows, but not behind an abbreviation or an ordinal number."""
    cut, start = [], 0
    for end in SENTENCE_END.finditer(text):
        if not ABBREVIATED.search(text[:end.start()]):
            cut.append(text[start:end.end()].strip())
            start = end.end()
    return cut + [text[start:].strip()]


def pairs_of(german, english):
    """Yields the parts of one description that belong together."""
    ours, theirs = parts(german), parts(english)
    if len(ours) != len(theirs):
        ours, theirs = ours[:1], theirs[:1]
    for section, other in zip(ours, theirs):
        if [item for item, _ in section] != [item for item, _ in other]:
            continue
        for (_, de), (_, en) in zip(section, other):
            cut, other_cut = sentences(de), sentences(en)
            agree = len(cut) == len(other_cut) and all(map(alike, cut, other_cut))
            yield from zip(cut, other_cut) if agree else [(de, en)]


def bare(text):
    """Keeps letters and digits alone, because two sentences that agree in them count as the same."""
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def alike(de, en):
    """Compares lengths, because a side that is much shorter often lacks a sentence."""
    return max(len(de), len(en)) <= RATIO * min(len(de), len(en)) + SLACK


def usable(de, en):
    if bare(de) == bare(en) or MARKUP.search(de) or MARKUP.search(en):
        return False
    if max(len(de.split()), len(en.split())) > LONGEST or not alike(de, en):
        return False
    return all(re.search(r"[^\W\d_]{3}", text) for text in (de, en))


def make_pairs(indexes):
    """Returns all pairs in an order that follows from the texts alone."""
    sides = {language: {} for language in indexes}
    for language, texts in indexes.items():
        for text in texts:
            sides[language].update(descriptions(text, language))
    counts = collections.Counter()
    for key, german in sides["de"].items():
        if key in sides["en"]:
            counts.update(pair for pair in set(pairs_of(german, sides["en"][key])) if usable(*pair))
    kept, seen = [], set()
    for (de, en), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):  # most frequent translation first
        same = {("de", bare(de)), ("en", bare(en))}
        if not same & seen:
            seen |= same
            kept.append((de, en))
    return sorted(kept, key=lambda pair: hashlib.sha256("\t".join(("1", *pair)).encode()).digest())


def write(folder, splits):
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:  # all files are complete before one is replaced
        for split, pairs in splits.items():
            text = "".join(f"{de}\t{en}\n" for de, en in pairs)
            pathlib.Path(scratch, split).write_bytes(text.encode())
        for split in splits:
            os.replace(pathlib.Path(scratch, split), folder / f"{NAME}.{split}.tsv")


def default_folder():
    data = os.environ.get("XDG_DATA_HOME", "")
    return pathlib.Path(data if data.startswith("/") else os.path.expanduser("~/.local/share"), "normscope", "pairs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=default_folder(), help="default: %(default)s")
    parser.add_argument("--german", nargs="+", help="Translation-de files, plain or .gz, .bz2, .xz, instead of apt's")
    parser.add_argument("--english", nargs="+", help="Translation-en files")
    parser.add_argument("--held-out", type=int, default=1500, help="pairs to validate on, and as many to test on (%(default)s)")
    options = parser.parse_args()
    if bool(options.german) != bool(options.english):
        parser.error("--german and --english: expected both or neither")
    if options.held_out < 1:
        parser.error("--held-out: expected 1 or more")
    if options.german:
        indexes = {"de": [read(path) for path in options.german], "en": [read(path) for path in options.english]}
    else:
        with tempfile.TemporaryDirectory() as folder:
            indexes = fetch(folder)
    pairs, held = make_pairs(indexes), options.held_out
    if len(pairs) <= 2 * held:
        raise Unusable(f"the indexes give {len(pairs)} pairs: expected more than {2 * held}, twice what is held out")
    splits = {"train": pairs[:-2 * held], "valid": pairs[-2 * held:-held], "test": pairs[-held:]}
    write(options.out, splits)
    print(f"{options.out}: " + ", ".join(f"{len(rows)} pairs to {split}" for split, rows in splits.items()))


if __name__ == "__main__":
    try:
        main()
    except Unusable as why:
        sys.exit(print(f"debian_pairs: {why}", file=sys.stderr) or 3)
    except OSError as why:
        sys.exit(print(f"debian_pairs: {why.filename or 'the pairs'}: {why.strerror}", file=sys.stderr) or 5)
    except KeyboardInterrupt:
        sys.exit(130)

#!/usr/bin/env python3
"""Runs the tests of the web program in Chromium and Firefox, headless. `make test-web` builds it and calls this.

    tests/web/run.py [--browser firefox] [--only NAME] [--steps 10000] [--pictures out/web]

Each test prints one line with what it measured; times and rates never decide. A test that cannot run here is skipped by
name. The exit code is 1 where a test failed.
"""

import argparse
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True  # leaves the tree as it is

import browser  # noqa: E402
from bidi import Firefox  # noqa: E402
from case import WebTest  # noqa: E402
from cdp import Chromium  # noqa: E402
from program import Site  # noqa: E402

BROWSERS = [Chromium, Firefox]  # the first of a run takes the tests that are marked `once`


class Lines(unittest.TestResult):
    """Prints a line when a test ends: its result, how long it took, and what it is about."""

    def startTest(self, test):
        super().startTest(test)
        self.begin = time.monotonic()

    def line(self, test, word, why=""):
        seconds = time.monotonic() - getattr(self, "begin", time.monotonic())
        about = test.shortDescription() or str(test)
        print(f"{word:7} {seconds:6.1f} s  {about}" + (f": {why}" if why else ""), flush=True)
        for text in getattr(test, "measured", []):
            print(f"{'':19}{text}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line(test, "ok")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line(test, "skipped", f"{test.id().split('.', 1)[-1]}: {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line(test, "FAILED", str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.line(test, "FAILED", f"{err[0].__name__}: {err[1]}")


def chosen(suite, only):
    """Returns the tests whose names contain the word, ordered by name."""
    tests = unittest.TestSuite()
    for item in suite:
        tests.addTests(chosen(item, only) if isinstance(item, unittest.TestSuite) else [item] * (only in item.id()))
    return tests


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "build/web", help="the web program")
    parser.add_argument("--native", type=Path, default=ROOT / "build/release/normscope", help="the native program")
    parser.add_argument("--steps", type=int, default=0, help="steps after which the memory is measured; 0: not at all")
    names = [kind.name.lower() for kind in BROWSERS]
    parser.add_argument("--browser", choices=names, help="this one alone, in full; without it each that is there")
    parser.add_argument("--only", default="", help="tests whose name holds this word")
    parser.add_argument("--patience", type=float, default=1, help="factor on all waits, for a busy machine")
    parser.add_argument("--store", action="store_true", help="writes checksum.txt: a change of the bits was meant")
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of the pages")
    return parser.parse_args()


def there(asked):
    """Returns the browsers that this machine can run, and says of each other one what is missing."""
    kinds = [kind for kind in BROWSERS if asked in (None, kind.name.lower())]
    lacking = {kind: lack for kind in kinds if (lack := kind.missing())}
    for kind, lack in lacking.items():
        print(f"skipped all tests in {kind.name}: {lack}", flush=True)
    if asked and lacking:
        sys.exit(1)
    return [kind for kind in kinds if kind not in lacking]


def walk(kind, options):
    """Runs the tests in one browser, and returns whether none failed."""
    begin = time.monotonic()
    suite = chosen(unittest.defaultTestLoader.discover(str(HERE)), options.only)
    if suite.countTestCases() == 0:
        sys.exit(f"run.py: no test's name holds '{options.only}'")
    result = Lines()
    with kind() as WebTest.browser:
        WebTest.kind = kind
        print(WebTest.browser.version(), flush=True)
        if not WebTest.browser.draws():
            lack = "it finds no WebGL 2 (Debian: libegl1, libgl1-mesa-dri)"
            print(f"skipped all tests in {kind.name}: {lack}", flush=True)
            return options.browser is None
        suite.run(result)
    failed = len(result.failures) + len(result.errors)
    for test, trace in [*result.failures, *result.errors]:
        print(f"\n{kind.name}: {test.id()}\n{trace}", file=sys.stderr)
    skipped = len(result.skipped)
    passed = result.testsRun - failed - skipped
    seconds = time.monotonic() - begin
    print(f"{kind.name}: {passed} passed, {failed} failed, {skipped} skipped, {seconds:.0f} s", flush=True)
    return failed == 0


def main():
    options = arguments()
    if not (options.folder / "normscope.wasm").is_file():
        sys.exit(f"run.py: {options.folder} has no web program; `make web` builds it")
    WebTest.options = options
    browser.patience = options.patience
    WebTest.site = Site(options.folder)
    whole = True
    try:
        for index, kind in enumerate(there(options.browser)):
            WebTest.first = index == 0
            whole = walk(kind, options) and whole
    finally:
        WebTest.site.close()
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()

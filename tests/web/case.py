"""The base of the web tests: the site, a browser, and the options of run.py."""

import unittest

from program import Program


def once(why):
    """Marks a test that only the first of a run's browsers takes: the others would take as long to say the same."""

    def mark(test):
        test.once = why
        return test

    return mark


class WebTest(unittest.TestCase):
    """Opens pages for a test, and closes them with it."""

    options = None  # those of run.py
    site = None
    kind = None  # Chromium or Firefox
    browser = None  # one of that kind, for all tests
    first = True  # no browser went before this one in the run

    def setUp(self):
        self.measured = []  # run.py prints these behind the line of the test
        why = getattr(getattr(self, self._testMethodName), "once", "")
        if why and not self.first:
            self.skipTest(f"{why}; --browser {self.kind.name.lower()} runs it")

    def new_browser(self, **settings):
        """Starts a browser for this test alone."""
        browser = self.kind(**settings)
        self.addCleanup(browser.close)
        return browser

    def new_page(self, width=1600, height=1000, ratio=1, touch=False, scheme="light", browser=None):
        """Opens an empty page that is closed at the end of the test."""
        browser = browser or self.browser
        if not browser.gives(touch, scheme):
            browser = self.new_browser(touch=touch, scheme=scheme)
        page = browser.page(width, height, ratio, touch, scheme)
        self.addCleanup(page.close)
        return page

    def open(self, query="fresh", fragment="", bare=False, **page):
        """Opens the page of the program while it loads. `fresh` leaves aside what earlier tests kept."""
        url = (self.site.bare_url if bare else self.site.url) + (f"?{query}" if query else "")
        return Program(self.new_page(**page), url + (f"#{fragment}" if fragment else ""))

    def say(self, text):
        """Notes a measured figure for printing; no figure decides a test."""
        self.measured.append(text)

    def picture(self, program, name):
        """Keeps a picture of the page if run.py was given a folder for them."""
        if self.options.pictures:
            self.options.pictures.mkdir(parents=True, exist_ok=True)
            path = self.options.pictures / f"{name}-{self.kind.name.lower()}.png"
            path.write_bytes(program.page.screenshot())

"""The base of the web tests: the site, a browser, and the options of run.py."""

import unittest

import cdp
from program import Program


class WebTest(unittest.TestCase):
    """Opens pages for a test, and closes them with it."""

    options = None  # those of run.py
    site = None
    browser = None

    def setUp(self):
        self.measured = []  # run.py prints these behind the line of the test

    def new_browser(self, flags=cdp.SOFTWARE_GL):
        """Starts a browser for this test alone."""
        browser = cdp.Browser(flags)
        self.addCleanup(browser.close)
        return browser

    def new_page(self, width=1600, height=1000, ratio=1, touch=False, scheme="light", browser=None):
        """Opens an empty page that is closed at the end of the test."""
        page = (browser or self.browser).page(width, height, ratio, touch, scheme)
        self.addCleanup(self.close, page)
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
            program.page.screenshot(self.options.pictures / f"{name}.png")

    @staticmethod
    def close(page):
        try:
            page.call("Page.close")
        except cdp.CdpError:
            pass  # the page is gone already

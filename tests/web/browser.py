"""What the tests ask of a browser, whichever it is. cdp.py drives Chromium, bidi.py Firefox.

Both protocols send JSON: calls are answered by their ids, and what the browser reports on its own in between is an
event. What a browser cannot do raises CannotDo, and the test that asked for it is skipped by name.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

patience = 1.0  # run.py's --patience multiplies all waits by this, for a machine that is busy


def until(seconds):
    """Returns the time at which a wait of so many seconds is over."""
    return time.monotonic() + seconds * patience


class BrowserError(Exception):
    """Says what the browser refused, or did not do in time."""


class CannotDo(unittest.SkipTest):
    """Says what this browser, or its protocol, does not offer."""


def find(variable, names):
    """Returns the path of the program that the environment's variable names, or of the first of the names, or None."""
    asked = os.environ.get(variable)
    return next((path for path in map(shutil.which, [asked] if asked else names) if path), None)


class Browser:
    """Runs a headless browser with a profile of its own, which is removed when it closes.

    A class of a browser sets `name` and has missing(), which says why it cannot run here, open_wire(), refusal(),
    page(), version(), and leave(), which asks the browser to end."""

    name = ""
    touch = False
    scheme = "light"

    def __init__(self):
        self.profile = Path(tempfile.mkdtemp(prefix="normscope-web-"))
        self._process = None
        self._wire = None
        self._id = 0
        self.events = []  # (method, params, session), oldest first
        try:
            self._wire = self.open_wire()
            self.begin()
        except BaseException:
            if self._process:
                self._process.kill()
            self.end()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def gives(self, touch, scheme):
        """Says whether a page of this browser can have fingers, and a desktop that prefers the scheme."""
        return (touch, scheme) == (self.touch, self.scheme)

    def begin(self):
        """Says to the browser what every page needs."""

    def draws(self):
        """Says whether it has WebGL 2, where that is of the system and not of the browser."""
        return True

    def start(self, command, **settings):
        """Starts the program in a process group of its own."""
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, start_new_session=True, **quiet, **settings)

    def ended(self):
        """Says whether the program has ended by itself."""
        return self._process.poll() is not None

    def close(self):
        """Asks the browser to end, kills it if it does not, and leaves nothing in the system's folders."""
        try:
            self.leave()
        except (BrowserError, OSError):
            pass
        self.end()

    def end(self):
        """Waits for the program's end, or brings it about."""
        if self._process:
            try:
                self._process.wait(20 * patience)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._wire:
            self._wire.close()
        self._remove_profile()

    def _remove_profile(self):
        """Ends the processes that outlive the browser and go on writing to the profile, then removes the profile."""
        try:
            if self._process:
                os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # none is left
        end = until(20)
        while self.profile.exists():  # one of them may finish one more write while it dies
            shutil.rmtree(self.profile, ignore_errors=time.monotonic() < end)
            time.sleep(0.05)

    def call(self, method, params=None, seconds=120, **more):
        """Returns the result of a command. Raises BrowserError for a refusal, and where no answer comes in time."""
        number = self.ask(method, params, **more)
        end = until(seconds)
        while (left := end - time.monotonic()) > 0:
            answer = self._receive(left)
            if answer is None:
                continue
            if answer.get("id") == number:
                if "error" in answer:
                    raise self.refusal(method, answer)
                return answer["result"]
            if "method" in answer:
                self.heard(answer["method"], answer["params"], answer.get("sessionId"))
        raise BrowserError(f"{method}: no answer within {seconds} s")

    def ask(self, method, params=None, **more):
        """Sends a command whose answer nobody waits for, and returns its number."""
        self._id += 1
        try:
            self._wire.send(json.dumps({"id": self._id, "method": method, "params": params or {}} | more))
        except OSError as error:
            raise BrowserError("the browser has ended") from error
        return self._id

    def heard(self, method, params, session):
        """Keeps what the browser reported on its own."""
        self.events.append((method, params, session))

    def _receive(self, seconds):
        """Returns the next message, or None where none came in time."""
        try:
            text = self._wire.receive(seconds)
        except (EOFError, ConnectionError) as error:
            raise BrowserError("the browser has ended") from error
        return json.loads(text) if text is not None else None


class Page:
    """Drives one page of the browser: scripts, mouse, fingers, keys, pictures, and what the page reported.

    The class of each browser's pages adds these:
      open(url)                   loads another page and does not wait for it
      before(script)              runs the script in every page loaded from now on, before the page's own scripts
      evaluate(script)            the value of an expression; for a promise it waits
      mouse(kind, x, y, button)   a mouse event; `kind` is Moved, Pressed or Released, `button` is none, left or right
      touch(kind, *points)        Start, Move or End; `points` are the (x, y) of the fingers that are down
      tap(x, y)                   a finger that goes down and up at once, as on a busy machine it would be held still
      pull(begin, first)          a finger that goes down and moves at once, and stays down
      key(chord)                  presses a chord such as "Ctrl+K", "Enter" or "2"
      screenshot()                the page as PNG bytes
      front()                     brings the page before the others
      block(path)                 lets every request for that path of a host fail
      choose_files(id, paths)     gives files to the file field with that id
      downloads(folder)           where downloads go
      allow_clipboard(url)        lets the pages of that host read the clipboard
      urls()                      the addresses of all requests so far
      received()                  bytes received so far, as they came, compressed
      loads(url)                  how often the page loaded the address
      problems()                  errors that the browser noted, as texts
      close()                     closes the page, if it is still there"""

    def __init__(self, browser):
        self.browser = browser

    def wait(self, script, seconds, what=None):
        """Asks for an expression ten times a second and returns its first true value."""
        end = until(seconds)
        error = None
        while time.monotonic() < end:
            try:
                if value := self.evaluate(script):
                    return value
            except BrowserError as problem:  # nobody answers between two pages
                error = problem
            time.sleep(0.1)
        raise BrowserError(f"not within {seconds} s: {what or script}" + (f" ({error})" if error else ""))

    def reported(self, *methods):
        """Returns the parameters of the events of those names that are about this page, so far."""
        self.evaluate("0")  # receives the events that wait
        events = [(params, session) for name, params, session in self.browser.events if name in methods]
        return [params for params, session in events if self.mine(params, session)]

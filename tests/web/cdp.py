"""Chromium by its DevTools protocol, as much of it as the web tests need.

The protocol goes through two pipes (--remote-debugging-pipe): one JSON message after the other, each ended by a zero
byte. Calls are answered in order of their ids; what the browser reports on its own in between is kept as events.
"""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

SOFTWARE_GL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
NO_GL = ["--disable-gpu", "--disable-software-rasterizer", "--disable-3d-apis"]
QUIET = [
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--mute-audio",
    "--force-color-profile=srgb",
]


patience = 1.0  # all waits are so many times as long: run.py's --patience, for a machine that is busy


def until(seconds):
    """The time when a wait of so many seconds is over."""
    return time.monotonic() + seconds * patience


class CdpError(Exception):
    """What the browser refused, or did not do in time."""


def find_chromium():
    """The program, or None."""
    asked = os.environ.get("CHROMIUM")
    names = [asked] if asked else ["chromium", "chromium-browser", "google-chrome"]
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    """A headless browser with a profile of its own, which goes away with it."""

    def __init__(self, flags=SOFTWARE_GL):
        self.profile = Path(tempfile.mkdtemp(prefix="normscope-web-"))
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has none for root
        command = [find_chromium(), "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.profile}"]

        def wire():  # the browser reads from 3 and writes to 4
            ends = os.dup(to_browser), os.dup(from_browser)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)
            os.closerange(5, 256)

        self._process = subprocess.Popen(
            [*command, *sandbox, *QUIET, *flags, "about:blank"],
            preexec_fn=wire,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._rest = b""
        self._id = 0
        self.events = []  # (session, method, params), oldest first

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Asks the browser to end, and ends it where it does not; nothing of it stays in the system's folders."""
        try:
            self.call("Browser.close", seconds=10)
        except (CdpError, OSError):
            pass
        try:
            self._process.wait(20 * patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._remove_profile()

    def _remove_profile(self):
        """Ends the helpers that outlive the browser and go on writing to the profile, then takes that away."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # none is left
        end = until(20)
        while self.profile.exists():  # a helper may finish one more write while it dies
            shutil.rmtree(self.profile, ignore_errors=time.monotonic() < end)

    def call(self, method, params=None, session=None, seconds=120):
        """Result of a command. Raises CdpError for a refusal, and where no answer comes in time."""
        self._id += 1
        message = {"id": self._id, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        end = until(seconds)
        while (left := end - time.monotonic()) > 0:
            answer = self._receive(left)
            if answer is None:
                continue
            if answer.get("id") == self._id:
                if "error" in answer:
                    raise CdpError(f"{method}: {answer['error'].get('message')}")
                return answer["result"]
            if "method" in answer:
                self.events.append((answer.get("sessionId"), answer["method"], answer["params"]))
        raise CdpError(f"{method}: no answer within {seconds} s")

    def _receive(self, seconds):
        """The next message, or None where none came in time."""
        while b"\0" not in self._rest:
            if not select.select([self._from], [], [], seconds)[0]:
                return None
            part = os.read(self._from, 1 << 20)
            if not part:
                raise CdpError("the browser has ended")
            self._rest += part
        text, self._rest = self._rest.split(b"\0", 1)
        return json.loads(text)

    def page(self, width=1600, height=1000, ratio=1, touch=False, scheme="light"):
        """A new empty page of that size in CSS px."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, session, target)
        for domain in ["Page", "Runtime", "Network", "Log"]:
            page.call(f"{domain}.enable")
        page.resize(width, height, ratio, touch)
        page.call("Emulation.setTouchEmulationEnabled", {"enabled": touch})
        page.scheme(scheme)
        return page


# Chords: key → (key, code, Windows's key code, text).
KEYS = {
    "Enter": ("Enter", "Enter", 13, "\r"),
    "Escape": ("Escape", "Escape", 27, ""),
    "Space": (" ", "Space", 32, " "),
    "Tab": ("Tab", "Tab", 9, ""),
    "Left": ("ArrowLeft", "ArrowLeft", 37, ""),
    "Right": ("ArrowRight", "ArrowRight", 39, ""),
    "Home": ("Home", "Home", 36, ""),
    "End": ("End", "End", 35, ""),
}
MODIFIERS = {"Alt": (1, 18), "Ctrl": (2, 17), "Shift": (8, 16)}  # bit, key code


def key_of(name):
    """A row of KEYS, or one made for a letter or digit."""
    if name in KEYS:
        return KEYS[name]
    code = f"Digit{name}" if name.isdigit() else f"Key{name.upper()}"
    return (name.lower(), code, ord(name.upper()), name.lower())


class Page:
    """One page of the browser: scripts, mouse, keys, pictures, and what it reported."""

    def __init__(self, browser, session, target):
        self.browser = browser
        self.session = session
        self.target = target

    def call(self, method, params=None, seconds=120):
        """A command to this page."""
        return self.browser.call(method, params, self.session, seconds)

    def resize(self, width, height, ratio=1, mobile=False):
        """The window's size in CSS px and the display's px in one of them."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": mobile}
        self.call("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, name):
        """light or dark, as the desktop prefers."""
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def open(self, url):
        """Loads another page; does not wait for it."""
        self.call("Page.navigate", {"url": url})

    def before(self, script):
        """Runs the script in every page that this one loads from now on, before the page's own."""
        self.call("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    def evaluate(self, script, seconds=120):
        """Value of an expression; a promise is waited for."""
        answer = self.call(
            "Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True}, seconds
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise CdpError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait(self, script, seconds, what=None):
        """The first true value of an expression, asked ten times a second."""
        end = until(seconds)
        error = None
        while time.monotonic() < end:
            try:
                if value := self.evaluate(script):
                    return value
            except CdpError as problem:  # between two pages there is nobody to answer
                error = problem
            time.sleep(0.1)
        raise CdpError(f"not within {seconds} s: {what or script}" + (f" ({error})" if error else ""))

    def mouse(self, kind, x, y, button="none", modifiers=0, **more):
        """kind: Moved, Pressed, Released or Wheel."""
        held = {"none": 0, "left": 1, "right": 2}[button] if kind != "Released" else 0
        event = {"type": f"mouse{kind}", "x": x, "y": y, "button": button, "buttons": held, "modifiers": modifiers}
        if kind in ("Pressed", "Released"):
            event["clickCount"] = 1
        self.call("Input.dispatchMouseEvent", event | more)

    def key(self, chord):
        """As "Ctrl+K", "Enter", "2"."""
        *modifiers, name = chord.split("+")
        held = 0
        for modifier in modifiers:  # a program may ask for the keys themselves, not for the events' flags
            held |= MODIFIERS[modifier][0]
            self.modifier(modifier, held, "rawKeyDown")
        key, code, number, text = key_of(name)
        event = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": held}
        typed = {"text": text} if text and not held else {}
        self.call("Input.dispatchKeyEvent", event | typed | {"type": "keyDown" if typed else "rawKeyDown"})
        self.call("Input.dispatchKeyEvent", event | {"type": "keyUp"})
        for modifier in reversed(modifiers):
            held &= ~MODIFIERS[modifier][0]
            self.modifier(modifier, held, "keyUp")

    def modifier(self, name, held, kind):
        """The left one of its two keys goes down or up; held: the modifiers after that."""
        key = "Control" if name == "Ctrl" else name
        event = {"type": kind, "key": key, "code": f"{key}Left", "location": 1, "modifiers": held}
        self.call("Input.dispatchKeyEvent", event | {"windowsVirtualKeyCode": MODIFIERS[name][1]})

    def touch(self, kind, *points):
        """kind: Start, Move, End or Cancel; points: (x, y) of the fingers that are down."""
        fingers = [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(points)]
        self.call("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": fingers})

    def screenshot(self, path=None):
        """The page as PNG bytes, written to `path` too if one is given."""
        data = base64.b64decode(self.call("Page.captureScreenshot", {"format": "png"})["data"])
        if path:
            Path(path).write_bytes(data)
        return data

    def reported(self, method):
        """Parameters of the events of that name so far."""
        self.evaluate("0")  # takes in what waits
        return [params for session, name, params in self.browser.events if session == self.session and name == method]

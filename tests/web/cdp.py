"""Speaks the DevTools protocol of Chromium, as far as the web tests need it.

The protocol uses two pipes (--remote-debugging-pipe). Each JSON message ends with a zero byte, calls are answered by
their ids, and what the browser reports on its own in between is kept as events.
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


patience = 1.0  # run.py's --patience multiplies all waits by this, for a machine that is busy


def until(seconds):
    """Returns the time at which a wait of so many seconds is over."""
    return time.monotonic() + seconds * patience


class CdpError(Exception):
    """Says what the browser refused, or did not do in time."""


def find_chromium():
    """Returns the path of the program, or None."""
    asked = os.environ.get("CHROMIUM")
    names = [asked] if asked else ["chromium", "chromium-browser", "google-chrome"]
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    """Runs a headless browser with a profile of its own, which is removed when it closes."""

    def __init__(self, flags=SOFTWARE_GL):
        self.profile = Path(tempfile.mkdtemp(prefix="normscope-web-"))
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has no sandbox for root
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
        """Asks the browser to end, kills it if it does not, and leaves nothing in the system's folders."""
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
        """Ends the helpers that outlive the browser and go on writing to the profile, then removes the profile."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # no helper is left
        end = until(20)
        while self.profile.exists():  # a helper may finish one more write while it dies
            shutil.rmtree(self.profile, ignore_errors=time.monotonic() < end)

    def call(self, method, params=None, session=None, seconds=120):
        """Returns the result of a command. Raises CdpError for a refusal, and where no answer comes in time."""
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
        """Returns the next message, or None where none came in time."""
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
        """Opens a new empty page of that size in CSS px."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, session, target)
        for domain in ["Page", "Runtime", "Network", "Log"]:
            page.call(f"{domain}.enable")
        page.resize(width, height, ratio, touch)
        page.call("Emulation.setTouchEmulationEnabled", {"enabled": touch})
        page.scheme(scheme)
        return page


# KEYS maps the name of a key to (key, code, Windows's key code, text).
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
    """Returns a row of KEYS, or a new one for a letter or digit."""
    if name in KEYS:
        return KEYS[name]
    code = f"Digit{name}" if name.isdigit() else f"Key{name.upper()}"
    return (name.lower(), code, ord(name.upper()), name.lower())


class Page:
    """Drives one page of the browser: scripts, mouse, keys, pictures, and what the page reported."""

    def __init__(self, browser, session, target):
        self.browser = browser
        self.session = session
        self.target = target

    def call(self, method, params=None, seconds=120):
        """Sends a command to this page."""
        return self.browser.call(method, params, self.session, seconds)

    def resize(self, width, height, ratio=1, mobile=False):
        """Sets the size of the window in CSS px, and how many px of the display one of them has."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": mobile}
        self.call("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, name):
        """Sets what the desktop prefers, "light" or "dark"."""
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def open(self, url):
        """Loads another page and does not wait for it."""
        self.call("Page.navigate", {"url": url})

    def before(self, script):
        """Runs the script in every page that this one loads from now on, before the page's own scripts."""
        self.call("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    def evaluate(self, script, seconds=120):
        """Returns the value of an expression; for a promise it waits."""
        answer = self.call(
            "Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True}, seconds
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise CdpError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait(self, script, seconds, what=None):
        """Asks for an expression ten times a second and returns its first true value."""
        end = until(seconds)
        error = None
        while time.monotonic() < end:
            try:
                if value := self.evaluate(script):
                    return value
            except CdpError as problem:  # nobody answers between two pages
                error = problem
            time.sleep(0.1)
        raise CdpError(f"not within {seconds} s: {what or script}" + (f" ({error})" if error else ""))

    def mouse(self, kind, x, y, button="none", modifiers=0, **more):
        """Sends a mouse event; `kind` is Moved, Pressed, Released or Wheel."""
        held = {"none": 0, "left": 1, "right": 2}[button] if kind != "Released" else 0
        event = {"type": f"mouse{kind}", "x": x, "y": y, "button": button, "buttons": held, "modifiers": modifiers}
        if kind in ("Pressed", "Released"):
            event["clickCount"] = 1
        self.call("Input.dispatchMouseEvent", event | more)

    def key(self, chord):
        """Presses a chord such as "Ctrl+K", "Enter" or "2"."""
        *modifiers, name = chord.split("+")
        held = 0
        for modifier in modifiers:  # a program may read the keys themselves instead of the flags of events
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
        """Presses or releases the left one of the two keys; `held` are the modifiers after that."""
        key = "Control" if name == "Ctrl" else name
        event = {"type": kind, "key": key, "code": f"{key}Left", "location": 1, "modifiers": held}
        self.call("Input.dispatchKeyEvent", event | {"windowsVirtualKeyCode": MODIFIERS[name][1]})

    def touch(self, kind, *points):
        """Sends a touch event (Start, Move, End or Cancel); `points` are the (x, y) of the fingers that are down."""
        fingers = [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(points)]
        self.call("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": fingers})

    def screenshot(self, path=None):
        """Returns the page as PNG bytes, and writes them to `path` too if one is given."""
        data = base64.b64decode(self.call("Page.captureScreenshot", {"format": "png"})["data"])
        if path:
            Path(path).write_bytes(data)
        return data

    def reported(self, method):
        """Returns the parameters of the events of that name so far."""
        self.evaluate("0")  # receives the events that wait
        return [params for session, name, params in self.browser.events if session == self.session and name == method]

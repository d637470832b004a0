"""Drives Firefox by WebDriver BiDi (w3.org/TR/webdriver-bidi), over a websocket (--remote-debugging-port).

Firefox finds the system's WebGL, Mesa's in software too, only where there is a display, even if it is headless and
opens no window there. So each one gets a virtual display of its own (Xvfb).
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time

from browser import Browser, BrowserError, CannotDo, Page, find, until
from wire import WebSocket

# What makes a Firefox without a graphics card draw WebGL 2 in software, and what the protocol has no command for.
SETTINGS = {
    "webgl.force-enabled": True,
    "gfx.webrender.software": True,
    "dom.events.testing.asyncClipboard": True,  # a page may read the clipboard unasked
    "dom.w3c_touch_events.enabled": 1,
    "ui.useOverlayScrollbars": 1,  # as a phone has them, and Chromium under test
}
COARSE, FINE_AND_HOVER = 1, 6  # bits of ui.primaryPointerCapabilities

REQUESTS = ["network.beforeRequestSent", "network.responseCompleted"]
EVENTS = [*REQUESTS, "log.entryAdded", "browsingContext.domContentLoaded"]

# KEYS maps the name of a key to WebDriver's character for it; letters and digits stand for themselves.
KEYS = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Space": " ",
    "Tab": "\ue004",
    "Left": "\ue012",
    "Right": "\ue014",
    "Home": "\ue011",
    "End": "\ue010",
    "Alt": "\ue00a",
    "Ctrl": "\ue009",
    "Shift": "\ue008",
}

DOWN, UP = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))


def to(x, y):
    """Returns the action that moves a pointer there."""
    return {"type": "pointerMove", "x": round(x), "y": round(y)}


class Firefox(Browser):
    """Runs Firefox. Fingers and the desktop's colours are of the whole browser there."""

    name = "Firefox"

    def __init__(self, webgl=True, touch=False, scheme="light"):
        self._display = None
        self._version = ""
        self.touch = touch
        self.scheme = scheme
        self._settings = SETTINGS | {
            "webgl.disabled": not webgl,
            "ui.primaryPointerCapabilities": COARSE if touch else FINE_AND_HOVER,
            "layout.css.prefers-color-scheme.content-override": {"dark": 0, "light": 1}[scheme],
        }
        super().__init__()

    @staticmethod
    def find():
        """Returns the path of the program, or None."""
        return find("FIREFOX", ["firefox-esr", "firefox"])

    @classmethod
    def missing(cls):
        if not cls.find():
            return "it is not installed (Debian: firefox-esr, elsewhere firefox; or FIREFOX names one)"
        return "" if shutil.which("Xvfb") else "there is no Xvfb (Debian: xvfb), and without a display it has no WebGL"

    def version(self):
        return self._version

    def open_wire(self):
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in self._settings.items()]
        (self.profile / "user.js").write_text("\n".join(lines) + "\n")
        command = [self.find(), "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", self.profile]
        self.start(command, env=os.environ | {"DISPLAY": self.open_display()})
        told = self.profile / "WebDriverBiDiServer.json"  # where it listens
        end = until(60)
        while not self.ended() and time.monotonic() < end:
            try:
                place = json.loads(told.read_text())
                return WebSocket(place["ws_host"], place["ws_port"], "/session")
            except (OSError, ValueError, KeyError, EOFError):  # not there yet, or not whole
                time.sleep(0.05)
        raise BrowserError("Firefox does not say where it listens")

    def open_display(self):
        """Starts a virtual display and returns its name, which it tells when it is ready."""
        reads, writes = os.pipe()
        command = ["Xvfb", "-displayfd", str(writes), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
        quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._display = subprocess.Popen(command, pass_fds=[writes], **quiet)
        os.close(writes)
        with os.fdopen(reads) as told:
            ready = select.select([told], [], [], until(30) - time.monotonic())[0]
            number = told.readline().strip() if ready else ""
        if not number:
            raise BrowserError("Xvfb did not start")
        return f":{number}"

    def end(self):
        super().end()
        if self._display:
            self._display.terminate()
            self._display.wait()

    def begin(self):
        found = self.call("session.new", {"capabilities": {}})["capabilities"]
        self._version = f"{self.name}/{found['browserVersion']}"
        self.call("session.subscribe", {"events": EVENTS})

    def draws(self):
        page = self.page()
        found = page.evaluate('document.createElement("canvas").getContext("webgl2") !== null')
        page.close()
        return found

    def leave(self):
        self.call("browser.close", seconds=10)

    def refusal(self, method, answer):
        if answer["error"] in ("unknown command", "unsupported operation"):
            return CannotDo(f"{self.version()} has no {method}")
        return BrowserError(f"{method}: {answer['error']}: {answer.get('message')}")

    def heard(self, method, params, session):
        super().heard(method, params, session)
        if params.get("isBlocked"):  # a request that block() asked for: it waits to be told
            self.ask("network.failRequest", {"request": params["request"]["request"]})

    def page(self, width=1600, height=1000, ratio=1, touch=False, scheme="light"):
        """Opens a new empty page of that size in CSS px; `ratio` px of the display are one of them."""
        context = self.call("browsingContext.create", {"type": "tab"})["context"]
        size = {"viewport": {"width": width, "height": height}, "devicePixelRatio": ratio}
        self.call("browsingContext.setViewport", {"context": context} | size)
        return FirefoxPage(self, context)


class FirefoxPage(Page):
    def __init__(self, browser, context):
        super().__init__(browser)
        self.context = context
        self._down = 0  # fingers

    def call(self, method, params=None, seconds=120):
        """Sends a command about this page."""
        return self.browser.call(method, {"context": self.context} | (params or {}), seconds)

    def mine(self, params, session):
        return (params.get("context") or params.get("source", {}).get("context")) == self.context

    def open(self, url):
        self.call("browsingContext.navigate", {"url": url, "wait": "none"})

    def before(self, script):
        declared = {"functionDeclaration": f"() => {{ {script} }}", "contexts": [self.context]}
        self.browser.call("script.addPreloadScript", declared)

    def evaluate(self, script, seconds=120):
        expression = f"(async () => JSON.stringify((await ({script})) ?? null))()"
        asked = {"target": {"context": self.context}, "expression": expression, "awaitPromise": True}
        answer = self.browser.call("script.evaluate", asked, seconds)
        if answer["type"] == "exception":
            raise BrowserError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def mouse(self, kind, x, y, button="none"):
        act = {"Pressed": "pointerDown", "Released": "pointerUp"}.get(kind)
        pressed = [{"type": act, "button": {"left": 0, "right": 2}[button]}] if act else []
        self.act([{"type": "pointer", "id": "mouse", "actions": [to(x, y), *pressed]}])

    def touch(self, kind, *points):
        if kind == "End":
            self.fingers([[UP]] * self._down)
        else:
            self.fingers([[to(*point), DOWN] if kind == "Start" else [to(*point)] for point in points])
        self._down = len(points)

    def tap(self, x, y):
        self.fingers([[to(x, y), DOWN, UP]])

    def pull(self, begin, first):
        self._down = 1
        self.fingers([[to(*begin), DOWN, to(*first)]])

    def fingers(self, each):
        """Lets each finger do its actions, all of them at the same pace."""
        touch = {"type": "pointer", "parameters": {"pointerType": "touch"}}
        self.act([touch | {"id": f"finger{i}", "actions": actions} for i, actions in enumerate(each)])

    def key(self, chord):
        keys = [KEYS.get(name, name.lower()) for name in chord.split("+")]
        pressed = [{"type": "keyDown", "value": key} for key in keys]
        released = [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self.act([{"type": "key", "id": "keys", "actions": pressed + released}])

    def act(self, sources):
        self.call("input.performActions", {"actions": sources})

    def screenshot(self):
        return base64.b64decode(self.call("browsingContext.captureScreenshot")["data"])

    def front(self):
        self.call("browsingContext.activate")

    def block(self, path):
        pattern = {"type": "pattern", "pathname": path}
        phases = {"phases": ["beforeRequestSent"], "contexts": [self.context], "urlPatterns": [pattern]}
        self.browser.call("network.addIntercept", phases)

    def choose_files(self, id, paths):
        found = self.call("browsingContext.locateNodes", {"locator": {"type": "css", "value": f"#{id}"}})
        element = {"sharedId": found["nodes"][0]["sharedId"]}
        self.call("input.setFiles", {"element": element, "files": [str(path) for path in paths]})

    def downloads(self, folder):
        allowed = {"downloadBehavior": {"type": "allowed", "destinationFolder": str(folder)}}
        self.browser.call("browser.setDownloadBehavior", allowed)

    def allow_clipboard(self, url):
        pass  # SETTINGS does

    def urls(self):
        return [event["request"]["url"] for event in self.reported("network.beforeRequestSent")]

    def received(self):
        return sum(event["response"]["bytesReceived"] for event in self.reported("network.responseCompleted"))

    def loads(self, url):
        return [event["url"] for event in self.reported("browsingContext.domContentLoaded")].count(url)

    def problems(self):
        entries = self.reported("log.entryAdded")
        return [entry["text"] for entry in entries if entry["type"] == "javascript" and entry["level"] == "error"]

    def close(self):
        try:
            self.call("browsingContext.close")
        except BrowserError:
            pass

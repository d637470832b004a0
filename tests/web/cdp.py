"""Drives Chromium by its DevTools protocol, over two pipes (--remote-debugging-pipe)."""

import base64
import os

from browser import Browser, BrowserError, Page, find
from wire import Pipes

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


class Chromium(Browser):
    """Runs Chromium, whose pages each have their own size, fingers and colour scheme."""

    name = "Chromium"

    def __init__(self, webgl=True, **_):
        self._flags = SOFTWARE_GL if webgl else NO_GL
        super().__init__()

    @staticmethod
    def find():
        """Returns the path of the program, or None."""
        return find("CHROMIUM", ["chromium", "chromium-browser", "google-chrome"])

    @classmethod
    def missing(cls):
        return "" if cls.find() else "it is not installed (Debian: chromium; or CHROMIUM names one)"

    def version(self):
        return self.call("Browser.getVersion")["product"]

    def open_wire(self):
        to_browser, writes = os.pipe()
        reads, from_browser = os.pipe()
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has no sandbox for root
        command = [self.find(), "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.profile}"]

        def wire():  # the browser reads from 3 and writes to 4
            ends = os.dup(to_browser), os.dup(from_browser)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)
            os.closerange(5, 256)

        self.start([*command, *sandbox, *QUIET, *self._flags, "about:blank"], preexec_fn=wire, close_fds=False)
        os.close(to_browser)
        os.close(from_browser)
        return Pipes(reads, writes)

    def leave(self):
        self.call("Browser.close", seconds=10)

    def gives(self, touch, scheme):
        return True

    def refusal(self, method, answer):
        return BrowserError(f"{method}: {answer['error'].get('message')}")

    def page(self, width=1600, height=1000, ratio=1, touch=False, scheme="light"):
        """Opens a new empty page of that size in CSS px; `ratio` px of the display are one of them."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = ChromiumPage(self, session)
        for domain in ["Page", "Runtime", "Network", "Log"]:
            page.call(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": touch}
        page.call("Emulation.setDeviceMetricsOverride", size)
        page.call("Emulation.setTouchEmulationEnabled", {"enabled": touch})
        preferred = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        page.call("Emulation.setEmulatedMedia", preferred)
        return page


class ChromiumPage(Page):
    def __init__(self, browser, session):
        super().__init__(browser)
        self.session = session

    def call(self, method, params=None, seconds=120):
        """Sends a command to this page."""
        return self.browser.call(method, params, seconds, sessionId=self.session)

    def mine(self, params, session):
        return session == self.session

    def open(self, url):
        self.call("Page.navigate", {"url": url})

    def before(self, script):
        self.call("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    def evaluate(self, script, seconds=120):
        asked = {"expression": script, "returnByValue": True, "awaitPromise": True}
        answer = self.call("Runtime.evaluate", asked, seconds)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def mouse(self, kind, x, y, button="none"):
        held = {"none": 0, "left": 1, "right": 2}[button] if kind != "Released" else 0
        event = {"type": f"mouse{kind}", "x": x, "y": y, "button": button, "buttons": held}
        if kind in ("Pressed", "Released"):
            event["clickCount"] = 1
        self.call("Input.dispatchMouseEvent", event)

    def touch(self, kind, *points):
        self.call("Input.dispatchTouchEvent", self.fingers(kind, *points))

    def tap(self, x, y):
        self.down(x, y)
        self.touch("End")

    def pull(self, begin, first):
        self.down(*begin)
        self.touch("Move", first)

    def down(self, x, y):
        """Puts a finger down and does not wait for the page."""
        self.browser.ask("Input.dispatchTouchEvent", self.fingers("Start", (x, y)), sessionId=self.session)

    @staticmethod
    def fingers(kind, *points):
        """Returns what the protocol calls a touch event."""
        down = [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(points)]
        return {"type": f"touch{kind}", "touchPoints": down}

    def key(self, chord):
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

    def screenshot(self):
        return base64.b64decode(self.call("Page.captureScreenshot", {"format": "png"})["data"])

    def front(self):
        self.call("Page.bringToFront")

    def block(self, path):
        self.call("Network.setBlockedURLs", {"urls": [f"*{path}*"]})

    def choose_files(self, id, paths):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        field = self.call("DOM.querySelector", {"nodeId": root, "selector": f"#{id}"})["nodeId"]
        self.call("DOM.setFileInputFiles", {"nodeId": field, "files": [str(path) for path in paths]})

    def downloads(self, folder):
        self.browser.call("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})

    def allow_clipboard(self, url):
        allowed = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        self.browser.call("Browser.grantPermissions", {"origin": url, "permissions": allowed})

    def urls(self):
        return [event["request"]["url"] for event in self.reported("Network.requestWillBeSent")]

    def received(self):
        return sum(event["encodedDataLength"] for event in self.reported("Network.loadingFinished"))

    def loads(self, url):
        return [event["frame"]["url"] for event in self.reported("Page.frameNavigated")].count(url)

    def problems(self):
        entries = [event["entry"] for event in self.reported("Log.entryAdded")]
        thrown = [event["exceptionDetails"]["text"] for event in self.reported("Runtime.exceptionThrown")]
        return [entry["text"] for entry in entries if entry["level"] == "error"] + thrown

    def close(self):
        try:
            self.call("Page.close")
        except BrowserError:
            pass

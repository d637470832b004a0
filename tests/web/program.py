"""Drives the program in a served page: finds controls by name, and moves them by real mouse and key events."""

import json
import math
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "platforms/web"))

import web_serve  # noqa: E402
from browser import BrowserError, until  # noqa: E402

MOUSE_FRAME = 0.04  # seconds between two mouse events, at least: some frames, as with a person
DRAG_PX = 10  # a finger that moved so far is no longer held still (web/touch.js)


class Site:
    """Serves the folder on two ports, once with the headers that threads need and once without."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.servers = [web_serve.make_server(folder, bare=bare) for bare in (False, True)]
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url, self.bare_url = (f"http://localhost:{server.server_address[1]}/" for server in self.servers)

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


class Program:
    """Drives a page that has loaded the program, or shows why it cannot."""

    def __init__(self, page, url):
        self.page = page
        self.url = url
        page.open(url)

    def trouble(self, seconds=60):
        """Waits until the page says why the program cannot run, and returns the text."""
        self.page.wait('document.body?.dataset.state === "trouble"', seconds, "the page with what is wrong")
        return self.page.evaluate('document.getElementById("trouble").innerText')

    def note(self):
        """Returns the line below the canvas."""
        return self.page.evaluate('document.getElementById("note").textContent')

    def start(self, seconds=120):
        """Waits for the first frame."""
        shown = self.page.wait(
            'window.normscope?.marks.firstFrame ? "running" : document.body?.dataset.state === "trouble" && "trouble"',
            seconds,
            "the first frame",
        )
        if shown == "trouble":
            raise BrowserError(f"the page says: {self.trouble()}")
        # The line about ?fresh covers the canvas at some heights, and so what a test clicks.
        self.page.evaluate(
            'document.getElementById("note").textContent.startsWith("Begun anew")'
            ' && document.getElementById("note-close").click()'
        )
        return self

    def status(self):
        """Returns what the program says of itself, as a dictionary."""
        return self.page.evaluate("window.normscope.status()")

    def beat(self, times=1):
        """Gives a person's pause, and the program the frame in which it sees what the hand did: on a busy machine that
        takes longer than the pause."""
        for _ in range(times):
            drawn, end = self.status()["frames"], time.monotonic() + 1
            time.sleep(MOUSE_FRAME)
            while self.status()["frames"] == drawn and time.monotonic() < end:
                time.sleep(MOUSE_FRAME / 4)

    def until(self, holds, seconds, what):
        """Waits for the first status for which `holds` is true, and returns it."""
        end = until(seconds)
        while True:
            now = self.status()
            if now and holds(now):
                return now
            if time.monotonic() > end:
                raise BrowserError(f"not within {seconds} s: {what}; the program says {json.dumps(now)[:600]}")
            time.sleep(0.1)

    def step(self, least, seconds=300):
        """Waits until the runs have taken so many steps."""
        return self.until(lambda now: now["step"] >= least, seconds, f"step {least}")

    def run(self, letter):
        """Returns one run of the status, or None."""
        return next((run for run in self.status()["runs"] if run["letter"] == letter), None)

    def places(self, prefix):
        """Returns the controls with that prefix: name → {x, y, w, h, value, enabled}, in CSS px of the page."""
        corner = self.page.evaluate('(({x, y}) => [x, y])(document.getElementById("canvas").getBoundingClientRect())')
        places = self.page.evaluate(f"window.normscope.places({json.dumps(prefix)})")
        return {one["name"]: one | {"x": one["x"] + corner[0], "y": one["y"] + corner[1]} for one in places}

    def shows(self, name):
        """Says whether the last frame had the control."""
        return name in self.places(name)

    def place(self, name, seconds=20):
        """Waits until the control is there and enabled, and returns its place."""
        end = until(seconds)
        while True:
            found = self.places(name).get(name)
            if found and found["enabled"]:
                return found
            if time.monotonic() > end:
                near = list(self.places(name.split("/")[0]))
                raise BrowserError(f"{'greyed out' if found else 'no control'}: {name}; there are {near[:40]}")
            time.sleep(0.1)

    def at(self, name, fraction=(0.5, 0.5)):
        """Returns a point of the control."""
        place = self.place(name)
        return place["x"] + place["w"] * fraction[0], place["y"] + place["h"] * fraction[1]

    def move(self, point, button="none"):
        self.page.mouse("Moved", *point, button)
        self.beat()

    def click(self, name, fraction=(0.5, 0.5)):
        point = self.at(name, fraction)
        self.move(point)
        self.move(point)
        self.page.mouse("Pressed", *point, "left")
        self.beat()
        self.page.mouse("Released", *point, "left")
        self.beat(2)

    def drag(self, begin, end, steps=8):
        """Holds the left button from one point to another."""
        self.move(begin)
        self.move(begin)
        self.page.mouse("Pressed", *begin, "left")
        self.beat(2)
        for i in range(1, steps + 1):
            share = i / steps
            self.move((begin[0] + (end[0] - begin[0]) * share, begin[1] + (end[1] - begin[1]) * share), "left")
        self.beat(4)
        self.page.mouse("Released", *end, "left")
        self.beat(2)

    def tap(self, name):
        self.page.tap(*self.at(name))
        self.beat(2)

    def drag_by_finger(self, begin, end, steps=8):
        """Puts a finger down at one point and lifts it at another."""
        path = [[a + (b - a) * i / steps for a, b in zip(begin, end)] for i in range(1, steps + 1)]
        first = next((i for i, point in enumerate(path) if math.dist(begin, point) >= DRAG_PX), len(path) - 1)
        self.page.pull(begin, path[first])
        for point in path[first + 1 :]:
            self.beat()
            self.page.touch("Move", point)
        self.beat(4)
        self.page.touch("End")
        self.beat(2)

    def key(self, chord):
        self.page.key(chord)
        self.beat(2)

    def settle(self, seconds=30):
        """Waits until the window has drawn what the status says and draws no more."""
        drawn, since = -1, time.monotonic()
        end = until(seconds)
        while time.monotonic() < end and time.monotonic() - since < 1:
            frames = self.status()["frames"]
            if frames != drawn:
                drawn, since = frames, time.monotonic()
            time.sleep(0.1)

    def pause(self):
        """Stops the training in the Lab, and returns the status at rest."""
        if self.status()["training"]:
            self.click("transport/play")
        return self.until(lambda now: not now["training"], 30, "the training at rest")


def difference(page, first, second, masks=()):
    """Compares two PNGs of one size (base64) in the browser, outside the masks (rectangles in their pixels).

    Returns the share of pixels with a channel more than 48 of 255 apart, and the mean distance of all channels."""
    script = """(async (first, second, masks) => {
      const pixels = async (png) => {
        const image = new Image();
        image.src = "data:image/png;base64," + png;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d", { willReadFrequently: true });
        context.drawImage(image, 0, 0);
        for (const [x, y, w, h] of masks) context.clearRect(x, y, w, h);
        return context.getImageData(0, 0, image.width, image.height);
      };
      const a = await pixels(first), b = await pixels(second);
      if (a.width !== b.width || a.height !== b.height)
        throw new Error(`${a.width}x${a.height} beside ${b.width}x${b.height}`);
      let far = 0, sum = 0;
      for (let i = 0; i < a.data.length; i += 4) {
        let most = 0;
        for (let c = 0; c < 3; ++c) {
          const d = Math.abs(a.data[i + c] - b.data[i + c]);
          most = Math.max(most, d);
          sum += d;
        }
        if (most > 48) ++far;
      }
      return { far: far / (a.data.length / 4), mean: sum / (a.data.length / 4 * 3) };
    })"""
    return page.evaluate(f"{script}({json.dumps(first)}, {json.dumps(second)}, {json.dumps(list(masks))})")

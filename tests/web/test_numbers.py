"""The numbers: the same bits in the browser and under node, those of the native program within rounding, and a link
that gives them back."""

import base64
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import browser
from case import WebTest, once
from program import difference

HERE = Path(__file__).resolve().parent
STORED = HERE / "checksum.txt"  # `run.py --store` writes it after a change that is meant to change bits
FIRST_STEPS = ["bench", "--first-steps", "--json"]  # prints checksum, losses and tokens/s of the default comparison
STEPS = 20
LINK = f"1&step={STEPS}&end"  # the default comparison, trained to that step and at rest

# Web and native programs add in another order and without fused multiply-adds, so a loss begins with an error of an ulp
# or two (2.4e-7 at 3 nats), which training multiplies. Between AVX-512, AVX2 and SSE4 of one machine, Pre-LN's error
# (run C) grew from 1e-6 at step 3 to 4e-5 at step 20, a factor of 1.25 a step; A's and B's stayed below 1.1e-5. Ten
# times the largest of these differences is allowed; another seed differs by more than 1e-2.
TOLERANCE = 4e-4

# The native program's own rasteriser and WebGL anti-alias edges differently, so a few pixels may have a channel more
# than 48 levels apart. Another step of the same runs has more such pixels.
FAR_PIXELS = 0.005


class NumbersTest(WebTest):
    node = {}  # threads → what the program printed under node

    def test_same_bits(self):
        """One checksum: stored, in the browser with one thread and with two, under node with one and with two"""
        self.need(shutil.which("node"), "node is not installed")
        found = {}
        for threads in (1, 2):
            told = self.under_node(threads)
            found[f"node, {threads}"] = told["checksum"]
            self.say(f"{told['tokens_per_second']:.0f} tokens/s under node with {threads} threads")
            program = self.open(query=f"fresh&threads={threads}").start()
            program.click("app/help")  # the sheet of keys begins to look for the checksum
            now = program.until(lambda now: now["checksum"], 300, "the checksum")
            self.assertEqual(now["threads"], threads)
            found[f"browser, {threads}"] = now["checksum"]
        self.assertRegex(found["node, 1"], r"^[0-9a-f]{16}$")
        if self.options.store:
            STORED.write_text(found["node, 1"] + "\n")
        found["stored"] = STORED.read_text().strip() if STORED.is_file() else "none: --store writes it"
        self.say(found["stored"])
        self.assertEqual(len(set(found.values())), 1, found)

    @once("the checksum says the same of the others")
    def test_native(self):
        """Losses of the default comparison, as the native program has them within rounding"""
        self.need(self.options.native.is_file(), f"no native program at {self.options.native}")
        native = self.native_losses()
        program = self.open(fragment=LINK).start()
        now = self.at_link(program)
        for run in now["runs"]:
            shown = native[run["letter"]]  # the loss shown at step 20 is the mean of the up to 25 losses so far
            apart = abs(run["loss"] - sum(shown) / len(shown))
            self.say(f"{run['letter']} {run['loss']:.6f}, native {apart:.1e} apart; {TOLERANCE:.0e} are allowed")
            self.assertLessEqual(apart, TOLERANCE)

    def test_link(self):
        """A link copied from the page gives the same runs at the same step, to the bit, in another page"""
        program = self.open().start()
        program.step(12)
        before = program.pause()
        program.page.allow_clipboard(self.site.url)
        program.page.front()
        program.key("Ctrl+Shift+L")
        link = program.page.wait(
            'navigator.clipboard.readText().then((text) => text.includes("#") && text)', 20, "a link on the clipboard"
        )
        self.say(f"{len(link)} characters: {link.split('#')[1][:80]}")
        self.assertLessEqual(len(link.split("#")[1]), 8000)
        other = self.open(fragment=link.split("#")[1]).start()
        after = other.until(lambda now: now["step"] == before["step"] and not now["training"], 120, "the link's step")
        self.assertEqual(after["runs"], before["runs"])

    def test_hostile_links(self):
        """Links that are none: one clear line, and the default comparison"""
        for fragment in ["1&run=A=nonsense&end", "%00%ff", "x" * 100_000]:
            program = self.open(fragment=fragment).start()
            now = program.until(lambda now: len(now["runs"]) == 3, 60, "the default comparison")
            self.assertTrue(now["message"], fragment[:40])
            self.say(f"“{now['message'][:120]}”")

    def test_picture(self):
        """A link's picture beside the one that the native program draws of it"""
        self.need(self.options.native.is_file(), f"no native program at {self.options.native}")
        program = self.open(fragment=LINK, width=1024, height=600).start()
        self.at_link(program)
        program.page.mouse("Moved", 0, 0)
        program.settle()
        shown = base64.b64encode(program.page.screenshot()).decode()
        masks = [[place[key] for key in "xywh"] for place in program.places("transport/clock").values()]
        same = difference(program.page, shown, self.native_picture(LINK), masks)
        other = difference(program.page, shown, self.native_picture(LINK.replace(str(STEPS), str(STEPS - 8))), masks)
        self.say(f"{same['far']:.2%} of the pixels differ, {other['far']:.2%} from the picture of another step")
        self.picture(program, "link")
        self.assertLessEqual(same["far"], FAR_PIXELS)
        self.assertGreater(other["far"], FAR_PIXELS)  # otherwise the criterion would accept anything

    def need(self, there, why):
        """Skips the test where something that it compares with is missing."""
        if not there:
            self.skipTest(why)

    def at_link(self, program):
        """Returns the status when the link's step is reached and the training rests."""
        return program.until(lambda now: now["step"] == STEPS and not now["training"], 120, f"step {STEPS} at rest")

    def under_node(self, threads):
        """Returns what the web program prints of its first steps; the second browser is compared with the same."""
        if threads not in self.node:
            command = ["node", HERE / "node.js", self.site.folder, *FIRST_STEPS, "--threads", str(threads)]
            self.node[threads] = json.loads(self.printed(*command))
        return self.node[threads]

    def native_losses(self):
        """Returns run → its losses of the first steps, from the log of a comparison."""
        with tempfile.TemporaryDirectory(prefix="normscope-web-") as folder:
            self.native("compare", "--seeds", "1", "--steps", str(STEPS), "--out", folder)
            lines = [json.loads(line) for line in (Path(folder) / "runs.jsonl").read_text().splitlines()]
        losses = {}
        for line in lines:
            if "loss" in line and "step" in line:
                losses.setdefault(line["run"], []).append(line["loss"])
        self.assertEqual({len(values) for values in losses.values()}, {STEPS})
        return losses

    def native_picture(self, link):
        """Returns the Lab as the native program draws the link, as base64."""
        with tempfile.TemporaryDirectory(prefix="normscope-web-") as folder:
            path = Path(folder) / "link.png"
            self.native("screenshot", "--link", link, "--size", "1024x600", "--theme", "light", "--out", str(path))
            return base64.b64encode(path.read_bytes()).decode()

    def native(self, *arguments):
        """Runs the native program."""
        self.printed(self.options.native, *arguments)

    def printed(self, *command):
        """Runs a command, requires it to succeed, and returns what it printed."""
        told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600 * browser.patience)
        self.assertEqual(told.returncode, 0, told.stderr[-2000:])
        return told.stdout

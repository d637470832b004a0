#!/usr/bin/env python3
"""Tests the program for Windows under Wine: `make test-windows` builds it and calls this.

    tests/windows/run.py [-k NAME] [--pictures out/windows]

Each test prints what it measured. What cannot run here is skipped by name. The exit code is 1 where a test failed.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OBJECTS = ROOT / "build/windows-objects"
WORK = ROOT / "build/windows-test"
NATIVE = ROOT / "build/release/normscope"
FOLDER = next(iter(sorted((ROOT / "build/windows").glob("normscope-*-windows"))), None)
CHECKSUM = ["bench", "--first-steps", "--json"]  # of the default comparison: checksum, losses, tokens a second
SIZE = (1600, 1000)  # of the display; Wine puts the window a title's height below its top
DRAGGED = ((76, 432), (128, 481))  # from the norm on the stream of layer 2 to the slot before its feed-forward
RESTORE = (996, 44)  # "Restore it"
PICTURES = ROOT / "out/windows"
RUNS = """[model]
layers = 2
placement = "pre"
[train]
steps = 3
"""


def environment(**more):
    """Wine with a home of its own: a fresh Windows, as a person has one who never started the program."""
    own = {"WINEPREFIX": str(WORK / "prefix"), "WINEDEBUG": "-all", "WINEARCH": "win64", "LIBGL_ALWAYS_SOFTWARE": "1"}
    unset = {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "NORMSCOPE_ISA", "DISPLAY"}
    return {key: value for key, value in os.environ.items() if key not in unset} | own | more


def wine(*words, check=True, cwd=WORK, timeout=300, **more):
    """Runs a program of Windows and returns what it did."""
    done = subprocess.run(["wine", *map(str, words)], cwd=cwd, env=environment(**more), capture_output=True, timeout=timeout)
    if check and done.returncode != 0:
        raise AssertionError(f"{words[0]} ended with {done.returncode}: {done.stderr.decode(errors='replace')[-400:]}")
    return done


def program(*words, **more):
    return wine(FOLDER / "normscope.com", *words, **more)


def appdata(*names):
    users = WORK / "prefix/drive_c/users"
    return users / os.environ.get("USER", "root") / "AppData" / Path(*names)


def until(look, seconds, what):
    """Waits for something true, and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what} did not come within {seconds} s")


class WindowsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.wine_version = subprocess.run(["wine", "--version"], capture_output=True, text=True).stdout.split()[0]

    def say(self, text):
        print(f"        {text}", flush=True)


class EngineTest(WindowsTest):
    def test_engine(self):
        """The engine's tests pass"""
        begin = time.monotonic()
        done = wine(OBJECTS / "tests/normscope_engine_tests.exe", "~[.]", cwd=OBJECTS / "tests", check=False, timeout=3000)
        words = done.stdout.decode(errors="replace").strip().splitlines()
        self.say(f"{words[-1] if words else ''} ({time.monotonic() - begin:.0f} s, {self.wine_version})")
        self.assertEqual(done.returncode, 0, "\n".join(words[-40:]))

    def test_bits(self):
        """The default comparison's first steps have Linux's bits, on each instruction set and with one and two threads"""
        if not NATIVE.is_file():
            self.skipTest(f"no program of Linux at {NATIVE}")
        for isa in ("sse4", "avx2", "avx3"):
            linux = subprocess.run([NATIVE, *CHECKSUM], capture_output=True, text=True, env=dict(os.environ, NORMSCOPE_ISA=isa))
            if linux.returncode != 0:
                self.say(f"{isa}: this processor lacks it")
                continue
            expected = json.loads(linux.stdout)
            for threads in ("1", "2"):
                found = json.loads(program(*CHECKSUM, "--threads", threads, NORMSCOPE_ISA=isa).stdout)
                self.say(f"{isa}, {threads} threads: {found['checksum']}, Linux {expected['checksum']}")
                self.assertEqual(found["checksum"], expected["checksum"])


class CommandTest(WindowsTest):
    def test_paths(self):
        """A file with CRLF, letters of two alphabets in its name and a drive letter is read; what is written opens again"""
        folder = WORK / "Wörter Ω"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "lauf ü.toml").write_text(RUNS, newline="\r\n")
        drive = "Z:" + str(folder).replace("/", "\\")
        done = program("train", "--config", drive + "\\lauf ü.toml", "--save", drive + "\\gewichte.safetensors", "--log", drive + "\\log.jsonl")
        self.assertNotIn(b"\r\n", done.stdout)
        names = sorted(path.name for path in folder.iterdir())
        self.say(", ".join(names))
        self.assertIn("gewichte.safetensors", names)
        self.assertNotIn(b"\r", (folder / "log.jsonl").read_bytes())
        again = program("train", "--resume", str(folder / "gewichte.safetensors"), "--steps", "5")
        self.assertIn("5", again.stdout.decode())

    def test_long_path(self):
        """A file whose name is longer than 260 characters is read and written"""
        folder = WORK / "long"
        shutil.rmtree(folder, ignore_errors=True)
        for part in "abc":
            folder = folder / (part * 90)
        folder.mkdir(parents=True)
        (folder / "run.toml").write_text(RUNS)
        program("train", "--config", folder / "run.toml", "--log", folder / "log.jsonl")
        self.assertTrue((folder / "log.jsonl").is_file())

    def test_refusals(self):
        """A missing file and an unknown word are one line with Linux's exit code; the version says what is left out"""
        for words in (["train", "--config", "C:\\nowhere\\run.toml"], ["trian"]):
            done = program(*words, check=False)
            said = done.stderr.decode().strip()
            self.say(f"{done.returncode}: {said}")
            self.assertEqual(len(said.splitlines()), 1)
            self.assertTrue(said.startswith("normscope: "))
            linux = subprocess.run([NATIVE, *words], capture_output=True)
            self.assertEqual(done.returncode, linux.returncode)
        self.assertIn(b"SentencePiece: no", program("--version").stdout)

    def test_lessons(self):
        """Claims of lessons hold, which several threads measure side by side"""
        for lesson in ("five-minutes", "norm-gradient"):
            begin = time.monotonic()
            done = program("lesson", "check", lesson, "--store", "none")
            self.say(f"{done.stdout.decode().strip().splitlines()[-1]} ({time.monotonic() - begin:.0f} s)")

    def test_sweep(self):
        """A sweep trains, keeps its runs in a folder with a drive letter, and finds them there again"""
        store = WORK / "runs"
        shutil.rmtree(store, ignore_errors=True)
        drive = "Z:" + str(store).replace("/", "\\")
        words = ["sweep", "--axis", "model.placement=post,pre", "--steps", "5", "--store", drive, "--json", WORK / "sweep.json"]
        self.assertIn("2 runs trained, 0 taken", program(*words).stdout.decode())
        self.assertIn("0 runs trained, 2 taken", program(*words).stdout.decode())
        native = WORK / "sweep-linux.json"
        subprocess.run([NATIVE, *words[:-4], "--store", "none", "--json", native], check=True, capture_output=True)
        losses = [[cell["loss"] for cell in json.loads(path.read_text())["cells"]] for path in (WORK / "sweep.json", native)]
        self.say(f"losses {losses[0]}, Linux {losses[1]}")
        for ours, linux in zip(*losses):
            self.assertAlmostEqual(ours, linux, places=6)

    def test_interrupt(self):
        """Ctrl+C ends a training with its run kept, and with Linux's exit code"""
        kept, log = WORK / "interrupted.safetensors", WORK / "interrupted.jsonl"
        for path in (kept, log):
            path.unlink(missing_ok=True)
        words = ["train", "--preset", "pre", "--steps", "100000", "--log", log, "--save", kept]
        process = subprocess.Popen(["wine", FOLDER / "normscope.com", *map(str, words)], cwd=WORK, env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until(lambda: log.is_file() and log.read_bytes().count(b"\n") > 20, 120, "a step")
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=120)
        self.say(f"{process.returncode}: {error.decode().strip() or out.decode().strip().splitlines()[-1]}")
        self.assertEqual(process.returncode, 130)
        self.assertTrue(kept.is_file())


class Display:
    """An X server that chooses its number, and a hand on it."""

    def __enter__(self):
        read, write = os.pipe()
        words = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-nolisten", "tcp"]
        self.server = subprocess.Popen(words, pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            self.name = ":" + number.readline().strip()
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()

    def do(self, *words):
        subprocess.run(["xdotool", *map(str, words)], env=dict(os.environ, DISPLAY=self.name), check=True)
        time.sleep(0.3)

    def drag(self, begin, end):
        self.do("mousemove", *begin)
        self.do("mousedown", 1)
        for part in range(1, 6):
            self.do("mousemove", *(round(a + (b - a) * part / 5) for a, b in zip(begin, end)))
        self.do("mouseup", 1)

    def picture(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["import", "-window", "root", str(path)], env=dict(os.environ, DISPLAY=self.name), check=True)


class Window:
    """The program with its window, as the double click starts it (normscope.exe), on a display of its own."""

    def __init__(self, display, *words):
        self.frames = WORK / "frames.csv"
        self.frames.unlink(missing_ok=True)
        words = ["--window", "--theme", "light", "--frame-log", str(self.frames), *map(str, words)]
        self.process = subprocess.Popen(
            ["wine", str(FOLDER / "normscope.exe"), *words], cwd=WORK, env=environment(DISPLAY=display.name),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def kill(self):
        """As the system ends what hangs: the program, then what opened it, which would say so in a box."""
        for name in ("normscope.com", "normscope.exe"):
            wine("taskkill", "/f", "/im", name, check=False)
        self.process.kill()
        self.process.wait()

    def step(self):
        lines = self.frames.read_text().splitlines() if self.frames.is_file() else []
        return int(float(lines[-2].split(",")[2])) if len(lines) > 3 else -1  # the last line may be cut


def sessions():
    folder = appdata("Local/normscope/state/sessions")
    return [path for path in folder.glob("*") if (path / "session.toml").is_file()]


class WindowTest(WindowsTest):
    def setUp(self):
        for tool in ("Xvfb", "xdotool", "import"):
            if not shutil.which(tool):
                self.skipTest(f"{tool} is not installed")

    def test_window(self):
        """The window opens and trains, a norm is dragged; killed, it offers the session, and restored has the dragged run"""
        for place in ("Local", "Roaming"):
            shutil.rmtree(appdata(place, "normscope"), ignore_errors=True)
        wine("wineboot", "-k", check=False)  # a desktop that was begun without a display would stay without one
        time.sleep(6)  # what is told to end takes a moment, and would take the window along
        with Display() as display:
            window = Window(display)
            until(lambda: window.step() >= 100, 180, "step 100")
            display.picture(PICTURES / "window.png")
            display.drag(*DRAGGED)
            until(lambda: any(any(path.glob("D-*.safetensors")) for path in sessions()), 120, "a fork in the autosave")
            display.picture(PICTURES / "dragged.png")
            self.say(f"dragged, at step {window.step()}; pictures in {PICTURES}")
            window.kill()
            before = sessions()
            window = Window(display)
            until(lambda: window.step() >= 5, 120, "the next start")
            display.do("mousemove", *RESTORE)
            display.do("click", 1)
            restored = lambda path: path not in before and any(path.glob("D-*.safetensors"))
            until(lambda: any(map(restored, sessions())), 120, "the dragged run after the restoration")
            display.picture(PICTURES / "restored.png")
            window.kill()


def main():
    global PICTURES
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", metavar="NAME", help="the tests alone that have this in their name")
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    options = parser.parse_args()
    PICTURES = options.pictures.absolute()
    WORK.mkdir(parents=True, exist_ok=True)
    wine("wineboot", "--init", check=False)
    unittest.main(argv=["run.py", *(["-k", options.k] if options.k else [])], verbosity=2)


if __name__ == "__main__":
    main()

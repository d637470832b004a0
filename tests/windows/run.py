#!/usr/bin/env python3
"""Tests the program for Windows under Wine: `make test-windows` builds it and calls this.

    tests/windows/run.py [-k NAME] [--pictures out/windows]

Each test prints what it measured. What cannot run here is skipped by name. The exit code is 1 where a test failed.
"""

import argparse
import json
import os
import shutil
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
SIZE = (1600, 1000)  # of the window, whose places below are
RUNS = """[run]
steps = 100000
[model]
layers = 3
[[compare]]
name = "A"
model.placement = "post"
[[compare]]
name = "B"
model.placement = "pre"
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
        (folder / "lauf ü.toml").write_text(RUNS.replace("100000", "3"), newline="\r\n")
        drive = "Z:" + str(folder).replace("/", "\\")
        done = program("train", "--config", drive + "\\lauf ü.toml", "--save", drive + "\\gewichte.safetensors", "--log", drive + "\\log.jsonl")
        self.assertNotIn(b"\r\n", done.stdout)
        names = sorted(path.name for path in folder.iterdir())
        self.say(", ".join(names))
        self.assertIn("gewichte-A.safetensors", names)
        self.assertNotIn(b"\r", (folder / "log.jsonl").read_bytes())
        again = program("train", "--resume", str(folder / "gewichte-A.safetensors"), "--steps", "5")
        self.assertIn("5", again.stdout.decode())

    def test_long_path(self):
        """A file whose name is longer than 260 characters is read and written"""
        folder = WORK / "long"
        shutil.rmtree(folder, ignore_errors=True)
        for part in "abc":
            folder = folder / (part * 90)
        folder.mkdir(parents=True)
        (folder / "run.toml").write_text(RUNS.replace("100000", "2"))
        program("train", "--config", folder / "run.toml", "--log", folder / "log.jsonl")
        self.assertTrue((folder / "log.jsonl").is_file())

    def test_refusals(self):
        """A missing file and an unknown word are one line and Linux's exit codes; pairs say what is missing"""
        for words in (["train", "--config", "C:\\nowhere\\run.toml"], ["trian"], ["train", "--set", "data.name=pairs"]):
            done = program(*words, check=False)
            said = done.stderr.decode().strip()
            self.say(f"{done.returncode}: {said}")
            self.assertEqual(len(said.splitlines()), 1)
            self.assertTrue(said.startswith("normscope: "))
            linux = subprocess.run([NATIVE, *words], capture_output=True)
            if "pairs" not in words[-1]:
                self.assertEqual(done.returncode, linux.returncode)
        self.assertIn("SentencePiece", said)

    def test_lesson(self):
        """A lesson's claims hold on their first seed, and results are kept in %LOCALAPPDATA%"""
        done = program("lesson", "check", "warm-up", timeout=600)
        self.say(done.stdout.decode().strip().splitlines()[-1])
        self.assertTrue(any(appdata("Local/normscope/cache").rglob("*.json")))


class Display:
    """An X server that chooses its number, and a hand on it."""

    def __enter__(self):
        read, write = os.pipe()
        words = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-nolisten", "tcp"]
        self.server = subprocess.Popen(words, pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        self.name = ":" + os.read(read, 16).decode().strip()
        os.close(read)
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

    def step(self):
        lines = self.frames.read_text().splitlines() if self.frames.is_file() else []
        return int(float(lines[-2].split(",")[2])) if len(lines) > 3 else -1  # the last line may be cut

    def kill(self):
        """Ends the program as a crash does: what it had in memory is gone."""
        wine("taskkill", "/f", "/im", "normscope.com", check=False)
        self.process.wait(timeout=60)


def sessions():
    return sorted(path for path in appdata("Local/normscope/state/sessions").glob("*") if (path / "session.json").is_file())


def placements(session):
    return [json.loads(text)["placement"] for text in []] or (session / "session.json").read_text()


class WindowTest(WindowsTest):
    def setUp(self):
        for tool in ("Xvfb", "xdotool", "import"):
            if not shutil.which(tool):
                self.skipTest(f"{tool} is not installed")

    def test_screenshot(self):
        """`normscope screenshot` draws what Linux draws"""
        here, there = WORK / "windows.png", WORK / "linux.png"
        words = ["screenshot", "--screen", "lab", "--steps", "20", "--size", "1600x1000", "--out"]
        program(*words, here)
        environ = dict(os.environ, NORMSCOPE_FONT_DIR=str(FOLDER / "fonts"))
        subprocess.run([NATIVE, *words, there], check=True, env=environ, stdout=subprocess.DEVNULL)
        compared = subprocess.run(["compare", "-metric", "AE", here, there, "null:"], capture_output=True, text=True)
        self.say(f"{compared.stderr.strip()} of 1,600,000 pixels differ")
        self.assertLess(float(compared.stderr.split()[0]), 0.005 * SIZE[0] * SIZE[1])

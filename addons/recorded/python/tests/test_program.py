"""The launcher, with scripts in the program's place: what passes through it, what it finds, and what it says without.

It needs neither PyTorch nor the program, so `make test` runs it too.
"""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any
from unittest import mock

import normscope
from normscope import _program, _writer

PACKAGE = pathlib.Path(normscope.__file__).parent
SOURCES = pathlib.Path(__file__).resolve().parents[4]


class Program(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        variables = {"PATH": os.environ.get("PATH", ""), "HOME": folder.name}
        patch = mock.patch.dict(os.environ, variables, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def script(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return str(path)

    def run_module(self, *arguments: str, packages: pathlib.Path = PACKAGE.parent,
                   **variables: str) -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1", **variables}
        return subprocess.run([sys.executable, "-m", "normscope", *arguments], env=environment, capture_output=True,
                              text=True, timeout=60)

    def wheel(self, text: str = "") -> pathlib.Path:
        """Returns a folder of packages with a copy of ours, which has a program if `text` is its script."""
        packages = self.folder / "packages"
        shutil.copytree(PACKAGE, packages / "normscope", ignore=shutil.ignore_patterns("__pycache__", "program"))
        if text:
            self.script("packages/normscope/program/bin/normscope", text)
        return packages

    def test_arguments_output_and_exit_code_pass(self) -> None:
        program = self.script("named", 'for word in "$@"; do echo "<$word>"; done; exit 7\n')
        ended = self.run_module("train", "--log", "a b", "", NORMSCOPE=program)
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("<train>\n<--log>\n<a b>\n<>\n", "", 7))

    def test_a_signal_ends_the_program_and_not_a_launcher_around_it(self) -> None:
        ended = self.run_module(NORMSCOPE=self.script("named", "kill -TERM $$\n"))
        self.assertEqual(ended.returncode, -signal.SIGTERM)

    def test_without_a_program_there_is_one_line(self) -> None:
        ended = self.run_module("--help", packages=self.wheel(), PATH="/nowhere")
        self.assertEqual((ended.stdout, ended.returncode), ("", 127))
        self.assertRegex(ended.stderr, r"\Anormscope: the program normscope is not in .*\n\Z")
        ended = self.run_module(NORMSCOPE=str(self.folder / "gone"))
        self.assertEqual((ended.stdout, ended.returncode), ("", 127))
        self.assertRegex(ended.stderr, r"\Anormscope: .*/gone: No such file or directory\n\Z")

    def test_the_own_program_comes_before_that_of_the_path(self) -> None:
        packages = self.wheel('echo "own $NORMSCOPE_FONT_DIR"\n')
        path = os.path.dirname(self.script("bin/normscope", "echo of PATH\n")) + os.pathsep + os.environ["PATH"]
        fonts = packages / "normscope/program/share/fonts"
        self.assertEqual(self.run_module(packages=packages, PATH=path).stdout, f"own {fonts}\n")
        self.assertEqual(self.run_module(packages=packages, NORMSCOPE_FONT_DIR="/mine").stdout, "own /mine\n")
        (packages / "normscope/program/bin/normscope").unlink()
        self.assertEqual(self.run_module(packages=packages, PATH=path).stdout, "of PATH\n")

    def test_a_launcher_in_the_path_does_not_start_itself_for_ever(self) -> None:
        packages = self.wheel()
        self.script("bin/normscope", f'PYTHONPATH="{packages}" exec "{sys.executable}" -m normscope "$@"\n')
        ended = self.run_module(packages=packages, PATH=f"{self.folder}/bin{os.pathsep}{os.environ['PATH']}")
        self.assertEqual(ended.returncode, 127)

    def test_the_program_is_told_what_a_person_types(self) -> None:
        program = self.script("named", 'echo "$NORMSCOPE_LAUNCHER"\n')
        typed = self.script("bin/normscope", f'exec "{sys.executable}" -m normscope "$@"\n')
        path = f"{self.folder}/bin{os.pathsep}{os.environ['PATH']}"
        with mock.patch.object(_program.sys, "executable", "/nowhere/python"):
            with mock.patch.dict(os.environ, {"PATH": path}):
                self.assertEqual(_program.environment(program)["NORMSCOPE_LAUNCHER"], typed)
            with mock.patch.object(_program.sys, "argv", ["/env/bin/normscope"]):
                self.assertEqual(_program.environment(program)["NORMSCOPE_LAUNCHER"], "/env/bin/normscope")

    def test_python_inside_another_program_knows_neither_its_name_nor_its_place(self) -> None:
        typed = self.script("bin/normscope", "")
        with mock.patch.object(_program.sys, "executable", None), mock.patch.object(_program.sys, "argv", []):
            with mock.patch.dict(os.environ, {"PATH": f"{self.folder}/bin"}):
                self.assertEqual(_program.environment("/named")["NORMSCOPE_LAUNCHER"], typed)
            with mock.patch.dict(os.environ, {"PATH": ""}):
                self.assertEqual(_program.environment("/named")["NORMSCOPE_LAUNCHER"], "")

    def test_only_a_machine_without_x11_gets_that_of_the_wheel(self) -> None:
        own = str(_program.own())
        for there, expected in ((True, None), (False, str(_program.HERE / "lib/x11"))):
            with mock.patch.object(_program, "can_load", lambda library: there):
                self.assertEqual(_program.environment(own).get("LD_LIBRARY_PATH"), expected)
                self.assertNotIn("LD_LIBRARY_PATH", _program.environment("/usr/bin/normscope"))
        self.assertTrue(_program.can_load("libc.so.6") or sys.platform != "linux")
        self.assertFalse(_program.can_load("libnone.so.0"))

    def opened(self, text: str, *paths: Any) -> "subprocess.Popen[bytes]":
        with mock.patch.dict(os.environ, {"NORMSCOPE": self.script("named", text)}):
            window = normscope.open(*paths)
        self.addCleanup(window.wait)
        self.addCleanup(window.kill)
        return window

    def test_open_returns_the_window_that_stays(self) -> None:
        said = self.folder / "said"
        with mock.patch.object(_program, "SECONDS", 0.2):
            window = self.opened(f'echo "$@" > "{said}.part"; mv "{said}.part" "{said}"; exec sleep 60\n',
                                 pathlib.Path("run.jsonl"), "other.jsonl")
            self.assertIsNone(window.poll())
        self.assertEqual(self.text_of(said), "open -- run.jsonl other.jsonl\n")

    def text_of(self, said: pathlib.Path) -> str:
        for _ in range(600):  # a minute, for a busy machine
            if said.exists():
                break
            time.sleep(0.1)
        return said.read_text()

    def test_a_recording_is_shown_by_the_same_program(self) -> None:
        said = self.folder / "said"
        program = self.script("named", f'echo "$@" > "{said}.part"; mv "{said}.part" "{said}"\n')
        with mock.patch.dict(os.environ, {"NORMSCOPE": program}):
            _writer.show("run.jsonl")
        self.assertEqual(self.text_of(said), "open -- run.jsonl\n")

    def test_open_raises_the_line_that_the_program_says(self) -> None:
        with mock.patch.object(_program, "SECONDS", 60):  # for a busy machine
            with self.assertRaisesRegex(RuntimeError, r"\Ano window: normscope: no display\Z"):
                self.opened("echo 'normscope: no display' >&2; exit 4\n", "run.jsonl")
            with self.assertRaisesRegex(RuntimeError, r"\Ano window: .*named ended with 5\Z"):
                self.opened("exit 5\n")
        with mock.patch.dict(os.environ, {"PATH": "/nowhere"}), mock.patch.object(_program, "HERE", self.folder):
            with self.assertRaisesRegex(RuntimeError, r"\Ano window: the program normscope is not in .*\Z"):
                normscope.open("run.jsonl")

    def test_the_recorder_needs_no_program(self) -> None:
        code = "import sys, normscope; print([n for n in sys.modules if n in ('ctypes', 'normscope._program')])"
        ended = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.stdout, "[]\n")

    def test_package_and_program_have_one_version(self) -> None:
        def version(file: str, pattern: str) -> str:
            found = re.search(pattern, (SOURCES / file).read_text(), re.MULTILINE)
            assert found, file
            return found[1]
        self.assertEqual(version("addons/recorded/python/pyproject.toml", r'^version = "(.*)"'),
                         version("CMakeLists.txt", r"^project\(normscope VERSION (\S+)"))


if __name__ == "__main__":
    unittest.main()

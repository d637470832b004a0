"""Starts the program normscope: the one that NORMSCOPE names, else the wheel's own, else the one in PATH."""
from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Optional, Union

HERE = pathlib.Path(__file__).resolve().parent / "program"  # a wheel has it, the package in the sources has not
LAUNCHER = "NORMSCOPE_LAUNCHER"  # what a person types to start the program, for the lines that it offers to copy
PROGRESS = "NORMSCOPE_PROGRESS"  # a line of progress each second; with its reader the program ends
MISSING = 127  # as a shell says it of a command that is not there
SECONDS = 2.0  # in which a window that cannot be opened has said so


def own() -> pathlib.Path:
    return HERE / "bin" / "normscope"


def find() -> Optional[str]:
    """Returns the program's path. The command of a wheel without its program must not find itself in PATH."""
    named = os.environ.get("NORMSCOPE")
    if named:
        return named
    if own().is_file():
        return str(own())
    return None if LAUNCHER in os.environ else shutil.which("normscope")


def can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def environment(program: str) -> dict[str, str]:
    """Returns the variables to start the program with: where the wheel's own has its fonts, and how it was called."""
    variables = dict(os.environ)
    beside = [os.path.dirname(sys.executable)] if sys.executable else []  # Python in another program may know neither
    command = shutil.which("normscope", path=os.pathsep.join([*beside, os.environ.get("PATH", "")]))
    typed = (sys.argv or [""])[0]
    if pathlib.Path(typed).name == "normscope":
        command = typed
    variables[LAUNCHER] = os.path.abspath(command) if command else ""
    if program == str(own()):
        variables.setdefault("NORMSCOPE_FONT_DIR", str(HERE / "share" / "fonts"))
        # A machine without X11 opens no window and trains all the same; one with X11 needs its own for its drivers.
        if not can_load("libX11.so.6"):
            before = variables.get("LD_LIBRARY_PATH")
            variables["LD_LIBRARY_PATH"] = str(HERE / "lib" / "x11") + (os.pathsep + before if before else "")
    return variables


def nowhere() -> str:
    return "the program normscope is not in this package (a wheel has it), not in PATH, and not named by NORMSCOPE"


def main() -> int:
    """Becomes the program, so that signals and the exit code are its own. Returns only where there is none."""
    program = find()
    why = nowhere()
    if program:
        try:
            os.execve(program, ["normscope", *sys.argv[1:]], environment(program))
        except OSError as error:
            why = f"{program}: {error.strerror}"
    print(f"normscope: {why}", file=sys.stderr)
    return MISSING


def open_window(*paths: Union[str, "os.PathLike[str]"]) -> "subprocess.Popen[bytes]":
    """Opens the window; its own runs stand still beside what is opened. Raises RuntimeError where the window says
    within two seconds that it cannot open."""
    program = find()
    if not program:
        raise RuntimeError(f"no window: {nowhere()}")
    command = [program, "open", "--", *map(os.fspath, paths)] if paths else [program, "--window"]
    with tempfile.TemporaryFile() as said:
        try:
            window = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                      start_new_session=True, env=environment(program))
        except OSError as error:
            raise RuntimeError(f"no window: {program}: {error.strerror}") from None
        try:
            code = window.wait(SECONDS)
        except subprocess.TimeoutExpired:
            return window
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
    if code != 0:
        raise RuntimeError(f"no window: {lines[-1] if lines else f'{program} ended with {code}'}")
    return window

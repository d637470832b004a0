"""The program as it holds runs for Python, a request and an answer a line (addons/recorded/README.md, hold)."""
from __future__ import annotations

import array
import base64
import concurrent.futures
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import weakref
from typing import IO, Any, Callable, Optional

from . import _lab, _program
from ._show import Error


def end(process: "subprocess.Popen[bytes]", said: "IO[bytes]", owner: int) -> None:
    """Ends the program. A forked process leaves that of its parent alone."""
    if os.getpid() != owner:
        return
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, said):
        try:
            if stream:
                stream.close()
        except OSError:
            pass  # what was not yet written has no reader


def numbers(told: "dict[str, Any]") -> "array.array[float]":
    """Returns the numbers of an answer, in rows one after another."""
    made = array.array("f", base64.b64decode(told["float32"]))
    if sys.byteorder == "big":
        made.byteswap()
    return made


class Held:
    """A process of the program with the runs that are open in it. It ends with `close()`, with this object, or with
    Python. Threads may ask at the same time: their requests wait for each other.

    A thread of its own writes requests and reads answers. So Ctrl+C, which Python gives the main thread between any two
    of its steps, never tears a request in two or leaves an answer unread."""

    def __init__(self) -> None:
        program = _program.find()
        if not program:
            raise Error(_program.nowhere())
        self._number, self._owner = 0, os.getpid()
        self._said: "IO[bytes]" = tempfile.TemporaryFile()
        self._left: "list[int]" = []
        try:
            self._process = subprocess.Popen([program, "hold", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._said, start_new_session=True, env=_program.environment(program))
        except OSError as error:
            raise Error(f"{program}: {error.strerror}") from None
        self.close = weakref.finalize(self, end, self._process, self._said, self._owner)
        self._thread = concurrent.futures.ThreadPoolExecutor(1, "normscope hold")

    def ask(self, do: str, progress: "Optional[Callable[[int, int], None]]" = None, **what: Any) -> "dict[str, Any]":
        """Returns the answer to a request; what the program refuses is an Error with its line. Ctrl+C ends the steps of a
        request between two of them, and then raises KeyboardInterrupt."""
        if os.getpid() != self._owner:
            raise Error("the program is held by the process that this one was forked from: expected to hold one of its own")
        told: "queue.SimpleQueue[Optional[tuple[int, int]]]" = queue.SimpleQueue()
        asked = self._thread.submit(self._serve, do, what, lambda done, of: told.put((done, of)))
        try:
            asked.add_done_callback(lambda _: told.put(None))
            for far in iter(told.get, None):
                if progress:
                    progress(*far)  # in the caller's thread, which may show it
            return asked.result()
        except KeyboardInterrupt:
            if not asked.cancel():
                if not asked.done():
                    self._process.send_signal(signal.SIGINT)
                    self._thread.submit(self._serve, "sync", {}, lambda *_: None)  # a late signal ends no later request
                concurrent.futures.wait([asked])
                if not asked.exception() and "run" in asked.result():
                    self.leave(asked.result()["run"])  # a run that nobody has
            raise

    def leave(self, run: int) -> None:
        """Closes a run before the next request. A finalizer may call it, in whatever thread and request it comes."""
        self._left.append(run)

    def _serve(self, do: str, what: "dict[str, Any]", progress: "Callable[[int, int], None]") -> "dict[str, Any]":
        while self._left:
            self._answer("close", {"run": self._left.pop()}, progress)
        return self._answer(do, what, progress)

    def _answer(self, do: str, what: "dict[str, Any]", progress: "Callable[[int, int], None]") -> "dict[str, Any]":
        self._number += 1
        line = json.dumps({"id": self._number, "do": do, **what}, default=str)
        reads, writes = self._process.stdout, self._process.stdin
        assert reads and writes
        try:
            writes.write(line.encode() + b"\n")
            writes.flush()
            for text in reads:
                answer: "dict[str, Any]" = json.loads(text)
                if "progress" not in answer:
                    break
                progress(answer["progress"]["done"], answer["progress"]["of"])
            else:
                raise Error(self._last_words())
        except (OSError, ValueError) as error:  # of a pipe or file that is closed
            raise error if isinstance(error, Error) else Error(self._last_words()) from None
        if "error" in answer:
            raise Error(answer["error"])
        return answer

    def _last_words(self) -> str:
        """Returns why there is no answer."""
        if not self.close.alive:
            return "the program that held the runs was closed: expected to open them again"
        code = self._process.wait()
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        if code > 0 and lines:
            return _lab.refusal(lines[-1])
        return f"the program that held the runs ended with {code}: expected to open them again, or to load what was saved"

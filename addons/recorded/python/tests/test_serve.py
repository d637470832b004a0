"""The server, asked by the official client over stdio: skipped without mcp or a program that knows `settings --json`."""
from __future__ import annotations

import asyncio
import json
import os
import pathlib
import sys
import tempfile
import unittest
from typing import Any
from unittest import mock

import normscope
from normscope import _lab, serve

try:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    _lab.run("settings", "--json")
    MISSING = ""
except (ImportError, normscope.Error) as error:
    MISSING = str(error)

TINY = {"layers": 2, "d_model": 16}
RUNS = {"A": {"preset": "post", **TINY}, "B": {"preset": "pre", **TINY}}


@unittest.skipIf(MISSING, MISSING)
class Server(unittest.TestCase):
    def test_a_session(self) -> None:
        asyncio.run(asyncio.wait_for(self.session(), 60))

    async def session(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            variables = {**os.environ, "XDG_CACHE_HOME": folder, "PYTHONPATH": str(pathlib.Path(normscope.__file__).parents[1])}
            server = StdioServerParameters(command=sys.executable, args=["-m", "normscope.serve", "--folder", folder], env=variables)
            async with stdio_client(server) as streams, ClientSession(*streams) as client:
                await client.initialize()
                self.assertEqual({tool.name for tool in (await client.list_tools()).tools}, {"settings", "compare", "asked"})
                for wanted, line in (({"runs": RUNS, "seeds": 1}, "seeds 1: expected 3 to 20"),
                                     ({"runs": RUNS, "most_runs": 5}, "6 runs|10 runs"),
                                     ({"runs": RUNS, "seconds": 601}, "at most 600"),
                                     ({"runs": {**RUNS, "C": {"text": "/etc/hostname"}}}, "outside the server's folder"),
                                     ({"runs": RUNS, "steps": 30000, "seconds": 1}, "ended after 1 s"),
                                     ({"runs": 7}, "valid")):
                    with self.subTest(line):
                        answer = await client.call_tool("compare", wanted)
                        self.assertTrue(answer.is_error)
                        self.assertRegex(answer.content[0].text, line)
                for seeds in (3, 5, 3):
                    told: Any = json.loads((await client.call_tool("compare", {"runs": RUNS, "seeds": seeds, "steps": 8})).content[0].text)
                    self.assertEqual([len(arm["seeds"]) for arm in told["arms"]], [seeds, seeds])
                asked = json.loads((await client.call_tool("asked", {})).content[0].text)
                self.assertEqual([question["seeds"] for question in asked["questions"]], [3, 5, 3])
                self.assertEqual(asked["by_chance"], 2 * (0.25 + 0.0625 + 0.25))


class Cancelled(unittest.TestCase):
    def test_the_program_is_interrupted(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "program"
            script.write_text(f"#!/bin/sh\ntrap 'echo kept > {folder}/kept; exit 130' INT\ntouch {folder}/started\n"
                              "while :; do sleep 0.05; done\n")
            script.chmod(0o755)
            with mock.patch.dict(os.environ, {"NORMSCOPE": str(script)}):
                asyncio.run(asyncio.wait_for(self.cancel(pathlib.Path(folder)), 20))

    async def cancel(self, folder: pathlib.Path) -> None:
        task = asyncio.create_task(serve.run([], 60))
        while not (folder / "started").exists():
            await asyncio.sleep(0.02)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        while not (folder / "kept").exists():
            await asyncio.sleep(0.02)


if __name__ == "__main__":
    unittest.main()

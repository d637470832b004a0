"""What tests that ask the program share."""
from __future__ import annotations

import os
import pathlib
import tempfile
import unittest
from unittest import mock

TINY = {"layers": 2, "d_model": 16, "steps": 8}


class OfProgram(unittest.TestCase):
    """Each test has a folder, and a store of results of its own in it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        patch = mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder.name})
        patch.start()
        self.addCleanup(patch.stop)

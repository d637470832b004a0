"""What a notebook's widget trains, without a package of Python's: python/tests/test_widget.py."""
import pathlib
import sys
import unittest

PYTHON = pathlib.Path(__file__).resolve().parents[1] / "python"
sys.path[:0] = [str(PYTHON), str(PYTHON / "tests")]

from test_widget import *  # noqa: E402, F403

if __name__ == "__main__":
    unittest.main()

"""Tests the Python package's launcher on scripts in the program's place, without PyTorch: python/tests/test_program.py."""
import pathlib
import sys
import unittest

PYTHON = pathlib.Path(__file__).resolve().parents[1] / "python"
sys.path[:0] = [str(PYTHON), str(PYTHON / "tests")]

from test_program import *  # noqa: E402, F403

if __name__ == "__main__":
    unittest.main()

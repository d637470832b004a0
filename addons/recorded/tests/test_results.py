"""What Python asks the program that was built, without a package of Python's: python/tests/test_lab.py, test_results.py."""
import pathlib
import sys
import unittest

PYTHON = pathlib.Path(__file__).resolve().parents[1] / "python"
sys.path[:0] = [str(PYTHON), str(PYTHON / "tests")]

from test_lab import *  # noqa: E402, F403
from test_results import *  # noqa: E402, F403

if __name__ == "__main__":
    unittest.main()

"""`python -m normscope`, and the command `normscope` of the wheel."""
import sys

from ._program import main

if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""calls.py OBJECT... reads the machine code of kernels and fails where a product's tile calls a function: the compiler
makes a call of memcpy of a loop over the lanes of a vector, before which all vectors of the tile go to the stack (load_n
in engine/cpu/simd_inl.h). CTest runs it as engine.calls."""
import re
import subprocess
import sys


def called(text):
    """Returns every tile in what `objdump -dwrC` prints, and what it calls."""
    tiles = {}
    for block in text.split("\n\n"):
        name = re.search(r"^[0-9a-f]+ <(.*\btile<\d+, \d+, (?:true|false)>.*)>:$", block, re.M)
        if name:
            calls = [line for line in block.split("\n") if re.search(r"\tcall[q ]", line)]
            tiles[name[1]] = [re.sub(r".*[\t ](?=\S+$)", "", line) for line in calls]
    return tiles


def main():
    tiles = {}
    for path in sys.argv[1:]:
        dump = subprocess.run(["objdump", "-dwrC", "--no-show-raw-insn", path], check=True, capture_output=True, text=True)
        tiles |= called(dump.stdout)
    bad = {name: calls for name, calls in tiles.items() if calls}
    for name, calls in bad.items():
        print(f"{name} calls {', '.join(sorted(set(calls)))}")
    sets = {match[1] for name in tiles if (match := re.search(r"::N_(\w+)::", name))}
    print(f"{len(tiles)} tiles of {', '.join(sorted(sets))} looked at")
    return 1 if bad or "SSE4" not in sets else 0


if __name__ == "__main__":
    sys.exit(main())

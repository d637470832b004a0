#!/usr/bin/env python3
"""tiles.py OBJECT... reads the machine code of kernels for AArch64 and fails where a product's tile does not stay in
registers: its inner loop may neither write a vector to the stack nor read one from it. It prints what the loops of the
widest tiles have, and of those that fail. `make test-arm64` calls it."""
import re
import subprocess
import sys

WIDEST = (12, 2)
LEAST = {WIDEST, (12, 1), (6, 2)}  # their loops have to be found, lest a change of the code makes this test look away


def disassembly(path):
    return subprocess.run(["aarch64-linux-gnu-objdump", "-d", "-C", "--no-show-raw-insn", path], check=True,
                          capture_output=True, text=True).stdout


def functions(text):
    """Yields each function's name and its instructions: address, mnemonic, operands."""
    for block in text.split("\n\n"):
        head, *lines = block.split("\n")
        name = re.match(r"[0-9a-f]+ <(.*)>:$", head)
        code = [(int(m[1], 16), m[2], m[3]) for m in (re.match(r" *([0-9a-f]+):\t(\S+)\s*(.*)", line) for line in lines) if m]
        if name and code:
            yield name[1], code


def inner_loops(code):
    """Returns the innermost loops of straight code that multiply and add vectors."""
    at = {address: i for i, (address, _, _) in enumerate(code)}
    back = []
    for i, (address, mnemonic, operands) in enumerate(code):
        target = re.search(r"([0-9a-f]+) <", operands)
        if re.match(r"b\.|cbn?z|tbn?z", mnemonic) and target and at.get(int(target[1], 16), i + 1) <= i:
            back.append((at[int(target[1], 16)], i))
    inner = [(a, b) for a, b in back if not any(a <= c and d <= b and (c, d) != (a, b) for c, d in back)]
    loops = [code[a:b + 1] for a, b in inner]
    return [loop for loop in loops
            if any(m == "fmla" for _, m, _ in loop) and not any(m in ("b", "ret") for _, m, _ in loop[:-1])]


def check(texts):
    """Returns 1 if a tile's loop touches the stack or is missing, else 0."""
    found, spilled = set(), False
    for text in texts:
        for name, code in functions(text):
            tile = re.search(r"\btile<(\d+), (\d+), (true|false)>", name)
            for loop in inner_loops(code) if tile else ():
                sums = sum(mnemonic == "fmla" for _, mnemonic, _ in loop)
                loads = sum(mnemonic.startswith("ld") for _, mnemonic, _ in loop)
                stack = sum(bool(re.match(r"(ld|st)", m) and re.match(r"[qdsv]\d", o) and "[sp" in o) for _, m, o in loop)
                found.add((int(tile[1]), int(tile[2])))
                spilled = spilled or stack > 0
                if stack == 0 and (int(tile[1]), int(tile[2])) != WIDEST:
                    continue
                print(f"tile {tile[1]} x {tile[2]}, {'A by rows' if tile[3] == 'true' else 'A transposed'}: {sums} fmla in "
                      f"{len(loop)} instructions, {loads} loads, {stack} of the stack{' <- FAILED' if stack else ''}")
    print(f"{len(found)} sizes of tiles looked at")
    missing = LEAST - found
    if missing:
        print(f"tiles.py: no loop found of {sorted(missing)}: FAILED")
    return 1 if spilled or missing else 0


if __name__ == "__main__":
    sys.exit(check(disassembly(path) for path in sys.argv[1:]))

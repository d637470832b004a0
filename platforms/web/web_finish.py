#!/usr/bin/env python3
"""Takes the last step of `make web`: adds what the page needs beside the program.

    platforms/web/web_finish.py build/web --initial-mb 256 --maximum-mb 2048 --system / --deps build/web-deps

Copies the icon, and the pictures that the page shows where it cannot run. Writes licenses.txt (the terms of what is
compiled in and packed) and sizes.json (the bytes of each file, for the progress bar, and the memory that the module was
linked with). Puts a .gz, and a .br where `brotli` is installed, beside every file that gains by it.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "platforms/packages/release"))
import terms

COPIED = {  # from the source to the name in the folder
    "assets/screenshots/lab-light.png": "lab-light.png",
    "assets/screenshots/lab-dark.png": "lab-dark.png",
    "assets/icon/normscope.svg": "icon.svg",
}
PACKAGES = ["emscripten", "libhwy-dev"]  # the former's terms cover the C and C++ libraries
PACKED = {".html", ".css", ".js", ".json", ".svg", ".txt", ".wasm", ".data"}  # the others are compressed already
FIRST_FRAME = {".html", ".css", ".js", ".json", ".wasm", ".data", ".svg"}  # received before the first frame


def pack(path):
    """Writes each packed form beside the file and returns the bytes of the smallest form that a server can send."""
    if path.suffix not in PACKED:
        return path.stat().st_size
    packed = gzip.compress(path.read_bytes(), 9, mtime=0)
    Path(f"{path}.gz").write_bytes(packed)
    sizes = [path.stat().st_size, len(packed)]
    if shutil.which("brotli"):
        smaller = Path(f"{path}.br")
        subprocess.run(["brotli", "--quality=11", "--force", f"--output={smaller}", str(path)], check=True)
        sizes.append(smaller.stat().st_size)
    return min(sizes)


def licences(system, deps):
    """Joins the terms of everything that comes from others, and reports what it does not find."""
    texts, lost = terms.found(system, PACKAGES, {})
    for file in lost:
        print(f"web_finish.py: no {file}, so licenses.txt does not have its terms", file=sys.stderr)
    texts["md4c"] = (deps / "src/md4c.c").read_text().partition("*/")[0] + "*/"  # the source begins with its terms
    return terms.joined(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--initial-mb", type=int, required=True, help="memory that the module begins with")
    parser.add_argument("--maximum-mb", type=int, required=True, help="memory that it may grow to")
    parser.add_argument("--system", type=Path, required=True, help="root of the system whose packages were compiled in")
    parser.add_argument("--deps", type=Path, required=True, help="where md4c's source lies, in src/")
    options = parser.parse_args()
    folder = options.folder
    if not (folder / "normscope.wasm").is_file():
        sys.exit(f"web_finish.py: {folder} has no normscope.wasm: it is called by platforms/web/web.sh")

    for source, name in COPIED.items():
        if (ROOT / source).is_file():
            shutil.copy(ROOT / source, folder / name)
    (folder / "licenses.txt").write_text(licences(options.system, options.deps))
    for stale in [*folder.glob("*.gz"), *folder.glob("*.br")]:
        stale.unlink()
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "sizes.json")
    table = {
        "files": {path.name: {"bytes": path.stat().st_size} for path in files},
        "memory": {"initial_mb": options.initial_mb, "maximum_mb": options.maximum_mb},
    }
    (folder / "sizes.json").write_text(json.dumps(table, indent=1) + "\n")
    packed = {path: pack(path) for path in [*files, folder / "sizes.json"]}
    first = sum(size for path, size in packed.items() if path.suffix in FIRST_FRAME)
    print(f"{folder}: {first / 1e6:.2f} MB compressed before the first frame")


if __name__ == "__main__":
    main()

"""The terms of what comes from others, as one text: licenses.txt of the page and of the folder for Windows. spdx.py reads
from it what is inside."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HEADING = re.compile(r"^={20} (\S.*)$", re.MULTILINE)
PACKAGES = [  # Debian's, which both have inside: libraries that are headers alone, and faces
    "libfmt-dev",
    "nlohmann-json3-dev",
    "libtomlplusplus-dev",
    "libstb-dev",
    "fonts-inter",
    "fonts-jetbrains-mono",
    "fonts-dejavu-core",
]


def found(system, packages, files):
    """Returns by name the terms of normscope, Dear ImGui, PACKAGES, further packages of that system and `files`; then the
    files that are missing."""
    places = {"normscope": ROOT / "LICENSE", "Dear ImGui": ROOT / "build/deps/imgui/LICENSE.txt"} | files
    places |= {name: system / "usr/share/doc" / name / "copyright" for name in [*PACKAGES, *packages]}
    texts = {name: file.read_text(errors="replace") for name, file in places.items() if file.is_file()}
    return texts, [file for name, file in places.items() if name not in texts]


def joined(texts):
    return "".join(f"{'=' * 20} {name}\n\n{text.rstrip()}\n\n" for name, text in texts.items())


def names(text):
    """Returns the names whose terms stand in a text of joined(); Windows' lines end in two letters."""
    return HEADING.findall(text.replace("\r\n", "\n"))

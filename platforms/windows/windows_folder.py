#!/usr/bin/env python3
"""Takes the last step of `make windows`: puts the program for Windows with all that it reads into a folder and a zip.

    platforms/windows/windows_folder.py build/windows-objects build/windows --deps build/windows-deps

The program becomes normscope.com and what opens it without a console normscope.exe (platforms/windows/launcher.cpp); both are
stripped. The zip has the day of the version and the same order everywhere, so that the same files make the same zip.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "platforms/packages/release"))
import archives
import release
import terms

FACES = {  # of Debian's fonts-inter, fonts-jetbrains-mono and fonts-dejavu-core
    "opentype/inter": ["Inter-Regular.otf", "Inter-SemiBold.otf"],
    "truetype/jetbrains-mono": ["JetBrainsMono-Regular.ttf", "JetBrainsMono-Medium.ttf"],
    "truetype/dejavu": ["DejaVuSans.ttf", "DejaVuSansMono.ttf"],
}
PACKAGES = ["libcli11-dev", "gcc-mingw-w64-base", "mingw-w64-common"]  # the command line; the compiler's own libraries
SOURCES = {"highway": "LICENSE", "md4c": "LICENSE.md", "utf8proc": "LICENSE.md", "glfw": "LICENSE.md"}
READ_ME = """normscope {version} for Windows 10 and newer, 64 bits

normscope.exe         a double click opens the window; files can be dropped on it
normscope.com         the same program for a terminal: type normscope in this folder
lessons and other folders   what the program reads; keep them beside it

Nothing is installed. Settings are in %APPDATA%\\normscope, sessions, results and lessons' progress in
%LOCALAPPDATA%\\normscope; both folders may be deleted. The terms of what is inside are in licenses.txt.
"""


def licences(deps):
    """Joins the terms of everything that comes from others, and ends where one is missing."""
    texts, lost = terms.found(Path("/"), PACKAGES, {name: deps / "src" / name / file for name, file in SOURCES.items()})
    if lost:
        sys.exit(f"make windows: the terms of what is inside are missing: {', '.join(map(str, lost))}")
    return terms.joined(texts)


def fill(folder, objects, deps, version):
    day = os.environ | {"SOURCE_DATE_EPOCH": str(release.day_of_version())}  # else strip writes the present time
    for name, source in {"normscope.com": "normscope.exe", "normscope.exe": "normscope_launcher.exe"}.items():
        subprocess.run(["x86_64-w64-mingw32-strip", "-o", folder / name, objects / source], check=True, env=day)
    for place in [ROOT / "lessons", *(ships.parent / name for ships in ROOT.glob("addons/*/ships") for name in ships.read_text().split())]:
        shutil.copytree(place, folder / place.name)
    (folder / "fonts").mkdir()
    for place, faces in FACES.items():
        for face in faces:
            source = Path("/usr/share/fonts") / place / face
            if not source.is_file():
                sys.exit(f"make windows: no {source} (Debian: fonts-inter fonts-jetbrains-mono fonts-dejavu-core)")
            shutil.copy(source, folder / "fonts" / face)
    for name, text in {"licenses.txt": licences(deps), "README.txt": READ_ME.format(version=version)}.items():
        (folder / name).write_text(text, newline="\r\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("objects", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--deps", type=Path, required=True)
    options = parser.parse_args()
    version = release.version_of_sources()
    shutil.rmtree(options.out, ignore_errors=True)
    folder = options.out / f"normscope-{version}-windows"
    folder.mkdir(parents=True)
    fill(folder, options.objects, options.deps, version)
    archive = folder.with_name(f"{folder.name}.zip")
    archives.folder(folder, folder.name, archive, release.day_of_version())
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB, {archive.name}: {archive.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()

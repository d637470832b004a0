#!/usr/bin/env python3
"""Makes everything that a release hands out, in one folder, for `make release VERSION=...`. See docs/releases.md.

    platforms/packages/release/release.py 0.1.0 --maintainer "Name <address>"   # build/release-0.1.0/
    platforms/packages/release/release.py --compare FOLDER OTHER                # whether two releases are the same, byte by byte

A release is refused, in one line, where it could not be made again: a tree with changes of its own, a version that the
sources do not have, a changelog that does not speak of it, no maintainer. The time in every file is the version's own
day (SOURCE_DATE_EPOCH), in the source archive it is the commit's, so that the same commit on the same system gives the
same bytes.
"""

import argparse
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import archives
import spdx

ROOT = Path(__file__).resolve().parents[3]


class Refused(Exception):
    """What is wrong, and what to do."""


def found(pattern, file):
    """The first group of `pattern` in a file of the tree."""
    match = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    if not match:
        raise Refused(f"{file}: expected a line as {pattern}")
    return match.group(1)


def version_of_sources():
    """The one place where the version stands."""
    return found(r"^project\(normscope VERSION ([0-9.]+)", "CMakeLists.txt")


def day_of_version():
    """The day of the version in seconds since 1970."""
    return int(found(r"^set\(NORMSCOPE_RELEASED (\d+)\)", "CMakeLists.txt"))


def check(version, maintainer, changes):
    """Raises Refused with what is missing; `changes` is what `git status --porcelain` prints."""
    ours = version_of_sources()
    if version != ours:
        raise Refused(f"VERSION={version}: the sources are {ours}; the version and its day stand in CMakeLists.txt")
    first = found(r"^## ([0-9.]+)", "CHANGELOG.md")
    if first != version:
        raise Refused(f"CHANGELOG.md begins with {first}: expected a section ## {version}, what users can now do")
    if not re.fullmatch(r"[^<>]+ <[^<>@ ]+@[^<>@ ]+>", maintainer):
        raise Refused(f"MAINTAINER='{maintainer}': expected \"Name <address>\" of whoever hands the release out")
    if changes.strip():
        raise Refused(f"the tree has changes: expected a commit. The first: {changes.strip().splitlines()[0]}")


def make(*targets, epoch, **variables):
    """Runs make, whose parts read the day from the environment. ARGS are those of `make release` and of no part."""
    # Some compilers (nvcc's, clang's for WebAssembly, wasm-opt) decide by where things lie in memory, which Linux draws
    # anew for every process.
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []
    command = [*fixed, "make", *targets, "ARGS=", *(f"{name}={value}" for name, value in variables.items())]
    print(f"release: {' '.join(targets)}", flush=True)
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch)})


def copy_all(folder, pattern, out):
    """Copies the files that a part made; a part that made none is a mistake."""
    files = sorted(path for path in (ROOT / folder).glob(pattern) if path.is_file())
    if not files:
        raise Refused(f"{folder} has no {pattern} after its part was made")
    for path in files:
        shutil.copyfile(path, out / path.name)


def parts(version, maintainer, epoch, out):
    """The parts by name: each makes what it is and puts it into the folder."""
    name = f"normscope-{version}"

    def source():
        archives.source(ROOT, name, out / f"{name}-source.tar.gz")

    def packages():
        make("package", epoch=epoch, MAINTAINER=maintainer)
        copy_all("build/package", "*.deb", out)
        copy_all("build/package", "*.tar.gz", out)

    def wheels():
        make("wheel", epoch=epoch)
        copy_all("dist", "normscope*.whl", out)

    def windows():
        make("windows", epoch=epoch)
        copy_all("build/windows", "*.zip", out)

    def arm64():
        make("package", epoch=epoch, MAINTAINER=maintainer, PRESET="arm64")
        copy_all("build/package-arm64", "*.deb", out)
        copy_all("build/package-arm64", "*.tar.gz", out)
        make("wheel", epoch=epoch, PRESET="arm64")
        copy_all("dist/arm64", "normscope*.whl", out)

    def web():
        make("web", epoch=epoch)
        archives.folder(ROOT / "build/web", f"{name}-web", out / f"{name}-web.zip", epoch)

    def site():
        make("site", epoch=epoch)
        archives.folder(ROOT / "build/site", f"{name}-site", out / f"{name}-site.zip", epoch)

    steps = [source, packages, wheels, arm64, windows, web, site]
    return {step.__name__: step for step in steps}


def sums(folder):
    """Each file of a folder and its SHA-256, by name."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir()) if path.is_file()
    }


def check_paths(out):
    """Raises Refused where a file names the folder that it was made in: made elsewhere, it would have other bytes."""
    here = re.compile(rb"(?<![\w.-])" + re.escape(str(ROOT).encode()) + rb"(?![\w.-])")
    for path in sorted(path for path in out.iterdir() if not path.name.endswith("-source.tar.gz")):
        for name, read in archives.members(path):
            data = read()
            if here.search(gzip.decompress(data) if name.endswith(".gz") else data):
                raise Refused(f"{path.name}: {name} names {ROOT}, where it was made; compile it without that path")


def release(version, maintainer, only):
    status = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, check=True, capture_output=True, text=True)
    check(version, maintainer, status.stdout)
    epoch = day_of_version()
    out = ROOT / f"build/release-{version}"
    steps = parts(version, maintainer, epoch, out)
    unknown = [part for part in only if part not in steps]
    if unknown:
        raise Refused(f"--only {unknown[0]}: expected {', '.join(steps)}")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for part, step in steps.items():
        if not only or part in only:
            step()
    check_paths(out)
    spdx.write(out, version, epoch, ROOT)
    listed = "".join(f"{digest}  {name}\n" for name, digest in sums(out).items())
    (out / "SHA256SUMS").write_text(listed, encoding="utf-8")
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.name}")
    left_out = [part for part in steps if only and part not in only]
    print(f"release: {out.relative_to(ROOT)}" + (f", without {', '.join(left_out)}" if left_out else ""))


def differences(one, other):
    """A line for every file that two folders do not share to the byte."""
    a, b = sums(one), sums(other)
    lines = [f"{name} is only in {one if name in a else other}" for name in sorted(a.keys() ^ b.keys())]
    return lines + [f"{name} differs" for name in sorted(a.keys() & b.keys()) if a[name] != b[name]]


def main():
    parser = argparse.ArgumentParser(description="Makes a release, or compares two.")
    parser.add_argument("version", nargs="?", default="")
    parser.add_argument("--maintainer", default="", help='"Name <address>" of whoever hands the release out')
    parser.add_argument("--only", default="", help="some of its parts, with commas")
    parser.add_argument("--compare", nargs=2, type=Path, metavar="FOLDER")
    options = parser.parse_args()
    try:
        if options.compare:
            lines = differences(*options.compare)
            print("\n".join(lines) or f"{len(sums(options.compare[0]))} files, the same to the byte")
            return 1 if lines else 0
        release(options.version, options.maintainer, [part for part in options.only.split(",") if part])
    except (Refused, archives.Unknown) as why:
        print(f"release: {why}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as failed:
        print(f"release: {' '.join(map(str, failed.cmd))} ended with {failed.returncode}", file=sys.stderr)
        return 1
    except OSError as why:  # no git or dpkg-deb, or no such folder
        print(f"release: {why.filename}: {why.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

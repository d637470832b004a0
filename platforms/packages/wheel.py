#!/usr/bin/env python3
"""wheel.py [--out DIR] lays out the wheels of the program in build/release, or in the tree of the preset that
NORMSCOPE_PRESET names, lets setuptools build them, and auditwheel copy in the libraries that they are linked with and
find the platform that they run on. platforms/packages/wheel.sh calls it.

The same build gives the same bytes: every date is the version's day, or SOURCE_DATE_EPOCH."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "platforms/packages/release"))
import release  # noqa: E402

PRESET = os.environ.get("NORMSCOPE_PRESET") or "release"
BUILD = ROOT / "build" / PRESET
# What was built for another processor runs in an emulator, and its libraries are in a sysroot.
SYSROOT = ROOT / "build/arm64-sysroot" if PRESET == "arm64" else None
EMULATOR = ("qemu-aarch64", "-L", SYSROOT) if SYSROOT else ()
TOOLS = ROOT / "build/wheel-tools/bin"
MOST = 25e6  # bytes of a wheel
# The desktop's faces (app/ui/paint.cpp): pip can install no system's fonts.
FONTS = ("Inter-Regular.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf", "JetBrainsMono-Medium.ttf",
         "DejaVuSans.ttf", "DejaVuSansMono.ttf")


def run(*command, **options):
    """Runs the command quietly; what it said is shown where it fails."""
    ended = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           **options)
    if ended.returncode != 0:
        sys.exit(f"{ended.stdout}\nmake wheel: {command[0]} ended with {ended.returncode}")
    return ended.stdout


def found(pattern, text):
    match = re.search(pattern, text, re.MULTILINE)
    return match and match[1]


def install(component, folder):
    run("cmake", "--install", BUILD, "--prefix", folder, "--component", component, "--strip")


def fonts():
    files = []
    for name in FONTS:
        files += sorted(pathlib.Path("/usr/share/fonts").rglob(name))[:1]
        if not files or files[-1].name != name:
            print(f"make wheel: no {name} under /usr/share/fonts, so the wheel goes without it", file=sys.stderr)
    return files


def linked(file):
    """Returns the paths of the libraries that a file is linked with, but for those of the C library."""
    ldd = (*EMULATOR, SYSROOT / "lib/ld-linux-aarch64.so.1", "--list") if SYSROOT else ("ldd",)
    return {name: f"{SYSROOT or ''}{path}" for name, path in re.findall(r"^\s*(\S+) => (/\S+)", run(*ldd, file), re.MULTILINE)
            if not re.match(r"(ld-linux.*|lib(c|m|dl|rt|pthread))\.so", name)}


def x11():
    """Returns the library of X11 and what it is linked with. A window takes the system's, as its drivers need that; a
    machine that has none trains with these (normscope/_program.py)."""
    top = linked(BUILD / "normscope").get("libX11.so.6")
    return {"libX11.so.6": top, **linked(top)} if top else {}


def write_project(stage):
    """Writes the wheel's pyproject.toml, the package's with what the program adds, and returns its version."""
    project = (ROOT / "addons/recorded/python/pyproject.toml").read_text()
    version = found(r'^version = "(.*)"', project)
    assert 'readme = "README.md"\n' in project and '["py.typed", ' in project
    project = project.replace('readme = "README.md"\n', 'readme = "README.md"\nlicense-files = ["LICENSE", "licenses/*"]\n')
    project = project.replace('["py.typed", ', '["py.typed", "program/**/*", ')
    project += '\n[project.scripts]\nnormscope = "normscope._program:main"\n'
    extras = "[project.optional-dependencies]\n"
    assert extras in project
    project = project.replace(extras, f'{extras}cuda = ["normscope-cuda=={version}"]\n')
    (stage / "pyproject.toml").write_text(project)
    return version


def lay_out_program(stage):
    """Lays out the package with the program in it. Menu entry and completion are left out: nobody looks for them there."""
    shutil.copytree(ROOT / "addons/recorded/python/normscope", stage / "normscope", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "wheel/setup.py"):
        shutil.copy(ROOT / "addons/recorded/python" / name, stage)
    shutil.copy(ROOT / "LICENSE", stage)
    program = stage / "normscope/program"
    with tempfile.TemporaryDirectory() as folder:
        install("normscope", folder)
        shutil.copytree(f"{folder}/bin", program / "bin")
        shutil.copytree(f"{folder}/share/normscope", program / "share/normscope")
    (program / "share/fonts").mkdir()
    faces = fonts()
    for file in faces:
        shutil.copy(file, program / "share/fonts")
    (program / "lib/x11").mkdir(parents=True)
    for name, path in x11().items():
        shutil.copy(os.path.realpath(path), program / "lib/x11" / name)
    run("cmake", "-DCPACK_GENERATOR=WHEEL", f"-DCPACK_TEMPORARY_DIRECTORY={stage}/licenses",
        f"-DCPACK_NORMSCOPE_SOURCE_DIR={ROOT}", f"-DCPACK_NORMSCOPE_BINARY_DIR={BUILD}",
        f"-DCPACK_NORMSCOPE_SYSROOT={SYSROOT or ''}", f"-DCPACK_NORMSCOPE_IMGUI_LICENSE={ROOT}/build/deps/imgui/LICENSE.txt",
        "-DCPACK_NORMSCOPE_FONTS=" + ";".join(map(str, faces)), "-P", ROOT / "platforms/packages/finish.cmake")
    return write_project(stage)


def lay_out_cuda(stage, version, toolkit):
    """Lays out the backend in a package of its own, where the program looks for it (engine/cuda/loader.cpp). cuBLAS,
    half a gigabyte, comes from NVIDIA's wheel, or else is the system's."""
    major = int(toolkit.split(".")[0])
    name, folder = ("nvidia-cublas", f"cu{major}") if major > 12 else (f"nvidia-cublas-cu{major}", "cublas")
    package = stage / "normscope_cuda"
    package.mkdir()
    (package / "__init__.py").write_text('"""The CUDA backend of normscope, which the program finds by itself."""\n')
    with tempfile.TemporaryDirectory() as prefix:
        install("normscope-cuda", prefix)
        shutil.copy(f"{prefix}/lib/normscope/libnormscope_cuda.so", package)
    run(TOOLS / "patchelf", "--set-rpath", f"$ORIGIN/../nvidia/{folder}/lib", package / "libnormscope_cuda.so")
    shutil.copy(ROOT / "addons/recorded/python/wheel/setup.py", stage)
    shutil.copy(ROOT / "LICENSE", stage)
    project = (ROOT / "addons/recorded/python/wheel/cuda.toml").read_text()
    project = project.replace("@version@", version).replace("@cublas@", f"{name}>={toolkit},<{major + 1}")
    (stage / "pyproject.toml").write_text(project)


def wheel(stage, out, *excluded):
    """Builds the wheel of a layout, as the platform that auditwheel finds."""
    raw = stage / "wheel"
    if SYSROOT:
        folders = ":".join(f"{SYSROOT}/{folder}/aarch64-linux-gnu" for folder in ("lib", "usr/lib"))
        excluded = ("--ldpaths", folders, *excluded)
        os.environ["_PYTHON_HOST_PLATFORM"] = "linux-aarch64"  # where setuptools looks for the name of this machine
    run(TOOLS / "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", raw, stage)
    [built] = raw.glob("*.whl")
    path = {"PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
    said = run(TOOLS / "auditwheel", "repair", "--wheel-dir", raw / "repaired", *excluded, built, env={**os.environ, **path})
    [repaired] = (raw / "repaired").glob("*.whl")
    size = repaired.stat().st_size
    if size > MOST:
        sys.exit(f"{said}\nmake wheel: {repaired.name} has {size / 1e6:.1f} MB, more than {MOST / 1e6:g}")
    shutil.move(repaired, out / repaired.name)
    print(f"normscope: {out / repaired.name}, {size / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("dist/arm64" if SYSROOT else "dist"))
    out = parser.parse_args().out
    if not (ROOT / "addons/recorded/python").is_dir():
        sys.exit("make wheel: the wheel is the Python package of addons/recorded, which is not here")
    day = str(release.day_of_version())
    os.environ.setdefault("SOURCE_DATE_EPOCH", day)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("normscope*.whl"):
        old.unlink()
    toolkit = found(r"^CUDA backend: CUDA (\S+)", run(*EMULATOR, BUILD / "normscope", "--version"))
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder) / "normscope"
        stage.mkdir()
        version = lay_out_program(stage)
        wheel(stage, out, *[word for name in x11() for word in ("--exclude", name)])
        if toolkit:
            stage = pathlib.Path(folder) / "normscope_cuda"
            stage.mkdir()
            lay_out_cuda(stage, version, toolkit)
            wheel(stage, out, "--exclude", "libcublasLt.so.*")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""check.py [COMMIT] builds and tests what the files changed since COMMIT touch, a minute at most for one op, one screen
or one lesson. The default HEAD covers what is not committed yet. `make test` is for what a change reaches further away.
`make check [SINCE=COMMIT]` calls this."""
import functools, os, pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
FLOORS = ("engine", "training", "app")
HOUSE = ("test_includes",)  # cheap rules of the whole source
ELSEWHERE = {  # what no source includes, and the tests that read it
    "engine/check_op": {"engine.test_check_op"},
    "engine/engine.h": {"engine.example"},
    "engine/example.cpp": {"engine.example"},
    "engine/own_op": {"engine.test_own_op", "engine.example.own_op"},
    "engine/one_file.cpp": {"engine.one_file", "training.test_one_file"},
    "assets/words/": {"app.test_words", "app.test_glossary", "app.test_palette", "app.test_text_matrix", "app.test_lesson_language"},
    "lessons/": {"app.test_lesson_language", "app.test_lesson_words"},
    "scripts/check.py": {"house.check"},
    "scripts/walk_lines.py": {"house.walks"},
    "scripts/setup.sh": {"house.setup"},
    "scripts/build.sh": {"house.setup"},
    "cmake/NormscopeCompiler.cmake": {"house.setup"},
    "tests/house/test_setup.py": {"house.setup"},
    "platforms/packages/release/": {"release.parts"},
    "tests/house/test_check.py": {"house.check"},
    "tests/answers/": {"training.test_lab", "app.test_cli"},
    "tests/package/": {"package.components", "package.consumer", "package.engine_alone", "package.fetched", "package.subdirectory"},
    "cmake/NormscopeEnginePackage.cmake": {"package.components", "package.consumer"},
    "cmake/normscope-config.cmake.in": {"package.components"},
    "tests/refusals/": {"app.test_refusals", "app.test_every_command"},
    "tests/release/": {"release.parts"},
    "tests/screens/": {"app.test_plot_specs", "app.test_lesson_words"},
    "tests/stories/": {"app.test_stories"},
}
ON_SCREEN = {"app.test_every_size", "app.test_stories", "app.test_text_matrix"}  # draw whatever there is
MANY = 60  # the most objects that read a header; more take longer than a minute


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def changed_files(since):
    tracked = output("git", "diff", "--name-only", "--diff-filter=d", since).split("\n")
    return sorted({*tracked, *output("git", "ls-files", "--others", "--exclude-standard").split("\n")} - {""})


def tests_that_read():
    """Returns every test of tests/ with the headers that it includes, those of its helpers among them."""
    includes = {}
    for path in [file for tests in ("tests/*/**/", "addons/*/tests/*/**/") for kind in ("*.cpp", "*.h") for file in ROOT.glob(tests + kind)]:
        includes[path] = set(re.findall(r'#include "([^"]+)"', path.read_text()))

    def reach(path, seen):
        found = set(includes[path])
        for name in includes[path]:
            helper = ROOT / "tests" / name
            if helper in includes and helper not in seen:
                found |= reach(helper, seen | {helper})
        return found
    return {path: reach(path, {path}) for path in includes if path.name.startswith("test_") and path.suffix == ".cpp"}


def entry_of(test):
    """Returns what CTest calls a test, such as "app.test_zoo". The tests of the house belong to the app."""
    parts = pathlib.Path(test).relative_to(ROOT).parts
    program = parts[parts.index("tests") + 1]
    return f"{'app' if program == 'house' else program}.{pathlib.Path(test).stem}"


@functools.cache
def draws(*room):
    """Tells whether a room of the app, or an add-on's app/, has anything to do with the screen."""
    room = ROOT.joinpath(*room)
    return any('#include "app/ui/' in path.read_text() for path in room.rglob("*") if path.suffix in (".h", ".cpp"))


def tests_of_command(path):
    """Returns the tests that run a command, which name it and include nothing of it."""
    commands = re.findall(r"\[`([a-z-]+)`\]\(#", (ROOT / "docs/command-line.md").read_text())
    names = {part.replace("_", "-") for part in pathlib.Path(path).with_suffix("").parts[2:]}.intersection(commands)
    runs = re.compile(rf'"({"|".join(names)})[ "]')
    tests = [test for test in ROOT.glob("tests/app/**/test_*.cpp") if names and runs.search(test.read_text())]
    return {"app.test_every_command", "app.test_cli", *map(entry_of, tests)}


def tests_of_source(path, readers):
    """Returns the tests that include the file's own header, else those of its folder or room, and for an op those of all
    ops."""
    folder = pathlib.Path(path).parent
    if folder.parts[:2] == ("engine", "ops"):
        return {"engine." + name for name in ("test_op_cases", "test_reference", "test_update_ops", "test_model_reference")}
    if folder.parts[:2] == ("app", "commands"):
        return tests_of_command(path)
    header = str(pathlib.Path(path).with_suffix(".h"))
    near = {test for test, read in readers.items() if header in read}
    for room in [folder, *folder.parents][:-2]:
        near = near or {test for test, read in readers.items() if any(name.startswith(f"{room}/") for name in read)}
    return {entry_of(test) for test in near} | (ON_SCREEN if folder.parts[0] == "app" and draws(*folder.parts[:2]) else set())


def tests_of_addon(path, readers):
    """Returns all tests of the file's add-on, those in Python among them."""
    name, part = pathlib.Path(path).parts[1:3]
    tests = ROOT / "addons" / name / "tests"
    found = {entry_of(test) for test in readers if tests in test.parents} | ({"app.test_stories"} if part == "tests" else set())
    found |= {f"addons.{name}.{script.stem}" for script in tests.glob("test_*.py")}
    if (ROOT / "addons" / name / "commands.def").is_file():
        found.add("app.test_every_command")
    return found | (ON_SCREEN if part == "app" and draws("addons", name, part) else set())


def tests_of(path, readers):
    parts = pathlib.Path(path).parts
    if parts[0] == "addons" and len(parts) > 2:
        return tests_of_addon(path, readers)
    if parts[:2] == ("engine", "examples"):
        return {f"engine.example.{pathlib.Path(path).stem}", "app.test_readme"}
    named = {test for place, tests in ELSEWHERE.items() if path.startswith(place) for test in tests}
    if named:
        return named
    if parts[0] in FLOORS and len(parts) > 2:
        return tests_of_source(path, readers)
    if parts[0] == "tests" and parts[1] in (*FLOORS, "house") and parts[-1].startswith("test_"):
        return {entry_of(ROOT / path)}
    if parts[0] == "tests":
        return {entry_of(test) for test, read in readers.items() if str(pathlib.Path(*parts[1:])) in read}
    return {"app.test_readme"} if path.endswith(".md") else set()


def warn_of_headers(files):
    headers = [file for file in files if file.endswith((".h", ".def")) and (ROOT / file).is_file()]
    if not headers or not (BUILD / ".ninja_deps").is_file():
        return
    deps = output("ninja", "-C", str(BUILD), "-t", "deps")
    for header in headers:
        count = len(re.findall(rf"^ +{re.escape(str(ROOT / header))}$", deps, re.M))
        if count > MANY:
            print(f"check: {count} objects read {header}, which takes longer than a minute to build")


def main():
    files = changed_files(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
    if not files:
        print("check: nothing has changed; `make check SINCE=COMMIT` checks what has since then")
        return 0
    readers = tests_that_read()
    tests = {"house.walks", *("app." + name for name in HOUSE)}
    for file in files:
        tests |= tests_of(file, readers)
    lessons = sorted({pathlib.Path(file).parts[1][3:] for file in files if re.match(r"lessons/\d\d-", file)})
    targets = {f"normscope_{floor}_tests" for floor in {test.split(".")[0] for test in tests} & {*FLOORS}} | {"normscope"}
    targets |= {f"normscope_{test[7:].replace('.', '_')}" for test in tests if test.startswith(("engine.example", "engine.one_file"))}
    kernels = any(file.endswith((".cu", ".cuh")) for file in files)
    if kernels:
        targets |= {"normscope_cuda_tests", "normscope_cuda_emulated"}
    warn_of_headers(files)
    print(f"check: {len(files)} files changed, {len(tests)} files of tests" + "".join(f", lesson {one}" for one in lessons))
    environment = os.environ | ({"NORMSCOPE_CMAKE": "-DNORMSCOPE_CUDA_WITHOUT_GPU=ON"} if kernels else {})
    if subprocess.run(["scripts/build.sh", "release", *sorted(targets)], cwd=ROOT, env=environment).returncode:
        return 1
    pattern = "^(" + "|".join(re.escape(test) for test in sorted(tests)) + ("|emulated\\..*" if kernels else "") + ")$"
    failed = subprocess.run(["ctest", "--test-dir", str(BUILD), "--output-on-failure", "-j", str(os.cpu_count()), "-R", pattern],
                            cwd=ROOT).returncode
    for lesson in lessons:
        failed |= subprocess.run([str(BUILD / "normscope"), "lesson", "check", lesson], cwd=ROOT).returncode
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks that `make check` finds tests for whatever this system compiles, and for what no source includes; and that CTest
knows every file with a case to run."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import check

ELSEWHERE = ("platforms/windows/posix/",)  # compiled for other systems
ALONE = ["app/main.cpp"]


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.readers = check.tests_that_read()

    def found(self, path):
        return check.tests_of(path, self.readers)

    def has_every_addon(self):
        named = re.findall(r"\(([a-z-]+)/README\.md\)", (ROOT / "addons/README.md").read_text())
        return all((ROOT / "addons" / name).is_dir() for name in named)

    def of_present_addons(self, *paths):
        """The paths whose add-on, a folder that anybody may delete, is there."""
        return [path for path in paths if not path.startswith("addons/") or (ROOT / "/".join(path.split("/")[:2])).is_dir()]

    def test_every_source_has_tests(self):
        files = sorted(path.relative_to(ROOT).as_posix() for floor in (*check.FLOORS, "addons") for path in (ROOT / floor).rglob("*")
                       if path.suffix in (".h", ".cpp", ".def", ".cu", ".cuh"))
        self.assertGreater(len(files), 700 if self.has_every_addon() else 350)
        self.assertEqual([path for path in files if not path.startswith(ELSEWHERE) and not self.found(path)], ALONE)

    def test_what_no_source_includes_has_tests(self):
        for path in self.of_present_addons(
                     "addons/papers/studies/streams.toml", "addons/papers/claims/x/y.toml", "assets/words/glossary.toml", "lessons/01-warm-up/lesson.toml",
                     "tests/refusals/link.txt", "platforms/packages/release/terms.py", "tests/reference/model.h"):
            self.assertTrue(self.found(path), path)

    def test_a_command_is_run(self):
        tests = {"addons/papers/app/commands/study.cpp": "app.test_zoo",
                 "addons/translation/app/commands/translate.cpp": "app.test_cli_pairs"}
        for path in self.of_present_addons(*tests):
            self.assertIn(tests[path], self.found(path))

    def test_a_screen_is_drawn_in_every_size(self):
        for path in self.of_present_addons(
                "addons/inside/app/grid.cpp", "addons/sweep/app/screen/grid_panel.cpp", "addons/tape-screen/app/tape_screen.cpp"):
            self.assertIn("app.test_every_size", self.found(path))
        self.assertNotIn("app.test_every_size", self.found("app/cli/terminal.cpp"))

    def test_every_file_with_a_case_is_run(self):
        made = pathlib.Path("CTestTestfile.cmake")  # where CTest starts this; by hand it is that of the release build
        entries = (made if made.is_file() else ROOT / "build/release/tests" / made).read_text()
        case = re.compile(r'^ *TEST_CASE\(\s*(?:"(?:[^"\\]|\\.)*"\s*)+(?:,\s*"(\[[^"]*)")?', re.MULTILINE)
        files = [path for place in (*(f"tests/{floor}" for floor in check.FLOORS), "addons") for path in (ROOT / place).rglob("test_*.cpp")
                 if path.stem != "test_windows_files"]  # what it tests is compiled for Windows
        self.assertGreater(len(files), 160 if self.has_every_addon() else 90)
        for path in files:
            tags = case.findall(path.read_text())
            if any(not tag.startswith("[.") for tag in tags):
                self.assertRegex(entries, rf"\.{path.stem}\b", f"no entry of CTest runs {path.name}")


if __name__ == "__main__":
    unittest.main()

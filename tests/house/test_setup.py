"""The first words on a bare machine: scripts/setup.sh and build.sh with an apt, an id and tools of the test's own in PATH.
What cannot go on ends in one line of ours that says what to do."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ("scripts/setup.sh", "scripts/build.sh", "CMakeLists.txt", "cmake/NormscopeCompiler.cmake")
COMMON = ("bash", "cat", "dirname", "env", "grep", "head", "mkdir", "nproc", "rm", "sed", "sort", "tail")
NOBODY = 65534
NO_NETWORK = "\n".join(["E: Failed to fetch http://mirror/pool/g.deb  Temporary failure resolving 'mirror'"] * 60)


class Machine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        self.sources, self.programs = self.folder / "my sources", self.folder / "bin"
        self.programs.mkdir()
        for part in PARTS:
            (self.sources / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / part, self.sources / part)
        for name in COMMON:
            (self.programs / name).symlink_to(shutil.which(name))
        self.script(self.sources / "scripts/fetch_imgui.sh", "exit 0")
        self.program("dpkg-query", "exit 1")
        self.program("apt-get", f'echo "$@" >> "{self.folder}/apt"')
        self.user(0)

    def script(self, path, text):
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)

    def program(self, name, text):
        self.script(self.programs / name, text)

    def tools(self, cmake="3.30.1", compiler="13.2.0"):
        self.program("cmake", f"echo cmake version {cmake}")
        self.program("c++", f'[ "$1" = --version ] && echo "c++ (GCC) {compiler}" || echo {compiler}')
        self.program("ninja", "echo 1.11")
        self.program("python3", "echo pip 23")

    def user(self, number):
        self.program("id", f'[ "$1" = -u ] && echo {number} || echo somebody')

    def run_script(self, name, *arguments, user=None):
        return subprocess.run(["bash", str(self.sources / "scripts" / name), *arguments], capture_output=True, text=True, timeout=60,
                              env={"PATH": str(self.programs), "HOME": str(self.folder)}, user=user)

    def asked_of_apt(self):
        asked = self.folder / "apt"
        return asked.read_text() if asked.exists() else ""

    def one_line(self, ended, *parts):
        self.assertEqual(ended.returncode, 1, ended)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        for part in ("normscope: ", *parts):
            self.assertIn(part, ended.stderr)

    def test_without_root_and_sudo_one_line_says_what_to_ask_for(self):
        self.user(1000)
        ended = self.run_script("setup.sh")
        self.one_line(ended, "apt-get update && apt-get install -y --no-install-recommends cmake ninja-build g++ python3-pip libglfw3-dev")
        self.assertEqual(ended.stdout, "")  # nothing is being installed
        self.assertEqual(self.asked_of_apt(), "")

    def test_without_a_network_one_line_says_so(self):
        self.program("apt-get", f"cat <<'END' >&2\n{NO_NETWORK}\nEND\nexit 100")
        self.one_line(self.run_script("setup.sh"), "Is there a network?", "Temporary failure resolving", "apt-get update && apt-get install")

    def test_apt_is_asked_once_where_it_answers(self):
        self.tools()
        self.assertEqual(self.run_script("setup.sh").returncode, 0)
        self.assertEqual(self.asked_of_apt().count("\n"), 1)

    def test_tools_in_path_count_if_they_are_new_enough(self):
        names = {"cmake", "ninja-build", "g++", "python3-pip"}
        for how, expected in (({}, set()), ({"cmake": "3.16.3"}, {"cmake"}), ({"compiler": "9.4.0"}, {"g++"}), ({"compiler": "11"}, set())):
            self.tools(**how)
            self.user(1000)
            asked = self.run_script("setup.sh").stderr.split()
            self.assertEqual(names & set(asked), expected, how)
            self.assertIn("libfmt-dev", asked)

    def test_a_package_whose_program_is_not_in_path(self):
        self.program("dpkg-query", "echo 'ii  cmake '")
        self.tools()
        (self.programs / "cmake").unlink()
        ended = self.run_script("setup.sh")
        self.one_line(ended, "PATH has no CMake of at least 3.22")

    def test_a_folder_that_another_user_has_built_in(self):
        self.tools()
        build = self.sources / "build"
        (build / "release").mkdir(parents=True)
        for places in ([build / "release"], [build], [self.sources]):
            if places == [self.sources]:
                shutil.rmtree(build)
            for place in places:
                place.chmod(0o555)
            ended = self.run_script("build.sh", "release", user=NOBODY if os.getuid() == 0 else None)
            for place in places:
                place.chmod(0o755)
            self.one_line(ended, "cannot be written", "sudo chown -R somebody")

    @unittest.skipUnless(shutil.which("cmake"), "no CMake")
    def test_an_old_compiler_is_named(self):
        for name, version, good in (("GNU", "9.4.0", False), ("GNU", "11.2.0", True), ("Clang", "10.0.0", False), ("Clang", "19.1", True),
                                    ("AppleClang", "9", True)):
            ended = subprocess.run(["cmake", f"-DCMAKE_CXX_COMPILER_ID={name}", f"-DCMAKE_CXX_COMPILER_VERSION={version}",
                                    "-DCMAKE_CXX_COMPILER=/usr/bin/c++", "-P", str(ROOT / "cmake/NormscopeCompiler.cmake")],
                                   capture_output=True, text=True, timeout=60)
            self.assertEqual(ended.returncode == 0, good, ended.stderr)
            if not good:
                self.assertIn(f"/usr/bin/c++ is {name} {version}", ended.stderr)


if __name__ == "__main__":
    unittest.main()

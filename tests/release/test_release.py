#!/usr/bin/env python3
"""Checks how a release is put together (platforms/packages/release/): that it is refused where it could not be made again, that the
same files make the same archives, and that the list of what is inside names what a file holds and nothing else. CTest
runs it as release.parts. It makes no package: `make release` does."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "platforms/packages/release"), str(ROOT / "platforms/windows")]
import archives
import release
import spdx
import terms
import windows_folder

MAINTAINER = "Ada Example <ada@example.org>"


class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def file(self, name, text="text"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Refusals(unittest.TestCase):
    def refused(self, version, maintainer, changes):
        with self.assertRaises(release.Refused) as caught:
            release.check(version, maintainer, changes)
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_this_version_can_be_released(self):
        release.check(release.version_of_sources(), MAINTAINER, "")

    def test_another_version(self):
        self.assertIn("CMakeLists.txt", self.refused("99.0.0", MAINTAINER, ""))

    def test_a_tree_with_changes(self):
        self.assertIn("engine/new.cpp", self.refused(release.version_of_sources(), MAINTAINER, "?? engine/new.cpp\n"))

    def test_nobody_hands_it_out(self):
        for nobody in ("", "Ada", "ada@example.org", "Ada <ada>"):
            self.assertIn("MAINTAINER", self.refused(release.version_of_sources(), nobody, ""))


class Archives(Folder):
    def test_a_folder_gives_the_same_bytes_at_another_time(self):
        for name in ("web/b.js", "web/a/deep.css", "web/a.txt"):
            self.file(name, name)
        archives.folder(self.folder / "web", "normscope-1-web", self.folder / "one.zip", 1795305600)
        for path in (self.folder / "web").rglob("*"):
            os.utime(path, (1, 1))
        archives.folder(self.folder / "web", "normscope-1-web", self.folder / "two.zip", 1795305600)
        self.assertEqual((self.folder / "one.zip").read_bytes(), (self.folder / "two.zip").read_bytes())
        with zipfile.ZipFile(self.folder / "one.zip") as archive:
            names = archive.namelist()
            self.assertEqual(names, sorted(names))
            self.assertEqual(names[1], "normscope-1-web/a/deep.css")
            self.assertEqual(archive.read(names[1]), b"web/a/deep.css")

    def test_a_changed_byte_is_told(self):
        for name in ("one/a", "other/a", "one/b", "other/c"):
            self.file(name)
        self.file("other/a", "texts")
        lines = release.differences(self.folder / "one", self.folder / "other")
        self.assertEqual(lines, [f"b is only in {self.folder / 'one'}", f"c is only in {self.folder / 'other'}", "a differs"])
        self.assertEqual(release.differences(self.folder / "one", self.folder / "one"), [])

    @unittest.skipUnless(shutil.which("dpkg-deb"), "dpkg-deb is not installed")
    def test_a_file_that_names_the_folder_it_was_made_in_is_refused(self):
        out = self.folder / "out"
        self.file("deb/DEBIAN/control", "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a\nDescription: a\n")
        self.file("deb/usr/bin/a", f"\0{release.ROOT.parent}\0")
        out.mkdir()
        subprocess.run(["dpkg-deb", "--build", self.folder / "deb", out / "a.deb"], check=True, capture_output=True)
        release.check_paths(out)
        self.file("deb/usr/bin/a", f"\0{release.ROOT}/lessons\0")
        for make in (
            lambda: subprocess.run(["dpkg-deb", "--build", self.folder / "deb", out / "a.deb"], check=True, capture_output=True),
            lambda: archives.folder(self.folder / "deb", "deb", out / "a.zip", 1795305600),
            lambda: subprocess.run(["tar", "-C", self.folder, "-czf", out / "a.tar.gz", "deb"], check=True),
        ):
            make()
            with self.assertRaisesRegex(release.Refused, "^a[.][a-z.]+: .*usr/bin/a names .*, where it was made"):
                release.check_paths(out)
            for path in out.iterdir():
                path.unlink()

    def test_a_folder_that_is_not_there_is_told_in_one_line(self):
        self.file("one/a")
        command = [sys.executable, ROOT / "platforms/packages/release/release.py", "--compare", "one", "none"]
        told = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((told.returncode, told.stderr), (1, "release: none: No such file or directory\n"))

    def test_the_words_of_a_release_reach_no_part(self):
        with mock.patch.object(release.subprocess, "run") as ran, mock.patch("builtins.print"):
            release.make("package", epoch=1, MAINTAINER=MAINTAINER)
        fixed = ["setarch", "-R"] if shutil.which("setarch") else []  # the same addresses, so that compilers do the same
        self.assertEqual(ran.call_args.args[0], [*fixed, "make", "package", "ARGS=", f"MAINTAINER={MAINTAINER}"])


class Terms(Folder):
    """What licenses.txt says of the page and of the folder for Windows."""

    def test_what_is_written_is_read_and_what_is_missing_is_named(self):
        for name in terms.PACKAGES:
            self.file(f"usr/share/doc/{name}/copyright", f"of {name}\n\n")
        here, gone = self.file("md4c", "of md4c"), self.folder / "glfw"
        texts, lost = terms.found(self.folder, ["libhwy-dev"], {"md4c": here, "glfw": gone})
        texts.setdefault("Dear ImGui", "its sources are fetched")  # by a build alone
        missing = [file for file in lost if self.folder in file.parents]
        self.assertEqual(missing, [gone, self.folder / "usr/share/doc/libhwy-dev/copyright"])
        names = {"normscope", "Dear ImGui", "md4c", *terms.PACKAGES}
        written = terms.joined(texts)
        self.assertEqual(set(terms.names(written)), names)
        self.assertEqual(set(terms.names(written.replace("\n", "\r\n"))), names)

    def test_every_library_that_comes_along_as_headers_has_its_terms(self):
        lists = (ROOT / "cmake/NormscopeBroughtAlong.cmake").read_text()
        libraries = re.search(r"foreach\(library (.+)\)", lists)[1].split()
        self.assertGreater(len(libraries), 3)
        for library in [*libraries, "stb"]:
            name = library.split(":")[0].lower().replace("_", "-")
            # A page has no command line, and so not CLI11.
            packages = windows_folder.PACKAGES if name == "cli11" else terms.PACKAGES
            self.assertTrue([package for package in packages if name in package], f"no terms of {library}")


class Inside(Folder):
    """The list of what is inside, of three files as a release has them."""

    def listed(self):
        out = self.folder / "out"
        out.mkdir()
        with zipfile.ZipFile(out / "normscope-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr("normscope-1.dist-info/licenses/libhwy1.txt", "terms")
            wheel.writestr("normscope-1.dist-info/licenses/LICENSE", "our own terms")
            wheel.writestr("normscope/__init__.py", "")
        with zipfile.ZipFile(out / "normscope-1-web.zip", "w") as web:
            web.writestr("normscope-1-web/licenses.txt", f"{'=' * 20} normscope\n\nMIT\n\n{'=' * 20} Dear ImGui\n\nMIT\n=== no\n")
        folder = self.file("folder/share/doc/normscope/licenses/libhwy1.txt").parents[4]
        with tarfile.open(out / "normscope-1-linux.tar.gz", "w:gz") as packed:
            packed.add(folder, "normscope-1")
        return spdx.document(out, "1", 1795305600, ROOT)

    def test_every_file_and_what_it_holds(self):
        document = self.listed()
        named = {entry["SPDXID"]: entry["name"] for entry in document["packages"]}
        self.assertEqual(len(named), len(document["packages"]))
        held = {}
        for relation in document["relationships"]:
            self.assertIn(relation["relatedSpdxElement"], named)
            if relation["relationshipType"] == "CONTAINS":
                held.setdefault(named[relation["spdxElementId"]], []).append(named[relation["relatedSpdxElement"]])
        self.assertEqual(held, {
            "normscope-1-py3-none-any.whl": ["libhwy1"],
            "normscope-1-web.zip": ["Dear ImGui"],
            "normscope-1-linux.tar.gz": ["libhwy1"],
        })
        self.assertEqual(document["creationInfo"]["created"], "2026-11-22T00:00:00Z")

    def test_what_the_web_toolchain_compiled_has_its_versions_and_nothing_else(self):
        self.listed()
        with zipfile.ZipFile(self.folder / "out/normscope-1-windows.zip", "w") as windows:
            windows.writestr("normscope-1-windows/licenses.txt", f"{'=' * 20} libfmt-dev\r\n\r\nMIT\r\n")
        with mock.patch.object(spdx, "debian", lambda name, systems: (str(systems[0]), "MIT")):
            document = spdx.document(self.folder / "out", "1", 1795305600, ROOT)
        asked = {entry["name"]: entry["versionInfo"] for entry in document["packages"]}
        self.assertEqual(asked["libfmt-dev"], "/")
        self.assertEqual(asked["Dear ImGui"], str(ROOT / "build/web-toolchain"))

    def test_what_is_installed_has_its_version(self):
        if not shutil.which("dpkg-query"):
            self.skipTest("dpkg-query is missing")
        version, _ = spdx.debian("dpkg", [pathlib.Path("/")])
        self.assertRegex(version, r"^\d+\.")
        self.assertEqual(spdx.debian("no-such-package", [pathlib.Path("/")]), (None, "NOASSERTION"))

    def test_a_system_without_dpkg_knows_no_version(self):
        with mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            self.assertEqual(spdx.debian("dpkg", [pathlib.Path("/")]), (None, "NOASSERTION"))

    def test_terms_of_a_copyright_file(self):
        both = "Format: x\n\nFiles: debian/*\nLicense: GPL-2\n\nFiles: *\nCopyright: A\nLicense: Expat\n text\n"
        self.assertEqual(spdx.short_name(self.file("copyright", both)), "MIT")
        self.assertEqual(spdx.short_name(self.file("prose", "This package is free.")), "NOASSERTION")

    def test_a_file_that_cannot_be_listed(self):
        self.file("out/notes.pdf")
        with self.assertRaises(archives.Unknown):
            spdx.document(self.folder / "out", "1", 0, ROOT)


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Twice(Folder):
    def test_a_commit_gives_the_same_release_twice(self):
        tree = self.folder / "tree"
        shutil.copytree(ROOT / "platforms/packages/release", tree / "platforms/packages/release", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("CMakeLists.txt", "CHANGELOG.md"):
            shutil.copy(ROOT / name, tree / name)
        (tree / ".gitignore").write_text("/build/\n__pycache__/\n")
        git = ["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
            subprocess.run([*git, *command], check=True, capture_output=True)
        made = []
        for turn, umask in (("one", "0002"), ("two", "0077")):
            subprocess.run([*git, "config", "tar.umask", umask], check=True)
            subprocess.run([sys.executable, tree / "platforms/packages/release/release.py", release.version_of_sources(),
                            "--maintainer", MAINTAINER, "--only", "source"], check=True, capture_output=True)
            made.append(self.folder / turn)
            shutil.move(tree / f"build/release-{release.version_of_sources()}", made[-1])
        self.assertEqual(release.differences(*made), [])
        self.assertEqual(len(release.sums(made[0])), 3)  # the sources, what is inside, and the sums
        source = made[0] / f"normscope-{release.version_of_sources()}-source.tar.gz"
        self.assertEqual(source.read_bytes()[4:8], bytes(4))  # gzip's own time
        checked = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=made[0])
        self.assertEqual(checked.returncode, 0)
        self.file("tree/CHANGELOG.md", "## 0.0.1\n")
        refused = subprocess.run([sys.executable, tree / "platforms/packages/release/release.py", release.version_of_sources(),
                                  "--maintainer", MAINTAINER], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("CHANGELOG.md begins with 0.0.1", refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])

// These tests run addons/translation/debian_pairs.py on a made-up index, with an apt-get of our own: what it pairs,
// what it leaves out, and what it says where something is missing. Left out where there is no Python 3.
#include <sys/wait.h>

#include "app/support/program.h"
#include "catch.hpp"
#include "skip.h"

// Finds a Python for tests that run a script of scripts/.

namespace normscope::test {

/// Returns a Python that has `module`; empty where there is none. The system's own is tried last: another may precede
/// it on the path, and lack the module.
inline std::string python_with(const std::string& module) {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const std::string look = std::string(python) +
                             " -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec(\"" +
                             module + "\") is None)' >/dev/null 2>&1";
    if (std::system(look.c_str()) == 0) return python;
  }
  return "";
}

#define NEEDS_PYTHON(python, module, what)                         \
  const std::string python = normscope::test::python_with(module); \
  if (python.empty()) SKIP_CASE(std::string("there is no ") + (what))

/// Counts the lines of a text that ends with a line break.
inline long line_breaks_in(const std::string& text) { return std::ranges::count(text, '\n'); }

}  // namespace normscope::test

using namespace normscope::test;

namespace {

constexpr const char* kEnglish = R"(Package: alpha
Description-md5: 01
Description-en: small alpha tool
 It reads files, e.g. Big ones. It  writes
 them as well-
 formed text.
 .
 Features:
  * finds the word,
    wherever it stands
  * is quick

Package: alpha-doc
Description-md5: 02
Description-en: small alpha tool
 Alpha finds a word. It is rather quick.
 .
 This paragraph is nowhere else.

Package: beta
Description-md5: 03
Description-en: Beta Server 3.0
 This package is a long paragraph in one sentence, and that is all of it.
 .
 See <http://beta> for more.
 .
 A word.

Package: gamma
Description-md5: 04
Description-en: gamma of another version
)";

constexpr const char* kGerman = R"(Package: alpha
Description-md5: 01
Description-de: kleines Werkzeug namens Alpha
 Es liest Dateien, z.B. Große. Es schreibt
 sie als wohl-
 geformten Text.
 .
 Funktionen:
  * findet das Wort,
    wo immer es steht
  * ist schnell

Package: alpha-doc
Description-md5: 02
Description-de: kleines Werkzeug namens Alpha
 Alpha findet ein Wort. Es ist ziemlich schnell.

Package: beta
Description-md5: 03
Description-de: Beta-Server 3.0
 Dieses Paket ist ein langer Absatz. Und er hat zwei Sätze und nicht nur einen.
 .
 Siehe <http://beta> für mehr.
 .
 Ein Wort, das hier mit sehr vielen anderen Worten und Sätzen übersetzt worden ist.

Package: gamma
Description-md5: 05
Description-de: Gamma in einer anderen Fassung
)";

const std::set<std::string> kPairs{
    "kleines Werkzeug namens Alpha\tsmall alpha tool",
    "Es liest Dateien, z.B. Große.\tIt reads files, e.g. Big ones.",
    "Es schreibt sie als wohl-geformten Text.\tIt writes them as well-formed text.",
    "Funktionen:\tFeatures:",
    "* findet das Wort, wo immer es steht\t* finds the word, wherever it stands",
    "* ist schnell\t* is quick",
    "Dieses Paket ist ein langer Absatz. Und er hat zwei Sätze und nicht nur einen.\t"
    "This package is a long paragraph in one sentence, and that is all of it."};

/// The index with its stanzas in another order.
std::string reversed(const std::string& index) {
  std::string out;
  for (size_t at = 0, end = 0; at < index.size(); at = end + 2) {
    end = std::min(index.find("\n\n", at), index.size() - 1);
    out.insert(0, index.substr(at, end - at) + "\n\n");
  }
  return out;
}

struct Script {
  std::string python;
  const Folder& folder;
  Outcome run(const std::string& arguments, const std::string& before = "") const {
    const std::string out = folder.file("out"), err = folder.file("err");
    const int status = std::system((before + " '" + python +
                                    "' '" NORMSCOPE_SOURCE_DIR "/addons/translation/debian_pairs.py' " +
                                    arguments + " >'" + out + "' 2>'" + err + "' </dev/null")
                                       .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(out), read_all(err)};
  }
  /// Runs it with an apt-get of these lines in front of the machine's own.
  Outcome with_apt(const std::string& lines, const std::string& arguments) const {
    std::filesystem::create_directories(folder.file("bin"));
    const std::string apt = folder.write("bin/apt-get", "#!/bin/sh\n" + lines + "\n");
    std::filesystem::permissions(apt, std::filesystem::perms::owner_all);
    return run(arguments, "env PATH='" + folder.file("bin") + "':\"$PATH\"");
  }
};

bool refuses(const Outcome& outcome, int code, const std::string& words) {
  INFO(outcome.code << ": " << outcome.err);
  CHECK(line_breaks_in(outcome.err) == 1);
  return outcome.code == code && outcome.err.starts_with("debian_pairs: ") && contains(outcome.err, words);
}

}  // namespace

TEST_CASE("debian pairs: an index and its translation are paired part by part, whatever their order") {
  NEEDS_PYTHON(python, "lzma", "Python 3");
  const Folder folder;
  const Script script{python, folder};
  const std::string german = folder.write("de", kGerman), english = folder.write("en", kEnglish),
                    files = " --german " + german + " --english " + english + " --out ";
  const Outcome first = script.run("--held-out 2" + files + folder.file("one"));
  INFO(first.err);
  REQUIRE(first.code == 0);
  CHECK(contains(first.out, "3 pairs to train, 2 pairs to valid, 2 pairs to test"));
  std::set<std::string> pairs;
  size_t count = 0;
  for (const char* split : {"train", "valid", "test"}) {
    std::istringstream text(read_all(folder.file("one/de-en." + std::string(split) + ".tsv")));
    for (std::string line; std::getline(text, line); ++count) pairs.insert(line);
  }
  CHECK(pairs == kPairs);
  CHECK(count == kPairs.size());

  // As apt hands them out, in another order.
  folder.write("de", reversed(kGerman));
  folder.write("en", reversed(kEnglish));
  const std::string listed =
      "case \"$*\" in *indextargets*) echo 'de " + german + "'; echo 'en " + english + "';; esac";
  CHECK(script.with_apt(listed, "--held-out 2 --out " + folder.file("two")).code == 0);
  for (const char* split : {"train", "valid", "test"}) {
    const std::string name = "/de-en." + std::string(split) + ".tsv";
    CHECK(read_all(folder.file("one" + name)) == read_all(folder.file("two" + name)));
  }
}

TEST_CASE("debian pairs: what is missing is said in one line") {
  NEEDS_PYTHON(python, "lzma", "Python 3");
  const Folder folder;
  const Script script{python, folder};
  const std::string index = folder.write("de", kGerman), files = "--german " + index + " --english ";
  CHECK(refuses(script.run(files + folder.file("none")), 3, "none: No such file or directory"));
  CHECK(refuses(script.run(files + folder.write("en", "\xff\xff")), 3, "expected a Translation index"));
  const std::string damaged("\x1f\x8b\x08\0\0\0\0\0\0\x03\xff\xff\xff\xff", 14);
  CHECK(refuses(script.run(files + folder.write("en.gz", damaged)), 3, "en.gz: "));
  CHECK(refuses(script.run(files + folder.write("en", kEnglish)), 3, "7 pairs: expected more than 3000"));
  CHECK(refuses(script.run("--held-out 1 --out " + index + "/x " + files + folder.file("en")), 5, index));
  CHECK(script.run("--german " + index).code == 2);
  CHECK(
      refuses(script.with_apt("echo 'E: no sources' >&2; exit 100", ""), 3, "update failed: E: no sources"));
  const std::string only =
      "case \"$*\" in *indextargets*) echo 'en " + index + "';; *) echo 'W: no net' >&2;; esac";
  CHECK(refuses(script.with_apt(only, ""), 3, "no German package descriptions, Translation-de (W: no net)"));
}

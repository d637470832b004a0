// These tests cover the two writers that everything goes through: whole files (AtomicFile) and growing ones (LineFile).
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "engine/io/output_file.h"
#include "engine/support/helpers.h"
#include "folder.h"
#include "training/experiments/table.h"
#include "training/io/text.h"
#include "training/io/toml.h"

using namespace normscope;
namespace fs = std::filesystem;

using test::Folder;

namespace {

void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

mode_t mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

std::string refusal_of(const std::string& path) {
  return test::error_of([&] { write_file(path, "new", "test"); }, "");
}

// Makes a file named as AtomicFile names its own, `age` seconds old.
std::string make_temporary(const Folder& folder, char digit, int age) {
  const std::string path = folder.file(".normscope-" + std::string(32, digit) + ".tmp");
  put(path, "half");
  const timespec then{::time(nullptr) - age, 0}, times[] = {then, then};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  return path;
}

TEST_CASE("a new file has the umask's mode, own text 0600; a replaced file keeps its own") {
  const Folder folder;
  const mode_t before = umask(022);
  write_file(folder.file("shared"), "a", "test");
  write_file(folder.file("own"), "a", "test", Access::Own);
  CHECK(mode_of(folder.file("shared")) == 0644);
  CHECK(mode_of(folder.file("own")) == 0600);
  for (const mode_t mode : {0600, 0640, 0755}) {
    chmod(folder.file("shared").c_str(), mode);
    write_file(folder.file("shared"), "b", "test");
    CHECK(mode_of(folder.file("shared")) == mode);
    chmod(folder.file("own").c_str(), mode);
    write_file(folder.file("own"), "b", "test", Access::Own);
    CHECK(mode_of(folder.file("own")) == mode);
  }
  make_folder(folder.file("a/b"), Access::Own, "test");
  CHECK(mode_of(folder.file("a")) == 0700);
  CHECK(mode_of(folder.file("a/b")) == 0700);
  umask(before);
}

TEST_CASE("links: one to a file stays, one to nothing and one to itself are refused") {
  const Folder folder;
  put(folder.file("target"), "old");
  fs::create_symlink("target", folder.file("link"));
  fs::create_symlink("nowhere", folder.file("dangling"));
  fs::create_symlink("loop", folder.file("loop"));
  CHECK(refusal_of(folder.file("link")).empty());
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(test::read_all(folder.file("target")) == "new");
  CHECK(test::contains(refusal_of(folder.file("dangling")), "a link to nowhere, which is not there"));
  CHECK_FALSE(fs::exists(folder.file("nowhere")));
  CHECK(test::contains(refusal_of(folder.file("loop")), "levels of symbolic links"));
  CHECK(test::contains(refusal_of(folder.path), "a folder"));
  CHECK(test::contains(refusal_of(""), "empty"));
  CHECK(test::contains(refusal_of(folder.file("target/x")), "Not a directory"));
  CHECK(test::contains(refusal_of("/proc/self/normscope"), "cannot be written"));  // nor may root
  CHECK(folder.files() == 4);
}

TEST_CASE("devices, pipes and open streams are written as they are") {
  const Folder folder;
  CHECK(test::contains(refusal_of("/dev/full"), "No space left"));
  CHECK(refusal_of("/dev/null").empty());
  fs::create_symlink("/dev/full", folder.file("full"));
  CHECK(test::contains(refusal_of(folder.file("full")), "No space left"));
  CHECK(fs::is_symlink(folder.file("full")));

  const std::string pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::string got;
  std::thread reader([&] { got = test::read_all(pipe); });
  CHECK(refusal_of(pipe).empty());
  reader.join();
  CHECK(got == "new");
  CHECK(fs::is_fifo(pipe));
  CHECK(test::contains(refusal_of(pipe), "nobody reads this pipe"));

  // A stream that leads to a file goes on where it stands: nothing of before is overwritten or replaced.
  const int file = open(folder.file("stream").c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE(::write(file, "before ", 7) == 7);
  CHECK(refusal_of("/dev/fd/" + std::to_string(file)).empty());
  CHECK(refusal_of("/proc/self/fd/" + std::to_string(file)).empty());
  close(file);
  CHECK(test::read_all(folder.file("stream")) == "before newnew");
  CHECK(test::contains(refusal_of("/dev/fd/987"), "cannot be written"));
}

TEST_CASE("what a killed process left is removed, what is young, held or another's stays") {
  const Folder folder;
  const std::string stale = make_temporary(folder, 'a', 3600), young = make_temporary(folder, 'b', 0),
                    held = make_temporary(folder, 'c', 3600);
  const int lock = open(held.c_str(), O_RDONLY);
  REQUIRE(flock(lock, LOCK_EX) == 0);
  const std::string others[] = {folder.file(".normscope-1.tmp"), folder.file("notes.tmp"),
                                folder.file(".normscope-" + std::string(32, 'g') + ".tmp")};
  for (const std::string& other : others) put(other, "mine");
  fs::create_symlink(folder.file("notes.tmp"), folder.file(".normscope-" + std::string(32, 'd') + ".tmp"));
  write_file(folder.file("new"), "x", "test");  // the first into this folder
  CHECK_FALSE(fs::exists(stale));
  CHECK(fs::exists(young));
  CHECK(fs::exists(held));
  for (const std::string& other : others) CHECK(fs::exists(other));
  close(lock);
  remove_stale_temporaries(folder.path);
  CHECK_FALSE(fs::exists(held));
  CHECK(folder.files() == 6);  // young, three others, the link, the new one
}

TEST_CASE("names: no two temporaries alike, and the longest name there can be") {
  const Folder folder;
  AtomicFile one(folder.file("a"), "test"), two(folder.file("a"), "test");
  CHECK(folder.files() == 2);
  const std::string longest(255, 'n');
  CHECK(refusal_of(folder.file(longest)).empty());
  CHECK(test::read_all(folder.file(longest)) == "new");
  two.write("two", 3);
  two.commit();
  one.write("one", 3);
  one.commit();
  CHECK(test::read_all(folder.file("a")) == "one");
  CHECK(folder.files() == 2);
}

TEST_CASE("same_file sees through links, hard links and ways around, and takes no device for one") {
  const Folder folder;
  put(folder.file("a"), "x");
  put(folder.file("b"), "x");
  fs::create_symlink("a", folder.file("link"));
  fs::create_hard_link(folder.file("a"), folder.file("hard"));
  CHECK(same_file(folder.file("a"), folder.file("./a")));
  CHECK(same_file(folder.file("a"), folder.file("link")));
  CHECK(same_file(folder.file("a"), folder.file("hard")));
  CHECK(same_file(folder.file("new"), folder.file("../" + folder.path.filename().string() + "/new")));
  CHECK_FALSE(same_file(folder.file("a"), folder.file("b")));
  CHECK_FALSE(same_file(folder.file("a"), folder.file("new")));
  CHECK_FALSE(same_file("/dev/null", "/dev/null"));
  // However it is spelled, whether it is there or not, and through folders that are not.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  std::filesystem::create_symlink(".", "here");
  for (const std::string name : {"a", "new"})
    for (const std::string& spelled :
         {name, "./" + name, folder.file(name), "gone/../" + name, "here/" + name}) {
      INFO(spelled);
      CHECK(same_file(name, spelled));
      CHECK(same_file(spelled, name));
    }
  std::filesystem::current_path(before);
  // What cannot be resolved is the same as nothing else.
  CHECK_FALSE(same_file(std::string(300, 'x'), std::string(301, 'x')));
}

TEST_CASE("a growing file: whole lines that can be read at once, begun anew or gone on with") {
  const Folder folder;
  const std::string path = folder.file("log");
  {
    LineFile log(path, "log");
    log.line("one");
    CHECK(test::read_all(path) == "one\n");
    log.line("two");
    CHECK(test::read_all(path) == "one\ntwo\n");
    CHECK(log.error().empty());
  }
  put(path, "one\ntw");  // killed in the middle of a line by something else
  {
    LineFile log(path, "log", LineFile::Start::NextLine);
    log.line("three");
  }
  CHECK(test::read_all(path) == "one\ntw\nthree\n");
  { LineFile log(path, "log"); }
  CHECK(test::read_all(path).empty());
  LineFile nothing;
  nothing.line("x");
  CHECK_FALSE(nothing);
  CHECK_THROWS_AS(LineFile(folder.file("none/log"), "log"), Error);
  fs::create_symlink("nowhere", folder.file("dangling"));
  CHECK_THROWS_AS(LineFile(folder.file("dangling"), "log"), Error);
}

TEST_CASE("a growing file on a full disk says so, keeps whole lines and does not throw") {
  LineFile full("/dev/full", "log");
  full.line("one");
  CHECK(test::contains(full.error(), "No space left"));
  full.line("two");
  const Folder folder;
  const std::string path = folder.file("log");
  LineFile log(path, "log");
  log.line("whole");
  // What the disk has no room for is stood in for by the largest size that a process may write to.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{10, before.rlim_max};
  const auto ignored = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  log.line("does not fit any more");
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, ignored);
  CHECK_FALSE(log.error().empty());
  CHECK(test::read_all(path) == "whole\n");
}

// What takes short texts apart and changes them.

using Parts = std::vector<std::string_view>;

TEST_CASE("text: a text is split into one part more than it has marks") {
  CHECK(split("a,bc,,d", ',') == Parts{"a", "bc", "", "d"});
  CHECK(split("abc", ',') == Parts{"abc"});
  CHECK(split(",", ',') == Parts{"", ""});
  CHECK(split("", ',') == Parts{""});
}

TEST_CASE("text: a star of a pattern stands for any letters or none, however many stars there are") {
  for (const char* pattern :
       {"L01.ffn.sum", "L*.ffn.sum", "*", "L*", "*sum", "L*f*n.*", "L01.ffn.sum*", "**.f**"})
    CHECK(matches("L01.ffn.sum", pattern));
  for (const char* pattern : {"", "L", "L*.attn.sum", "*.su", "ffn*", "*ffn", "L*f*f*f*", "L01.ffn.sum.*"})
    CHECK_FALSE(matches("L01.ffn.sum", pattern));
  CHECK(matches("", "*"));
  CHECK(matches("abab", "*ab"));
  CHECK_FALSE(matches(std::string(5000, 'a'), "*a*a*a*a*a*a*a*a*b"));  // in no time
}

TEST_CASE("text: blanks around it go, letters get small, places are filled once") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed(" \n").empty());
  CHECK(small_letters("Post-LN, Ä") == "post-ln, Ä");
  std::string text = "aXbXX";
  replace_each(text, "X", "XY");
  CHECK(text == "aXYbXYXY");
  replace_each(text, "XY", "");
  CHECK(text == "ab");
  CHECK(in_words(Parts{"a", "b", "c"}, "or") == "a, b or c");
  CHECK(in_words(Parts{"a"}, "or") == "a");
}

// These tests cover a table as a value: what is in its text, its Markdown, its CSV and its JSON.

constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();

experiments::Table small() {
  return {{{"run", "run"},
           {"loss", "loss", experiments::Kind::Number},
           {"", "of", experiments::Kind::Number},
           {"unit", "", experiments::Kind::Data},
           {"why", "", experiments::Kind::Note}},
          {{"Post-LN | A", experiments::Cell(1.25, "1.250"), "3", "a, \"b\"", "late"},
           {"a heading that is longer than any column"},
           {"B", experiments::Cell(kUnset, "–"), "12", experiments::Cell(), experiments::Cell()}}};
}

}  // namespace

TEST_CASE("a table is text, Markdown, CSV and JSON") {
  CHECK(to_text(small()) ==
        "run           loss  of\n"
        "Post-LN | A  1.250   3\n"
        "a heading that is longer than any column\n"
        "B                –  12\n");
  CHECK(to_markdown(small()) ==
        "| run | loss | of |\n"
        "|--|--:|--:|\n"
        "| Post-LN \\| A | 1.250 | 3 |\n"
        "| B | – | 12 |\n");
  CHECK(to_csv(small()) ==
        "run,loss,unit\n"
        "Post-LN | A,1.25,\"a, \"\"b\"\"\"\n"
        "B,,\n");
  CHECK(to_json(small()) ==
        nlohmann::json::parse(R"([{"run":"Post-LN | A","loss":1.25,"unit":"a, \"b\"","why":"late"},
                                  {"run":"B","loss":null}])"));
}

TEST_CASE("a table whose columns have no title has no head, and a number is as short as it reads back") {
  const experiments::Table table{std::vector<experiments::Column>(2), {{"a", "b"}, {"", "c"}}};
  CHECK(to_text(table) == "a  b\n   c\n");
  CHECK(experiments::to_csv({{{"x", "", experiments::Kind::Data}, {"n", "", experiments::Kind::Data}},
                             {{experiments::Cell(0.1), 3}, {experiments::Cell(1e-7), -1}}}) ==
        "x,n\n0.1,3\n1e-07,-1\n");
}

// What is kept as JSON stands in a TOML file and comes back from it.

using Json = nlohmann::json;

TEST_CASE("toml: numbers, texts, lists and objects come back as they were", "[toml]") {
  const Json json = {{"whole", -7},
                     {"real", 1e-9},
                     {"round", 4.0},
                     {"flag", true},
                     {"text", "a \"b\" \\ \n \x01 \x7f ß"},
                     {"list", {1, 2, 3}},
                     {"lists", {{"a"}, Json::array()}},
                     {"a key", {{"in.ner", {{"deep", Json::object()}}}, {"", "empty"}}}};
  CHECK(json_of(parse_toml(toml_lines(json), "t")) == json);
  CHECK(toml_lines({{"a", {{"b-1", nullptr}, {"c d", 2}}}, {"none", nullptr}}) == "a = { \"c d\" = 2 }\n");
}

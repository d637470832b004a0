// These tests hold of what a German window says about files: no sentence of an error stays English, whichever reader
// wrote it.
#include <sys/stat.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "addons.h"
#include "app/files/small_window.h"
#include "app/shell/settings.h"
#include "app/support/english.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "test_paths.h"
#include "training/files/file_kind.h"

namespace normscope::test_german_errors {
namespace {

using fixture::english_in;
using fixture::german_error;
using fixture::SmallWindow;
namespace fs = std::filesystem;

/// These read and write what a window opens, is given by hand, saves and restores. An add-on lists its own
/// in the file tests/german_readers, a path a line.
constexpr const char* kReaders[] = {"training/files/config_file.cpp",
                                    "training/files/file_kind.cpp",
                                    "training/files/placement_file.cpp",
                                    "training/io/atomic_file.cpp",
                                    "training/io/input_file.cpp",
                                    "training/io/input_value.cpp",
                                    "training/io/line_file.cpp",
                                    "training/io/output_path.cpp",
                                    "training/io/safetensors.cpp",
                                    "training/io/toml.cpp",
                                    "training/io/toml_table.cpp",
                                    "training/run/checkpoint.cpp",
                                    "training/run/keyframes.cpp",
                                    "training/run/segment_memory.cpp",
                                    "training/session/lab_commands.cpp",
                                    "training/session/session_file.cpp",
                                    "training/data/labels_task.cpp",
                                    "training/data/text_source.cpp",
                                    "training/data/tsv.cpp",
                                    "training/data/masked_task.cpp",
                                    "engine/core/boundary.cpp",
                                    "engine/cuda/backend_cuda.cpp",
                                    "engine/model/placements.cpp",
                                    "engine/model/wiring.cpp",
                                    "app/course/curves.cpp",
                                    "app/course/language.cpp",
                                    "app/course/map.cpp",
                                    "app/course/lesson.cpp",
                                    "app/course/pictures/bars.cpp",
                                    "app/course/pictures/chain.cpp",
                                    "app/course/pictures/network.cpp",
                                    "app/course/pictures/walk.cpp",
                                    "app/course/prose.cpp",
                                    "app/course/reader.cpp",
                                    "app/course/reading/exercise_tables.cpp",
                                    "app/course/reading/measure_tables.cpp",
                                    "app/course/summary.cpp",
                                    "app/course/tapes.cpp",
                                    "app/tex/tex_parse.cpp",
                                    "app/lesson-player/player.cpp",
                                    "app/lesson-player/progress.cpp",
                                    "app/link/link_reader.cpp",
                                    "app/shell/settings.cpp",
                                    "app/grid/axis.cpp"};

/// No sentences about files, as the program alone can get them wrong.
constexpr const char* kInside[] = {"the task \"", "room for", "places for", "rows of", "the default '7'",
                                   // Only what is written, or measured by a command, can be wrong like this.
                                   "tensor 7: shape 7 has a negative", "tensor 7: shape 7 does not match 7",
                                   "tensor 7: the name is", "tensor 7: added", "a name or the metadata",
                                   "a norm of this wiring", "the validation data does not go on",
                                   "the validation text has one segment",
                                   // Each of these is two sentences, and both are in the table.
                                   "has 7 bytes: expected an IDX", "begins with 7", "line 7 has 7 column",
                                   "[7.7] unknown key", "7: is no log",
                                   // The braces of these are no places.
                                   "\" 7\" or", "has no log scale"};

bool is_inside(const std::string& literal) {
  return std::any_of(std::begin(kInside), std::end(kInside),
                     [&](const char* begin) { return literal.starts_with(begin); });
}

/// A literal as the program prints it, with a number in each place.
std::string as_printed(std::string text) {
  static const std::regex between("\"\\s*\\n\\s*\""), escaped("\\\\([\"\\\\])"), place("\\{[^{}]*\\}"),
      open("\\{\\{"), close("\\}\\}");
  text = std::regex_replace(text, between, "");
  text = std::regex_replace(text.substr(1, text.size() - 2), escaped, "$1");
  text = std::regex_replace(text, open, "\x01");  // a brace that is meant is written twice
  text = std::regex_replace(std::regex_replace(text, std::regex("\\{\\}([a-z])"), "{} $1"), place, "7");
  text = std::regex_replace(text, close, "}");
  std::replace(text.begin(), text.end(), '\x01', '{');
  return text + (text.ends_with(' ') ? "7" : "");
}

/// The texts that a source file throws, and those that say what is expected, as a function may return
/// them.
std::vector<std::string> sentences_of(const std::string& source) {
  static const std::regex thrown("\\b(fail|refuse|refuse_at|refuse_head|Error|unusable|complain)\\(");
  static const std::regex literal("\"((?:[^\"\\\\\\n]|\\\\.)*)\"(?:\\s*\"((?:[^\"\\\\\\n]|\\\\.)*)\")*");
  static const std::regex words("[a-z]{2,} [a-z0-9{]|^[a-z]+ \\{");
  std::vector<std::string> found;
  const auto take = [&](const std::string& text, bool all) {
    std::string whole = as_printed(text);
    if (!std::regex_search(whole, words) || is_inside(whole) || whole.starts_with(' ')) return;
    if (!all && whole.find("expected ") == whole.npos) return;
    if (whole.starts_with(": ")) whole.erase(0, 2);
    found.push_back(whole);
  };
  for (std::sregex_iterator it(source.begin(), source.end(), thrown), end; it != end; ++it) {
    const auto from = static_cast<size_t>(it->position());
    const std::string statement = source.substr(from, source.find(";\n", from) - from);
    for (std::sregex_iterator text(statement.begin(), statement.end(), literal); text != end; ++text)
      take(text->str(), true);
  }
  for (std::sregex_iterator text(source.begin(), source.end(), literal), end; text != end; ++text)
    take(text->str(), false);
  return found;
}

/// The window's language while it lives.
struct InGerman {
  InGerman() { words::use("de"); }
  ~InGerman() { words::use("en"); }
};

}  // namespace

TEST_CASE("german errors: each sentence that a reader of files writes has a German one") {
  const words::Language& german = words::language("de");
  size_t sentences = 0;
  std::vector<std::string> readers(std::begin(kReaders), std::end(kReaders));
  std::istringstream of_addons(test::text_with_addons("", "tests/german_readers"));
  for (std::string file; of_addons >> file;) readers.push_back(file);
  for (const std::string& file : readers)
    for (const std::string& sentence :
         sentences_of(test::read_all(std::string(NORMSCOPE_SOURCE_DIR "/") + file))) {
      ++sentences;
      const std::string whole = words::error(sentence, german), part = words::refused(sentence, german);
      if (!english_in(whole).empty() && !english_in(part).empty())
        FAIL_CHECK(file << ": only in English: " << sentence << " (" << whole << ")");
    }
  CHECK(sentences > 150);
}

TEST_CASE("german errors: a sentence keeps the place, the path and the key that stand before it") {
  CHECK(german_error("lab.toml:2: [train.lr] 'fast' is not a number: expected 0 to 0.5") ==
        "lab.toml:2: [train.lr] „fast“ ist keine Zahl: erwartet wird 0 bis 0,5");
  CHECK(
      german_error("/tmp/my own/a.toml:3: run A: [data.text] no file is named: expected a path, because "
                   "data.name is text") ==
      "/tmp/my own/a.toml:3: Lauf A: [data.text] Keine Datei ist genannt: erwartet wird ein Pfad, weil data.name text "
      "ist");
  CHECK(german_error("[session /tmp/text/x] runs[0].step is \"text\": expected a whole number from 0 to 5") ==
        "[Sitzung /tmp/text/x] runs[0].step ist \"text\": erwartet wird eine ganze Zahl von 0 bis 5");
  CHECK(german_error("[placement /gar/nicht] cannot be written: No such file or directory") ==
        "[Platzierung /gar/nicht] lässt sich nicht schreiben: diese Datei oder diesen Ordner gibt es nicht");
  CHECK(
      german_error("/tmp/lessons.json is damaged: no JSON at byte 7; kept as /tmp/lessons.json.bad, and the "
                   "course begins anew") ==
      "/tmp/lessons.json ist beschädigt: kein JSON bei Byte 7; aufbewahrt als /tmp/lessons.json.bad, und der Kurs "
      "beginnt von vorn");
  // What is German already, and what nobody knows, stays.
  CHECK(german_error("gespeichert: /tmp/pre, or post.toml") == "gespeichert: /tmp/pre, or post.toml");
  CHECK(german_error("CUDA error 7 or 8, text") == "CUDA error 7 or 8, text");
  CHECK(words::error("/tmp/x: no such file: check the path") == "/tmp/x: no such file: check the path");
}

TEST_CASE("german errors: a German window says in German why a file was not opened, saved or restored") {
  const InGerman german;
  SmallWindow window;
  const auto check = [&](const std::string& said) {
    INFO(said);
    CHECK_FALSE(said.empty());
    CHECK(english_in(said) == "");
  };
  const auto dropped = [&](const std::string& path) {
    INFO(path);
    window.drop(path);
    window.settle();
    window.settle();
    check(window.message());
  };
  const test::Folder& folder = window.folder;
  dropped(folder.file("absent.toml"));
  dropped(folder.write("empty.txt", ""));
  dropped(folder.write("binary.bin", std::string("ab\0cd", 5)));
  dropped(folder.write("speed.toml", "[train]\nlr = \"fast\"\n"));
  dropped(folder.write("heads.toml", "[model]\nheads = 3\n"));
  dropped(folder.write("broken.toml", "[train\n"));
  dropped(folder.write("short.txt", "a short text"));
  mkfifo(folder.file("pipe").c_str(), 0600);
  dropped(folder.file("pipe"));
  fs::create_directory(folder.file("session"));
  folder.write("session/session.toml", "[window");
  dropped(folder.file("session"));
  folder.write("log.jsonl", "{\"format\":\"normscope log 9\"}\n");
  window.drop(folder.file("log.jsonl"));
  for (int i = 0; i < 5; ++i) window.settle();
  if (const ui::Control* card = window.ui.registry().find("compare/fault/B")) check(card->value);

  window.prompt("Ctrl+Shift+S", folder.file("no/such/folder.toml"));
  check(window.says());
  std::string complaint;
  shell::parse_settings("scale = 9\n", "settings.toml", complaint);
  check(german_error(complaint));
}

}  // namespace normscope::test_german_errors

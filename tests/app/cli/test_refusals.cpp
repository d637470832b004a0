// These tests go through the rows of tests/refusals: what each reader says of an input, and the program of a command
// line.
#include "app/course/reader.h"
#include "app/link/link.h"
#include "app/support/refused.h"
#include "engine/io/safetensors.h"
#include "training/data/text_source.h"
#include "training/files/config_file.h"
#include "training/files/placement_file.h"
#include "training/session/session_file.h"
#include "training/support/small_runs.h"

namespace normscope::test::test_refusals {
namespace {

void read_lesson(const std::string& toml) {
  course::parse_lesson(toml, "lessons/99-small", [](const std::string&) { return "Run {A}."; });
}

void read_tape_lesson(const std::string& toml) {
  course::parse_lesson(toml, "lessons/99-small", [](const std::string&) { return "Words."; });
}

void read_text(const std::string& bytes) {
  const Folder folder;
  TextSource::load(folder.write("text.txt", bytes));
}

void read_setting(const std::string& text) {
  RunSpec spec;
  const size_t at = text.find('=');
  set_field(spec, text.substr(0, at), text.substr(at + 1));
}

void read_placement(const std::string& text) {
  offer(parse_placement(text, "mine.toml"));
  forget_added_placements();
}

/// "8 {}": a header with so many bytes of data behind it.
void read_header(const std::string& row) {
  const Folder folder;
  const size_t space = row.find(' ');
  SafetensorsFile::load(folder.write(
      "x", with_header(row.substr(space + 1), std::string(std::stoul(row.substr(0, space)), '\1'))));
}

const Reader kReaders[] = {
    {"config", [](const std::string& text) { parse_config(text, "lab.toml"); }},
    {"edits", read_setting},
    {"placement", read_placement},
    {"link", [](const std::string& text) { link::read_link(text); }},
    {"utf8", read_text},
    {"tsv", [](const std::string& text) { parse_tsv(text, "x.tsv", "label<TAB>text"); }},
    {"session", [](const std::string& text) { parse_session(text, "dir/session.toml"); }},
    {"tensors-header", read_header, false},
    {"lesson", read_lesson, false},
    {"lesson-exercise", read_lesson, false},
    {"lesson-map", read_lesson, false},
    {"lesson-tape", read_tape_lesson, false},
};

}  // namespace

TEST_CASE("refusals: every reader says in one line what is wrong with an input") {
  for (const Reader& reader : kReaders) check_reader(reader);
}

TEST_CASE("refusals: a wrong command line") { run_rows("command-line"); }

TEST_CASE("refusals: files that cannot be used") { run_rows("files"); }

TEST_CASE("refusals: a saved run") { run_rows("saved-run"); }

}  // namespace normscope::test::test_refusals

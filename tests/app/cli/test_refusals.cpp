// These tests go through the rows of tests/refusals: what each reader says of an input, and the program of a command
// line.
#include <functional>
#include <string>

#include "app/course/reader.h"
#include "app/link/link.h"
#include "app/reproduce/claim_reader.h"
#include "app/reproduce/reproduce_fixture.h"
#include "app/support/english.h"
#include "app/support/refused.h"
#include "app/sweep/study_file.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/data/text_source.h"
#include "addons/systems/training/conllu.h"
#include "training/files/config_file.h"
#include "training/files/placement_file.h"
#include "training/records/recorded_run.h"
#include "training/spec/spec.h"

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

void read_log_file(const std::string& text) {
  const Folder folder;
  records::read_recorded(folder.write("x", text));
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

struct Reader {
  const char* name;
  std::function<void(const std::string&)> read;
  bool in_window = true;  ///< opened by a window, which says in its language what is wrong
};

const Reader kReaders[] = {
    {"config", [](const std::string& text) { parse_config(text, "lab.toml"); }},
    {"edits", read_setting},
    {"placement", read_placement},
    {"link", [](const std::string& text) { link::read_link(text); }},
    {"log", read_log_file},
    {"conllu", [](const std::string& text) { parse_conllu(text, "t.conllu", TreeColumns::Required); }},
    {"utf8", read_text},
    {"lesson", read_lesson, false},
    {"lesson-exercise", read_lesson, false},
    {"lesson-map", read_lesson, false},
    {"lesson-tape", read_tape_lesson, false},
    {"study", [](const std::string& text) { sweep::parse_study(text, "studies/tiny.toml"); }, false},
    {"claim", [](const std::string& text) { reproduce::parse_claim(text, "claims/test/tiny.toml"); }, false},
};

}  // namespace

TEST_CASE("refusals: every reader says in one line what is wrong with an input") {
  for (const Reader& reader : kReaders) {
    const std::string base = refusal_base(reader.name);
    if (!base.empty()) CHECK(error_of([&] { reader.read(base); }) == "no error");
    const auto rows = refusals(reader.name);
    CHECK_FALSE(rows.empty());
    for (const std::vector<std::string>& row : rows) {
      INFO(reader.name << ".txt: " << row[0]);
      std::string input = row[0];
      if (!base.empty()) {
        const std::vector<std::string> change = split(row[0], " => ");
        REQUIRE(change.size() == 2);
        input = replaced(base, change[0], change[1]);
      }
      const std::string said = error_of([&] { reader.read(input); });
      INFO(said);
      CHECK(said != "no error");
      CHECK_FALSE(contains(said, "\n"));
      for (size_t i = 1; i < row.size(); ++i) CHECK(says(said, row[i]));
      if (!reader.in_window) continue;
      const std::string german = fixture::german_error(said);
      INFO(german);
      CHECK(fixture::english_in(german) == "");
      CHECK(german != said);
    }
  }
}

TEST_CASE("refusals: a wrong command line") { run_rows("command-line"); }

TEST_CASE("refusals: files that cannot be used") { run_rows("files"); }

TEST_CASE("refusals: a saved run") { run_rows("saved-run"); }

}  // namespace normscope::test::test_refusals

// A refusal of the program is an exit code, one line, and words that the line holds.
#pragma once

#include "app/support/english.h"
#include "app/support/program.h"
#include "refusals/refusals.h"

namespace normscope::test {

inline void check_refused(const Outcome& outcome, int code, const std::string& words = "") {
  INFO("exit code " << outcome.code << "\n" << outcome.out << outcome.err);
  CHECK(outcome.code == code);
  CHECK(is_one_error_line(outcome));
  CHECK(says(outcome.err, words));
}

inline void refuses(const std::string& arguments, int code, const std::string& words = "",
                    const std::string& before = "") {
  INFO("normscope " << arguments);
  check_refused(run_program(arguments, before), code, words);
}

/// `text` with {NAME} as what was set under that name, or else as the path of a file of the folder.
inline std::string filled(std::string text, const Folder& folder,
                          const std::map<std::string, std::string>& set) {
  for (size_t at = 0; (at = text.find('{', at)) != text.npos;) {
    const size_t end = text.find('}', at);
    const std::string name = text.substr(at + 1, end - at - 1);
    const std::string value = set.contains(name) ? set.at(name) : folder.file(name);
    text.replace(at, end - at + 1, value);
    at += value.size();
  }
  return text;
}

/// Runs every row of tests/refusals/NAME.txt in order and without a display. A row of code 0 is not refused.
inline void run_rows(const std::string& name) {
  const Folder folder;
  const std::vector<std::vector<std::string>> rows = refusals(name);
  REQUIRE_FALSE(rows.empty());
  std::map<std::string, std::string> set{{"addons", NORMSCOPE_SOURCE_DIR "/addons"}};
  for (const std::vector<std::string>& row : rows) {
    if (row[0].starts_with("file ")) {
      folder.write(row[0].substr(5), row[1]);
      continue;
    }
    if (row[0].starts_with("set ")) {
      set[row[0].substr(4)] = row[1];
      continue;
    }
    const std::string command = row[1].substr(0, row[1].find(' '));
    if (!NORMSCOPE_EVERY_ADDON && !command.starts_with('-') && !has_command(command)) continue;
    const Outcome outcome = run_program(filled(row[1], folder, set), "env -u DISPLAY -u WAYLAND_DISPLAY");
    INFO(name << ".txt: normscope " << row[1] << " gave " << outcome.code << "\n"
              << outcome.out << outcome.err);
    CHECK(outcome.code == std::stoi(row[0]));
    CHECK_FALSE(contains(outcome.err, "Sanitizer"));
    CHECK_FALSE(contains(outcome.err, "runtime error"));
    if (outcome.code > 1) CHECK(is_one_error_line(outcome));
    const std::string& said = outcome.code > 1 ? outcome.err : outcome.out;
    for (size_t i = 2; i < row.size(); ++i) CHECK(says(said, filled(row[i], folder, set)));
  }
}

// A reader goes through the rows of tests/refusals/NAME.txt, which say what is wrong with an input.

struct Reader {
  const char* name;
  std::function<void(const std::string&)> read;
  bool in_window = true;  ///< opened by a window, which says in its language what is wrong
};

inline void check_reader(const Reader& reader) {
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
    const Message said = error_of([&] { reader.read(input); });
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

}  // namespace normscope::test

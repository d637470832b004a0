// A reader goes through the rows of tests/refusals/NAME.txt, which say what is wrong with an input.
#pragma once

#include "app/support/english.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "refusals/refusals.h"

namespace normscope::test {

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

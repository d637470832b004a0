// These tests run normscope record: the table of a log's names.
#include "app/support/program.h"
#include "catch.hpp"

using namespace normscope::test;

TEST_CASE("the log that train writes begins with a header and is read as a recorded run's") {
  const Folder folder;
  const std::string config = folder.write("tiny.toml", std::string(kTiny) + "[run.A]\n");
  REQUIRE(run_program("train --config " + config + " --steps 3 --log " + folder.file("log")).code == 0);
  CHECK(read_all(folder.file("log")).starts_with("{\"format\":\"normscope log 2\",\"maker\":\"normscope "));
  const Outcome names = run_program("record --names " + folder.file("log"));
  CHECK(names.code == 0);
  CHECK(contains(names.out, " 0 of them not known"));
}

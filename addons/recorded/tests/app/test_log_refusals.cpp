// The rows of tests/refusals/log.txt: what a log is refused with.
#include <string>

#include "addons/recorded/training/recorded_run.h"
#include "app/support/refused_inputs.h"
#include "catch.hpp"

using namespace normscope::test;

TEST_CASE("refusals: a log says in one line what is wrong with it") {
  check_reader({"log", [](const std::string& text) {
                  const Folder folder;
                  normscope::records::read_recorded(folder.write("x", text));
                }});
}

// These tests cover the test program's exit code: CTest must not take a failure for a skipped entry.
#include "engine/support/helpers.h"
#include "skip.h"
#include "test_paths.h"

using namespace normscope::test;

TEST_CASE("only what skipped everything is skipped") {
  CHECK(exit_code(0, 3, 3) == kSkipped);
  CHECK(exit_code(0, 3, 2) == 0);
  CHECK(exit_code(0, 3, 0) == 0);
  CHECK(exit_code(2, 3, 1) == 2);
  CHECK(exit_code(2, 3, 3) == 2);
  CHECK(exit_code(kSkipped, 3, 3) == 1);  // four failed assertions
  CHECK(exit_code(0, 0, 0) == 0);         // Catch2 itself refuses a run of no case
}

TEST_CASE("no entry of CTest is skipped by a text that it prints") {
  for (const char* file :
       {"/tests/CMakeLists.txt", "/tests/cuda/CMakeLists.txt", "/tests/fuzz/CMakeLists.txt"}) {
    std::ostringstream text;
    text << std::ifstream(std::string(NORMSCOPE_SOURCE_DIR) + file).rdbuf();
    INFO(file);
    CHECK(contains(text.str(), "add_"));
    CHECK_FALSE(contains(text.str(), "SKIP_REGULAR_EXPRESSION"));
    CHECK((text.str().find("SKIP_RETURN_CODE") == std::string::npos ||
           text.str().find("SKIP_RETURN_CODE ${NORMSCOPE_SKIPPED}") != std::string::npos));
  }
}

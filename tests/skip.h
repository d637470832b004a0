// How a test case says that it cannot run here: SKIP_CASE(reason) prints "SKIPPED: <name>: <reason>" and leaves it.
// CTest counts an entry as skipped only where all of its cases were (exit code kSkipped): a failure beside a skipped
// case stays a failure. `make test` lists every line of this kind at its end.
#pragma once

#include <cstddef>
#include <string>

namespace normscope::test {

/// kSkipped is SKIP_RETURN_CODE in tests/CMakeLists.txt.
constexpr int kSkipped = 4;

/// Prints the line and counts the running case as skipped.
void say_skipped(const std::string& reason);

/// Ends the test program: `failed` as Catch2 counts, cases that ran, cases of these that were skipped.
int exit_code(int failed, size_t ran, size_t skipped);

}  // namespace normscope::test

#define SKIP_CASE(reason)                 \
  do {                                    \
    normscope::test::say_skipped(reason); \
    return;                               \
  } while (false)

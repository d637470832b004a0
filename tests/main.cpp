// The entry of both test programs, for Catch2 2 and 3: its exit code says whether anything was tested at all.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#include <catch2/catch_session.hpp>
using Listener = Catch::EventListenerBase;
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
using Listener = Catch::TestEventListenerBase;
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "engine/cpu/isa.h"
#include "folder.h"
#include "skip.h"

namespace {

std::set<std::string>& skipped_cases() {
  static std::set<std::string> names;
  return names;
}

size_t cases_run = 0;

struct Counter : Listener {
  using Listener::Listener;
  void testRunEnded(const Catch::TestRunStats& run) override { cases_run = run.totals.testCases.total(); }
};
CATCH_REGISTER_LISTENER(Counter)

// Names the instruction set that NORMSCOPE_ISA asks for and this processor lacks; a name that no processor
// has is left to the tests, which fail.
std::string missing_isa() {
  const char* asked = std::getenv("NORMSCOPE_ISA");
  if (!asked) return "";
  const auto has = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, asked) != names.end();
  };
  return has({"sse4", "avx2", "avx3", "neon"}) && !has(normscope::cpu::available_isas()) ? asked : "";
}

}  // namespace

namespace normscope::test {

void say_skipped(const std::string& reason) {
  const std::string name = Catch::getResultCapture().getCurrentTestName();
  std::printf("SKIPPED: %s: %s\n", name.c_str(), reason.c_str());
  std::fflush(stdout);
  skipped_cases().insert(name);
  SUCCEED(reason);  // A test case without assertions would be an error.
}

// Keeps the code of a skip for runs in which every case was skipped. Catch2 ends with the number of failed
// assertions, which can be that code by chance.
int exit_code(int failed, size_t ran, size_t skipped) {
  if (failed) return failed == kSkipped ? 1 : failed;
  return skipped > 0 && skipped == ran ? kSkipped : 0;
}

}  // namespace normscope::test

int main(int argc, char* argv[]) {
  if (const std::string isa = missing_isa(); !isa.empty()) {
    std::printf("SKIPPED: everything: this processor or build lacks %s\n", isa.c_str());
    return normscope::test::kSkipped;
  }
  const normscope::test::Pictures pictures;  // of tests that choose no folder for what they export
  const int failed = Catch::Session().run(argc, argv);
  return normscope::test::exit_code(failed, cases_run, skipped_cases().size());
}

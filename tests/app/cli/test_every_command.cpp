// These tests run every command once, with good and with bad input: what it writes is the business of the other files
// (test_cli_*.cpp); here it runs under the address and undefined-behaviour sanitizers too.
#include "app/support/refused.h"

TEST_CASE("every command runs, and refuses in one line what it cannot read") {
  normscope::test::run_rows("every-command");
}

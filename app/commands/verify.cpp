// normscope verify: the engine beside reference fixtures.
#include "engine/model/verify.h"

#include <fmt/format.h>

#include "app/commands/machine.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"

namespace normscope::cli {

Exit verify(const VerifyOptions& options) {
  Machine machine(options.backend, options.threads);
  bool passed = true;
  for (const std::string& file : options.files) {
    const VerifyReport report =
        with_exit(Exit::input, [&] { return verify_fixture(file, machine.backend()); });
    const std::string text = to_string(report);
    say("{}{}", text, text.ends_with('\n') ? "" : "\n");
    passed = passed && report.passed();
  }
  say("{}\n", passed ? "all within their tolerances" : "outside the tolerances");
  return passed ? Exit::ok : Exit::check_failed;
}

}  // namespace normscope::cli

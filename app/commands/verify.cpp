// normscope verify holds the engine against reference fixtures.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/cli/machine.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "training/verify/verify.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct VerifyOptions {
  std::vector<std::string> files;
  BackendOptions backend;
  int32_t threads = 0;
};

Exit verify(const VerifyOptions& options) {
  Machine machine(options.backend, options.threads);
  bool passed = true;
  for (const std::string& file : options.files) {
    const VerifyReport report =
        with_exit(Exit::Input, [&] { return verify_fixture(file, machine.backend()); });
    const std::string text = to_string(report);
    say("{}{}", text, text.ends_with('\n') ? "" : "\n");
    passed = passed && report.passed();
  }
  say("{}\n", passed ? "all within their tolerances" : "outside the tolerances");
  return passed ? Exit::Ok : Exit::CheckFailed;
}

}  // namespace

void add_verify(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "verify",
                  "Compare the engine with a reference fixture: loss, gradients, ten steps", verify);
  sub.add_option("files", options.files, "fixtures (safetensors)")->type_name("FILE")->required();
  add_threads(sub, options.threads);
  add_backend(sub, options.backend);
}

}  // namespace normscope::commands

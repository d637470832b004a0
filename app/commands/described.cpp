// normscope completion and normscope man print the command line itself.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/cli/description.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"

namespace normscope::commands {
using namespace cli;

void add_described(CLI::App& app, Command& command) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& complete =
      *app.add_subcommand("completion", "Print a completion script: source <(normscope completion bash)");
  complete.add_option("shell", *shell, "the shell that it is for")
      ->check(CLI::IsMember(shell_names()))
      ->type_name("SHELL")
      ->required();
  complete.callback([shell, &app, &command] {
    command = [shell, &app] {
      put(completion(describe(app), *shell));
      return Exit::Ok;
    };
  });
  app.add_subcommand("man", "Print the manual page: normscope man | man -l -")->callback([&] {
    command = [&app] {
      put(man_page(describe(app)));
      return Exit::Ok;
    };
  });
}

}  // namespace normscope::commands

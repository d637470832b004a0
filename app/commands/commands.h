// The commands of the program. Each is in a file of its own with its flags, and add_NAME puts it on the command line;
// commands.cpp parses and calls the requested one.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "app/cli/options.h"
#include "app/cli/terminal.h"

namespace normscope::commands {

/// The work of the requested command, once the line is parsed. It returns the exit code or throws Error.
using Command = std::function<cli::Exit()>;

/// Adds a command that does `work` with the options which its flags fill in. Both live as long as `app`.
template <class Options>
std::pair<CLI::App&, Options&> add_command(CLI::App& app, Command& command, const char* name,
                                           const char* help, cli::Exit (*work)(const Options&)) {
  const auto options = std::make_shared<Options>();
  CLI::App& sub = *app.add_subcommand(name, help);
  sub.callback([options, work, &command] { command = [options, work] { return work(*options); }; });
  return {sub, *options};
}

/// Adds an option with a value, which --help calls `type`. The value must meet `rule`; `standard` is the default that
/// --help names, where that is not the value itself. A list takes one value each time that the option is given.
template <typename Value>
CLI::Option* add_value(CLI::App& app, const std::string& name, Value& value, const char* type,
                       const std::string& help, const std::optional<CLI::Validator>& rule = {},
                       const std::string& standard = {}) {
  CLI::Option* option = app.add_option(name, value, help)->type_name(type);
  if (rule) option->transform(*rule);
  if (!standard.empty()) option->default_str(standard);
  if (name.starts_with('-') && option->get_expected_max() > 1) option->allow_extra_args(false);
  return option;
}

/// The groups of --help, in its order.
enum class CommandGroup { Start, Train, Study, Look, Apply, Program };

/// Each adds its command to `app`; parsing the command sets `command`, which must outlive `app`.
#define COMMAND(add, group) void add(CLI::App& app, Command& command);
#include "app/commands/commands.def"
#undef COMMAND
/// Each adds to `group`, which is normscope lesson.
#define LESSON_COMMAND(add) void add(CLI::App& group, Command& command);
#include "chosen/lesson_commands.def"
#undef LESSON_COMMAND

/// The work of an add-on that replaces the window where there is no display.
#define HEADLESS(work) cli::Exit work(const cli::MainOptions& options);
#include "chosen/headless.def"
#undef HEADLESS

/// The work of normscope instant, and of --instant where there is no display.
cli::Exit run_instant(const cli::MainOptions& options, bool as_json = false, const std::string& log = "");

/// Parses, runs one command, and prints an error as one line "normscope: ..." on stderr. It never throws. main()
/// returns its result; nothing else calls it.
int run(int argc, const char* const* argv) noexcept;

}  // namespace normscope::commands

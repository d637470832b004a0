// The commands of the program. Each is in a file of its own with its flags, and add_NAME puts it on the command line;
// commands.cpp parses and calls the requested one.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "app/cli/exit_code.h"
#include "app/cli/options.h"

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

/// Each `add_NAME` adds its command; parsing the command sets `command`, which must outlive `app`. The window is what
/// the program does without a command.
void add_window(CLI::App& app, Command& command);
/// Adds the window with recorded runs in it.
void add_open(CLI::App& app, Command& command);
void add_train(CLI::App& app, Command& command);
void add_bench(CLI::App& app, Command& command);
void add_compare(CLI::App& app, Command& command);
void add_screenshot(CLI::App& app, Command& command);
void add_film(CLI::App& app, Command& command);
void add_verify(CLI::App& app, Command& command);
void add_translate(CLI::App& app, Command& command);
void add_parse(CLI::App& app, Command& command);
void add_bleu(CLI::App& app, Command& command);
void add_evaluate(CLI::App& app, Command& command);
void add_measure(CLI::App& app, Command& command);
void add_inspect(CLI::App& app, Command& command);
void add_average(CLI::App& app, Command& command);
void add_admin_fold(CLI::App& app, Command& command);
void add_lesson(CLI::App& app, Command& command);
/// These two add to `group`, which is normscope lesson.
void add_lesson_worksheet(CLI::App& group, Command& command);
void add_lesson_gather(CLI::App& group, Command& command);
void add_tape(CLI::App& app, Command& command);
void add_record(CLI::App& app, Command& command);
void add_zoo(CLI::App& app, Command& command);
void add_sweep(CLI::App& app, Command& command);
void add_study_command(CLI::App& app, Command& command);
void add_reproduce(CLI::App& app, Command& command);
void add_merge(CLI::App& app, Command& command);
/// Adds completion and man, which describe everything that `app` has.
void add_described(CLI::App& app, Command& command);

/// The work of the command; the window does it instead where there is no display.
cli::Exit compare(const cli::MainOptions& options);

/// `run` parses, runs one command, and prints an error as one line "normscope: ..." on stderr. It never throws. main()
/// returns its result; nothing else calls it.
int run(int argc, const char* const* argv) noexcept;

}  // namespace normscope::commands

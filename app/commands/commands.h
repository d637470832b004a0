// The commands of the program. Each stands in a file of its own with its flags in it, and add_NAME puts it on
// the command line; commands.cpp parses and calls the one that was asked for.
#pragma once

#include <functional>

#include "app/cli/exit_code.h"
#include "app/cli/options.h"

namespace normscope::commands {

/// The work of the command that was asked for, once the line is parsed. Returns the exit code or throws
/// Error.
using Command = std::function<cli::Exit()>;

/// Each adds its command; parsing it sets `command`, which is to outlive `app`. The window is what the
/// program does without a command.
void add_window(CLI::App& app, Command& command);
/// The window with recorded runs in it.
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
void add_average(CLI::App& app, Command& command);
void add_admin_fold(CLI::App& app, Command& command);
void add_lesson(CLI::App& app, Command& command);
/// `group`: normscope lesson.
void add_lesson_limits(CLI::App& group, Command& command);
void add_lesson_worksheet(CLI::App& group, Command& command);
void add_tape(CLI::App& app, Command& command);
void add_record(CLI::App& app, Command& command);
void add_zoo(CLI::App& app, Command& command);
void add_sweep(CLI::App& app, Command& command);
void add_reproduce(CLI::App& app, Command& command);
void add_merge(CLI::App& app, Command& command);
/// completion and man, which tell of everything that `app` has.
void add_described(CLI::App& app, Command& command);

/// compare, which the window does in its place where there is no display.
cli::Exit compare(const cli::MainOptions& options);

/// Parses, runs one command, prints an error as one line "normscope: ..." on stderr. Never throws. main()
/// returns its result; nothing else calls it.
int run(int argc, const char* const* argv) noexcept;

}  // namespace normscope::commands

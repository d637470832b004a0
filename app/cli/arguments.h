// Pieces of the command line that its two files share: cli.cpp parses, arguments_saved.cpp has the commands
// on saved runs.
#pragma once

#include <cstdint>
#include <functional>

#include "app/cli/options.h"

namespace CLI {
class App;
}

namespace normscope::cli {

/// Stands below every --help.
inline constexpr const char* kFooter =
    "Exit codes: 0 done; 1 a check failed (verify); 2 command line or configuration; 3 a text, checkpoint "
    "or\n"
    "fixture that cannot be used; 4 --window without a display or OpenGL; 5 anything else; 6 the display "
    "went\n"
    "away under the window; 7 more memory than the machine has (train); 8 --backend cuda without a CUDA\n"
    "device; 130 interrupted.";

void add_threads(CLI::App& app, int32_t& threads);

/// Each adds its subcommand; parsing it sets `command`.
void add_measure(CLI::App& app, MeasureOptions& options, std::function<Exit()>& command);
void add_average(CLI::App& app, AverageOptions& options, std::function<Exit()>& command);
void add_admin_fold(CLI::App& app, AdminFoldOptions& options, std::function<Exit()>& command);
void add_tape(CLI::App& app, std::function<Exit()>& command);

}  // namespace normscope::cli

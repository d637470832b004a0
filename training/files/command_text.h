// Runs as one line for a terminal, and back: `normscope --run A=post --set B:train.warmup=200 --edit
// A:214:train.lr=1e-3` trains exactly what the window shows, edits and forks included.
//
//   --run LETTER=PRESET            one run; without any: the three of the default comparison
//   --set [LETTER:]KEY=VALUE       a field at step 0, of one run or of all
//   --edit [LETTER:]STEP:KEY=VALUE a field from a step on
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/files/config_file.h"

namespace normscope {

// The arguments of the three options.
struct CommandArguments {
  std::vector<std::string> runs, sets, edits;
};
// The arguments that give these runs, without settings that no run reads. `may_omit`: runs like those of the default
// comparison get no --run.
CommandArguments arguments_of(std::span<const ConfigRun> runs, bool may_omit);
// The inverse: runs by preset, or the default comparison, with their settings and edits. Throws Error with the argument
// that cannot be used.
std::vector<ConfigRun> runs_by(const CommandArguments& arguments);

// For a POSIX shell. `command`: "normscope" opens the window, "normscope train" trains without it.
std::string command_of(std::span<const ConfigRun> runs, std::string_view command = "normscope");

// The program that a shell takes for this name: the first on PATH; empty: none.
std::string path_to(const std::string& program);
// The word that starts this program in a terminal: "normscope" where PATH leads to it, otherwise its own path.
// A launcher that starts the program under another path (the Python package's) names itself by NORMSCOPE_LAUNCHER.
std::string program_word();
// Replaces the first word of the line, normscope, by `program`.
std::string with_program(const std::string& line, const std::string& program);

// Writes a word for a POSIX shell: unchanged without special characters, else in single quotes. On Windows it is
// windows_quoted() (training/files/windows_quoted.h).
std::string shell_quoted(const std::string& text);

// These apply the three options as given. They throw Error with the argument that cannot be used.
std::vector<ConfigRun> runs_from(const std::vector<std::string>& presets);
void apply_set(std::vector<ConfigRun>& runs, std::string_view argument);
void apply_edit(std::vector<ConfigRun>& runs, std::string_view argument);
// Throws Error for a --set, after all are applied, that none of its runs reads: a momentum for Adam. A run with edits
// passes: an edit may make it read the setting.
void require_read(std::vector<ConfigRun>& runs, const std::vector<std::string>& sets);

}  // namespace normscope

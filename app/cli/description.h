// The command line described once, as plain values read off CLI11's tree (description.cpp), for
// everything that tells of it: shell completion and the manual page.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace normscope::cli {

struct OptionText {
  std::string name;                 ///< "--text"; of a positional "FILE"
  std::string type;                 ///< "FILE"; "[FILE]": may be left out; empty: a flag
  std::string help, standard;       ///< the value that holds without the option, as text
  std::vector<std::string> values;  ///< those that can be completed
  bool positional = false, required = false, many = false;

  bool file() const { return type == "FILE" || type == "DIR" || type == "[FILE]" || type == "[DIR]"; }
};

struct CommandText {
  std::string path;  ///< "lesson check"; of the program itself empty
  std::string help, footer;
  std::vector<OptionText> options;
  std::vector<CommandText> commands;

  /// The last word of the path.
  std::string name() const { return path.substr(path.rfind(' ') + 1); }
};

CommandText describe(const CLI::App& app);

/// A script for `shell` (bash, zsh or fish) that completes commands, options, their values and files.
std::string completion(const CommandText& program, const std::string& shell);
std::vector<std::string> shell_names();

/// The manual page normscope(1), in man(7).
std::string man_page(const CommandText& program);

}  // namespace normscope::cli

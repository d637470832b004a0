// The description is the command line as plain values read off CLI11's tree (description.cpp). Shell completion and the
// manual page are made from it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace normscope::cli {

struct OptionText {
  std::string name;                 ///< "--text"; for a positional argument "FILE"
  std::string type;                 ///< "FILE"; "[FILE]": optional; empty: a flag
  std::string help, standard;       ///< `standard` is the default value as text
  std::vector<std::string> values;  ///< the values that completion offers
  bool positional = false, required = false, many = false;

  bool file() const {
    return type == "FILE" || type == "DIR" || type == "PATH" || type == "[FILE]" || type == "[DIR]";
  }
};

struct CommandText {
  std::string path;  ///< "lesson check"; empty for the program itself
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

// The program is run as a user would run it, for tests of the command line: arguments in, exit code and both outputs
// out.
#pragma once

#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include <algorithm>

#include "engine/support/helpers.h"
#include "folder.h"
#include "test_paths.h"
#include "training/support/tiny.h"

namespace normscope::test {

/// Reads a training log: one value per line, without its header.
inline std::vector<nlohmann::json> read_log(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(read_all(path));
  for (std::string line; std::getline(text, line);) {
    nlohmann::json value = nlohmann::json::parse(line);
    if (!value.contains("format")) lines.push_back(std::move(value));
  }
  return lines;
}

/// What a run of the program came to; while it lives, a failed assertion tells what was printed.
struct Outcome {
  int code = -1;
  std::string out, err;
  std::shared_ptr<Catch::ScopedMessage> told = std::make_shared<Catch::ScopedMessage>(
      Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info) << out << err);
};

/// `arguments` as in a shell; `before` stands in front of the program ("timeout 3", "env -u DISPLAY"); `input` is the
/// file that it reads as standard input.
inline Outcome run_program(const std::string& arguments, const std::string& before = "",
                           const std::string& input = "/dev/null") {
  const Folder folder;
  const std::string out = folder.file("out"), err = folder.file("err");
  const std::string command =
      before + " '" NORMSCOPE_PROGRAM "' " + arguments + " >'" + out + "' 2>'" + err + "' <'" + input + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_all(out), read_all(err)};
}

/// Sends Ctrl+C so many seconds after the start. --foreground: the program alone gets it, and once.
inline Outcome interrupted_after(const std::string& seconds, const std::string& arguments) {
  return run_program(arguments, "timeout --foreground --preserve-status -s INT " + seconds);
}

/// Whether stderr has one line that begins with the program's name. The line that says that an
/// interrupt waits for what is under way may come before it, where a machine takes more than a second for that.
inline bool is_one_error_line(const Outcome& outcome) {
  constexpr std::string_view kWaits = "normscope: interrupted; what is under way ends first";
  std::string_view err = outcome.err;
  if (err.starts_with(kWaits) && err.find('\n') != err.size() - 1) err.remove_prefix(err.find('\n') + 1);
  return err.starts_with("normscope: ") && err.find('\n') == err.size() - 1;
}

/// The commands that --help lists.
inline const std::vector<std::string>& commands() {
  static const std::vector<std::string> all = [] {
    std::istringstream lines(run_program("--help").out);
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("  ") && line[2] != ' ' && line[2] != '-')
        names.push_back(line.substr(2, line.find(' ', 2) - 2));
    REQUIRE_FALSE(names.empty());
    return names;
  }();
  return all;
}
inline bool has_command(const std::string& name) {
  return std::ranges::find(commands(), name) != commands().end();
}

}  // namespace normscope::test

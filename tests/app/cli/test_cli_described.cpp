// These tests read what describes the command line: defaults in --help, completion scripts, the manual page, and what
// an installation puts where.
#include "addons.h"
#include "app/support/program.h"
#include "skip.h"

using namespace normscope;
using namespace normscope::test;

namespace {

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace

TEST_CASE("every command that is declared is on the command line, in the manual and in every-command.txt") {
  const std::string manual = text_with_addons("docs/command-line.md", "README.md"),
                    rows = text_with_addons("tests/refusals/every-command.txt",
                                            "tests/refusals/every-command.txt");
  std::istringstream list(text_with_addons("app/commands/commands.def", "commands.def"));
  // The window is the program without a command; completion and man have one function.
  size_t declared = 0;
  for (std::string line; std::getline(list, line);) declared += line.starts_with("COMMAND(");
  CHECK(declared == commands().size());
  for (const std::string& command : commands()) {
    INFO(command);
    CHECK((contains(manual, "[`" + command + "`](#") || contains(manual, "\n## " + command + "\n")));
    CHECK((contains(rows, " | " + command + " ") || contains(rows, " | " + command + "\n")));
  }
}

// CLI11 itself takes 010 for eight and 08 for no number.
TEST_CASE("every option that is a whole number reads it in decimal, as --set does") {
  size_t found = 0;
  for (const std::string& command : commands()) {
    std::istringstream lines(run_program(command + " --help").out);
    for (std::string line, name; std::getline(lines, line);) {
      if (!line.starts_with("  --") || !contains(line, "INT") || contains(line, " x 3")) continue;
      std::istringstream(line) >> name;
      name.resize(std::min(name.size(), name.find(',')));
      INFO(command << " " << name);
      ++found;
      CHECK_FALSE(contains(run_program(command + " " + name + " 08 --no-such").err, "08"));
      CHECK(
          contains(run_program(command + " " + name + " 0x8 --no-such").err, "'0x8' is not a whole number"));
    }
  }
  CHECK(found > (NORMSCOPE_EVERY_ADDON ? 30 : 10));
  const auto counted = [](const char* seeds) {
    const std::string out = run_program(fmt::format("compare --store none --dry-run --seeds {}", seeds)).out;
    return out.substr(0, out.find("about "));  // the time is a guess of each call
  };
  if (has_command("compare")) CHECK(counted("010") == counted("10"));
  CHECK(contains(run_program("train --preset pre --seed -1").err,
                 "-1 is out of range: expected 0 to 9007199254740992"));
}

// Newer versions of CLI11 refuse that when the program starts.
TEST_CASE("what stands without a dash is not called as an option of its command") {
  size_t without_dash = 0;
  for (const std::string& command : commands()) {
    const std::string help = run_program(command + " --help").out;
    const size_t begin = help.find("Positionals:\n");
    if (begin == help.npos) continue;
    std::istringstream lines(help.substr(begin + 13));
    for (std::string line, name; std::getline(lines, line) && line.starts_with("  ");) {
      std::istringstream(line) >> name;
      INFO(command << " " << name);
      CHECK_FALSE(contains(help, "--" + name + " "));
      ++without_dash;
    }
  }
  CHECK(without_dash > (NORMSCOPE_EVERY_ADDON ? 5 : 2));
}

TEST_CASE("the completion script completes commands, options, values and files, in zsh as in bash") {
  const Outcome outcome = run_program("completion bash");
  CHECK(outcome.code == 0);
  for (const std::string& command : commands()) CHECK(contains(outcome.out, command));
  for (const char* option : {"backend", "validate-every", "markdown", "penalty", "safe-mode", "epsilon"})
    CHECK((!NORMSCOPE_EVERY_ADDON || contains(outcome.out, option)));
  CHECK(run_program("completion tcsh").code == 2);
  const Folder folder;
  const std::string script = folder.write("script", outcome.out);
  folder.write("a b.toml", "");
  size_t shells = 0;
  for (const char* shell : {"bash", "zsh"}) {
    if (!installed(shell)) continue;
    ++shells;
    INFO(shell);
    CHECK(std::system((std::string(shell) + " -n '" + script + "'").c_str()) == 0);
    // zsh calls it as a function of sh, behind its bashcompinit.
    const char* begin = std::string(shell) == "zsh"
                            ? "emulate -R sh; setopt kshglob ksharrays; compdef() { :; }\n"
                              "autoload -U +X bashcompinit; bashcompinit\n"
                            : "compopt() { :; }\n";
    const auto completed = [&](const std::string& words) {
      const std::string call = folder.write(
          "call", fmt::format("{}. '{}'\ncd '{}'\nCOMP_WORDS=({})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
                              "_normscope\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
                              begin, script, folder.path.string(), words));
      const std::string out = folder.file("out");
      CHECK(std::system((std::string(shell) + " '" + call + "' >'" + out + "' 2>&1").c_str()) == 0);
      return read_all(out);
    };
    CHECK(completed("normscope trai") == "train\n");
    CHECK(contains(completed("normscope train --see"), "--seed"));
    CHECK(contains(completed("normscope train --set model.laye"), "model.layers="));
    CHECK(contains(completed("normscope train --config a"), "a b.toml"));
  }
  if (shells == 0) SKIP_CASE("there is neither bash nor zsh");
}

TEST_CASE("groff formats the manual page without a complaint") {
  if (!installed("groff")) SKIP_CASE("there is no groff");
  const Outcome outcome = run_program("man");
  const Folder folder;
  const std::string page = folder.write("page", outcome.out), said = folder.file("said");
  CHECK(std::system(("groff -man -Tascii -P-c -P-b -P-u -ww '" + page + "' >'" + folder.file("text") +
                     "' 2>'" + said + "'")
                        .c_str()) == 0);
  CHECK(read_all(said) == "");
  CHECK(contains(read_all(folder.file("text")), "--validate-every"));
}

TEST_CASE("an installation has the program, its lessons, completion and manual page, and runs") {
  if (!installed("cmake")) SKIP_CASE("there is no cmake");
  const Folder folder;
  const std::string build =
      std::string(NORMSCOPE_PROGRAM).substr(0, std::string(NORMSCOPE_PROGRAM).rfind('/'));
  REQUIRE(std::system(("cmake --install '" + build + "' --prefix '" + folder.file("usr") + "' >'" +
                       folder.file("log") + "' 2>&1")
                          .c_str()) == 0);
  for (const char* file : {"bin/normscope", "share/normscope/lessons/02-warm-up/lesson.toml",
                           "share/man/man1/normscope.1", "share/bash-completion/completions/normscope"}) {
    INFO(file);
    CHECK(std::filesystem::file_size(folder.file(std::string("usr/") + file)) > 500);
  }
  const std::string out = folder.file("out");
  CHECK(std::system(
            ("cd / && '" + folder.file("usr/bin/normscope") + "' lesson list >'" + out + "'").c_str()) == 0);
  CHECK(contains(read_all(out), "warm-up"));
}

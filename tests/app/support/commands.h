// A listing of commands is a file tests/answers/NAME.txt with lines for bash, and below each what it printed, what it
// said on stderr, and its exit code where that is not 0. `make accept` writes the answers anew. Each paragraph has a
// folder of its own, with tiny.toml, a run of twelve steps, and book.txt, a text. `normscope` is the program without a
// display and without earlier results; `$tiny` is the run, `$small` its sizes as options; `json EXPRESSION...` prints
// what is so called in standard input, as Python calls it: d["runs"][0]; "let " begins what holds for the lines below
// too. A paragraph that uses the command of an add-on which this build lacks is left out.
#pragma once

#include <regex>

#include "answers.h"
#include "app/support/program.h"
#include "refusals/refusals.h"
#include "skip.h"

namespace normscope::test {

/// Runs a line in the folder; what differs from run to run is taken out of the outcome: places, times, and the lines of
/// progress and of an interrupt that waits, which only a busy machine prints.
inline std::string answer_of(const std::string& line, const Folder& folder, const Folder& bin) {
  static const std::regex place(NORMSCOPE_SOURCE_DIR),
      seconds("\\b[0-9][0-9.]* (ms|s|min|h)\\b( [0-9]+ (s|min)\\b)?"),
      waits("normscope: interrupted; what is under way ends first\n"),
      progress("(^|\n)training  step [^\n]*(?=\n)");
  bin.write(
      "line",
      "cd '" + folder.file("") + "'; set -o pipefail\nexport PATH='" + bin.file("") +
          "':$PATH SOURCE='" NORMSCOPE_SOURCE_DIR
          "' LC_ALL=C.UTF-8 HOME=$PWD/.home\nfor x in CACHE CONFIG DATA STATE; do export "
          "XDG_${x}_HOME=$PWD/.$x; done\nunset DISPLAY WAYLAND_DISPLAY\ntiny='--config tiny.toml' small='" +
          tiny_options() +
          "'\njson() { python3 -c '\nimport json, sys\nd = json.load(sys.stdin)\nfor what in "
          "sys.argv[1:]: print(eval(what))' \"$@\"; }\n" +
          line + "\n");
  const std::string quoted = "' >'" + bin.file("out") + "' 2>'" + bin.file("err") + "' </dev/null";
  const int status = std::system(("bash '" + bin.file("line") + quoted).c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::string text = read_all(bin.file("out")) + read_all(bin.file("err"));
  if (code != 0) text += (text.empty() || text.ends_with('\n') ? "" : "\n") + fmt::format("exit {}\n", code);
  for (size_t at; (at = text.find(folder.file(""))) != text.npos;) text.erase(at, folder.file("").size());
  for (const auto& [what, name] : {std::pair{place, "SOURCE"}, {seconds, "T"}, {waits, ""}, {progress, ""}})
    text = std::regex_replace(text, what, name);
  return text;
}

inline void check_commands(const std::string& name,
                           std::source_location test = std::source_location::current()) {
  if (!NORMSCOPE_EVERY_ADDON) SKIP_CASE("what the program prints is written down with all add-ons");
  const Folder bin;
  std::filesystem::create_symlink(NORMSCOPE_PROGRAM, bin.file("normscope"));
  std::string book, text;
  for (int i = 0; i < 400; ++i) book += "a text of one's own. ";
  const std::string path = beside(test, "answers/" + name), accepted = read_all(path);
  for (const std::string& paragraph : split(accepted, "\n\n")) {
    if (!text.empty()) text += "\n";
    const Folder folder;
    folder.write("tiny.toml", kTiny);
    folder.write("book.txt", book);
    std::string before;
    text += answered(paragraph, [&](const std::string& line) -> std::string {
      if (!line.starts_with("let ")) return answer_of(before + line, folder, bin);
      before += line.substr(4) + "\n";
      return "";
    });
  }
  check_file(path, text);
}

}  // namespace normscope::test

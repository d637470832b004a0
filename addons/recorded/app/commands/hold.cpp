// normscope hold: holds runs for another program, which steps them and reads their numbers.
#include <cerrno>
#include <cstdio>
#include <string>

#include "addons/recorded/app/held_runs.h"
#include "app/commands/commands.h"
#include "engine/cpu/backend_cpu.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct HoldOptions {
  bool stdio = false;
  int32_t threads = 0;
};

/// Takes back a Ctrl+C that has ended what it was meant for, and waits for the next one. False where the program is to
/// end: by SIGTERM, or with its terminal.
bool hear_anew() {
  withdraw_notice();
  if (was_told_to_end()) return false;
  interrupt(false);
  answer_with(kFlag);
  return true;
}

/// Reads a line; of one that is too long only so much that it is too long. False at the end of the input.
bool next_line(std::string& line) {
  line.clear();
  for (int letter; (letter = std::getc(stdin)) != '\n';) {
    if (letter == EOF) {
      if (errno != EINTR || std::feof(stdin)) return !line.empty();
      std::clearerr(stdin);  // a Ctrl+C between two requests has nothing to end
      if (!hear_anew()) return false;
      errno = 0;
      continue;
    }
    if (line.size() <= held::kLongestRequest) line += static_cast<char>(letter);
  }
  return true;
}

void print_line(const std::string& line) {
  put(line + "\n");
  flush();
}

Exit hold(const HoldOptions& options) {
  if (!options.stdio)
    throw CommandError(Exit::Usage, "hold: expected --stdio, as its requests come by standard input");
  const InterruptGuard guard;
  held::HeldRuns runs(make_cpu_backend(options.threads), {print_line, InterruptGuard::interrupted});
  for (std::string line; print_error().empty() && next_line(line);) {
    print_line(runs.answer(line));
    // Here and not before the request, which may be interrupted as soon as it is sent.
    if (!hear_anew()) break;
  }
  return was_told_to_end() ? Exit::Interrupted : Exit::Ok;
}

}  // namespace

void add_hold(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "hold", "Hold runs for another program: a request a line, an answer a line", hold);
  sub.add_flag("--stdio", options.stdio,
               "read requests from standard input, write answers to standard output");
  add_threads(sub, options.threads);
}

}  // namespace normscope::commands

// A browser's program begins here. A page has no command line, so neither app/cli nor app/commands is compiled for it:
// they were an eighth of the program. It takes the words that the page passes (web/page.js), and under node the one
// question of the tests, `bench --first-steps`.
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "app/shell/screens.h"
#include "app/window/main_window.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "training/experiments/probes.h"
#include "training/files/placement_file.h"

namespace normscope::web {
namespace {

constexpr int kDone = 0, kNoDisplay = 4, kBroken = 5;  // as app/cli/terminal.h has them

void complain(const std::string& line) { fmt::print(stderr, "normscope: {}\n", line); }

struct Request {
  int32_t threads = 0;  // 0: one per core
  bool safe_mode = false, first_steps = false, json = false;
};

int32_t threads_from(std::string_view word) {
  constexpr int32_t kMax = 256;
  int32_t threads = -1;
  const char* end = word.data() + word.size();
  const auto [stopped, fault] = std::from_chars(word.data(), end, threads);
  if (fault == std::errc() && stopped == end && threads >= 0 && threads <= kMax) return threads;
  throw Error("--threads: expected a number from 0 to {}, not '{}'", kMax, word);
}

Request asked_of(std::span<const char* const> words) {
  Request asked;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--threads")
      asked.threads = threads_from(++i < words.size() ? words[i] : "");
    else if (word == "--safe-mode")
      asked.safe_mode = true;
    else if (word == "--first-steps")
      asked.first_steps = true;
    else if (word == "--json")
      asked.json = true;
    else if (word != "bench")
      throw Error("'{}' is not expected here: a browser's program has no command line", word);
  }
  return asked;
}

int take_first_steps(const Request& asked) {
  const std::unique_ptr<Backend> backend = make_cpu_backend(asked.threads);
  const experiments::FirstSteps first = experiments::take_first_steps(*backend);
  const int32_t threads = asked.threads > 0 ? asked.threads : usable_cores();
  fmt::print("{}", experiments::report_of(first, threads, asked.json));
  return kDone;
}

int open_window(const Request& asked) {
  window::WindowOptions options;
  options.lab.threads = asked.threads;
  options.safe_mode = asked.safe_mode;
  if (window::run_window(options) == window::kWindowClosed) return kDone;
  complain("no display");
  return kNoDisplay;
}

int run(std::span<const char* const> words) {
  const Request asked = asked_of(words);
  for (const std::string& refused : load_placements(placements_folder())) complain(refused);
  return asked.first_steps ? take_first_steps(asked) : open_window(asked);
}

}  // namespace
}  // namespace normscope::web

int main(int argc, char** argv) {
  int code = normscope::web::kBroken;
  const normscope::Message error = normscope::guarded("starting", [&] {
    code = normscope::web::run({argv + 1, argv + argc});
  });
  if (!error.empty()) normscope::web::complain(error);
  return code;
}

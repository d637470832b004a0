// These tests use the command line as a user does: exit codes, one-line errors, help.
#include <unistd.h>

#include <fmt/ranges.h>

#include "app/cli/build_facts.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/cpu/isa.h"
#include "test_paths.h"
#include "training/spec/spec.h"

using namespace normscope;
using namespace normscope::test;

TEST_CASE("help and version") {
  const Outcome help = run_program("--help");
  CHECK(help.code == 0);
  CHECK(help.err.empty());
  for (const char* word : {"train", "compare", "screenshot", "--text", "--window", "Exit codes", "130"}) {
    INFO(word);
    CHECK(contains(help.out, word));
  }
  const Outcome version = run_program("--version");
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("normscope " NORMSCOPE_VERSION "\ncommit: "));
  CHECK(contains(version.out, "\ncompiler: " + cli::compiler() + ", "));
  std::string kernels;  // as the engine that this test is linked with has them, best first
  for (const std::string& isa : cpu::compiled_isas()) kernels += (kernels.empty() ? "" : ", ") + isa;
  CHECK(contains(version.out, "\nkernels: " + kernels + "\n"));
  for (const std::string& isa : cpu::available_isas()) CHECK(contains(kernels, isa));
  const bool cuda = std::filesystem::exists(std::filesystem::path(NORMSCOPE_PROGRAM).parent_path() /
                                            "libnormscope_cuda.so");
  CHECK(contains(version.out, cuda ? "\nCUDA backend: CUDA " : "\nCUDA backend: no\n"));
  CHECK((version.out.ends_with("\nSentencePiece: yes\n") || version.out.ends_with("\nSentencePiece: no\n")));
  for (const char* command : {"train", "compare", "screenshot"}) {
    const Outcome outcome = run_program(std::string(command) + " --help");
    INFO(command);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "Exit codes"));
  }
  CHECK(contains(run_program("train --help").out, "post-warmup"));
}

TEST_CASE(
    "help tells the backend that holds without --backend, and which failures have a code of their own") {
  const std::string backend = "--backend NAME:{cpu,cuda}=";
  const std::string window = run_program("--help").out;
  CHECK(contains(window, backend + "as remembered"));
  for (const char* command : {"train", "compare"}) {
    INFO(command);
    CHECK(contains(run_program(std::string(command) + " --help").out, backend + "cpu"));
  }
  CHECK(contains(window, "1 a check failed;"));
  CHECK(contains(window, "3 a text, checkpoint, fixture or lesson that cannot be used;"));
  const std::string manual = read_all(NORMSCOPE_SOURCE_DIR "/docs/command-line.md");
  CHECK(contains(manual, "| 1 | a check failed, as of `lesson check` |"));
  CHECK(contains(manual, "| 3 | a text, checkpoint, fixture or lesson cannot be used |"));
}

TEST_CASE("without a display: the window is refused on demand, else the main job runs headless") {
  const std::string no_display = "env -u DISPLAY -u WAYLAND_DISPLAY";
  const Outcome window = run_program("--window", no_display);
  CHECK(window.code == 4);
  CHECK(is_one_error_line(window));

  const Folder folder;
  const Outcome job = run_program("--steps 3 --seeds 2 --threads 1 --out " + folder.file("left"), no_display);
  CHECK(job.code == 0);
  CHECK(contains(job.out, "no display"));
  CHECK(contains(job.out, "Post-LN"));
  CHECK(contains(job.out, "Pre-LN"));
  CHECK(contains(job.out, "loss  letter frequencies  difference"));
  CHECK(contains(job.out, "loss minus letter frequencies "));
  CHECK_FALSE(contains(job.out, "unigram"));
  for (const char* name : {"left/lab-light.png", "left/lab-dark.png", "left/runs.jsonl"}) {
    INFO(name);
    CHECK(std::filesystem::file_size(folder.file(name)) > 1000);
  }
}

TEST_CASE("every field of a configuration is documented") {
  const std::string text = read_all(NORMSCOPE_SOURCE_DIR "/docs/configuration.md");
  for (const Field& field : spec_fields()) {
    INFO(field.key);
    const size_t row = text.find("| `" + std::string(field.key) + "` |");
    REQUIRE(row != std::string::npos);
    if (field.choices.empty()) continue;
    // Catches a choice (an activation, an optimizer, ...) that the manual does not name.
    CHECK(contains(text.substr(row, text.find('\n', row) - row),
                   fmt::format(" {} |", fmt::join(field.choices, ", "))));
  }
}

TEST_CASE("a lesson that cannot be read exits with 3") {
  const Folder folder;
  const std::string lessons = folder.file("lessons");
  std::filesystem::copy(NORMSCOPE_SOURCE_DIR "/lessons", lessons, std::filesystem::copy_options::recursive);
  const auto lesson = [&](const std::string& arguments) {
    return run_program("lesson " + arguments + " --lessons " + lessons);
  };
  CHECK(lesson("list").code == 0);
  CHECK(lesson("show nothing").code == 2);
  std::filesystem::remove(lessons + "/04-last-layer/compare.md");
  const Outcome list = lesson("list");
  CHECK(list.code == 3);
  CHECK(is_one_error_line(list));
  CHECK(contains(list.err, "04-last-layer/compare.md:1: the file is missing"));
  CHECK(lesson("show warm-up").code == 0);
  CHECK(lesson("show last-layer").code == 3);
  CHECK(lesson("check last-layer").code == 3);
  CHECK(lesson("check growing-stream").code == 3);
  CHECK(lesson("report --out " + folder.file("report")).code == 3);
  CHECK(std::filesystem::exists(folder.file("report/report.md")));  // of the lessons that can be
}

// These tests interrupt work that cannot stop in its middle: where there is nothing to put by the program ends at
// once, and it always says that it was interrupted.

namespace normscope::test::cli_interrupt {
namespace {

void check_one_line(const Outcome& outcome, const std::string& says) {
  CHECK(outcome.code == 130);
  CHECK(is_one_error_line(outcome));
  CHECK(contains(outcome.err, says));
}

}  // namespace

TEST_CASE("interrupt: train ends at once while it has trained nothing, however long a step takes") {
  // Had it gone on to the end of what was under way, it would say what it profiled.
  check_one_line(interrupted_after("2",
                                   "train --profile --preset pre --threads 1 --set model.layers=6 "
                                   "--set model.d_model=512 --set model.feed_forward=2048 "
                                   "--set model.sequence=128 --set train.batch=8"),
                 "interrupted: nothing was trained");
}

TEST_CASE("interrupt: evaluate says that it was interrupted") {
  if (!find_field("model.memory")) return;  // no add-on of this build remembers
  const Folder folder;
  const std::string run = folder.file("x.safetensors");
  std::string text;
  for (int i = 0; i < 5'000'000; ++i) text += static_cast<char>('a' + (i * 7 + i / 13) % 11);
  REQUIRE(run_program("train --threads 1 --config " + folder.write("tiny.toml", kTiny) + " --text " +
                      folder.write("text.txt", text) + " --set model.positions=relative --steps 1 --save " +
                      run)
              .code == 0);
  check_one_line(
      interrupted_after(
          "2", "evaluate " + run + " --threads 1 --memory 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32"),
      "interrupted");
}

}  // namespace normscope::test::cli_interrupt

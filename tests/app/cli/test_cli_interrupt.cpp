// These tests interrupt work that cannot stop in its middle: where there is nothing to put by the program ends at once,
// and it always says that it was interrupted.
#include <filesystem>
#include <string>

#include "app/support/program.h"
#include "catch.hpp"
#include "addons/systems/training/conllu.h"
#include "addons/systems/training/made_treebank.h"

namespace normscope::test::cli_interrupt {
namespace {

/// Sends Ctrl+C so many seconds after the start. --foreground: the program alone gets it, and once.
Outcome interrupted_after(const std::string& seconds, const std::string& arguments) {
  return run_program(arguments, "timeout --foreground --preserve-status -s INT " + seconds);
}

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

TEST_CASE("interrupt: evaluate and parse say that they were interrupted") {
  const Folder folder;
  const std::string run = folder.file("x.safetensors"), parser = folder.file("parser.safetensors");
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

  const std::string trees = folder.write("trees.conllu", conllu_text(made_treebank(2, 0, 60)));
  // So wide that no machine parses them all before it is interrupted.
  REQUIRE(run_program("train --treebank " + trees + " --valid " + trees +
                      " --threads 1 --set model.layers=1 --set model.d_model=64 --set model.feed_forward=512 "
                      "--set train.batch=32 --steps 1 --save " +
                      parser)
              .code == 0);
  const std::string many = folder.write("many.conllu", conllu_text(made_treebank(2, 0, 100'000)));
  const Outcome parsed = interrupted_after(
      "2", "parse " + parser + " --threads 1 --input " + many + " --out " + folder.file("out.conllu"));
  CHECK(parsed.code == 130);
  // Behind the line that comes where the sentences under way take more than a second.
  CHECK(parsed.err.ends_with("normscope: interrupted\n"));
  CHECK_FALSE(std::filesystem::exists(folder.file("out.conllu")));
}

}  // namespace normscope::test::cli_interrupt

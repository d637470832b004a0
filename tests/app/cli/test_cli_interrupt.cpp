// These tests interrupt work that cannot stop in its middle: where there is nothing to put by the program ends at once,
// and it always says that it was interrupted.
#include "app/support/program.h"
#include "catch.hpp"
#include "training/spec/spec.h"

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

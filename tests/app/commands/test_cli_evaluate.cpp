// These tests run normscope evaluate on a short text: fewer rows, and the exit codes of what cannot be measured.
#include <nlohmann/json.hpp>

#include "app/support/program.h"
#include "catch.hpp"
#include "training/spec/spec.h"

namespace normscope::test::cli_evaluate {
namespace {

std::string short_text() {
  std::string text;
  for (int i = 0; i < 1200; ++i) text += static_cast<char>('a' + (i * 7 + i / 13) % 11);
  return text;
}

}  // namespace

TEST_CASE("evaluate: a validation text that is too short for the batch is read in fewer rows") {
  if (!find_field("model.memory")) return;  // no add-on of this build remembers
  const Folder folder;
  const std::string run = folder.file("x.safetensors");
  const std::string train = "train --threads 1 --config " + folder.write("tiny.toml", kTiny) + " --text " +
                            folder.write("text.txt", short_text()) +
                            " --set model.positions=relative --steps 2 ";
  const Outcome trained = run_program(train + "--save " + run);
  REQUIRE(trained.code == 0);
  const Outcome outcome = run_program("evaluate " + run + " --json");
  REQUIRE(outcome.code == 0);
  CHECK(nlohmann::json::parse(outcome.out)["rows"][0]["targets"] == 3 * 16);
  const Outcome short_of = run_program("evaluate " + run + " --memory 0,8");
  CHECK(short_of.code == 3);  // the data's fault, whatever was asked for
  CHECK(contains(short_of.err, "expected a longer text, or --memory 0"));
  CHECK(is_one_error_line(short_of));
  const Outcome consecutive = run_program(train + "--set data.consecutive=true");
  CHECK(consecutive.code == 2);
  CHECK(contains(consecutive.err, "120 symbols to validate are 30 for each of 4 consecutive rows"));
  CHECK(is_one_error_line(consecutive));
}

}  // namespace normscope::test::cli_evaluate

// What compare keeps of the runs that it trains.
#include <string>

#include "addons/compare/app/commands/compare_study.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "refusals/refusals.h"
#include "training/measure/history.h"

namespace normscope::test {
namespace {

const std::string kSmall =
    " --set model.layers=2 --set model.d_model=16 --set model.heads=2 --set model.feed_forward=32"
    " --set model.sequence=16 --set train.batch=4";

const std::string kCompare =
    "compare --run A=post --run B=post --set B:model.placement=pre --steps 12 --seeds 2" + kSmall;

}  // namespace

TEST_CASE("compare --stored keeps the log and the pictures of before where runs are missing") {
  const Folder folder;
  const std::string line = kCompare + " --out " + folder.file("out");
  REQUIRE(run_program(line).code == 0);
  const std::string log = read_all(folder.file("out/runs.jsonl"));
  CHECK(log.size() > 1000);
  const Outcome missing = run_program(line + " --stored --store " + folder.file("none"));
  CHECK(contains(missing.out, "runs are missing"));
  CHECK(read_all(folder.file("out/runs.jsonl")) == log);
}

TEST_CASE("compare counts the histories of all seeds, each as far as it is kept") {
  const auto bytes = [](int32_t steps, int32_t seeds) {
    ConfigRun run{'A', tiny_spec("post", steps), {}};
    return commands::CompareStudy({run}, seeds, false).history_bytes();
  };
  CHECK(bytes(20, 1) > 20 * 100);
  CHECK(bytes(20, 7) == 7 * bytes(20, 1));
  CHECK(bytes(10'000'000, 2) == 2 * static_cast<int64_t>(kHistoryBudget));
}

}  // namespace normscope::test

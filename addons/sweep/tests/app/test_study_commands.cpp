// These tests cover, command by command, what the commands that train a study share: counting, going on, shards, the
// line that they print; and that a run which one of them trained is found by the others. Of the commands of other
// add-ons those that are built.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "addons.h"
#include "app/support/program.h"
#include "catch.hpp"

namespace normscope::test {
namespace {

const std::string kSmall =
    " --set model.layers=2 --set model.d_model=16 --set model.heads=2 --set model.feed_forward=32"
    " --set model.sequence=16 --set train.batch=4";

/// A study of `runs` distinct runs on a model that costs nothing.
struct Small {
  std::string name, line;
  int runs;
};
const Small kSweep{"sweep", "sweep --axis model.placement=post,pre --steps 12 --seeds 2" + kSmall, 4};
const Small kCompare{
    "compare", "compare --run A=post --run B=post --set B:model.placement=pre --steps 12 --seeds 2" + kSmall,
    4};

/// The sweep, and the lines "RUNS COMMAND OPTION..." of the file tests/studies of add-ons.
std::vector<Small> studies() {
  std::vector<Small> all{kSweep};
  std::istringstream lines(text_with_addons("", "tests/studies"));
  Small study;
  for (std::string rest; lines >> study.runs >> study.name && std::getline(lines, rest);) {
    study.line = study.name + rest + kSmall;
    all.push_back(study);
  }
  return all;
}

std::string told(int trained, int taken) {
  return fmt::format("\n{} runs trained, {} taken from", trained, taken);
}

}  // namespace

TEST_CASE("every study counts, trains what is missing, shows what is stored and prints itself") {
  for (const Small& study : studies()) {
    INFO(study.name);
    const Folder folder;
    const std::string place = " --out " + folder.file("out") + " --store " + folder.file("runs");
    const Outcome dry = run_program(study.line + " --dry-run" + place);
    CHECK(dry.code == 0);
    CHECK(contains(dry.out,
                   fmt::format("{} runs: 0 are in the store, 0 cannot be trained, {} are to be trained",
                               study.runs, study.runs)));
    CHECK_FALSE(std::filesystem::exists(folder.file("out")));
    const Outcome first = run_program(study.line + place);
    REQUIRE(first.code == 0);
    CHECK(contains(first.out, told(study.runs, 0)));
    const std::string file = folder.file("out/" + study.name);
    const std::string json = read_all(file + ".json"), csv = read_all(file + ".csv");
    CHECK(nlohmann::json::parse(json)["complete"] == true);
    CHECK(std::count(csv.begin(), csv.end(), '\n') == study.runs + 1);
    CHECK(read_all(file + ".md").starts_with("# "));
    const Outcome stored = run_program(study.line + " --stored" + place);
    CHECK(stored.code == 0);
    CHECK(contains(stored.out, told(0, study.runs)));
    CHECK(read_all(file + ".json") == json);
    CHECK(read_all(file + ".csv") == csv);
    const std::string line = run_program(study.line + " --print-command command").out;
    REQUIRE(line.starts_with("normscope "));
    CHECK(run_program(line.substr(10, line.size() - 11) + " --print-command command").out == line);
    CHECK(contains(run_program(study.line + " --print-command slurm").out,
                   fmt::format("#SBATCH --array=0-{}\n", study.runs - 1)));
  }
}

TEST_CASE("shards of every study, merged, are the study to the byte") {
  for (const Small& study : studies()) {
    INFO(study.name);
    const Folder folder;
    REQUIRE(run_program(fmt::format("{0} --store none --out {1}/out --json {1}/whole.json", study.line,
                                    folder.file(".")))
                .code == 0);
    for (const char* shard : {"0/2", "1/2"})
      CHECK(run_program(fmt::format("{0} --shard {1} --store {2}/part{3} --out {2}/out", study.line, shard,
                                    folder.file("."), shard[0]))
                .code == 0);
    REQUIRE(run_program(fmt::format("merge {0}/part0 {0}/part1 --store {0}/all", folder.file("."))).code ==
            0);
    const Outcome merged = run_program(fmt::format("{0} --store {1}/all --out {1}/out --json {1}/merged.json",
                                                   study.line, folder.file(".")));
    CHECK(contains(merged.out, told(0, study.runs)));
    CHECK(read_all(folder.file("merged.json")) == read_all(folder.file("whole.json")));
  }
}

TEST_CASE("what compare trained is found by a sweep, and its log and pictures come from what is stored") {
  if (!has_command("compare")) return;
  const Folder folder;
  const std::string store = " --store " + folder.file("runs");
  const auto compare = [&](const std::string& out) {
    return run_program(kCompare.line + store + " --out " + folder.file(out));
  };
  REQUIRE(compare("first").code == 0);
  CHECK(contains(run_program(kSweep.line + store).out, told(0, 4)));
  const Outcome again = compare("second");
  CHECK(contains(again.out, told(0, 4)));
  for (const char* name : {"runs.jsonl", "lab-light.png", "lab-dark.png", "compare.json", "compare.csv"}) {
    INFO(name);
    const std::string file = read_all(folder.file(std::string("first/") + name));
    CHECK(file.size() > 100);
    CHECK(read_all(folder.file(std::string("second/") + name)) == file);
  }
}

TEST_CASE("what a sweep trained alone has no history: compare trains it again, to the same losses") {
  if (!has_command("compare")) return;
  const Folder folder;
  const std::string store = " --store " + folder.file("runs");
  REQUIRE(run_program(kSweep.line + store + " --json " + folder.file("sweep.json")).code == 0);
  const Outcome compared = run_program(kCompare.line + store + " --out " + folder.file("out"));
  CHECK(contains(compared.out, told(4, 0)));
  const auto sweep = nlohmann::json::parse(read_all(folder.file("sweep.json")));
  const auto table = nlohmann::json::parse(read_all(folder.file("out/compare.json")));
  REQUIRE(table["runs"].size() == 4);
  // Seed after seed here, cell after cell there.
  CHECK(table["runs"][1]["loss"].get<double>() ==
        Approx(sweep["cells"][1]["runs"][0]["loss"].get<double>()).epsilon(1e-6));
  CHECK(table["runs"][2]["loss"].get<double>() ==
        Approx(sweep["cells"][0]["runs"][1]["loss"].get<double>()).epsilon(1e-6));
}

}  // namespace normscope::test

// These tests cover studies as files: what comes with the program, a grid for each part, the page, the command.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "app/support/program.h"
#include "app/support/stored_files.h"
#include "app/sweep/study_file.h"
#include "catch.hpp"
#include "refusals/refusals.h"
#include "test_paths.h"
#include "training/support/tiny.h"

namespace normscope::test {
namespace {

/// `small_study` has two parts, of three cells and of four, which have two runs in common.
std::string small_study() {
  std::string set = "[";
  for (const std::string& one : tiny_set()) set += (set.size() > 1 ? ", \"" : "\"") + one + "\"";
  set += "]";
  return "title = \"Small\"\nquestion = \"Which rate?\"\nfound = [\"Nothing yet.\"]\nsources = [\"A book\"]\n"
         "[[part]]\nname = \"one\"\ntitle = \"First\"\naxes = [\"train.lr=1e-3,3e-3,1e-2\"]\nset = " +
         set +
         "\nsteps = 8\nseeds = 1\n[[part]]\nname = \"two\"\ntitle = \"Second\"\n"
         "axes = [\"train.lr=1e-3,3e-3\", \"train.warmup=0,4\"]\nset = " +
         set + "\nsteps = 8\nseeds = 2\n";
}

}  // namespace

TEST_CASE("study: every one that comes with the program can be read and asks for runs", "[study]") {
  const std::string folder = NORMSCOPE_SOURCE_DIR "/studies";
  const std::vector<std::string> names = sweep::study_names(folder);
  CHECK(names.size() >= 2);
  for (const std::string& name : names) {
    INFO(name);
    const sweep::StudyFile study = sweep::read_study(folder, name);
    for (const sweep::Job& job : sweep::jobs_of(study)) CHECK(job.refused.empty());
    CHECK(sweep::jobs_of(sweep::quick(study)).size() < sweep::jobs_of(study).size());
    CHECK(refusal_file("../../docs/sweep.md").find("| `" + name + "` | " + study.question) !=
          std::string::npos);
  }
}

TEST_CASE("study: the command trains what its parts need once, and writes page, pictures and numbers",
          "[study]") {
  const Folder folder;
  folder.write("small.toml", small_study());
  const std::string command =
      "study small --studies " + folder.file(".") + " --store " + folder.file("store");
  const Outcome counted = run_program(command + " --dry-run");
  INFO(counted.out << counted.err);
  CHECK(counted.code == 0);
  CHECK(counted.out.find("2 grids") != std::string::npos);
  const Outcome done = run_program(command + " --out " + folder.file("out"));
  INFO(done.out << done.err);
  CHECK(done.code == 0);
  const auto json = nlohmann::json::parse(read_all(folder.file("out/small.json")));
  CHECK(json["format"] == "normscope study 1");
  REQUIRE(json["parts"].size() == 2);
  CHECK(json["parts"][0]["sweep"]["cells"].size() == 3);
  CHECK(json["parts"][1]["sweep"]["cells"].size() == 4);
  // The cells without warm-up are the same runs in both parts, and so are their losses.
  CHECK(json["parts"][0]["sweep"]["cells"][1]["loss"] != json["parts"][0]["sweep"]["cells"][2]["loss"]);
  const std::string page = read_all(folder.file("out/small.md"));
  for (const char* words :
       {"# Small", "Which rate?", "- Nothing yet.", "## First", "## Second", "small-one.svg", "- A book"})
    CHECK(page.find(words) != std::string::npos);
  CHECK(std::filesystem::exists(folder.file("out/small-two.svg")));
  const Outcome again = run_program(command + " --stored");
  INFO(again.out << again.err);
  CHECK(again.code == 0);
  CHECK(again.out.find("Second") != std::string::npos);
}

TEST_CASE("study: list names them, and a name that is none gets the nearest", "[study]") {
  const Outcome list = run_program("study list");
  CHECK(list.code == 0);
  CHECK(list.out.find("streams") != std::string::npos);
  const Outcome wrong = run_program("study stream");
  CHECK(wrong.code != 0);
  CHECK(wrong.err.find("streams") != std::string::npos);
}

}  // namespace normscope::test

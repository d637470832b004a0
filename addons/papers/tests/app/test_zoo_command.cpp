// These tests run normscope zoo as a user does: files, exit codes, Ctrl+C.
#include <nlohmann/json.hpp>

#include "app/support/program.h"
#include "app/support/stored_files.h"
#include "catch.hpp"
#include "training/support/tiny.h"

using namespace normscope::test;
using nlohmann::json;

namespace {

const std::string kTinyZoo = "zoo --depth 2 --seeds 2 --warmup 8" + tiny_options(0) + " ";

}  // namespace

TEST_CASE("zoo writes table, JSON, CSV, pictures and page, and trains nothing twice") {
  const Folder folder;
  const std::string out = folder.file("zoo");
  const Outcome first = run_program(kTinyZoo + ("--steps 24 --only post,pre,remedies --out " + out));
  REQUIRE(first.code == 0);
  CHECK(contains(first.out, "Placements"));
  CHECK(contains(first.out, "sandwich") == false);
  CHECK(contains(first.out, " 0 taken from "));

  const json table = json::parse(read_all(out + "/zoo.json"));
  CHECK(table["format"] == "normscope study 1");
  CHECK(table["complete"] == true);
  REQUIRE(table["parts"].size() == 2);
  size_t cells = 0;
  for (const json& part : table["parts"]) {
    for (const json& row : part["rows"])
      for (const char* key : {"name", "title", "source", "set"}) CHECK(row.contains(key));
    for (const json& cell : part["sweep"]["cells"]) {
      ++cells;
      REQUIRE(cell["runs"].size() == 2);
      for (const json& run : cell["runs"]) {
        CHECK(run["steps"] == 24);
        CHECK(run["loss"].get<double>() > 0);
        CHECK(run["gradient_first"].get<double>() > 0);
        CHECK(run["verdict"].is_string());
      }
    }
  }
  const std::string csv = read_all(out + "/zoo.csv");
  CHECK(static_cast<size_t>(std::count(csv.begin(), csv.end(), '\n')) == 1 + cells * 2);
  CHECK(csv.starts_with("part,train.warmup,row,seed,verdict,"));
  const std::string svg = read_all(out + "/zoo-placements.svg");
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(contains(svg, "post"));
  CHECK(contains(read_all(out + "/zoo.md"), "](zoo-placements.svg)"));

  const Outcome second = run_program(kTinyZoo + ("--steps 24 --only post,pre,remedies --out " + out));
  CHECK(second.code == 0);
  CHECK(contains(second.out, "\n0 runs trained"));
  CHECK(json::parse(read_all(out + "/zoo.json")) == table);
}

TEST_CASE("zoo --stored shows what there is and trains nothing") {
  const Folder folder;
  const std::string out = folder.file("zoo");
  REQUIRE(run_program(kTinyZoo + ("--steps 24 --only post --out " + out)).code == 0);
  const Outcome stored = run_program(kTinyZoo + ("--steps 24 --only post,pre --stored --out " + out));
  CHECK(stored.code == 0);
  const json table = json::parse(read_all(out + "/zoo.json"));
  CHECK(contains(stored.out, "\npost "));
  CHECK_FALSE(contains(stored.out, "\npre "));
  CHECK(table["complete"] == false);
}

TEST_CASE("zoo: a store that fills up costs no row of the table") {
  const Folder folder;
  const std::string post = kTinyZoo + std::string("--steps 24 --only post --store ");
  const Outcome whole = run_program(post + folder.file("st"));
  REQUIRE(whole.code == 0);
  make_full_store(folder.file("st"), folder.file("full"));
  const Outcome unkept = run_program(post + folder.file("full"));
  CHECK(unkept.code == 5);
  CHECK(contains(unkept.out, "\n4 runs trained"));
  CHECK(contains(unkept.err, "No space left"));
  const auto table = [](const std::string& out) {
    const size_t at = out.find("Placements");
    return out.substr(at, out.find("runs trained") - at);
  };
  CHECK(table(unkept.out) == table(whole.out));
}

TEST_CASE("zoo: Ctrl+C ends it with one line") {
  const Folder folder;
  const std::string arguments = kTinyZoo + ("--only post,pre --steps 1000000 --out " + folder.file("zoo"));
  const Outcome stopped = run_program(arguments, "timeout --foreground --preserve-status -s INT 2");
  CHECK(stopped.code == 130);
  CHECK(is_one_error_line(stopped));
}

TEST_CASE("where nothing can be kept the zoo trains without a store and says so in one line") {
  const Folder folder;
  std::filesystem::create_directories(folder.file("cache/normscope"));
  std::filesystem::create_directory_symlink("/proc/self", folder.file("cache/normscope/results"));
  for (const std::string& cache : {std::string("/dev/null"), folder.file("cache")})
    for (const char* stored : {"", " --stored"}) {
      const Outcome outcome = run_program(std::string(kTinyZoo) + "--steps 24 --only post" + stored,
                                          "env XDG_CACHE_HOME=" + cache);
      INFO(cache << stored << " gave " << outcome.out << outcome.err);
      CHECK(outcome.code == 0);
      if (*stored && cache != "/dev/null") continue;  // what is there may be read
      CHECK(contains(outcome.out, *stored ? "\n0 runs trained" : "\n4 runs trained"));
      CHECK(is_one_error_line(outcome));
      CHECK(contains(outcome.err, "; no run is kept"));
    }
}

TEST_CASE("zoo --list names every entry, and a table that cannot be written exits with 5") {
  const Outcome list = run_program("zoo --list");
  CHECK(list.code == 0);
  for (const char* name : {"post", "pre", "admin", "pre-rms", "post-sgd", "clip-1", "mix-alternate"})
    CHECK(contains(list.out, std::string("\n  ") + name + " "));
  const Outcome unwritable = run_program(std::string(kTinyZoo) + "--steps 5 --only post --json /dev/null/x",
                                         "env XDG_CACHE_HOME=/nowhere/at/all");
  CHECK(unwritable.code == 5);
  CHECK(is_one_error_line(unwritable));
}

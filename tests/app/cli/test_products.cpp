// How matrix products are cut is timed once for each processor and remembered: read again, kept beside that of others,
// timed anew where the file is damaged, and no matter where it cannot be written.
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "app/cli/products.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/cpu/isa.h"

using namespace normscope;
using test::Folder;

namespace {

/// `Timer` chooses the second candidate, and counts how often it was asked.
struct Timer {
  int asked = 0;
  cpu::GemmChoice answer = cpu::gemm_candidates(cpu::l2_bytes())[1];
  cpu::GemmChoice of(const std::string& file, const std::string& processor = "a processor, avx2, 1") {
    return cli::remembered_products(file, processor, [this] {
      ++asked;
      return answer;
    });
  }
};

}  // namespace

TEST_CASE("products: what was timed is remembered, by processor") {
  const Folder folder;
  const std::string file = folder.file("cache/products.toml"), other = "\"Other\" \\ cpu = 3 GHz, sse4, 1";
  Timer timer;
  CHECK(timer.of(file) == timer.answer);
  CHECK(timer.of(file) == timer.answer);
  CHECK(timer.asked == 1);
  CHECK(timer.of(file, other) == timer.answer);
  CHECK(timer.asked == 2);
  CHECK(timer.of(file) == timer.answer);
  CHECK(timer.of(file, other) == timer.answer);
  CHECK(timer.asked == 2);
  CHECK(test::holds(test::read_all(file),
                    fmt::format("\n\"a processor, avx2, 1\" = \"{}\"\n", cpu::to_string(timer.answer))));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.file("cache")), {}) == 1);
}

TEST_CASE("products: a damaged file, and what is no candidate any more, is timed again and replaced") {
  const Folder folder;
  const std::string key = "\"a processor, avx2, 1\" = ";
  for (const std::string& text : {std::string("\xff\xfe"), std::string("[["), std::string(), key + "7\n",
                                  key + "\"far\"\n", key + "\"far=3 panels=262144 outer=tiles\"\n",
                                  key + "[\"far=512\"]\n", std::string(1'500'000, '#')}) {
    INFO(text.substr(0, 60));
    const std::string file = folder.write("products.toml", text);
    Timer timer;
    CHECK(timer.of(file) == timer.answer);
    CHECK(timer.of(file) == timer.answer);
    CHECK(timer.asked == 1);
  }
}

TEST_CASE("products: where nothing can be kept it is timed each time, and nothing is said") {
  const Folder folder;
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  for (const std::string& file : {std::string("/dev/null/products.toml"),
                                  std::string("/proc/none/products.toml"), folder.file("pipe")}) {
    INFO(file);
    Timer timer;
    CHECK(timer.of(file) == timer.answer);
    CHECK(timer.of(file) == timer.answer);
    CHECK(timer.asked == 2);
  }
}

TEST_CASE(
    "products: a command that trains remembers in the user's cache, one that does not leaves it alone") {
  const Folder folder;
  const std::string config = folder.write("tiny.toml", test::kTiny), cache = folder.file("cache"),
                    home = "env XDG_CACHE_HOME=" + cache;
  const auto run = [&](const std::string& arguments) {
    const test::Outcome outcome = test::run_program("train --config " + config + arguments, home);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 0);
  };
  run(" --plan");
  CHECK_FALSE(std::filesystem::exists(cache));
  run(" --steps 2");
  const std::string file = cache + "/normscope/products.toml", first = test::read_all(file);
  CHECK(test::holds(first, fmt::format("\n\"{}, {}, {}\" = \"far=", cpu::processor_name(), cpu::choose_isa(),
                                       cpu::kGemmCandidates)));
  run(" --steps 2");
  CHECK(test::read_all(file) == first);

  const std::string others = folder.file("others");
  const auto sweep = [&](const std::string& arguments) {
    return test::run_program(
               "sweep --axis train.lr=1e-3 --set model.layers=1 --steps 2 --store none" + arguments,
               "env XDG_CACHE_HOME=" + others)
        .code;
  };
  CHECK(sweep(" --print-command command") == 0);
  CHECK_FALSE(std::filesystem::exists(others));
  CHECK(sweep("") == 0);
  CHECK(std::filesystem::exists(others + "/normscope/products.toml"));
}

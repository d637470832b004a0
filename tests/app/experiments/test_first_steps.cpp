// These tests cover the checksum of the default comparison's first steps, and the line that shows it.
#include <atomic>
#include <nlohmann/json.hpp>

#include "app/shell/parts/about.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/helpers.h"
#include "training/experiments/first_steps.h"

using namespace normscope;
using namespace normscope::experiments;

TEST_CASE("first steps: losses and checksum are the same twice and with every number of threads") {
  const FirstSteps one = take_first_steps(*make_cpu_backend(1), 3);
  const FirstSteps again = take_first_steps(*make_cpu_backend(1), 3);
  const FirstSteps two = take_first_steps(*make_cpu_backend(2), 3);
  CHECK(one.checksum.size() == 16);
  CHECK(again.checksum == one.checksum);
  CHECK(two.checksum == one.checksum);
  CHECK(two.losses == one.losses);
  REQUIRE(one.losses.size() == 3);
  for (const std::vector<float>& losses : one.losses) {
    REQUIRE(losses.size() == 3);
    CHECK(losses[0] > 3);  // nats; 96 symbols
    CHECK(losses[0] < 6);
  }
  CHECK(one.tokens_per_second > 0);
}

TEST_CASE("first steps: their report names checksum, losses and threads") {
  const FirstSteps first{
      .checksum = "b2a74913549dff2f", .losses = {{3.5f}}, .seconds = 2, .tokens_per_second = 70};
  const auto json = nlohmann::json::parse(report_of(first, 2, true));
  CHECK(json["checksum"] == first.checksum);
  CHECK(json["losses"].at(0).at(0) == 3.5f);
  CHECK(json["threads"] == 2);
  CHECK(json["steps"] == kChecksumSteps);
  const std::string words = report_of(first, 2, false);
  CHECK_THAT(words, Catch::Contains("threads 2: checksum b2a74913549dff2f, 70 tokens/s"));
  CHECK(words.ends_with('\n'));
}

TEST_CASE("first steps: another step is another checksum") {
  const auto backend = make_cpu_backend(1);
  CHECK(take_first_steps(*backend, 1).checksum != take_first_steps(*backend, 2).checksum);
}

TEST_CASE("first steps: a stop that is asked before begins no step, a later one no other") {
  const auto backend = make_cpu_backend(1);
  const FirstSteps none = take_first_steps(*backend, 3, [] { return true; });
  REQUIRE(none.losses.size() == 1);
  CHECK(none.losses[0].empty());
  CHECK(none.checksum.empty());
  int asked = 0;
  const FirstSteps some = take_first_steps(*backend, 3, [&] { return ++asked == 5; });
  CHECK(asked == 5);  // three steps of the first run, one of the second
  REQUIRE(some.losses.size() == 2);
  CHECK(some.losses[0].size() == 3);
  CHECK(some.losses[1].size() == 1);
  CHECK(some.checksum.empty());
  const FirstSteps all = take_first_steps(*backend, 2, [] { return false; });
  CHECK(all.checksum == take_first_steps(*backend, 2).checksum);
}

TEST_CASE("about: the line says so until the checksum is there, and rings when it is") {
  shell::About about;
  CHECK(about.text().ends_with("being computed"));
  std::atomic<bool> rung{false};
  about.ask([&] { rung = true; });
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!rung && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(rung);
  CHECK(about.checksum().size() == 16);  // whoever is woken finds it
  CHECK(test::contains(about.text(), about.checksum()));
}

TEST_CASE("about: nothing looks on once the last copy is gone") {
  std::atomic<int> rung{0};
  {
    shell::About about;
    about.ask([&] { ++rung; });
    const shell::About copy = about;
    about = {};
  }
  CHECK(rung == 1);
}

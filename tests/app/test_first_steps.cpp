// The checksum of the default comparison's first steps, and the line that shows it.
#include <atomic>
#include <chrono>
#include <thread>

#include "app/experiments/first_steps.h"
#include "app/shell/parts/about.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"

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

TEST_CASE("first steps: another step is another checksum") {
  const auto backend = make_cpu_backend(1);
  CHECK(take_first_steps(*backend, 1).checksum != take_first_steps(*backend, 2).checksum);
}

TEST_CASE("about: the line says so until the checksum is there, and rings when it is") {
  shell::About about;
  CHECK(about.text().ends_with("being computed"));
  std::atomic<bool> rung{false};
  about.ask([&] { rung = true; });
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (about.checksum().empty() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(rung);
  CHECK(about.checksum().size() == 16);
  CHECK(about.text().find(about.checksum()) != std::string::npos);
}

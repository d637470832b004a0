// A history has dense series forever, frames thinned to a budget with the newest dense, many readers and one writer.
#include <algorithm>

#include "catch.hpp"

#include "engine/core/error.h"
#include "training/measure/history.h"

using namespace normscope;

namespace {

std::vector<StatInfo> layout(size_t count) {
  std::vector<StatInfo> stats;
  for (size_t i = 0; i < count; ++i) stats.push_back({"stat" + std::to_string(i), 0});
  return stats;
}

void fill(History& history, int32_t from, int32_t to) {
  for (int32_t step = from; step <= to; ++step) {
    std::vector<double> stats(history.layout().size(), step);
    history.append(step, 1.0 / step, 0.5 * step, stats);
  }
}

}  // namespace

TEST_CASE("a history gives back what it was told", "[history]") {
  History history(layout(3));
  CHECK(history.last_step() == 0);
  fill(history, 1, 5);
  history.append_validation(4, 2.5);
  history.add_event({3, RunEvent::Kind::Edited, "x"});
  CHECK(history.last_step() == 5);
  CHECK(history.loss().values[3] == 0.25f);
  CHECK(history.rate().values[3] == 2.0f);
  CHECK(history.validation().steps == std::vector<int32_t>{4});
  CHECK(history.find("stat2") == 2);
  CHECK(history.find("stat3") == -1);
  CHECK(history.series(2).values == std::vector<float>{1, 2, 3, 4, 5});
  CHECK(history.series(7).values.empty());
  CHECK(history.events().size() == 1);
  std::vector<float> stats;
  int32_t found = 0;
  CHECK_FALSE(history.frame(0, stats, found));
  REQUIRE(history.frame(9, stats, found));
  CHECK(found == 5);
  CHECK_THROWS_AS(history.append(6, 0, 0, std::vector<double>(2)), Error);
}

TEST_CASE("every change moves the version", "[history]") {
  History history(layout(1));
  uint64_t last = history.version();
  const auto moved = [&] { return std::exchange(last, history.version()) != history.version(); };
  fill(history, 1, 1);
  CHECK(moved());
  history.append_validation(1, 1);
  CHECK(moved());
  history.add_event({1, RunEvent::Kind::Stuck, ""});
  CHECK(moved());
  history.truncate(0);
  CHECK(moved());
}

TEST_CASE("thinning keeps the budget, the newest frames and an even rest", "[history]") {
  constexpr size_t kBudget = 64 * 1024;
  History history(layout(100), kBudget);
  for (int32_t step = 1; step <= 5000; ++step) {
    fill(history, step, step);
    CHECK(history.bytes() - static_cast<size_t>(step) * 12 <= kBudget);
    const Series series = history.series(0);
    REQUIRE(series.steps.back() == step);
  }
  const Series series = history.series(0);
  CHECK(series.steps.size() >= 60);    // of about 150 that fit
  CHECK(series.steps.front() <= 128);  // the beginning is still told
  const size_t n = series.steps.size();
  for (size_t i = n - 20; i < n; ++i) CHECK(series.steps[i] == series.steps[i - 1] + 1);
  for (size_t i = 0; i < n; ++i) CHECK(series.values[i] == static_cast<float>(series.steps[i]));
  CHECK(history.loss().values.size() == 5000);  // dense series are never thinned
}

TEST_CASE("a spike of one step is still told when its frame went, at its step", "[history]") {
  History history(layout(50), 64 * 1024);
  for (int32_t step = 1; step <= 20000; ++step) {
    std::vector<double> stats(50, std::sin(0.01 * step));
    if (step == 1237) stats[7] = 1e6;
    if (step == 1238) stats[7] = -1e6;
    if (step == 9001) stats[8] = std::nan("");
    history.append(step, 1, 1, stats);
  }
  const Series spiky = history.series(7), calm = history.series(8);
  CHECK(spiky.steps.size() < 5000);
  const auto value_at = [&](int32_t step) {
    const auto at = std::ranges::lower_bound(spiky.steps, step);
    return at != spiky.steps.end() && *at == step
               ? spiky.values[static_cast<size_t>(at - spiky.steps.begin())]
               : 0.0f;
  };
  CHECK(value_at(1237) == 1e6f);
  CHECK(value_at(1238) == -1e6f);
  CHECK(std::ranges::is_sorted(spiky.steps));
  CHECK(std::ranges::adjacent_find(spiky.steps) == spiky.steps.end());
  for (size_t i = 0; i < calm.steps.size(); ++i)
    CHECK(calm.values[i] == static_cast<float>(std::sin(0.01 * calm.steps[i])));
  history.set_budget(16 * 1024);
  CHECK(history.bytes() <= 16 * 1024 + 20000 * 12);
  const std::vector<float> values = history.series(7).values;
  CHECK(*std::ranges::max_element(values) == 1e6f);
}

TEST_CASE("loss and rate of a very long run take a bounded memory and lose no extreme", "[history]") {
  History history({{"loss", 0}});
  constexpr int32_t kLast = 900000;
  const auto loss_at = [](int32_t step) {
    if (step == 5000) return 9.0;
    if (step == 123457) return -1.0;
    return 2.0 + 0.001 * (step % 7);
  };
  const double nothing = 0;
  for (int32_t step = 1; step <= kLast; ++step)
    history.append(step, loss_at(step), step == 4001 ? 0.5 : 0.1, {&nothing, 1});
  const Series loss = history.loss(), rate = history.rate();
  REQUIRE(loss.values.size() <= kDenseSteps);
  REQUIRE(rate.steps == loss.steps);
  CHECK(std::ranges::is_sorted(loss.steps, std::less_equal<>()));
  CHECK(loss.steps.front() == 1);
  CHECK(loss.steps.back() == kLast);
  // The newest half without a gap, the older ones evenly.
  const size_t newest = loss.steps.size() - kDenseSteps / 2;
  CHECK(loss.steps[newest] == kLast - static_cast<int32_t>(kDenseSteps / 2) + 1);
  int32_t widest = 0;
  for (size_t i = 1; i < newest; ++i) widest = std::max(widest, loss.steps[i] - loss.steps[i - 1]);
  CHECK(widest <= 256);
  const auto value_of = [&](const Series& series, int32_t step) {
    const auto at = std::ranges::lower_bound(series.steps, step);
    REQUIRE((at != series.steps.end() && *at == step));
    return series.values[static_cast<size_t>(at - series.steps.begin())];
  };
  CHECK(value_of(loss, 5000) == 9.0f);
  CHECK(value_of(loss, 123457) == -1.0f);
  CHECK(value_of(rate, 4001) == 0.5f);
  for (size_t i = 0; i < loss.steps.size(); i += 97)
    CHECK(loss.values[i] == static_cast<float>(loss_at(loss.steps[i])));
}

TEST_CASE("a budget too small for two frames still keeps the newest", "[history]") {
  History history(layout(1000), 10);
  fill(history, 1, 50);
  CHECK(history.series(0).steps.back() == 50);
  CHECK(history.series(0).steps.size() <= 3);
}

TEST_CASE("truncate forgets what lies after a step", "[history]") {
  History history(layout(2));
  fill(history, 1, 10);
  history.append_validation(5, 1);
  history.append_validation(10, 1);
  history.add_event({9, RunEvent::Kind::Stuck, ""});
  history.truncate(6);
  CHECK(history.last_step() == 6);
  CHECK(history.series(0).steps.size() == 6);
  CHECK(history.validation().steps.size() == 1);
  CHECK(history.events().empty());
  fill(history, 7, 8);
  CHECK(history.loss().steps == std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("readers see whole steps while one writes", "[history]") {
  History history(layout(20), 32 * 1024);
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader)
    readers.emplace_back([&] {
      while (!done) {
        const Series loss = history.loss(), stat = history.series(3);
        if (loss.steps.size() != loss.values.size()) ++wrong;
        for (size_t i = 0; i < stat.steps.size(); ++i)
          if (stat.values[i] != static_cast<float>(stat.steps[i])) ++wrong;
        std::vector<float> frame;
        int32_t found = 0;
        if (history.frame(1 << 30, frame, found) && frame[0] != frame[19]) ++wrong;
      }
    });
  fill(history, 1, 2000);
  done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
}

// These tests run the Lab beside others: its speed, its rest, the text that it writes, many threads that read and
// command, and its end.
#include <atomic>
#include <ctime>

#include "catch.hpp"
#include "training/session/lab.h"
#include "training/support/lab_runs.h"

using namespace normscope;
using namespace normscope::test;

TEST_CASE("the speed can be limited", "[lab]") {
  Lab lab(quiet());
  lab.post(session::SetSpeed{50});
  view_after(lab, session::ReplaceRuns{three(), {}, false});
  const auto begin = std::chrono::steady_clock::now();
  view_after(lab, session::PlayTo{10});
  CHECK(std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(150));
}

TEST_CASE("at rest the Lab uses no CPU", "[lab]") {
  LabOf lab(three());
  view_after(lab, session::PlayTo{5});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  CHECK(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.008);  // 2 % of a core
}

TEST_CASE("text grows while training, and changes no bit", "[lab]") {
  LabOptions options = quiet();
  options.live_text = true;
  Lab lab(options);
  std::vector<RunSpec> specs = three();
  for (RunSpec& spec : specs) set_field(spec, "train.steps", "400");
  lab.post(session::ReplaceRuns{specs, {}, true});
  lab.wait_until(300);
  if (lab.view()->playing) CHECK(lab.view()->step >= 300);
  const auto view = rest(lab);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(view->runs[i].writes.size() == 8);
    CHECK(same_bits(losses(view->runs[i]), alone(specs[i], 400)));
  }
}

TEST_CASE("readers and commanders from many threads", "[lab]") {
  Lab lab(quiet());
  std::atomic<int> changes{0};
  lab.on_change([&] { ++changes; });
  lab.post(session::ReplaceRuns{three(), {}, true});
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int reader = 0; reader < 2; ++reader)
    threads.emplace_back([&] {
      uint64_t last = 0;
      while (!done) {
        const auto view = lab.view();
        if (view->version < last) ++wrong;
        last = view->version;
        for (const RunView& run : view->runs) {
          const Series loss = run.history->loss();
          if (loss.steps.size() != loss.values.size()) ++wrong;
          if (!run.spec || run.name.empty()) ++wrong;
        }
      }
    });
  threads.emplace_back([&] {
    for (int i = 0; i < 15; ++i) {
      lab.post(session::EditField{i % 3, "train.lr", std::to_string(0.001 * (1 + i % 4))});
      if (i % 5 == 2 && lab.view()->runs.size() >= 3)
        lab.post(request(*lab.view(), i % 3, i % 2 ? "pre" : "sandwich"));
      if (i % 5 == 4) lab.post(session::RemoveFork{});
      if (i % 6 == 5) lab.post(session::Pause{});
      lab.post(session::Play{});
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    done = true;
  });
  for (std::thread& thread : threads) thread.join();
  const auto view = view_after(lab, session::Play{});
  CHECK(wrong == 0);
  CHECK(changes > 0);
  // Where the runs were at their end before the last Play came, that gave them as many steps again.
  CHECK(view->step >= 60);
  CHECK(view->step % 60 == 0);
  for (size_t i = 0; i < 3; ++i)
    CHECK(same_bits(losses(view->runs[i]), alone(three()[i], view->step, view->runs[i].edits)));
}

TEST_CASE("a Lab that is let go while it trains ends at once", "[lab]") {
  for (int i = 0; i < 5; ++i) {
    Lab lab(quiet());
    lab.post(session::ReplaceRuns{three(), {}, true});
    if (i > 1) lab.wait_until(2);
  }
  Lab lab(quiet());
  lab.quit();
  lab.wait_idle();
}

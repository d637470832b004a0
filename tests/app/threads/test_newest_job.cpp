// These tests cover the thread that has one job at a time: what is stopped before it was begun is never begun and does
// not look as if it were under way, in the worker of lessons too.
#include "training/files/background.h"

#include "app/lesson-player/worker.h"
#include "app/support/gate.h"
#include "app/support/small_course.h"
#include "catch.hpp"

using namespace normscope;
using fixture::Gate;

namespace {

struct Seen {
  int job = 0;
  bool running = false, stopped = false;
};

struct Jobs {
  Jobs() : jobs("test", [this](const int& job) { work(job); }, {}) {}
  void work(int job) {
    begun.push_back(job);
    gate.hold();
    jobs.publish({job, false, jobs.stopping()});
  }
  void start(int job) {
    jobs.start(job, [job](Seen& seen) { seen = {job, true, false}; });
  }
  void stop() {
    jobs.stop([](Seen& seen, const int* waiting) {
      if (waiting) seen = {*waiting, false, true};
    });
  }
  Gate gate;
  std::vector<int> begun;  // of the thread, until it has nothing to do
  NewestJob<int, Seen> jobs;
};

}  // namespace

TEST_CASE("newest job: what waits when it is stopped is never begun, and is shown as stopped") {
  Jobs test;
  test.start(1);
  test.gate.wait_for_one();
  test.start(2);
  CHECK(test.jobs.state()->job == 2);
  CHECK(test.jobs.state()->running);
  test.stop();
  CHECK(test.jobs.state()->job == 2);
  CHECK(test.jobs.state()->stopped);
  CHECK_FALSE(test.jobs.state()->running);
  test.gate.open();
  test.jobs.wait();
  CHECK(test.begun == std::vector<int>{1});
  CHECK(test.jobs.state()->job == 2);  // the one that was replaced says nothing any more
}

TEST_CASE("newest job: what is under way says itself that it was stopped, and the newest is done") {
  Jobs test;
  test.start(1);
  test.gate.wait_for_one();
  test.stop();
  CHECK(test.jobs.state()->running);  // until it has ended
  test.gate.open();
  test.jobs.wait();
  CHECK(test.jobs.state()->stopped);
  test.stop();  // nothing is there to stop
  for (const int job : {2, 3, 4}) test.start(job);
  test.jobs.wait();
  CHECK(test.begun.back() == 4);
  CHECK(test.jobs.state()->job == 4);
  CHECK_FALSE(test.jobs.state()->running);
}

TEST_CASE("a lesson whose measuring is stopped before it begins is not shown as being measured") {
  const course::Lesson first = fixture::small_lesson("02-warm-up");
  course::Lesson second = first;
  second.id = "another";
  Gate gate;
  lessons::Worker worker([&] { gate.hold(); }, 1);
  worker.start(first, {});
  gate.wait_for_one();
  worker.start(second, {});
  CHECK(worker.state()->running);
  worker.stop();
  for (int i = 0; i < 2; ++i) {
    const auto state = worker.state();
    CHECK(state->lesson == "another");
    CHECK_FALSE(state->running);
    CHECK(state->stopped);
    CHECK_FALSE(state->done);
    if (i == 0) gate.open();
    worker.wait();
  }
}

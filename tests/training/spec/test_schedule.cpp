// These tests hold learning rate schedules against their closed forms.
#include "catch.hpp"

#include "training/spec/schedule.h"

using namespace normscope;

namespace {

Schedule schedule_of(Schedule::Kind kind, int32_t warmup) {
  Schedule s;
  s.kind = kind;
  s.peak = 0.25f;  // exact in binary
  s.warmup = warmup;
  return s;
}

}  // namespace

TEST_CASE("warm-up grows evenly and ends at the peak", "[schedule]") {
  for (const Schedule::Kind kind : kSchedules) {
    const Schedule s = schedule_of(kind, 200);
    CHECK(learning_rate(s, 1) == 0.25 / 200);
    CHECK(learning_rate(s, 100) == 0.125);
    CHECK(learning_rate(s, 200) == 0.25);
  }
}

TEST_CASE("without warm-up the first step has the peak", "[schedule]") {
  CHECK(learning_rate(schedule_of(Schedule::Kind::Constant, 0), 1) == 0.25);
  CHECK(learning_rate(schedule_of(Schedule::Kind::Constant, 0), 100000) == 0.25);
}

TEST_CASE("inverse square root decays from the later of reference and warm-up", "[schedule]") {
  Schedule s = schedule_of(Schedule::Kind::InverseSqrt, 0);
  s.reference = 100;
  CHECK(learning_rate(s, 100) == 0.25);
  CHECK(learning_rate(s, 400) == Approx(0.125).epsilon(1e-15));
  s.warmup = 50;  // below the reference: both arms decay alike
  CHECK(learning_rate(s, 400) == Approx(0.125).epsilon(1e-15));
  s.warmup = 400;
  CHECK(learning_rate(s, 1600) == Approx(0.125).epsilon(1e-15));
}

TEST_CASE("linear decay is a line from the end of warm-up to zero", "[schedule]") {
  Schedule s = schedule_of(Schedule::Kind::LinearDecay, 100);
  s.end = 300;
  CHECK(learning_rate(s, 101) == Approx(0.25 * 199 / 200).epsilon(1e-15));
  CHECK(learning_rate(s, 200) == 0.125);
  CHECK(learning_rate(s, 300) == 0.0);
  CHECK(learning_rate(s, 1000) == 0.0);
}

TEST_CASE("the cosine falls from the end of warm-up to zero, slowly at both ends", "[schedule]") {
  Schedule s = schedule_of(Schedule::Kind::Cosine, 100);
  s.end = 300;
  CHECK(learning_rate(s, 150) == Approx(0.125 * (1 + std::sqrt(0.5))).epsilon(1e-15));
  CHECK(learning_rate(s, 200) == Approx(0.125).epsilon(1e-15));
  CHECK(learning_rate(s, 250) == Approx(0.125 * (1 - std::sqrt(0.5))).epsilon(1e-15));
  CHECK(learning_rate(s, 300) == 0.0);
  CHECK(learning_rate(s, 1000) == 0.0);
  s.kind = Schedule::Kind::LinearDecay;  // its neighbour agrees in the middle and at the ends alone
  CHECK(learning_rate(s, 150) < 0.9 * 0.125 * (1 + std::sqrt(0.5)));
}

TEST_CASE("step decay multiplies at each milestone", "[schedule]") {
  Schedule s = schedule_of(Schedule::Kind::StepDecay, 0);
  s.factor = 0.5f;
  s.milestones = {100, 200};
  CHECK(learning_rate(s, 99) == 0.25);
  CHECK(learning_rate(s, 100) == 0.125);
  CHECK(learning_rate(s, 199) == 0.125);
  CHECK(learning_rate(s, 200) == 0.0625);
}

TEST_CASE("no two schedules give the same rates", "[schedule]") {
  // Catches a row that borrows another's function, or whose curve stays constant.
  std::vector<std::vector<double>> rates;
  for (const Schedule::Kind kind : kSchedules) {
    Schedule s = schedule_of(kind, 100);
    s.milestones = {300, 600};
    s.end = 900;
    std::vector<double> of_kind;
    for (int64_t step = 1; step <= 1000; ++step) of_kind.push_back(learning_rate(s, step));
    for (size_t other = 0; other < rates.size(); ++other) {
      INFO(to_string(kind) << " and " << to_string(kSchedules[other]));
      CHECK(of_kind != rates[other]);
    }
    rates.push_back(std::move(of_kind));
  }
}

TEST_CASE("a schedule reads the numbers that its row names, and no other", "[schedule]") {
  // Catches a trait that was forgotten: the Lab would call a setting unused that the rate depends on.
  const auto changes = [](Schedule::Kind kind, auto change) {
    Schedule before = schedule_of(kind, 0);
    before.milestones = {300, 600};
    before.end = 900;
    Schedule after = before;
    change(after);
    for (int64_t step = 1; step <= 1000; ++step)
      if (learning_rate(before, step) != learning_rate(after, step)) return true;
    return false;
  };
  for (const Schedule::Kind kind : kSchedules) {
    INFO(to_string(kind));
    const ScheduleRow& row = row_of(kind);
    CHECK(changes(kind, [](Schedule& s) { s.reference = 50; }) == row.reads_reference);
    CHECK(changes(kind, [](Schedule& s) { s.end = 800; }) == row.has_end);
    CHECK(changes(kind, [](Schedule& s) { s.milestones = {500}; }) == row.reads_milestones);
    CHECK(changes(kind, [](Schedule& s) { s.factor = 0.5f; }) == row.reads_milestones);
    Schedule s = schedule_of(kind, 0);
    s.end = 900;
    CHECK((learning_rate(s, s.end) == 0) == row.has_end);
  }
}

TEST_CASE("schedule names are read back, others are refused", "[schedule]") {
  for (const Schedule::Kind kind : kSchedules) CHECK(schedule_from(to_string(kind)) == kind);
  CHECK_THROWS_WITH(schedule_from("sine"),
                    "[schedule] 'sine' is unknown: expected constant, inverse-sqrt, linear, step or cosine");
}

// The numbers are of a Python program of ours that follows the authors' code (mode linear_and_cos, sigma_F = 0.001) with
// another quadrature; both find the same of 500 ends, or its neighbour.
TEST_CASE("a warm-up by the loss begins at a hundredth and ends where another program ends it",
          "[schedule]") {
  for (const auto& [gap, directions, end] : {std::array{2.0, 1e3, 0.42266533},
                                             {3.0, 7e3, 0.27276553},
                                             {3.0, 3e5, 0.96551102},
                                             {7.5, 6.5e4, 2.43837675}}) {
    const LossWarmup warmup(gap, directions);
    INFO(gap << " " << directions);
    CHECK(warmup.share(gap) == Approx(0.01).epsilon(1e-12));
    CHECK(warmup.end() == Approx(end).margin(1.01 * gap / 500));
    CHECK(warmup.share(warmup.end()) == Approx(1).epsilon(1e-12));
    CHECK(warmup.share(warmup.end() + 1e-4) < 1);
    CHECK(warmup.share(0) == 0);
    CHECK(warmup.share(2 * gap) < 0.01);
  }
}

TEST_CASE("a rate that follows the loss goes on as after a warm-up of so many steps", "[schedule]") {
  Schedule s = schedule_of(Schedule::Kind::LinearDecay, 0);
  s.end = 20;
  s.target = 1;
  const LossWarmup expected(2, 1000);
  CHECK(learning_rate(s, nullptr, {}) == Approx(0.0025).epsilon(1e-12));
  std::vector<float> losses{3, 2.5f, 4};
  CHECK(learning_rate(s, &expected, losses) == Approx(0.25 * expected.share(3)).epsilon(1e-12));
  losses.push_back(
      1.1f);  // nearer to the target than the curve's end: the fourth step was the last of the warm-up
  losses.push_back(4);
  s.warmup = 4;
  CHECK(learning_rate(s, &expected, losses) == learning_rate(s, 6));
  const std::vector<float> below{0.9f, 2};  // begins below its target: there is nothing to wait for
  const double unread = learning_rate(s, nullptr, below);
  s.warmup = 0;
  CHECK(unread == learning_rate(s, 3));
}

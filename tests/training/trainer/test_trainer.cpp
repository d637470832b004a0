// These tests cover the Trainer: whose runs it trains and when, what it hands out, and that none of this changes a bit.
#include "training/trainer/trainer.h"

#include <algorithm>
#include <thread>

#include "engine/core/boundary.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/wrapped_backend.h"
#include "training/support/lab_runs.h"

using namespace normscope;
using namespace normscope::test;

namespace {

RunSpec of_seed(uint64_t seed, int32_t budget = 40) {
  RunSpec spec = small_spec("pre", seed);
  spec.train.steps = budget;
  return spec;
}

Trainer::Request losses_of(const RunSpec& spec) { return {wish_of(spec), small_task(spec.data)}; }

/// Who wishes for runs, alone or beside another.
struct Trained {
  explicit Trained(int threads) : Trained(std::make_shared<Trainer>(threads)) {}
  explicit Trained(std::shared_ptr<Trainer> by) : wisher(std::move(by), [] {}) {}
  void wait() const {
    while (wisher.busy()) std::this_thread::yield();
  }
  Wisher wisher;
};

/// Goes with a run, holds it after a step until it is let go, and puts it into the store at its end.
class Slow final : public Trainer::Companion {
 public:
  /// `held`: the step; -1: every step takes a millisecond more.
  Slow(RunSpec spec, const std::shared_ptr<Trainer>& by, int32_t held)
      : spec_(std::move(spec)), task_(small_task(spec_.data)), finished_(by->finished()), held_(held) {}
  std::unique_ptr<Run> begin() override {
    auto run = std::make_unique<Run>(spec_, task_, *backend_);
    run->measure_live(true);
    return run;
  }
  bool after_step(Run& run) override {
    most_at_once = std::max(most_at_once.load(), ++at_once);
    ++steps;
    if (held_ < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    while (run.steps_done() == held_ && !let_go) std::this_thread::yield();
    --at_once;
    return true;
  }
  void end(std::unique_ptr<Run> run) override {
    run->validation_loss();
    finished_->put(run->record());
    ended = true;
  }
  void fail() override { failed = describe_exception("a slow run"); }

  std::atomic<int32_t> steps{0};
  std::atomic<bool> let_go{false}, ended{false};
  Message failed;
  static inline std::atomic<int32_t> at_once{0}, most_at_once{0};

 private:
  RunSpec spec_;
  std::shared_ptr<const Task> task_;
  std::shared_ptr<RunCache> finished_;
  int32_t held_;
  std::unique_ptr<Backend> backend_ = make_cpu_backend(1);
};

/// Waits for what other threads bring about, and fails where it does not come.
template <typename Done>
void wait_for(const Done& done) {
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    REQUIRE(std::chrono::steady_clock::now() < last);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// A request for a run with a companion, which measures it at every step.
Trainer::Request with(const std::shared_ptr<Slow>& companion, const RunSpec& spec) {
  return {.wish = wish_of(spec, {1, 10, true}), .task = small_task(spec.data), .companion = companion};
}

/// A device that is lost at its second step, and at no later one.
class LostOnce final : public WrappedBackend {
 public:
  std::string error() const override { return {}; }
  void wait() override {
    if (std::exchange(lost_, true)) return;
    throw DeviceError("the device was lost");
  }
  std::unique_ptr<Executable> lower(ProgramData& program) override {
    if (!lost_) wait();
    return WrappedBackend::lower(program);
  }

 private:
  bool lost_ = false;
};

}  // namespace

TEST_CASE("trainer: all that is wanted is trained, with the bits of runs that train alone") {
  Trained all(2);
  std::vector<Trainer::Request> wanted;
  for (uint64_t seed = 1; seed <= 5; ++seed) wanted.push_back(losses_of(of_seed(seed)));
  wanted.push_back(wanted.front());  // a wish that two have is one training
  all.wisher.want(wanted);
  all.wait();
  CHECK(all.wisher.ended() == 5);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto known = all.wisher.find(wanted[seed - 1].wish);
    REQUIRE(known);
    CHECK(same_bits(known->losses, alone(of_seed(seed), 40)));
  }
  all.wisher.want(wanted);
  CHECK_FALSE(all.wisher.busy());
}

TEST_CASE("trainer: a longer budget goes on with the run under way, and a run not wanted any more ends") {
  Trained all(1);
  all.wisher.want({losses_of(of_seed(1, 1'000'000))});
  while (all.wisher.steps(wish_of(of_seed(1))) == 0) std::this_thread::yield();
  const int32_t before = all.wisher.steps(wish_of(of_seed(1)));
  const Trainer::Request other = losses_of(of_seed(1, 2'000'000));
  all.wisher.want({other});
  CHECK(all.wisher.steps(other.wish) >= before);
  all.wisher.want({losses_of(of_seed(2))});
  all.wait();
  CHECK_FALSE(all.wisher.find(other.wish));
  CHECK(all.wisher.find(wish_of(of_seed(2))));
}

TEST_CASE("trainer: a hand that moves on before any run has ended gets answers all the same") {
  for (const int threads : {1, 2}) {
    INFO(threads << " threads");
    Trained all(threads);
    std::vector<Wish> passed;
    const auto answered = [&] {
      return std::ranges::any_of(passed, [&](const Wish& wish) { return all.wisher.find(wish) != nullptr; });
    };
    for (uint64_t seed = 1; !answered(); ++seed) {
      REQUIRE(seed < 2000);
      Trainer::Request newest = losses_of(of_seed(seed, 400));
      newest.lingers = true;
      all.wisher.want({newest});
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
      passed.push_back(newest.wish);
    }
    all.wait();
    CHECK(all.wisher.find(passed.back()));  // the hand rests: the newest run is there
  }
}

TEST_CASE("trainer: threads that are shut out train within the time that is granted, and not beyond it") {
  Trained all(2);
  all.wisher.shut(true);
  const Trainer::Request wanted = losses_of(of_seed(1, 1'000'000));
  all.wisher.want({wanted});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(all.wisher.steps(wanted.wish) == 0);
  while (all.wisher.steps(wanted.wish) == 0) all.wisher.work_for(std::chrono::milliseconds(10));
  const int32_t granted = all.wisher.steps(wanted.wish);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(all.wisher.steps(wanted.wish) == granted);
  all.wisher.shut(false);
  while (all.wisher.steps(wanted.wish) == granted) std::this_thread::yield();
}

TEST_CASE(
    "trainer: a run on the caller's backend is trained by the caller alone, and again when it is lost") {
  Trained all(2);
  LostOnce device;
  Trainer::Request wanted = losses_of(of_seed(3));
  wanted.on = &device;
  all.wisher.want({wanted});
  CHECK(all.wisher.waits_here());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(all.wisher.busy());
  CHECK_THROWS_AS(all.wisher.work_for(std::chrono::milliseconds(1)), DeviceError);
  CHECK(all.wisher.failure(wanted.wish).empty());
  // A time that is over before the run is taken must not keep it.
  while (all.wisher.busy()) all.wisher.work_for(std::chrono::microseconds(1));
  CHECK_FALSE(all.wisher.waits_here());
  REQUIRE(all.wisher.find(wanted.wish));
  CHECK(same_bits(all.wisher.find(wanted.wish)->losses, alone(of_seed(3), 40)));
}

TEST_CASE("trainer: networks that have no room together wait for each other") {
  Trained all(2);
  all.wisher.limit(150);
  std::vector<Trainer::Request> wanted;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    wanted.push_back(losses_of(of_seed(seed, 1'000'000)));
    wanted.back().bytes = 100;
  }
  all.wisher.want(wanted);
  while (all.wisher.steps(wanted[0].wish) < 50) std::this_thread::yield();
  CHECK(all.wisher.steps(wanted[1].wish) == 0);
  all.wisher.limit(200);
  all.wisher.want(wanted);
  while (all.wisher.steps(wanted[1].wish) == 0) std::this_thread::yield();
}

TEST_CASE("trainer: a run that cannot be made is not tried again, and says why") {
  Trained all(1);
  RunSpec broken = of_seed(1);
  broken.train.init_from = "nowhere.safetensors";
  Trainer::Request wanted{wish_of(of_seed(1)), small_task(broken.data)};
  RunIdentity identity = wanted.wish.run();
  identity.origin = broken;
  wanted.wish = Wish(identity, {});
  all.wisher.want({wanted});
  all.wait();
  CHECK(contains(all.wisher.failure(wanted.wish), "nowhere"));
  all.wisher.want({wanted});
  CHECK_FALSE(all.wisher.busy());
}

// Several wishers: a lesson, a sweep and a Lab have one Trainer.

TEST_CASE("trainer: who wishes for a run that is trained for another waits for that one") {
  const auto trainer = std::make_shared<Trainer>(2);
  Trained lesson(trainer), lab(trainer);
  const auto slow = std::make_shared<Slow>(of_seed(1), trainer, 20);
  // On this task it could not be trained to the same bits.
  const auto other_task = small_task(spec_with("post", {{"data.name", "copy"}}).data);
  const Trainer::Request wanted{wish_of(of_seed(1), Trainer::kMeasured), other_task};
  lesson.wisher.want({with(slow, of_seed(1))});
  wait_for([&] { return slow->steps == 20; });
  lab.wisher.want({wanted, losses_of(of_seed(2))});
  wait_for([&] { return lab.wisher.find(wish_of(of_seed(2))) != nullptr; });  // the other thread is free
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(lab.wisher.busy());
  CHECK_FALSE(lab.wisher.find(wanted.wish));
  slow->let_go = true;
  lab.wait();
  CHECK(lab.wisher.failure(wanted.wish).empty());
  CHECK(slow->steps == 40);
  REQUIRE(lab.wisher.find(wanted.wish));
  CHECK(same_bits(lab.wisher.find(wanted.wish)->losses, alone(of_seed(1), 40)));
  CHECK(trainer->finished()->count() == 2);
}

TEST_CASE("trainer: a run that is dropped for one is trained for the other, who waited for it") {
  const auto trainer = std::make_shared<Trainer>(2);
  Trained lesson(trainer), lab(trainer);
  const auto slow = std::make_shared<Slow>(of_seed(1), trainer, 20);
  const Trainer::Request wanted{wish_of(of_seed(1), Trainer::kMeasured), small_task(of_seed(1).data)};
  lesson.wisher.want({with(slow, of_seed(1))});
  wait_for([&] { return slow->steps == 20; });
  lab.wisher.want({wanted});
  lesson.wisher.want({});
  slow->let_go = true;
  lab.wait();
  lesson.wait();
  CHECK(slow->steps == 20);  // it ends before its next step
  CHECK_FALSE(slow->ended);
  CHECK(lab.wisher.find(wanted.wish));
}

TEST_CASE("trainer: a step that does not end keeps no other wisher waiting, whoever has the threads") {
  const auto trainer = std::make_shared<Trainer>(2);
  Trained sweep(trainer), lab(trainer);
  std::vector<std::shared_ptr<Slow>> slow;
  std::vector<Trainer::Request> wanted;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    slow.push_back(std::make_shared<Slow>(of_seed(seed), trainer, 1));
    wanted.push_back(with(slow.back(), of_seed(seed)));
  }
  sweep.wisher.want(wanted);
  wait_for([&] { return slow[0]->steps + slow[1]->steps + slow[2]->steps + slow[3]->steps == 2; });
  lab.wisher.want({losses_of(of_seed(5)), losses_of(of_seed(6))});
  wait_for([&] { return !lab.wisher.busy(); });
  CHECK(lab.wisher.ended() == 2);
  CHECK(sweep.wisher.ended() == 0);
  for (const auto& one : slow) one->let_go = true;
  sweep.wait();
  for (const auto& one : slow) CHECK(one->ended);
}

TEST_CASE("trainer: wishers of endless runs are served alike, however many runs they want") {
  const auto trainer = std::make_shared<Trainer>(2);
  Trained sweep(trainer), lab(trainer);
  std::vector<Trainer::Request> wanted;
  for (uint64_t seed = 1; seed <= 6; ++seed) wanted.push_back(losses_of(of_seed(seed, 10'000'000)));
  const std::vector<Trainer::Request> first(wanted.begin(), wanted.begin() + 1);
  const std::vector<Trainer::Request> others(wanted.begin() + 1, wanted.end());
  sweep.wisher.want(others);
  const auto steps_of_sweep = [&] {
    int32_t sum = 0;
    for (const auto& one : others) sum += sweep.wisher.steps(one.wish);
    return sum;
  };
  wait_for([&] { return steps_of_sweep() > 500; });
  lab.wisher.want(first);
  const int32_t before = steps_of_sweep();
  wait_for([&] { return lab.wisher.steps(first.front().wish) > 500; });
  const int32_t beside = steps_of_sweep() - before;
  CHECK(beside > 50);
  CHECK(beside < 5000);
}

TEST_CASE("trainer: no more runs make a step at a time than a wisher allows") {
  const auto trainer = std::make_shared<Trainer>(3);
  Trained all(trainer);
  Slow::most_at_once = 0;
  std::vector<std::shared_ptr<Slow>> slow;
  std::vector<Trainer::Request> wanted;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    slow.push_back(std::make_shared<Slow>(of_seed(seed), trainer, -1));
    wanted.push_back(with(slow.back(), of_seed(seed)));
  }
  all.wisher.at_a_time(1);
  all.wisher.want(wanted);
  all.wait();
  CHECK(Slow::most_at_once == 1);
  for (const auto& one : slow) CHECK(one->steps == 40);
}

TEST_CASE("trainer: a wisher that goes waits for the steps under way, and its runs make no more") {
  const bool dropped_before = GENERATE(false, true);
  const auto trainer = std::make_shared<Trainer>(2);
  Trained stays(trainer);
  std::atomic<bool> gone{false}, too_early{false};
  std::jthread opener;
  std::vector<std::shared_ptr<Slow>> slow;
  {
    Trained goes(trainer);
    std::vector<Trainer::Request> wanted;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      slow.push_back(std::make_shared<Slow>(of_seed(seed, 1'000'000), trainer, 5));
      wanted.push_back(with(slow.back(), of_seed(seed, 1'000'000)));
    }
    goes.wisher.want(wanted);
    wait_for(
        [&] { return std::ranges::any_of(slow, [](const auto& one) { return one->steps == 5; }); });  // held
    if (dropped_before) goes.wisher.want({});
    opener = std::jthread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      too_early = gone.load();
      for (const auto& one : slow) one->let_go = true;
    });
  }
  gone = true;
  opener.join();
  CHECK_FALSE(too_early);
  const int32_t steps = slow[0]->steps + slow[1]->steps + slow[2]->steps;
  stays.wisher.want({losses_of(of_seed(7))});
  stays.wait();
  CHECK(slow[0]->steps + slow[1]->steps + slow[2]->steps == steps);
  for (const auto& one : slow) CHECK_FALSE(one->ended);
}

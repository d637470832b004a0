// These tests cover the Trainer: whose runs it trains and when, what it hands out, and that none of this changes a bit.
#include "training/trainer/trainer.h"

#include <algorithm>
#include <thread>

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

/// A Trainer and the store that it fills.
struct Trained {
  explicit Trained(int threads) : trainer(threads, cache, [] {}) {}
  void wait() const {
    while (trainer.busy()) std::this_thread::yield();
  }
  std::shared_ptr<RunCache> cache = std::make_shared<RunCache>();
  Trainer trainer;
};

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
  all.trainer.want(wanted);
  all.wait();
  CHECK(all.trainer.ended() == 5);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto known = all.trainer.find(wanted[seed - 1].wish);
    REQUIRE(known);
    CHECK(same_bits(known->losses, alone(of_seed(seed), 40)));
  }
  all.trainer.want(wanted);
  CHECK_FALSE(all.trainer.busy());
}

TEST_CASE("trainer: a longer budget goes on with the run under way, and a run not wanted any more ends") {
  Trained all(1);
  all.trainer.want({losses_of(of_seed(1, 1'000'000))});
  while (all.trainer.steps(wish_of(of_seed(1))) == 0) std::this_thread::yield();
  const int32_t before = all.trainer.steps(wish_of(of_seed(1)));
  const Trainer::Request other = losses_of(of_seed(1, 2'000'000));
  all.trainer.want({other});
  CHECK(all.trainer.steps(other.wish) >= before);
  all.trainer.want({losses_of(of_seed(2))});
  all.wait();
  CHECK_FALSE(all.trainer.find(other.wish));
  CHECK(all.trainer.find(wish_of(of_seed(2))));
}

TEST_CASE("trainer: a hand that moves on before any run has ended gets answers all the same") {
  for (const int threads : {1, 2}) {
    INFO(threads << " threads");
    Trained all(threads);
    std::vector<Wish> passed;
    const auto answered = [&] {
      return std::ranges::any_of(passed, [&](const Wish& wish) { return all.trainer.find(wish) != nullptr; });
    };
    for (uint64_t seed = 1; !answered(); ++seed) {
      REQUIRE(seed < 2000);
      Trainer::Request newest = losses_of(of_seed(seed, 400));
      newest.lingers = true;
      all.trainer.want({newest});
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
      passed.push_back(newest.wish);
    }
    all.wait();
    CHECK(all.trainer.find(passed.back()));  // the hand rests: the newest run is there
  }
}

TEST_CASE("trainer: threads that are shut out train within the time that is granted, and not beyond it") {
  Trained all(2);
  all.trainer.shut(true);
  const Trainer::Request wanted = losses_of(of_seed(1, 1'000'000));
  all.trainer.want({wanted});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(all.trainer.steps(wanted.wish) == 0);
  while (all.trainer.steps(wanted.wish) == 0) all.trainer.work_for(std::chrono::milliseconds(10));
  const int32_t granted = all.trainer.steps(wanted.wish);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(all.trainer.steps(wanted.wish) == granted);
  all.trainer.shut(false);
  while (all.trainer.steps(wanted.wish) == granted) std::this_thread::yield();
}

TEST_CASE(
    "trainer: a run on the caller's backend is trained by the caller alone, and again when it is lost") {
  Trained all(2);
  LostOnce device;
  Trainer::Request wanted = losses_of(of_seed(3));
  wanted.on = &device;
  all.trainer.want({wanted});
  CHECK(all.trainer.waits_here());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(all.trainer.busy());
  CHECK_THROWS_AS(all.trainer.work_for(std::chrono::milliseconds(1)), DeviceError);
  CHECK(all.trainer.failure(wanted.wish).empty());
  // A time that is over before the run is taken must not keep it.
  while (all.trainer.busy()) all.trainer.work_for(std::chrono::microseconds(1));
  CHECK_FALSE(all.trainer.waits_here());
  REQUIRE(all.trainer.find(wanted.wish));
  CHECK(same_bits(all.trainer.find(wanted.wish)->losses, alone(of_seed(3), 40)));
}

TEST_CASE("trainer: networks that have no room together wait for each other") {
  Trained all(2);
  all.trainer.limit(150);
  std::vector<Trainer::Request> wanted;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    wanted.push_back(losses_of(of_seed(seed, 1'000'000)));
    wanted.back().bytes = 100;
  }
  all.trainer.want(wanted);
  while (all.trainer.steps(wanted[0].wish) < 50) std::this_thread::yield();
  CHECK(all.trainer.steps(wanted[1].wish) == 0);
  all.trainer.limit(200);
  all.trainer.want(wanted);
  while (all.trainer.steps(wanted[1].wish) == 0) std::this_thread::yield();
}

TEST_CASE("trainer: a run that cannot be made is not tried again, and says why") {
  Trained all(1);
  RunSpec broken = of_seed(1);
  broken.train.init_from = "nowhere.safetensors";
  Trainer::Request wanted{wish_of(of_seed(1)), small_task(broken.data)};
  RunIdentity identity = wanted.wish.run();
  identity.origin = broken;
  wanted.wish = Wish(identity, {});
  all.trainer.want({wanted});
  all.wait();
  CHECK(contains(all.trainer.failure(wanted.wish), "nowhere"));
  all.trainer.want({wanted});
  CHECK_FALSE(all.trainer.busy());
}

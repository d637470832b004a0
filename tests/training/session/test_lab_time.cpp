// These tests cover the Lab and time: playing on from an earlier step as D, reruns with other seeds, and what all runs
// together keep.
#include <ctime>

#include "engine/core/stopwatch.h"
#include "engine/support/wrapped_backend.h"
#include "training/run/run_record.h"
#include "training/session/lab_trainer.h"
#include "training/support/lab_runs.h"

using namespace normscope;
using namespace normscope::test;

namespace {

LabOptions silent() {
  LabOptions options = quiet();
  options.sample_text = false;
  return options;
}

std::vector<RunSpec> two() { return {small_spec("post"), small_spec("pre")}; }

}  // namespace

TEST_CASE("seed variability: each card with four more seeds, edits included; no bit of a live run changes") {
  LabOf lab(two(), silent());
  view_after(lab, session::PlayTo{20});
  lab.post(session::EditField{0, "train.lr", "0.001"});
  view_after(lab, session::PlayTo{40});
  CHECK(lab.view()->runs[0].spread == nullptr);
  auto view = view_after(lab, session::CheckSeeds{});
  REQUIRE(view->message == "");
  CHECK(view->seed_check_steps == 0);
  CHECK(view->step == 40);
  const std::vector<Edit> edits = view->runs[0].edits;
  REQUIRE(edits.size() == 1);
  for (size_t card = 0; card < 2; ++card) {
    REQUIRE(view->runs[card].spread);
    const RunSpread& spread = *view->runs[card].spread;
    CHECK(spread.seeds == 4);
    REQUIRE(spread.mean.size() == 60);
    std::vector<std::vector<float>> reruns;
    for (uint64_t seed = 2; seed <= 5; ++seed)
      reruns.push_back(
          alone(small_spec(card ? "pre" : "post", seed), 60, card ? std::vector<Edit>{} : edits));
    for (size_t i = 0; i < 60; ++i) {
      double sum = 0;
      float low = 1e9f, high = -1e9f;
      for (const auto& rerun : reruns) {
        sum += static_cast<double>(rerun[i]);
        low = std::min(low, rerun[i]);
        high = std::max(high, rerun[i]);
      }
      CHECK(spread.mean[i] == Approx(sum / 4).epsilon(1e-6));
      CHECK(spread.low[i] == low);
      CHECK(spread.high[i] == high);
    }
  }
  // Asked again there is nothing left to train; another edit is another experiment.
  const auto kept = view->runs[1].spread;
  CHECK(view_after(lab, session::CheckSeeds{})->runs[1].spread == kept);
  CHECK(view_after(lab, session::EditField{1, "train.lr", "0.002"})->runs[1].spread == nullptr);
  CHECK(lab.view()->runs[0].spread != nullptr);
  view = view_after(lab, session::Play{});
  CHECK(same_bits(losses(view->runs[0]), alone(small_spec("post"), 60, edits)));
}

TEST_CASE("reruns go on beside playing runs, and can be stopped") {
  std::vector<RunSpec> specs = two();
  for (RunSpec& spec : specs) set_field(spec, "train.steps", "400");
  LabTrainer trainer(silent());
  trainer.carry_out(session::ReplaceRuns{specs, {}, true});
  trainer.carry_out(session::CheckSeeds{});
  const int64_t asked = trainer.view().seed_check_steps;
  CHECK(asked == 2 * 4 * 400);
  for (int i = 0; i < 200; ++i) trainer.work();
  const LabView halfway = trainer.view();
  CHECK(halfway.step == 200);  // the live runs come first
  // How many reruns' steps fit beside them is a matter of the clock; that there are some, and not all, is not.
  CHECK(halfway.seed_check_done > 0);
  CHECK(halfway.seed_check_done < asked);
  trainer.carry_out(session::EditField{
      1, "train.lr", "0.001"});  // its reruns have lost their card: dropped at the next rerun's turn
  while (trainer.view().seed_check_steps == asked && trainer.has_work()) trainer.work();
  CHECK(trainer.view().seed_check_steps == asked / 2);
  const auto kept = trainer.view().runs[0].spread;
  trainer.carry_out(session::CheckSeeds{false});
  CHECK(trainer.view().seed_check_steps == 0);
  while (trainer.has_work()) trainer.work();
  const LabView end = trainer.view();
  CHECK(end.step == 400);
  CHECK(end.seed_check_done == 0);
  CHECK(end.runs[0].spread == kept);  // stopped: no seed was finished after it
  CHECK(same_bits(losses(end.runs[0]), alone(specs[0], 400)));
}

TEST_CASE("the time of a step is that of its runs, whether they are validated after it or not") {
  LabOptions options = silent();
  options.validation_every = 1;
  LabTrainer trainer(options);
  trainer.carry_out(session::ReplaceRuns{two(), {}, true});
  for (int i = 0; i < 3; ++i) trainer.work();
  const LabView view = trainer.view();
  REQUIRE(view.step == 3);
  CHECK(view.runs[0].validation_loss > 0);
  CHECK(view.seconds_per_step == Approx(view.runs[0].seconds_per_step + view.runs[1].seconds_per_step));
}

namespace {

/// A machine on which the process is stopped (Ctrl+Z) in the middle of every step, while `stops` holds.
class StoppingBackend final : public WrappedBackend {
 public:
  explicit StoppingBackend(const bool& stops) : stops_(stops) {}
  std::string error() const override {  // which each step asks for
    if (stops_) note_stop();
    return {};
  }

 private:
  const bool& stops_;
};

}  // namespace

TEST_CASE("the time of a step is known of steps alone in which the process was not stopped") {
  bool stops = true;
  LabOptions options = silent();
  options.backend = {.cuda = true};  // the Lab makes a CPU itself
  options.open_backend = [&](BackendChoice) { return std::make_unique<StoppingBackend>(stops); };
  LabTrainer trainer(options);
  trainer.open_device();
  trainer.carry_out(session::ReplaceRuns{two(), {}, true});
  for (int i = 0; i < 3; ++i) trainer.work();
  REQUIRE(trainer.view().step == 3);
  CHECK(trainer.view().seconds_per_step == 0);
  CHECK(trainer.view().tokens_per_second == 0);
  stops = false;
  trainer.work();
  CHECK(trainer.view().seconds_per_step > 0);
  const double known = trainer.view().seconds_per_step;
  stops = true;
  trainer.work();
  REQUIRE(trainer.view().step == 5);
  CHECK(trainer.view().seconds_per_step == known);
}

TEST_CASE("the store of finished runs tells its keys apart and keeps what knows most") {
  const auto wish = [](RunSpec spec, std::vector<Edit> edits = {}, Wish::Numbers numbers = {}) {
    spec.train.steps = 3;
    return wish_of(spec, numbers, std::move(edits));
  };
  RunSpec named = small_spec(), completed = named;
  named.name = "mine";
  complete(completed);
  const Wish plain = wish(small_spec());
  CHECK(wish(named).key() == plain.key());
  CHECK(wish(completed).key() == plain.key());
  CHECK(wish(small_spec("pre")).key() != plain.key());
  CHECK(wish(small_spec(), {{3, "train.lr", "0.1"}}).key() != plain.key());
  // What knows more replaces what knows less, never the other way; the oldest go.
  RunCache cache(15000);
  RunRecord losses_only{plain.run(), {3, 2, 1}};
  losses_only.origin = named;
  cache.put(losses_only);
  REQUIRE(cache.find(plain));
  CHECK(cache.find(plain)->origin.name.empty());  // it answers under the settings that were asked for
  const Wish::Numbers end{.end = true};
  CHECK_FALSE(cache.find(wish(small_spec(), {}, end)));
  RunRecord whole = losses_only;
  whole.history = std::make_shared<History>(std::vector<StatInfo>{});
  whole.end = std::make_shared<Keyframe>();
  cache.put(whole);
  CHECK(cache.put(losses_only)->whole());
  CHECK(cache.find(wish(small_spec(), {}, end)));
  CHECK(cache.count() == 1);
  for (uint64_t seed = 2; seed < 40; ++seed) {
    RunRecord other{wish(small_spec("post", seed)).run(), {}};
    other.losses.resize(100);
    cache.put(std::move(other));
  }
  CHECK_FALSE(cache.find(plain));
  CHECK(cache.find(wish(small_spec("post", 39))));
}

TEST_CASE("runs that are kept for undo share one budget: keyframes of the oldest go first, then the oldest") {
  LabOptions options = silent();
  options.kept_bytes = size_t{1} << 20;
  LabTrainer trainer(options);
  std::vector<RunSpec> specs = two();
  for (RunSpec& spec : specs) set_field(spec, "train.steps", "60");
  trainer.carry_out(session::ReplaceRuns{specs, {}, false});
  trainer.carry_out(session::PlayTo{45});
  while (trainer.has_work()) trainer.work();
  size_t most = 0;
  for (int i = 0; i < 40; ++i) {
    trainer.carry_out(session::ForkFrom{0, 45});
    most = std::max(most, trainer.kept_bytes());
  }
  CHECK(most > options.kept_bytes / 2);
  CHECK(most <= options.kept_bytes);
}

// These tests run the Lab beside others: its speed, its rest, the text that it writes, many threads that read and
// command, and its end.

TEST_CASE("the speed can be limited") {
  Lab lab(quiet());
  lab.post(session::SetSpeed{50});
  view_after(lab, session::ReplaceRuns{three(), {}, false});
  const auto begin = std::chrono::steady_clock::now();
  view_after(lab, session::PlayTo{10});
  CHECK(std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(150));
}

TEST_CASE("at rest the Lab uses no CPU") {
  LabOf lab(three());
  view_after(lab, session::PlayTo{5});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  CHECK(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.008);  // 2 % of a core
}

TEST_CASE("text grows while training, and changes no bit") {
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

TEST_CASE("readers and commanders from many threads") {
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
      if (i % 5 == 4) lab.post(session::Undo{});
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

TEST_CASE("a Lab that is let go while it trains ends at once") {
  for (int i = 0; i < 5; ++i) {
    Lab lab(quiet());
    lab.post(session::ReplaceRuns{three(), {}, true});
    if (i > 1) lab.wait_until(2);
  }
  Lab lab(quiet());
  lab.quit();
  lab.wait_idle();
}

// These tests cover the runner of experiments and its store: what is trained once, goes on, or is taken from others.
#include <atomic>
#include <filesystem>
#include <fstream>

#include "app/course/check.h"
#include "app/course/reader.h"
#include "app/support/program.h"
#include "app/support/small_course.h"
#include "app/support/stored_files.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/cpu/backend_cpu.h"
#include "training/experiments/loss_archive.h"
#include "training/experiments/run_store.h"
#include "training/experiments/runner.h"
#include "training/experiments/store/numbers.h"
#include "training/session/lab.h"
#include "training/support/lab_runs.h"
#include "training/support/tiny.h"

using namespace normscope;
using namespace normscope::experiments;
using test::Folder;

namespace {

RunSpec tiny_run(const char* preset, uint64_t seed = 1) {
  RunSpec spec = test::tiny_spec(preset, 12, 1);
  spec.seed = seed;
  complete(spec);
  return spec;
}

/// Adds up losses: its sum for a resumed run is right only if so_far() went along.
class SumOfLosses final : public Measurement {
 public:
  explicit SumOfLosses(std::atomic<int>* begun = nullptr) : begun_(begun) {}
  void begin(Run&) override {
    if (begun_) ++*begun_;
  }
  bool after_step(const Run& run) override {
    sum_ += run.last_loss();
    return true;
  }
  nlohmann::json end(Run&) override { return sum_; }
  nlohmann::json so_far() const override { return sum_; }
  bool go_on(const InputValue& so_far) override {
    sum_ = so_far.number(0, 1e9);
    return true;
  }

 private:
  double sum_ = 0;
  std::atomic<int>* begun_;
};

Plan plan_of(std::vector<Experiment> experiments, std::atomic<int>* begun = nullptr) {
  Plan plan;
  plan.name = "a test";
  plan.measurement = "sum 1";
  plan.experiments = std::move(experiments);
  plan.measure = [begun](size_t) { return std::make_unique<SumOfLosses>(begun); };
  return plan;
}

bool carry_on(const Progress&) { return true; }

std::vector<double> values(const experiments::Outcome& outcome) {
  std::vector<double> all;
  for (const auto& result : outcome.results) all.push_back(result ? result->number(-1e9, 1e9) : -1);
  return all;
}

std::vector<Experiment> four_experiments() {
  return {{tiny_run("pre"), {}},
          {tiny_run("post"), {}},
          {tiny_run("pre", 2), {}},
          {tiny_run("pre"), {{5, "train.lr", "0.001"}}}};
}

}  // namespace

TEST_CASE("experiments: equal ones are trained once, and what the store has is not trained") {
  const Folder folder;
  ResultStore store(folder.file("results"));
  std::vector<Experiment> runs = four_experiments();
  runs.push_back(runs.front());
  const experiments::Outcome first = train(plan_of(runs), store, {.runs_at_a_time = 2}, carry_on);
  CHECK(first.trained == 4);
  CHECK(values(first)[0] == values(first)[4]);
  CHECK(values(first)[0] != values(first)[3]);  // an edit is another run
  std::atomic<int> begun{0};
  const experiments::Outcome again = train(plan_of(runs, &begun), store, {.runs_at_a_time = 2}, carry_on);
  CHECK(again.stored == 4);
  CHECK(begun == 0);
  CHECK(values(again) == values(first));
  // Another measurement of the same run is not this one.
  Plan other = plan_of(runs);
  other.measurement = "sum 2";
  CHECK(train(other, store, {.stored_only = true}, carry_on).stored == 0);
}

TEST_CASE("experiments: the key holds all that decides a run's bits") {
  const auto backend = make_cpu_backend(1);
  const Experiment run{tiny_run("pre"), {}};
  const std::string key = key_of(run, 7, *backend);
  CHECK(key_of({run.spec, {{3, "train.lr", "0.1"}}}, 7, *backend) != key);
  CHECK(key_of({tiny_run("pre", 2), {}}, 7, *backend) != key);
  CHECK(key_of(run, 8, *backend) != key);  // other data
  CHECK(test::contains(key, "numbers "));
  // What it starts from.
  CHECK(key_of(run, 7, *backend, "another") != key);
  CHECK(key_of(run, 7, *backend, "another") != key_of(run, 7, *backend, "a third"));
  RunSpec named = run.spec;
  named.name = "another name";
  CHECK(key_of({named, {}}, 7, *backend) == key);
}

TEST_CASE("experiments: stopped in the middle they go on to the same bits") {
  const std::vector<double> straight = [] {
    ResultStore none("");
    return values(train(plan_of(four_experiments()), none, {.runs_at_a_time = 1}, carry_on));
  }();
  const Folder folder;
  ResultStore store(folder.file("results"));
  // Each call gets a few steps further.
  class Five final : public Measurement {
   public:
    bool after_step(const Run& run) override {
      inner_.after_step(run);
      return ++steps_ < 5;
    }
    nlohmann::json end(Run& run) override { return inner_.end(run); }
    nlohmann::json so_far() const override { return inner_.so_far(); }
    bool go_on(const InputValue& so_far) override { return inner_.go_on(so_far); }

   private:
    SumOfLosses inner_;
    int steps_ = 0;
  };
  Plan plan = plan_of(four_experiments());
  plan.measure = [](size_t) { return std::make_unique<Five>(); };
  int calls = 0;
  experiments::Outcome outcome;
  do {
    outcome = train(plan, store, {.runs_at_a_time = 1}, carry_on);
    ++calls;
    REQUIRE(calls < 40);
  } while (!outcome.complete);
  CHECK(calls > 4);
  CHECK(values(outcome) == straight);
  for (const auto& file : std::filesystem::directory_iterator(store.folder())) {
    INFO(file.path());
    CHECK_FALSE(test::contains(file.path().string(), ".partial."));
    CHECK(file.path().extension() != ".safetensors");
  }
}

TEST_CASE("experiments: shards share the work, and merged they are the whole") {
  const Folder folder;
  ResultStore whole(folder.file("whole")), one(folder.file("one")), two(folder.file("two"));
  const Plan plan = plan_of(four_experiments());
  const std::vector<double> straight = values(train(plan, whole, {}, carry_on));
  CHECK(train(plan, one, {.shard = shard_from("0/2")}, carry_on).trained == 2);
  CHECK(train(plan, two, {.shard = shard_from("1/2")}, carry_on).trained == 2);
  std::ofstream(folder.file("two") + "/0123456789abcdef-sum-1.json") << "half a res";
  const Merged merged =
      merge(folder.file("all"), {folder.file("one"), folder.file("two"), folder.file("one")});
  CHECK(merged.taken == 4);
  CHECK(merged.known == 2);
  REQUIRE(merged.damaged.size() == 1);
  CHECK(merged.numbers == std::vector{numbers_of(*make_cpu_backend(1))});
  ResultStore all(folder.file("all"));
  const experiments::Outcome outcome = train(plan, all, {.stored_only = true}, carry_on);
  CHECK(outcome.stored == 4);
  CHECK(values(outcome) == straight);
}

TEST_CASE("experiments: a run starts with the weights that another ends with, as train.init_from has it") {
  const Folder folder;
  const auto start = std::make_shared<const Experiment>(Experiment{tiny_run("pre"), {}});
  const Experiment tuned{tiny_run("pre", 2), {}, start}, third{tiny_run("pre", 3), {}, start};
  ResultStore store(folder.file("results"));
  const experiments::Outcome first =
      train(plan_of({tuned, *start}), store, {.runs_at_a_time = 2}, carry_on);  // whatever their order
  CHECK(first.trained == 2);
  const auto backend = make_cpu_backend(1);
  Run begun(start->spec, make_task(start->spec.data), *backend);
  while (begun.steps_done() < 12) begun.step();
  begun.save(folder.file("begun.safetensors"));
  RunSpec by_hand = tuned.spec;
  by_hand.train.init_from = folder.file("begun.safetensors");
  Run run(by_hand, make_task(by_hand.data), *backend);
  double sum = 0;
  while (run.steps_done() < 12) {
    run.step();
    sum += run.last_loss();
  }
  CHECK(values(first)[0] == sum);
  // The same settings afresh are another run.
  const experiments::Outcome afresh = train(plan_of({Experiment{tuned.spec, {}}}), store, {}, carry_on);
  CHECK(afresh.trained == 1);
  CHECK(values(afresh)[0] != sum);
  // Weights that are gone are made again where a run needs them, and only there.
  for (const auto& file : std::filesystem::directory_iterator(folder.file("results")))
    if (file.path().extension() == ".safetensors") std::filesystem::remove(file.path());
  CHECK(train(plan_of({*start, tuned}), store, {}, carry_on).stored == 2);
  const experiments::Outcome more = train(plan_of({*start, tuned, third}), store, {}, carry_on);
  CHECK(more.trained == 2);
  CHECK(more.stored == 1);
  CHECK(store.damaged().empty());
  // So are damaged ones, which are named.
  for (const auto& file : std::filesystem::directory_iterator(folder.file("results")))
    if (file.path().extension() == ".safetensors") std::filesystem::resize_file(file.path(), 100);
  const Experiment fourth{tiny_run("pre", 4), {}, start};
  const experiments::Outcome mended = train(plan_of({*start, tuned, fourth}), store, {}, carry_on);
  CHECK(mended.trained == 2);
  CHECK(mended.failed.empty());
  CHECK(store.damaged().size() == 1);
  // A shard trains what its own runs start from, while they are not there.
  ResultStore part(folder.file("part"));
  const auto second = [&] {
    return train(plan_of({*start, tuned}), part, {.shard = shard_from("1/2")}, carry_on).trained;
  };
  CHECK(second() == 2);
  const std::string of_start = part.state_path(key_of(*start, begun.task().hash(), *backend), "sum 1");
  REQUIRE(std::filesystem::remove(of_start));
  REQUIRE(std::filesystem::remove(std::filesystem::path(of_start).replace_extension(".json")));
  CHECK(second() == 0);
  ResultStore none("");
  const experiments::Outcome nowhere = train(plan_of({*start, tuned}), none, {}, carry_on);
  CHECK(nowhere.trained == 1);
  CHECK_THAT(nowhere.failed.at(1), Catch::Contains("expected a folder for results"));
  CHECK_THROWS_WITH(train(plan_of({tuned}), none, {}, carry_on), Catch::Contains("not in the plan"));
}

TEST_CASE("experiments: a device that fails where a run goes on makes no damaged file of its state") {
  class OneStep final : public Measurement {
   public:
    bool after_step(const Run&) override { return false; }
    nlohmann::json end(Run&) override { return 1; }
    bool go_on(const InputValue&) override { throw DeviceError("[cuda] lost"); }
  };
  const Folder folder;
  ResultStore store(folder.file("results"));
  Plan plan = plan_of({Experiment{tiny_run("pre"), {}}});
  plan.measure = [](size_t) { return std::make_unique<OneStep>(); };
  CHECK_FALSE(train(plan, store, {}, carry_on).complete);
  CHECK_THROWS_AS(train(plan, store, {}, carry_on), DeviceError);
  CHECK(store.damaged().empty());
}

TEST_CASE(
    "experiments: a device that fails ends the call, and no run counts as failed, damaged or unmeasured") {
  class Lost final : public Measurement {
   public:
    explicit Lost(std::string where) : where_(std::move(where)) {}
    void begin(Run&) override { lose("begin"); }
    bool after_step(const Run&) override { return true; }
    void afterwards(Run&) override { lose("not enough"); }
    bool known(const InputValue&, Run*) override {
      lose("known");
      return where_ != "not enough";
    }
    nlohmann::json end(Run&) override { return 1; }

   private:
    void lose(const char* place) const {
      if (where_ == place) throw DeviceError("[cuda] lost");
    }
    std::string where_;
  };
  const Folder folder;
  ResultStore store(folder.file("results"));
  const auto lost = [&](const char* where) {
    Plan plan = plan_of({Experiment{tiny_run("pre"), {}}});
    plan.keep_state = true;
    plan.measure = [where](size_t) { return std::make_unique<Lost>(where); };
    return plan;
  };
  CHECK_THROWS_AS(train(lost("begin"), store, {}, carry_on), DeviceError);
  REQUIRE(train(lost("nowhere"), store, {}, carry_on).trained == 1);
  CHECK_THROWS_AS(train(lost("known"), store, {}, carry_on), DeviceError);
  CHECK_THROWS_AS(train(lost("not enough"), store, {}, carry_on), DeviceError);  // of the state that was kept
  CHECK(store.damaged().empty());
}

TEST_CASE(
    "experiments: of a chain of starts each run is stored or missing, once, and each trains after its start") {
  const Folder folder;
  const auto first = std::make_shared<const Experiment>(Experiment{tiny_run("pre"), {}});
  const auto second = std::make_shared<const Experiment>(Experiment{tiny_run("pre", 2), {}, first});
  const Experiment third{tiny_run("pre", 3), {}, second}, aside{tiny_run("pre", 4), {}, first},
      last{tiny_run("pre", 5), {}, second};
  const Plan plan = plan_of({last, aside, *second, *first, last});
  ResultStore store(folder.file("results"));
  const auto count = [&](const Plan& of) {
    const experiments::Outcome outcome = train(of, store, {.stored_only = true}, carry_on);
    CHECK(outcome.failed.empty());
    return std::pair(outcome.stored, outcome.missing.size());
  };
  using Counts = std::pair<int32_t, size_t>;
  CHECK(count(plan) == Counts{0, 4});
  REQUIRE(train(plan_of({third, *second, *first}), store, {.runs_at_a_time = 2}, carry_on).trained == 3);
  CHECK(count(plan) == Counts{2, 2});
  // Weights that are gone: their run is to be trained again, and what it starts from only where that is gone too.
  const auto backend = make_cpu_backend(1);
  const uint64_t data = make_task(first->spec.data)->hash();
  const std::string first_key = key_of(*first, data, *backend);
  const std::string second_key = key_of(*second, data, *backend, first_key);
  REQUIRE(std::filesystem::remove(store.state_path(second_key, "sum 1")));
  CHECK(count(plan) == Counts{1, 3});
  REQUIRE(std::filesystem::remove(store.state_path(first_key, "sum 1")));
  CHECK(count(plan) == Counts{0, 4});
  const experiments::Outcome outcome = train(plan, store, {.runs_at_a_time = 4}, carry_on);
  CHECK(outcome.failed.empty());
  CHECK(outcome.trained == 4);
  CHECK(count(plan) == Counts{4, 0});
  // A shard has them all where its own run needs them.
  ResultStore part(folder.file("part"));
  CHECK(train(plan_of({last, *second, *first}), part, {.shard = shard_from("0/4")}, carry_on).trained == 3);
  CHECK(part.find(key_of(last, data, *backend, second_key), "sum 1")->number(-1e9, 1e9) ==
        values(outcome)[0]);
}

TEST_CASE("experiments: a shard of lessons' runs is the same part of them, whatever is there already") {
  std::vector<Experiment> runs;
  for (uint64_t seed = 1; seed <= 4; ++seed) runs.push_back({tiny_run("pre", seed), {}});
  const Folder folder;
  RunStore part(ResultStore(folder.file("part")), {.runs_at_a_time = 2, .shard = shard_from("1/2")});
  part.get(runs[0].spec, {}, {});
  CHECK(part.train(runs, {}, carry_on).trained == 2);
  const auto has = [&](size_t place) { return part.find(RunStore::key_of(runs[place].spec, {})) != nullptr; };
  CHECK(has(1));
  CHECK_FALSE(has(2));
  CHECK(has(3));
}

TEST_CASE("experiments: shards count from 0, and overlap where they have a place in common") {
  CHECK(shard_from("0/1") == Shard{0, 1});
  CHECK(shard_from("7/8") == Shard{7, 8});
  CHECK(to_string(shard_from("2/5")) == "2/5");
  for (const char* wrong : {"", "1", "2/2", "3/2", "1/0", "0/0", "a/b", "1/2x", "-1/2", "0/2000000"})
    CHECK_THROWS_AS(shard_from(wrong), Error);
  CHECK_THROWS_WITH(shard_from("8/8"), Catch::Contains("expected 0/8 to 7/8"));
  for (int32_t n = 1; n <= 6; ++n)
    for (int32_t m = 1; m <= 6; ++m)
      for (int32_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < m; ++j) {
          bool common = false;
          for (int32_t place = 0; place < n * m; ++place)
            common = common || (place % n == i && place % m == j);
          INFO(i << "/" << n << " and " << j << "/" << m);
          CHECK(overlap({i, n}, {j, m}) == common);
        }
}

TEST_CASE("experiments: what a run does not read makes no other run of it") {
  const auto backend = make_cpu_backend(1);
  const auto key = [&](const char* field, const char* value, std::vector<Edit> edits = {}) {
    RunSpec spec = tiny_run("pre");
    set_field(spec, field, value);
    return key_of({spec, std::move(edits)}, 7, *backend);
  };
  const std::string plain = key_of({tiny_run("pre"), {}}, 7, *backend);
  CHECK(key("train.decay_end", "77") == plain);
  CHECK(key("train.momentum", "0.5") == plain);
  CHECK(key("train.lr", "0.5") != plain);
  // An edit may make it count.
  const std::vector<Edit> edit = {{5, "train.schedule", "linear"}};
  CHECK(key("train.decay_end", "77", edit) != key("train.decay_end", "78", edit));
}

TEST_CASE("experiments: results of another instruction set are named when they are merged") {
  const Folder folder;
  ResultStore store(folder.file("one"));
  const auto backend = make_cpu_backend(1);
  std::string key = key_of({tiny_run("pre"), {}}, 7, *backend);
  store.put(key, "sum 1", 1.0);
  store.put(key.substr(0, key.rfind("numbers ")) + "numbers 1 CPU avx9 0123456789abcdef\n", "sum 1", 1.0);
  const Merged merged = merge(folder.file("all"), {folder.file("one")});
  CHECK(merged.numbers.size() == 2);
  CHECK_THROWS_AS(merge(folder.file("all"), {folder.file("nowhere")}), Error);
}

TEST_CASE("experiments: one shard of two kinds of machines is one shard, and refused where both are merged") {
  const Folder folder;
  const auto backend = make_cpu_backend(1);
  const std::string key = key_of({tiny_run("pre"), {}}, 7, *backend);
  ResultStore here(folder.file("here")), there(folder.file("there"));
  remember_shard(here, "a plan", {key}, {0, 2});
  remember_shard(there, "a plan",
                 {key.substr(0, key.rfind("numbers ")) + "numbers 1 CPU avx9 0123456789abcdef\n"}, {0, 2});
  CHECK(test::contains(test::error_of([&] {
                         refuse_overlaps({folder.file("here"), folder.file("there")});
                       }),
                       "have runs in common"));
}

TEST_CASE("experiments: an interrupted run never takes the place of a finished one, nor its state") {
  const Folder folder;
  const auto backend = make_cpu_backend(1);
  const std::string key = key_of({tiny_run("pre"), {}}, 7, *backend);
  ResultStore here(folder.file("here")), there(folder.file("there"));
  here.put_partial(key, "sum 1", {{"steps", 3}});
  folder.write("here/" + std::filesystem::path(here.partial_state_path(key, "sum 1")).filename().string(),
               "half");
  there.put(key, "sum 1", 1.5);
  folder.write("there/" + std::filesystem::path(there.state_path(key, "sum 1")).filename().string(), "whole");
  CHECK(merge(folder.file("all"), {folder.file("here")}).taken == 1);
  CHECK(merge(folder.file("all"), {folder.file("there")}).taken == 1);
  CHECK(merge(folder.file("all"), {folder.file("here"), folder.file("there")}).taken == 0);
  ResultStore all(folder.file("all"));
  CHECK(all.find(key, "sum 1"));
  CHECK_FALSE(all.find_partial(key, "sum 1"));
  CHECK(test::read_all(all.state_path(key, "sum 1")) == "whole");
  // A finished result whose state was lost is taken again.
  std::filesystem::remove(all.state_path(key, "sum 1"));
  CHECK(merge(folder.file("all"), {folder.file("there")}).taken == 1);
  CHECK(test::read_all(all.state_path(key, "sum 1")) == "whole");
}

namespace {

constexpr uint64_t kSmallBudget = 70'000;  // bytes: three results of 20,000 and not four

/// In a folder with their states, the first one unused for longest. Returns their keys.
std::vector<std::string> three_large_results(const std::string& folder) {
  const auto backend = make_cpu_backend(1);
  std::vector<std::string> keys;
  ResultStore store(folder);
  for (uint64_t data = 0; data < 3; ++data) {
    keys.push_back(key_of({tiny_run("pre"), {}}, data, *backend));
    store.put(keys.back(), "sum 1", std::string(20'000, 'x'));
    std::ofstream(store.state_path(keys.back(), "sum 1")) << "state";
    const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(10 - data);
    for (const auto& file : std::filesystem::directory_iterator(folder))
      if (file.last_write_time() > std::filesystem::file_time_type::clock::now() - std::chrono::minutes(5))
        std::filesystem::last_write_time(file.path(), old);
  }
  return keys;
}

/// Writes somebody else's file that is named as a result is, older than all of ours.
void write_foreign(const std::string& path) {
  std::ofstream(path) << std::string(100'000, 'y');
  std::filesystem::last_write_time(path,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(50));
}

}  // namespace

TEST_CASE("experiments: above its budget the cache lets go what was unused for longest") {
  const Folder folder;
  const std::vector<std::string> keys = three_large_results(folder.file("results"));
  ResultStore store(StorePlace(folder.file("results"), kSmallBudget));
  CHECK(store.find(keys[0], "sum 1"));  // used: now the newest
  store.put("another", "sum 1", std::string(20'000, 'x'));
  store.trim();
  CHECK(store.let_go() == 1);
  CHECK(store.find(keys[0], "sum 1"));
  CHECK(std::filesystem::exists(store.state_path(keys[0], "sum 1")));  // a state is as old as its result
  CHECK_FALSE(std::filesystem::exists(store.state_path(keys[1], "sum 1")));
  CHECK_FALSE(store.find(keys[1], "sum 1"));
  CHECK(store.find(keys[2], "sum 1"));
  CHECK(store.find("another", "sum 1"));
  // What this process used stays, however much it is.
  store.put("a third", "sum 1", std::string(60'000, 'x'));
  store.trim();
  CHECK(store.let_go() == 1);
}

TEST_CASE("experiments: a folder that was named keeps everything, and one that is looked at stays as it is") {
  const Folder folder;
  const std::string results = folder.file("results");
  const std::vector<std::string> keys = three_large_results(results);
  std::filesystem::resize_file(ResultStore(results).state_path(keys[0], "sum 1"),
                               uintmax_t{3} << 30);  // sparse
  const auto before = test::listing(results);
  ResultStore(results).trim();
  CHECK(test::listing(results) == before);
  ResultStore looks(StorePlace(results, kSmallBudget, true));
  CHECK(looks.find(keys[0], "sum 1"));
  looks.put("another", "sum 1", 1.0);
  looks.trim();
  CHECK(train(plan_of(four_experiments()), looks, {.stored_only = true}, carry_on).stored == 0);
  CHECK(test::listing(results) == before);
  // Nor is a folder made.
  ResultStore nowhere(StorePlace(folder.file("none"), 0, true));
  CHECK_FALSE(nowhere.find(keys[0], "sum 1"));
  CHECK_FALSE(std::filesystem::exists(folder.file("none")));
}

TEST_CASE("experiments: the cache takes no file that is only called as a result is, and never the newest") {
  const Folder folder;
  const std::string results = folder.file("results");
  const std::vector<std::string> keys = three_large_results(results);
  const std::vector<std::string> foreign = {"0123456789abcdef-mine.safetensors", "0123456789abcdee-mine.json",
                                            "0123456789abcded-sum-1.partial.safetensors"};
  for (const std::string& name : foreign) write_foreign(results + "/" + name);
  // A result under another name than that of its key was put there by hand.
  const std::filesystem::path state = ResultStore(results).state_path(keys[0], "sum 1");
  std::filesystem::copy_file(std::filesystem::path(state).replace_extension(".json"),
                             results + "/0123456789abcdec-copy.json");
  ResultStore enough(StorePlace(results, kSmallBudget));
  enough.trim();
  CHECK(enough.let_go() == 0);  // the foreign ones are no part of what it counts
  ResultStore store(StorePlace(results, 100));
  store.trim();
  CHECK(store.let_go() == 2);
  CHECK_FALSE(store.find(keys[1], "sum 1"));
  CHECK(store.find(keys[2], "sum 1"));  // alone above the limit, and still the newest
  for (const std::string& name : foreign) CHECK(std::filesystem::exists(results + "/" + name));
  CHECK(std::filesystem::exists(results + "/0123456789abcdec-copy.json"));
}

TEST_CASE(
    "experiments: interrupted runs make room in the cache as finished ones do, with a result or without") {
  const Folder folder;
  const std::string results = folder.file("results");
  const std::vector<std::string> keys = three_large_results(results);
  const auto backend = make_cpu_backend(1);
  Run run(tiny_run("pre"), make_task({}), *backend);
  std::vector<std::string> states;
  {
    ResultStore interrupted(results);
    for (const char* key : {"told of", "killed before it was told of"}) {
      states.push_back(interrupted.partial_state_path(key, "sum 1"));
      run.save(states.back());
    }
    interrupted.put_partial("told of", "sum 1", {{"steps", 0}, {"so_far", 0}});
  }
  // A run that somebody kept there under a name of his own choice has no name of an interrupted one.
  const std::string mine = results + "/0123456789abcdef-mine.safetensors";
  run.save(mine);
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(50);
  for (const auto& file : std::filesystem::directory_iterator(results))
    if (file.path().string().find(".partial.") != std::string::npos || file.path() == mine)
      std::filesystem::last_write_time(file.path(), long_ago);
  ResultStore store(StorePlace(results, kSmallBudget));
  store.trim();
  CHECK(store.let_go() == 2);
  for (const std::string& state : states) CHECK_FALSE(std::filesystem::exists(state));
  CHECK_FALSE(store.find_partial("told of", "sum 1"));
  CHECK(std::filesystem::exists(mine));
  for (const std::string& key : keys) CHECK(store.find(key, "sum 1"));
}

TEST_CASE("experiments: nobody lets go results that another process may use") {
  const Folder folder;
  const std::vector<std::string> keys = three_large_results(folder.file("results"));
  const StorePlace place(folder.file("results"), 100);
  ResultStore store(place), other(place);
  auto held = other.hold();  // a lock of its own, as of another process
  store.trim();
  CHECK(store.let_go() == 0);
  CHECK(ResultStore(folder.file("results")).find(keys[0], "sum 1"));
  held.reset();
  store.trim();
  CHECK(store.let_go() == 2);
  // The runner holds it while it works.
  class Trims final : public Measurement {
   public:
    explicit Trims(const StorePlace& place) : store_(place) {}
    bool after_step(const Run&) override {
      store_.trim();
      return true;
    }
    nlohmann::json end(Run&) override { return store_.let_go(); }

   private:
    ResultStore store_;
  };
  three_large_results(folder.file("results"));
  Plan plan = plan_of({Experiment{tiny_run("pre"), {}}});
  plan.measure = [&](size_t) { return std::make_unique<Trims>(place); };
  CHECK(values(train(plan, other, {}, carry_on)) == std::vector{0.0});
}

TEST_CASE("experiments: a store that cannot be written costs no run that was trained") {
  const Folder folder;
  const auto backend = make_cpu_backend(1);
  const std::vector<Experiment> runs = four_experiments();
  ResultStore whole(folder.file("whole"));
  const std::vector<double> straight = values(train(plan_of(runs), whole, {}, carry_on));
  test::make_full_store(folder.file("whole"), folder.file("results"));
  ResultStore store(folder.file("results"));
  std::string told;
  const experiments::Outcome outcome =
      train(plan_of(runs), store, {.runs_at_a_time = 2}, [&](const Progress& at) {
        if (told.empty()) told = at.unkept;
        return true;
      });
  CHECK(outcome.complete);
  CHECK(outcome.trained == 4);
  CHECK(values(outcome) == straight);
  CHECK(store.unkept_count() == 4);
  CHECK_THAT(store.unkept(), Catch::Contains("No space left on device"));
  // Where there is room again, nothing is lacking any more.
  std::filesystem::remove_all(folder.file("results"));
  std::filesystem::create_directories(folder.file("results"));
  CHECK(train(plan_of(runs), store, {}, carry_on).trained == 4);
  CHECK(store.unkept_count() == 0);
  // What starts from weights that could not be kept says why it cannot.
  const auto start = std::make_shared<const Experiment>(Experiment{tiny_run("pre", 7), {}});
  const Experiment tuned{tiny_run("pre", 8), {}, start};
  const std::string of_start = key_of(*start, make_task(start->spec.data)->hash(), *backend);
  std::filesystem::create_directory(store.state_path(of_start, "sum 1"));
  const experiments::Outcome chain = train(plan_of({*start, tuned}), store, {}, carry_on);
  CHECK(chain.results[0]);
  CHECK(chain.trained == 1);
  REQUIRE(chain.failed.contains(1));
}

TEST_CASE("experiments: a run that cannot be made is told, the others are trained") {
  std::vector<Experiment> runs = four_experiments();
  runs[1].spec.model.heads = 3;  // 16 features are not to be divided among three
  ResultStore none("");
  const experiments::Outcome outcome = train(plan_of(runs), none, {}, carry_on);
  CHECK(outcome.trained == 3);
  REQUIRE(outcome.failed.size() == 1);
  CHECK_FALSE(outcome.failed.at(1).empty());
  CHECK(outcome.complete);
}

TEST_CASE("a lesson comes to the same numbers from the store on disk, and trains nothing", "[lesson]") {
  using namespace course;
  const Folder folder;
  const Lesson lesson = fixture::small_lesson("02-warm-up");
  RunStore fresh(2, nullptr, folder.file("results"));
  const Results first = check_lesson(lesson, fresh, Tier::Fast).results;
  REQUIRE(fresh.trained() > 0);
  RunStore kept(2, nullptr, folder.file("results"));
  const Results again = check_lesson(lesson, kept, Tier::Fast).results;
  CHECK(kept.trained() == 0);
  REQUIRE(first.curves.size() == again.curves.size());
  for (const auto& [id, band] : first.curves) {
    INFO(id);
    CHECK(again.curves.at(id).x == band.x);
    CHECK(again.curves.at(id).mean == band.mean);
  }
  for (const auto& [id, measured] : first.measures) CHECK(again.measures.at(id).values == measured.values);
  CHECK(again.texts == first.texts);
  CHECK(again.maps == first.maps);
  // A state that is gone or damaged: its run is trained again, to the same numbers.
  for (const auto& file : std::filesystem::directory_iterator(folder.file("results")))
    if (file.path().extension() == ".safetensors") std::filesystem::resize_file(file.path(), 100);
  RunStore mended(2, nullptr, folder.file("results"));
  const Results third = check_lesson(lesson, mended, Tier::Fast).results;
  CHECK(mended.trained() == fresh.trained());
  for (const auto& [id, measured] : first.measures) CHECK(third.measures.at(id).values == measured.values);
  // A full disk costs no number.
  test::make_full_store(folder.file("results"), folder.file("full"));
  RunStore unkept(2, nullptr, folder.file("full"));
  const Results fourth = check_lesson(lesson, unkept, Tier::Fast).results;
  CHECK(unkept.trained() == fresh.trained());
  CHECK(unkept.on_disk().unkept_count() == fresh.trained());
  for (const auto& [id, measured] : first.measures) CHECK(fourth.measures.at(id).values == measured.values);
}

TEST_CASE("reruns with other seeds are found by the next window") {
  const Folder folder;
  const auto reruns = [&](int64_t& asked) {
    Lab lab({.threads = 1, .losses = open_loss_archive(folder.file("results"))});
    test::view_after(lab, session::ReplaceRuns{.runs = {tiny_run("pre")}});
    lab.on_change([&] { asked = std::max(asked, lab.view()->seed_check_steps); });
    test::view_after(lab, session::CheckSeeds{});
    return *lab.view()->runs[0].spread;
  };
  int64_t first_steps = 0, steps = 0;
  const RunSpread first = reruns(first_steps);
  REQUIRE(first.seeds == 4);
  REQUIRE(first_steps > 0);
  const RunSpread again = reruns(steps);
  CHECK(steps == 0);  // nothing was trained
  CHECK(again.seeds == 4);
  CHECK(again.mean == first.mean);
  CHECK(again.low == first.low);
  CHECK(again.high == first.high);
}

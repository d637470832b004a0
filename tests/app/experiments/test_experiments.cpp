// These tests cover the training of studies and their store: what is trained once, or is taken from others.
#include <nlohmann/json.hpp>

#include "app/commands/run_log.h"
#include "app/shell/app_state.h"
#include "app/support/program.h"
#include "app/support/small_lesson.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/helpers.h"
#include "training/experiments/probes.h"
#include "training/experiments/result_store.h"
#include "training/experiments/run_store.h"
#include "training/experiments/study.h"
#include "training/io/reservation.h"
#include "training/measure/look.h"
#include "training/support/lab_runs.h"

namespace normscope::test {

/// Links every file name of `like` in the store to a device that is always full.
inline void make_full_store(const std::string& like, const std::string& store) {
  std::filesystem::create_directories(store);
  for (const auto& file : std::filesystem::directory_iterator(like))
    std::filesystem::create_symlink("/dev/full", store + "/" + file.path().filename().string());
}

/// What a folder holds, with sizes and times, which a command that only looks must not change.
inline std::map<std::string, std::pair<uintmax_t, std::filesystem::file_time_type>> listing(
    const std::string& folder) {
  std::map<std::string, std::pair<uintmax_t, std::filesystem::file_time_type>> files;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    files[file.path().filename().string()] = {file.file_size(), file.last_write_time()};
  return files;
}

}  // namespace normscope::test

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

Study study_of(std::vector<StudyRun> runs) { return {.name = "a test", .runs = std::move(runs)}; }

bool carry_on(const Progress&) { return true; }

std::vector<double> losses(const StudyResults& results) {
  std::vector<double> all;
  for (const auto& run : results.runs) all.push_back(run ? run->loss : -1);
  return all;
}

std::vector<StudyRun> four_experiments() {
  return {{tiny_run("pre"), {}},
          {tiny_run("post"), {}},
          {tiny_run("pre", 2), {}},
          {tiny_run("pre"), {{5, "train.lr", "0.001"}}}};
}

TEST_CASE("experiments: equal ones are trained once, and what the store has is not trained") {
  const Folder folder;
  ResultStore store(folder.file("results"));
  std::vector<StudyRun> runs = four_experiments();
  runs.push_back(runs.front());
  const StudyResults first = train(study_of(runs), store, {.runs_at_a_time = 2}, carry_on);
  CHECK(first.trained == 4);
  CHECK(losses(first)[0] == losses(first)[4]);
  CHECK(losses(first)[0] != losses(first)[3]);  // an edit is another run
  const StudyResults again = train(study_of(runs), store, {.runs_at_a_time = 2}, carry_on);
  CHECK(again.stored == 4);
  CHECK(again.trained == 0);
  CHECK(losses(again) == losses(first));
  // A study that asks for more has not enough.
  Study other = study_of(runs);
  other.numbers = {kLeftOut};
  CHECK(train(other, store, {.stored_only = true}, carry_on).stored == 0);
}

TEST_CASE("experiments: the key holds all that decides a run's bits") {
  const auto backend = make_cpu_backend(1);
  const StudyRun run{tiny_run("pre"), {}};
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

TEST_CASE("experiments: stopped, they keep what is finished, and the rest begins again to the same bits") {
  ResultStore none("");
  const std::vector<double> straight = losses(train(study_of(four_experiments()), none, {}, carry_on));
  const Folder folder;
  ResultStore store(folder.file("results"));
  Study study = study_of(four_experiments());
  study.on_step = [](size_t place, const Run& run) { return place < 2 || run.steps_done() < 5; };
  const StudyResults stopped = train(study, store, {.runs_at_a_time = 1}, carry_on);
  CHECK_FALSE(stopped.complete);
  CHECK(stopped.trained == 2);
  const StudyResults rest = train(study_of(four_experiments()), store, {.runs_at_a_time = 1}, carry_on);
  CHECK(rest.stored == 2);
  CHECK(rest.trained == 2);
  CHECK(losses(rest) == straight);
}

TEST_CASE("experiments: runs that may not go on wait between two steps, and change no bit") {
  ResultStore none("");
  const std::vector<double> straight = losses(train(study_of(four_experiments()), none, {}, carry_on));
  std::atomic<int32_t> allowed{3};
  Study study = study_of(four_experiments());
  study.on_step = [&](size_t, const Run& run) {
    if (run.steps_done() == 4) allowed = 1;
    return true;
  };
  const StudyResults all =
      train(study, none, {.runs_at_a_time = 3, .allowed = [&] { return allowed.load(); }}, carry_on);
  CHECK(all.trained == 4);
  CHECK(losses(all) == straight);
}

TEST_CASE("experiments: shards share the work, and copied together they are the whole") {
  const Folder folder;
  ResultStore whole(folder.file("whole")), one(folder.file("one")), two(folder.file("two"));
  const Study study = study_of(four_experiments());
  const std::vector<double> straight = losses(train(study, whole, {}, carry_on));
  CHECK(train(study, one, {.shard = {0, 2}}, carry_on).trained == 2);
  CHECK(train(study, two, {.shard = {1, 2}}, carry_on).trained == 2);
  for (const char* part : {"one", "two"}) test::take_results(folder.file(part), folder.file("all"));
  ResultStore all(folder.file("all"));
  const StudyResults found = train(study, all, {.stored_only = true}, carry_on);
  CHECK(found.stored == 4);
  CHECK(losses(found) == straight);
}

TEST_CASE("experiments: two that share a folder at the same time train each run once") {
  ResultStore none("");
  const std::vector<double> straight = losses(train(study_of(four_experiments()), none, {}, carry_on));
  const Folder folder;
  ResultStore one(folder.file("results")), two(folder.file("results"));
  // In the middle of the first run the other begins; it trains the three others, and then waits.
  std::atomic<bool> waits{false};
  StudyResults second;
  std::thread other;
  Study study = study_of(four_experiments());
  study.on_step = [&](size_t place, const Run& run) {
    if (place != 0 || run.steps_done() != 5) return true;
    other = std::thread([&] {
      second = train(study_of(four_experiments()), two, {.runs_at_a_time = 1}, [&](const Progress& progress) {
        waits = waits || progress.note == "waiting for a run of another process";
        return true;
      });
    });
    while (!waits) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  };
  const StudyResults first = train(study, one, {.runs_at_a_time = 1}, carry_on);
  other.join();
  CHECK(first.trained == 1);
  CHECK(first.stored == 3);
  CHECK(second.trained == 3);
  CHECK(second.stored == 1);
  CHECK(losses(first) == straight);
  CHECK(losses(second) == straight);
  for (const auto& [name, file] : test::listing(folder.file("results"))) CHECK(name.ends_with(".json"));
}

TEST_CASE("experiments: whoever was killed or gives no sign of life holds up nobody") {
  const Folder folder;
  ResultStore store(folder.file("results"));
  const std::vector<StudyRun> run{{tiny_run("pre"), {}}};
  std::string path;
  Study study = study_of(run);
  study.on_step = [&](size_t, const Run&) {
    for (const auto& [name, file] : test::listing(folder.file("results")))
      if (!name.ends_with(".json")) path = folder.file("results/" + name);
    return true;
  };
  REQUIRE(train(study, store, {}, carry_on).trained == 1);
  REQUIRE_FALSE(path.empty());
  const auto forget = [&] {
    for (const auto& file : std::filesystem::directory_iterator(folder.file("results")))
      std::filesystem::remove(file);
  };

  forget();
  std::ofstream(path) << "";  // the lock of a killed process is gone, its file is not
  CHECK(train(study, store, {}, carry_on).trained == 1);
  CHECK_FALSE(std::filesystem::exists(path));

  forget();
  const Reservation silent(path);
  REQUIRE(silent.ours());
  CHECK_FALSE(Reservation(path).ours());
  using Clock = std::filesystem::file_time_type::clock;
  std::filesystem::last_write_time(path, Clock::now() - std::chrono::minutes(3));
  CHECK(train(study, store, {}, carry_on).trained == 1);
}

TEST_CASE("experiments: a run starts with the weights that another ends with, as train.init_from has it") {
  const Folder folder;
  const auto start = std::make_shared<const StudyRun>(StudyRun{tiny_run("pre"), {}});
  const StudyRun tuned{tiny_run("pre", 2), {}, start}, third{tiny_run("pre", 3), {}, start};
  ResultStore store(folder.file("results"));
  const StudyResults first =
      train(study_of({tuned, *start}), store, {.runs_at_a_time = 2}, carry_on);  // whatever their order
  CHECK(first.trained == 2);
  const auto backend = make_cpu_backend(1);
  Run begun(start->spec, make_task(start->spec.data), *backend);
  while (begun.steps_done() < 12) begun.step();
  begun.save(folder.file("begun.safetensors"));
  RunSpec by_hand = tuned.spec;
  by_hand.train.init_from = folder.file("begun.safetensors");
  Run run(by_hand, make_task(by_hand.data), *backend);
  while (run.steps_done() < 12) run.step();
  CHECK(losses(first)[0] == run.mean_loss(RunNumbers::kWindow));
  // The same settings afresh are another run.
  const StudyResults afresh = train(study_of({StudyRun{tuned.spec, {}}}), store, {}, carry_on);
  CHECK(afresh.trained == 1);
  CHECK(losses(afresh)[0] != losses(first)[0]);
  // Weights that are gone are made again where a run needs them, and only there.
  for (const auto& file : std::filesystem::directory_iterator(folder.file("results")))
    if (file.path().extension() == ".safetensors") std::filesystem::remove(file.path());
  CHECK(train(study_of({*start, tuned}), store, {}, carry_on).stored == 2);
  const StudyResults more = train(study_of({*start, tuned, third}), store, {}, carry_on);
  CHECK(more.trained == 2);
  CHECK(more.stored == 1);
  CHECK(store.damaged().empty());
  // So are damaged ones, which are named.
  for (const auto& file : std::filesystem::directory_iterator(folder.file("results")))
    if (file.path().extension() == ".safetensors") std::filesystem::resize_file(file.path(), 100);
  const StudyRun fourth{tiny_run("pre", 4), {}, start};
  const StudyResults mended = train(study_of({*start, tuned, fourth}), store, {}, carry_on);
  CHECK(mended.trained == 2);
  CHECK(mended.failure().empty());
  CHECK(store.damaged().size() == 1);
  // A shard trains what its own runs start from, while they are not there.
  ResultStore part(folder.file("part"));
  const auto second = [&] {
    return train(study_of({*start, tuned}), part, {.shard = {1, 2}}, carry_on).trained;
  };
  CHECK(second() == 2);
  const std::string of_start = part.state_path(key_of(*start, begun.task().hash(), *backend), kMeasurement);
  REQUIRE(std::filesystem::remove(of_start));
  REQUIRE(std::filesystem::remove(std::filesystem::path(of_start).replace_extension(".json")));
  CHECK(second() == 0);
  ResultStore none("");
  const StudyResults nowhere = train(study_of({*start, tuned}), none, {}, carry_on);
  CHECK(nowhere.trained == 1);
  CHECK_THAT(nowhere.runs[1]->what(), Catch::Contains("expected a folder for results"));
  CHECK_THROWS_WITH(train(study_of({tuned}), none, {}, carry_on), Catch::Contains("not in the plan"));
}

TEST_CASE("experiments: a device that fails ends the call, and no run counts as failed or damaged") {
  const Folder folder;
  ResultStore store(folder.file("results"));
  const auto lost = [](auto&&...) -> bool { throw DeviceError("[cuda] lost"); };
  Study study = study_of({StudyRun{tiny_run("pre"), {}}}), looks = study;
  study.on_step = lost;
  CHECK_THROWS_AS(train(study, store, {}, carry_on), DeviceError);
  looks.on_run = [](size_t, Run&) {};
  REQUIRE(train(looks, store, {}, carry_on).trained == 1);
  looks.on_run = lost;
  CHECK_THROWS_AS(train(looks, store, {}, carry_on), DeviceError);  // of the state that was kept
  looks.numbers = {kLeftOut};
  CHECK_THROWS_AS(train(looks, store, {}, carry_on), DeviceError);
  CHECK(store.damaged().empty());
}

TEST_CASE(
    "experiments: of a chain of starts each run is stored or missing, once, and each trains after its start") {
  const Folder folder;
  const auto first = std::make_shared<const StudyRun>(StudyRun{tiny_run("pre"), {}});
  const auto second = std::make_shared<const StudyRun>(StudyRun{tiny_run("pre", 2), {}, first});
  const StudyRun third{tiny_run("pre", 3), {}, second}, aside{tiny_run("pre", 4), {}, first},
      last{tiny_run("pre", 5), {}, second};
  const Study study = study_of({last, aside, *second, *first, last});
  ResultStore store(folder.file("results"));
  const auto count = [&](const Study& of) {
    const StudyResults found = train(of, store, {.stored_only = true}, carry_on);
    CHECK(found.failure().empty());
    return std::pair(found.stored, found.missing.size());
  };
  using Counts = std::pair<int32_t, size_t>;
  CHECK(count(study) == Counts{0, 4});
  REQUIRE(train(study_of({third, *second, *first}), store, {.runs_at_a_time = 2}, carry_on).trained == 3);
  CHECK(count(study) == Counts{2, 2});
  // Weights that are gone: their run is to be trained again, and what it starts from only where that is gone too.
  const auto backend = make_cpu_backend(1);
  const uint64_t data = make_task(first->spec.data)->hash();
  const std::string first_key = key_of(*first, data, *backend);
  const std::string second_key = key_of(*second, data, *backend, first_key);
  REQUIRE(std::filesystem::remove(store.state_path(second_key, kMeasurement)));
  CHECK(count(study) == Counts{1, 3});
  REQUIRE(std::filesystem::remove(store.state_path(first_key, kMeasurement)));
  CHECK(count(study) == Counts{0, 4});
  const StudyResults outcome = train(study, store, {.runs_at_a_time = 4}, carry_on);
  CHECK(outcome.failure().empty());
  CHECK(outcome.trained == 4);
  CHECK(count(study) == Counts{4, 0});
  // A shard has them all where its own run needs them.
  ResultStore part(folder.file("part"));
  CHECK(train(study_of({last, *second, *first}), part, {.shard = {0, 4}}, carry_on).trained == 3);
  CHECK(numbers_from(*part.find(key_of(last, data, *backend, second_key), kMeasurement)).loss ==
        losses(outcome)[0]);
}

TEST_CASE("experiments: a shard of lessons' runs is the same part of them, whatever is there already") {
  std::vector<StudyRun> runs;
  for (uint64_t seed = 1; seed <= 4; ++seed) runs.push_back({tiny_run("pre", seed), {}});
  const Folder folder;
  RunStore part(ResultStore(folder.file("part")), {.runs_at_a_time = 2, .shard = {1, 2}});
  part.get(runs[0], {});
  CHECK(part.train(runs, {}, carry_on).trained == 2);
  const auto has = [&](size_t place) { return part.find(runs[place].key()) != nullptr; };
  CHECK(has(1));
  CHECK_FALSE(has(2));
  CHECK(has(3));
}

TEST_CASE("experiments: what a run does not read makes no other run of it") {
  const auto backend = make_cpu_backend(1);
  const auto key = [&](const char* field, const char* value, std::vector<Edit> edits = {}) {
    return key_of({test::with_fields(tiny_run("pre"), {{field, value}}), std::move(edits)}, 7, *backend);
  };
  const std::string plain = key_of({tiny_run("pre"), {}}, 7, *backend);
  CHECK(key("train.decay_end", "77") == plain);
  CHECK(key("train.momentum", "0.5") == plain);
  CHECK(key("train.lr", "0.5") != plain);
  // An edit may make it count.
  const std::vector<Edit> edit = {{5, "train.schedule", "linear"}};
  CHECK(key("train.decay_end", "77", edit) != key("train.decay_end", "78", edit));
}

/// Values of a field other than the ones in `spec`: its ends, something between, and every choice.
std::vector<RunSpec> others_of(const RunSpec& spec, const Field& field) {
  std::vector<std::string> values;
  for (const std::string_view choice : choices_of(field)) values.emplace_back(choice);
  if (field.type == FieldType::Flag) values = {"true", "false"};
  if (field.type == FieldType::Integer || field.type == FieldType::Real)
    for (const double share : {0.0, 0.3, 1.0}) {
      const double value = field.low + share * (std::min(field.high, 1e6) - field.low);
      values.push_back(field.type == FieldType::Integer ? fmt::format("{:.0f}", std::floor(value))
                                                        : fmt::format("{:.6g}", value));
    }
  std::vector<RunSpec> others;
  for (const std::string& value : values) {
    RunSpec other = spec;
    try {
      set_field(other, field.key, value);
      complete(other);
    } catch (const Error&) {  // it does not go with the others
      continue;
    }
    const std::string key(field.key);
    if (get_field(other, key) != get_field(spec, key) && unused_reason(other, key).empty())
      others.push_back(std::move(other));
  }
  return others;
}

TEST_CASE("experiments: every setting that a run reads is in its key") {
  const auto backend = make_cpu_backend(1);
  std::vector<RunSpec> specs;  // between them they read every setting that is not a text
  for (const auto& fields : std::vector<std::vector<std::pair<std::string, std::string>>>{
           {},
           {{"train.optimizer", "momentum"}},
           {{"train.schedule", "inverse-sqrt"}},
           {{"train.schedule", "cosine"}},
           {{"train.schedule", "step"}, {"train.milestones", "2"}},
           {{"model.norm", "adanorm"}},
           {{"model.norm", "dyt"}},
           {{"model.positions", "rotary"}, {"model.rotary_scaling", "llama3"}},
           {{"model.attention_window", "3"}, {"model.positions", "rotary"}},
           {{"model.transfer", "completep"}},
           {{"model.architecture", "encoder"}, {"model.masked_head", "true"}},
           {{"model.architecture", "encoder"}, {"data.name", "word-order"}},
           {{"model.architecture", "encoder-decoder"}, {"data.name", "translation"}},
           {{"data.name", "copy"}}}) {
    specs.push_back(tiny_run("pre"));
    for (const auto& [key, value] : fields) set_field(specs.back(), key, value);
    complete(specs.back());
  }
  std::set<std::string> unread;
  for (const Field& field : spec_fields()) {
    if (field.type == FieldType::Text) continue;
    INFO(field.key);
    bool read = false;
    for (const RunSpec& spec : specs) {
      if (!unused_reason(spec, field.key).empty()) continue;
      const std::string key = key_of({spec, {}}, 7, *backend);
      for (const RunSpec& other : others_of(spec, field)) {
        read = true;
        INFO(get_field(other, field.key));
        CHECK(key_of({other, {}}, 7, *backend) != key);
      }
    }
    if (!read && !field.added) unread.insert(std::string(field.key));
  }
  CHECK(unread == std::set<std::string>{});
}

TEST_CASE(
    "experiments: another run's result under this run's name is damage, and so is another measurement's") {
  const Folder folder;
  ResultStore store(folder.file("results"));
  const auto file_of = [&](const std::string& key, const char* measurement) {
    std::string file = store.state_path(key, measurement);
    return file.replace(file.rfind('.'), std::string::npos, ".json");
  };
  store.put("one", "sum 1", 1.0);
  store.put("another", "sum 1", 2.0);
  store.put("one", "sum 2", 3.0);
  REQUIRE(store.find("one", "sum 1"));
  const auto over = std::filesystem::copy_options::overwrite_existing;
  for (const auto& foreign : {file_of("another", "sum 1"), file_of("one", "sum 2")}) {
    std::filesystem::copy_file(foreign, file_of("one", "sum 1"), over);
    ResultStore fresh(folder.file("results"));
    CHECK_FALSE(fresh.find("one", "sum 1"));
    CHECK(fresh.damaged() == std::vector<std::string>{file_of("one", "sum 1")});
  }
}

/// A translator of a few steps.
RunSpec tiny_translator() {
  RunSpec spec = tiny_run("pre");
  for (const auto& [key, value] : {std::pair("model.architecture", "encoder-decoder"),
                                   {"data.name", "translation"},
                                   {"model.encoder_layers", "2"},
                                   {"train.steps", "24"}})
    set_field(spec, key, value);
  complete(spec);
  return spec;
}

TEST_CASE(
    "experiments: numbers of two stacks are of the one that predicts, and 0 of neither is not believed") {
  const Folder folder;
  ResultStore store(folder.file("results"));
  const StudyRun run{tiny_translator(), {}};
  const StudyResults first = train(study_of({run}), store, {.runs_at_a_time = 1}, carry_on);
  const RunNumbers& numbers = *first.runs.front();

  const auto backend = make_cpu_backend(1);
  const auto task = make_task(run.spec.data);
  Run again(run.spec, task, *backend);
  Look look(again.store(), again.spec().model, validation_batch(*task, again.spec(), 4));
  const std::vector<double> measured = look.measure();
  double own = 0;
  int32_t sublayers = 0;
  for (size_t k = 0; k < measured.size(); ++k)
    for (int32_t i = 1; i <= 3 * run.spec.model.layers; ++i)
      if (look.layout()[k].name == fmt::format("dec.beta2.{0}.{0}", i)) {
        own += measured[k];
        ++sublayers;
      }
  REQUIRE(sublayers == 3 * run.spec.model.layers);
  CHECK(numbers.beta2 == own);
  CHECK(numbers.beta2 > 0);
  for (int32_t step = 0; step < RunNumbers::kGradientStep; ++step) again.step();
  std::vector<float> frame;
  int32_t found = 0;
  REQUIRE(again.history()->frame(RunNumbers::kGradientStep, frame, found));
  const auto at = [&](const std::string& name) {
    return static_cast<double>(frame.at(static_cast<size_t>(again.history()->find(name))));
  };
  CHECK(numbers.gradient_first == at("dec.L01.ffn.w2.grad_norm"));
  CHECK(numbers.gradient_last == at(fmt::format("dec.L{:02}.ffn.w2.grad_norm", run.spec.model.layers)));

  // What an earlier version stored of such a run.
  RunNumbers wrong = numbers;
  wrong.beta2 = 0;
  wrong.gradient_first = wrong.gradient_last = kUnknown;
  store.put(key_of(run, task->hash(), *backend), kMeasurement, to_json(wrong));
  const StudyResults second = train(study_of({run}), store, {.runs_at_a_time = 1}, carry_on);
  CHECK(second.trained == 1);
  CHECK(second.runs.front()->beta2 == own);
  CHECK(train(study_of({run}), store, {.runs_at_a_time = 1}, carry_on).trained == 0);
  // Of one stack, and where the gradient is known, such a sum is a true one: branches that begin at 0.
  wrong.gradient_first = 1;
  CHECK_FALSE(looked_in_no_stack(wrong, run.spec.model));
  wrong.gradient_first = kUnknown;
  CHECK(looked_in_no_stack(wrong, run.spec.model));
  CHECK_FALSE(looked_in_no_stack(wrong, tiny_run("rezero").model));
}

TEST_CASE("experiments: one run has one verdict, in a study, in a table and on a card") {
  const auto verdicts_of = [](std::initializer_list<std::pair<const char*, const char*>> fields) {
    RunSpec spec = test::tiny_spec("pre", 200, 1);
    for (const auto& [key, value] : fields) set_field(spec, key, value);
    complete(spec);
    ResultStore none("");
    const StudyResults study = train(study_of({{spec, {}}}), none, {.runs_at_a_time = 1}, carry_on);
    const auto backend = make_cpu_backend(1);
    const auto task = make_task(spec.data);
    Run run(spec, task, *backend);
    for (int32_t step = 0; step < spec.train.steps; ++step) run.step();
    const commands::RunResult row =
        commands::result_of({}, spec, {}, run.state(), *run.history(), *task, NAN, NAN);
    CHECK(study.runs.front()->verdict == run.verdict().kind);
    CHECK(row.verdict == run.verdict().kind);
    CHECK(row.verdict_text() == to_string(run.verdict()));
    if (run.verdict() != Verdict::Learns) CHECK(to_string(run.state()) == word_of(run.verdict().kind));
    return run.verdict().kind;
  };
  CHECK(verdicts_of({{"train.lr", "1"}}) == Verdict::Diverges);
  CHECK(verdicts_of({{"train.lr", "0.00003"}, {"train.batch", "32"}}) == Verdict::TooSlow);
  CHECK(verdicts_of({{"train.lr", "0"}}) == Verdict::Stuck);
  CHECK(verdicts_of({{"train.lr", "0.01"}, {"train.batch", "32"}}) == Verdict::Learns);
}

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
  // The newest stays, however much it is.
  store.put("a third", "sum 1", std::string(100'000, 'x'));
  store.trim();
  CHECK(store.let_go() == 4);
  CHECK(store.find("a third", "sum 1"));
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
  CHECK(train(study_of(four_experiments()), looks, {.stored_only = true}, carry_on).stored == 0);
  CHECK(test::listing(results) == before);
  // Nor is a folder made.
  ResultStore nowhere(StorePlace(folder.file("none"), 0, true));
  CHECK_FALSE(nowhere.find(keys[0], "sum 1"));
  CHECK_FALSE(std::filesystem::exists(folder.file("none")));
}

TEST_CASE("experiments: a store that cannot be written costs no run that was trained") {
  const Folder folder;
  const auto backend = make_cpu_backend(1);
  const std::vector<StudyRun> runs = four_experiments();
  ResultStore whole(folder.file("whole"));
  const std::vector<double> straight = losses(train(study_of(runs), whole, {}, carry_on));
  test::make_full_store(folder.file("whole"), folder.file("results"));
  ResultStore store(folder.file("results"));
  std::string told;
  const StudyResults outcome = train(study_of(runs), store, {.runs_at_a_time = 2}, [&](const Progress& at) {
    if (told.empty()) told = at.unkept;
    return true;
  });
  CHECK(outcome.complete);
  CHECK(outcome.trained == 4);
  CHECK(losses(outcome) == straight);
  CHECK(store.unkept_count() == 4);
  CHECK_THAT(store.unkept(), Catch::Contains("No space left on device"));
  // Where there is room again, nothing is lacking any more.
  std::filesystem::remove_all(folder.file("results"));
  std::filesystem::create_directories(folder.file("results"));
  CHECK(train(study_of(runs), store, {}, carry_on).trained == 4);
  CHECK(store.unkept_count() == 0);
  // What starts from weights that could not be kept says why it cannot.
  const auto start = std::make_shared<const StudyRun>(StudyRun{tiny_run("pre", 7), {}});
  const StudyRun tuned{tiny_run("pre", 8), {}, start};
  const std::string of_start = key_of(*start, make_task(start->spec.data)->hash(), *backend);
  std::filesystem::create_directory(store.state_path(of_start, kMeasurement));
  const StudyResults chain = train(study_of({*start, tuned}), store, {}, carry_on);
  CHECK(chain.runs[0]->loss > 0);
  CHECK(chain.trained == 1);
  CHECK(chain.runs[1]->verdict == Verdict::Failed);
}

TEST_CASE("experiments: a run that cannot be made is told, the others are trained") {
  std::vector<StudyRun> runs = four_experiments();
  runs[1].spec.model.heads = 3;  // 16 features are not to be divided among three
  ResultStore none("");
  const StudyResults outcome = train(study_of(runs), none, {}, carry_on);
  CHECK(outcome.trained == 3);
  CHECK(outcome.runs[1]->verdict == Verdict::Failed);
  CHECK_FALSE(outcome.failure().empty());
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

// A study that looks at its runs keeps what others measured of them.

namespace normscope::test {

TEST_CASE("a study that looks at its runs keeps their states, and what others measured of them") {
  using namespace experiments;
  const RunSpec spec = tiny_spec("pre", 60, 1);
  const Folder folder;
  ResultStore store(folder.file("runs"));
  const auto carry_on = [](const Progress&) { return true; };
  Study layers{.name = "layers", .runs = {{spec}, {spec}}, .numbers = {kLayers}};
  CHECK(train(layers, store, {}, carry_on).trained == 1);

  Study looks{.name = "looks", .runs = layers.runs};
  std::vector<Series> shown;
  looks.on_run = [&](size_t place, Run& run) {
    CHECK(place == 0);
    CHECK(run.steps_done() == 60);
    shown.push_back(run.history()->validation());
  };
  const StudyResults first = train(looks, store, {}, carry_on);
  CHECK(first.trained == 1);  // nobody kept its state
  CHECK(first.first == std::vector<size_t>{0, 0});
  const StudyResults again = train(looks, store, {}, carry_on);
  CHECK(again.trained == 0);
  REQUIRE(again.runs[1]);
  CHECK(again.runs[1]->steps == 60);
  REQUIRE(shown.size() == 2);
  CHECK(shown[0].steps == std::vector<int32_t>{50, 60});
  CHECK(shown[1].steps == shown[0].steps);
  CHECK(shown[1].values == shown[0].values);
  const StudyResults layered = train(layers, store, {}, carry_on);
  CHECK(layered.trained == 0);
  CHECK(layered.runs[0]->has({kLayers}));
}

}  // namespace normscope::test

// The checksum of the default comparison's first steps, and the line that shows it.

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

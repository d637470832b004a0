// These tests hold "equal keys are equal runs, to the bit": what decides a run's bits is in its key, what does not is
// not, and a record answers for nothing that it does not cover.
#include "training/run/identity.h"

#include "isa_scope.h"
#include "training/experiments/study.h"
#include "training/support/lab_runs.h"

using namespace normscope;
using namespace normscope::test;

namespace {

std::string key_of(const RunSpec& spec) { return RunIdentity{spec, {}, {}}.key(); }

/// Values of a field, of which two at least differ.
std::vector<std::string> values_of(const Field& field) {
  switch (field.type) {
    case FieldType::Flag:
      return {"true", "false"};
    case FieldType::Choice:
      return {field.choices.begin(), field.choices.end()};
    case FieldType::Text:
      return {"one", "two"};
    default:
      return {"0", "1", "2", "3", "4", "8", "12", "0.25", "0.5"};
  }
}

RunRecord trained(const RunSpec& spec, int32_t every = 1) {
  const auto run = make_run(spec);
  run->measure_live(every > 0, every);
  steps(*run, spec.train.steps);
  run->validation_loss();
  return run->record();
}

std::vector<int32_t> ends(const RunRecord& record) {
  std::vector<int32_t> steps;
  for (const RunEvent& event : record.history->events())
    if (event.kind == RunEvent::Kind::Finished) steps.push_back(event.step);
  return steps;
}

RunSpec short_spec(int32_t steps = 12) { return spec_with("post", {{"train.steps", std::to_string(steps)}}); }

}  // namespace

TEST_CASE("identity: of each setting that a run reads two values are two keys, of any other one") {
  size_t read = 0, unread = 0;
  for (const RunSpec& base :
       {small_spec("post"), spec_with("pre", {{"train.optimizer", "sgd"}}),
        spec_with("rezero", {{"train.schedule", "cosine"}, {"train.decay_end", "50"}}),
        spec_with("post", {{"model.architecture", "encoder-decoder"}, {"data.name", "translation"}})})
    for (const Field& field : spec_fields()) {
      const std::string key(field.key);
      if (key == "run.name" || key == "train.steps" || field.file) continue;  // see the next cases
      const std::string now = get_field(base, key);
      for (const std::string& value : values_of(field)) {
        RunSpec other = base;
        try {
          set_field(other, key, value);
          validate(other);
        } catch (const Error&) {
          continue;
        }
        if (get_field(other, key) == now) continue;
        INFO(key << " = " << value << " instead of " << now);
        const bool is_read = unused_reason(base, key).empty();
        // The value itself may make the run read it, or set another field.
        if (!is_read && (unused_reason(other, key).empty() || edits_between(base, other, 0).size() != 1))
          continue;
        CHECK((key_of(other) != key_of(base)) == is_read);
        ++(is_read ? read : unread);
      }
    }
  CHECK(read > 100);
  CHECK(unread > 50);
}

TEST_CASE("identity: neither name nor budget makes another run; data, weights and arithmetic do") {
  const Folder folder;
  const RunIdentity plain = wish_of(small_spec()).run();
  RunIdentity other = plain;
  other.origin.name = "mine";
  other.origin.train.steps = 7;
  CHECK(other.key() == plain.key());
  // The content of a text, whatever its path says.
  const auto on_text = [&](const std::string& name, const std::string& text) {
    RunSpec spec = small_spec();
    set_field(spec, "data.text", folder.write(name, text));
    return identity_of(spec, {}, *make_task(spec.data), shared_backend()).key();
  };
  std::string text, turned;
  for (int i = 0; i < 200; ++i) text += "to be or not to be. ", turned += "be not to or to be. ";
  const std::string first = on_text("a.txt", text);
  CHECK(on_text("a.txt", turned) != first);
  CHECK(on_text("a.txt", text) == first);
  // The weights that it starts with.
  RunSpec begun = small_spec();
  set_field(begun, "train.init_from", folder.file("start.safetensors"));
  const auto from_weights = [&](int32_t count) {
    make_run(small_spec(), count)->save(begun.train.init_from);
    return wish_of(begun).key();
  };
  const std::string after_3 = from_weights(3);
  CHECK(from_weights(4) != after_3);
  CHECK(from_weights(3) == after_3);
  CHECK(make_run(begun)->identity().key() == after_3);
  // A folder of weights counts with all its files.
  const std::string model = folder.file("model");
  std::filesystem::create_directory(model);
  write_text(model + "/config.json", "{}");
  begun.train.init_from = model;
  const std::string small = wish_of(begun).key();
  write_text(model + "/config.json", "{ }");
  CHECK(wish_of(begun).key() != small);
  // The backend and its instruction set, and where it changed.
  other = plain;
  other.arithmetic = {{0, "CUDA avx2"}};
  CHECK(other.key() != plain.key());
  const std::string device = other.key();
  other.go_on(shared_backend(), 4);
  CHECK(other.arithmetic.size() == 2);
  CHECK(other.key() != device);
  other.go_on(shared_backend(), 0);
  CHECK(other.key() == plain.key());
  for (const std::string& isa : cpu::available_isas()) {
    const IsaScope scope(isa);
    CHECK((wish_of(small_spec()).key() == plain.key()) ==
          (arithmetic_of(shared_backend()) == plain.arithmetic[0].name));
  }
}

TEST_CASE("identity: a run has the key of the wish for it, with its edits made and before") {
  const std::vector<Edit> edits = {{5, "train.lr", "0.002"}, {9, "model.placement", "pre"}};
  const std::string key = wish_of(small_spec(), {}, edits).key();
  const auto run = make_run(small_spec());
  CHECK(run->identity().key() == wish_of(small_spec()).key());
  run->schedule_edits(edits);
  CHECK(run->identity().key() == key);
  steps(*run, 10);
  CHECK(run->identity().key() == key);
  CHECK(run->at(8)->identity().key() != key);
  CHECK(run->identity().from_scratch().key() == key);
}

TEST_CASE("records: one answers under the settings of the wish, and a shorter budget with its first losses") {
  RunCache cache;
  RunRecord record = trained(short_spec());
  const std::vector<float> losses = record.losses;
  cache.put(std::move(record));
  // A momentum that Adam does not read, a name and a shorter budget.
  RunSpec asked = with_fields(short_spec(5), {{"train.momentum", "0.5"}, {"run.name", "mine"}});
  const auto answer = cache.find(wish_of(asked));
  REQUIRE(answer);
  CHECK(answer->origin == asked);
  CHECK(same_bits(answer->losses, std::vector<float>(losses.begin(), losses.begin() + 5)));
  CHECK_FALSE(answer->whole());
  CHECK_FALSE(cache.find(wish_of(asked, {.end = true})));  // its weights after step 5 are not known
  CHECK_FALSE(cache.find(wish_of(short_spec(13))));
  asked.train.steps = 12;
  const auto whole = cache.find(wish_of(asked, {1, Wish::kOnlyAtEnd, true}));
  REQUIRE(whole);
  CHECK(Run::resume(*whole, small_task(), shared_backend())->spec() == asked);
  // Losses of a longer run stay beside the state of a shorter one.
  RunRecord longer = trained(short_spec(20));
  RunRecord losses_alone{longer, longer.losses};
  cache.put(losses_alone);
  CHECK(cache.count() == 2);
  CHECK(cache.find(wish_of(short_spec(20))));
  CHECK(cache.find(wish_of(short_spec(12), {.end = true})));
}

TEST_CASE("records: one that knows less of a run does not answer for one that knows more") {
  RunCache cache;
  const auto knows = [&](Wish::Numbers numbers) {
    return cache.find(wish_of(short_spec(), numbers)) != nullptr;
  };
  cache.put(trained(short_spec(), 4));
  CHECK(knows({}));
  CHECK(knows({4, Wish::kOnlyAtEnd, true}));
  CHECK(knows({8, 12, true}));
  CHECK_FALSE(knows({1, 0, false}));
  CHECK_FALSE(knows({4, 6, true}));  // at step 6 it was not validated
  cache.put(trained(short_spec(), 0));
  CHECK(cache.count() == 1);
  CHECK(knows({4, 0, true}));
  cache.put(trained(short_spec()));
  CHECK(cache.count() == 1);
  CHECK(knows({1, 12, true}));
  // Measured for a part of its way only.
  const auto run = make_run(short_spec());
  steps(*run, 6);
  run->measure_live(false);
  steps(*run, 3);
  run->measure_live(true);
  steps(*run, 3);
  RunCache partly;
  partly.put(run->record());
  CHECK(partly.find(wish_of(short_spec(), {.end = true})));
  CHECK_FALSE(partly.find(wish_of(short_spec(), {1, 0, true})));
}

TEST_CASE("records: where a run rested on its way is no mark of another's") {
  RunCache cache;
  const auto run = make_run(short_spec(6), 6);
  run->set_budget(12);
  steps(*run, 6);
  run->validation_loss();
  REQUIRE(ends(run->record()) == std::vector<int32_t>{6, 12});
  cache.put(run->record());
  const auto found = cache.find(wish_of(short_spec(), {1, 0, true}));
  REQUIRE(found);
  CHECK(ends(*found) == std::vector<int32_t>{12});
  CHECK(found->history->events() == trained(short_spec()).history->events());
}

TEST_CASE(
    "a run that goes on from a file never answers for one from scratch, unless a store knows whose it is") {
  const Folder folder;
  const std::string file = folder.file("run.safetensors");
  make_run(short_spec(), 5)->save(file);
  const auto run = Run::load(file, small_task(), shared_backend());
  REQUIRE(run->identity().start);
  CHECK(run->identity().start->step == 5);
  steps(*run, 7);
  run->validation_loss();
  RunCache cache;
  cache.put(run->record());
  CHECK_FALSE(cache.find(wish_of(short_spec())));
  CHECK(cache.find({run->identity(), {.end = true}}));
  CHECK(run->identity().from_scratch().key() == wish_of(short_spec()).key());
  CHECK(run->at(0)->identity().key() == wish_of(short_spec()).key());
  CHECK(Run::resume(run->record(), small_task(), shared_backend())->identity().key() ==
        run->identity().key());
  // Another file of the same settings is another run.
  RunSpec other = short_spec();
  make_run(with_fields(other, {{"run.seed", "2"}}), 5)->save(folder.file("other.safetensors"));
  make_run(other, 5)->save(folder.file("again.safetensors"));
  const auto key = [&](const char* name, Run::Word word = Run::Word::OfItself) {
    return Run::load(folder.file(name), small_task(), shared_backend(), word)->identity().key();
  };
  CHECK(key("again.safetensors") == run->identity().key());
  CHECK(key("other.safetensors") != run->identity().key());
  CHECK(key("again.safetensors", Run::Word::OfItsKey) == wish_of(short_spec()).key());
}

TEST_CASE("a fork and the replay of its edits have one verdict, live edits and changed networks alike") {
  for (const auto& [key, value] : {std::pair("train.lr", "0.002"), std::pair("model.placement", "pre")}) {
    INFO(key);
    const RunSpec spec = spec_with("post", {{"train.lr", "0.000001"}, {"train.steps", "400"}});
    const auto source = make_run(spec, 170);
    REQUIRE(source->state() == RunState::Stuck);
    const auto fork = source->fork(with_fields(source->spec(), {{key, value}}));
    const auto replay = make_run(spec);
    replay->schedule_edits(fork->edits());
    steps(*replay, 170);
    for (int i = 0; i < 30; ++i) {
      fork->step();
      replay->step();
      REQUIRE(fork->state() == replay->state());
      REQUIRE(fork->learning_since() == replay->learning_since());
      REQUIRE(fork->record().end->plateau == replay->record().end->plateau);
    }
    if (is_live(key)) CHECK(verdict_of(*fork->history()).kind == verdict_of(*replay->history()).kind);
    CHECK(first_difference(fork->store(), replay->store()) == "");
  }
}

TEST_CASE("a study takes no state of the store whose run was not measured as it asks") {
  using namespace experiments;
  const Folder folder;
  ResultStore store(folder.file("results"));
  const auto start = std::make_shared<const StudyRun>(StudyRun{short_spec()});
  const auto carry_on = [](const Progress&) { return true; };
  const Study tuned{.name = "a test", .runs = {*start, {spec_with("post", {{"run.seed", "2"}}), {}, start}}};
  REQUIRE(train(tuned, store, {}, carry_on).trained ==
          2);  // keeps the start's state, but measures nothing of it
  Study seen{.name = "a test", .runs = {*start}};
  int32_t every = -1;
  seen.on_run = [&](size_t, Run& run) { every = run.measured_every(); };
  CHECK(train(seen, store, {}, carry_on).trained == 1);
  CHECK(every == 1);
  every = -1;
  CHECK(train(seen, store, {}, carry_on).stored == 1);
  CHECK(every == 1);
}

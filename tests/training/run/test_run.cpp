// These tests cover runs: what two of them share, what an edit and a fork do, which states are recognised, and that
// looking changes nothing.
#include <unistd.h>

#include <algorithm>

#include "training/run/run_record.h"
#include "training/support/small_runs.h"

using namespace normscope;
using namespace normscope::test;

namespace {

std::vector<float> weights(Run& run, const std::string& name, Store::Block block = Store::Block::Value) {
  const int32_t index = run.store().find(name);
  REQUIRE(index >= 0);
  return run.store().read(index, block);
}

/// A fork of it with another setting.
std::unique_ptr<Run> forked(Run& run, std::string_view key, std::string_view value) {
  return run.fork(with_fields(run.spec(), {{key, value}}));
}

}  // namespace

TEST_CASE("the same run twice gives the same bits") {
  for (const std::string& preset : preset_names()) {
    INFO(preset);
    const auto a = make_run(small_spec(preset), 12), b = make_run(small_spec(preset), 12);
    CHECK(same_bits(losses(*a), losses(*b)));
    CHECK(first_difference(a->store(), b->store()) == "");
    CHECK(std::isfinite(a->last_loss()));
    CHECK(a->steps_done() == 12);
  }
}

TEST_CASE("any number of threads gives the same bits") {
  const RunSpec spec =
      spec_with("pre", {{"model.dropout_residual", "0.1"}, {"model.dropout_attention", "0.1"}});
  const auto one = make_cpu_backend(1), five = make_cpu_backend(5);
  Run a(spec, small_task(), *one), b(spec, small_task(), *five);
  steps(a, 8);
  steps(b, 8);
  CHECK(same_bits(losses(a), losses(b)));
  CHECK(first_difference(a.store(), b.store()) == "");
}

TEST_CASE("runs of one seed share batches and the initial weights that both have") {
  const auto a = make_run(small_spec("post")), b = make_run(small_spec("post-warmup")),
             c = make_run(small_spec("pre"));
  CHECK(first_difference(a->store(), b->store()) == "");
  int shared = 0;
  for (const ParameterInfo& info : c->store().parameters())
    if (a->store().find(info.name) >= 0) {
      CHECK(same_bits(weights(*a, info.name), weights(*c, info.name)));
      ++shared;
    }
  CHECK(shared >= 20);
  steps(*a, 1);
  steps(*c, 1);
  const auto tokens_a = a->program().tokens("tokens"), tokens_c = c->program().tokens("tokens");
  CHECK(std::ranges::equal(tokens_a, tokens_c));
  const auto other = make_run(small_spec("post", 2));
  CHECK(first_difference(make_run(small_spec("post"))->store(), other->store()) != "");
}

TEST_CASE("looking changes no bit: validation, text, forks, saved specs") {
  const auto watched = make_run(small_spec("admin")), alone = make_run(small_spec("admin"));
  for (int i = 0; i < 10; ++i) {
    watched->validation_loss();
    watched->sample(12);
    watched->write_some(5, 12);
    watched->skip_scales();
    forked(*watched, "model.placement", "pre")->step();
    watched->step();
    alone->step();
  }
  CHECK(same_bits(losses(*watched), losses(*alone)));
  CHECK(first_difference(watched->store(), alone->store()) == "");
}

TEST_CASE("probes on or off: the same bits") {
  const RunSpec spec = small_spec("sandwich");
  const auto task = small_task();
  const auto train = [&](bool probes) {
    auto store = std::make_unique<Store>(shared_backend());
    ModelConfig model = spec.model;
    model.vocabulary = task->vocabulary();
    Tape tape(*store);
    const ModelValues values =
        record_transformer(tape, model, {.batch = 4, .sequence = 16, .training = true, .probes = probes});
    store->materialize(spec.seed);
    Program program = seal(tape, {.loss = values.loss, .update = OpKind::Adam, .clip = true});
    CHECK((program.data().stats.size() > program.data().parameter_order.size() * 3 + 3) == probes);
    for (uint32_t step = 1; step <= 10; ++step) {
      task->batch(spec.seed, step, Split::Train, 4, 16, program.tokens("tokens"), program.tokens("targets"));
      StepInputs inputs{.step = step,
                        .lr = 3e-3f,
                        .bias_correction1 = static_cast<float>(1 - std::pow(0.9, step)),
                        .bias_correction2 = static_cast<float>(1 - std::pow(0.98, step))};
      program.replay(inputs);
    }
    return store;
  };
  const auto with = train(true), without = train(false);
  CHECK(first_difference(*with, *without) == "");
}

TEST_CASE("the rate of each step is the schedule's") {
  const auto run = make_run(small_spec("post-warmup"), 15);
  const Series rate = run->history()->rate();
  for (size_t i = 0; i < 15; ++i)
    CHECK(rate.values[i] ==
          static_cast<float>(learning_rate(run->spec().train.schedule, static_cast<int64_t>(i) + 1)));
}

TEST_CASE("a rate with a target follows the loss, and a run that is resumed goes on with the same") {
  RunSpec spec = small_spec("pre");
  spec.train.schedule.target = 2;
  spec.train.schedule.peak = 0.03f;
  const auto run = make_run(spec);
  CHECK(run->state() == RunState::WarmingUp);
  steps(*run, 5);
  const auto resumed = Run::resume(run->record(), small_task(spec.data), shared_backend());
  CHECK(resumed->warmup_steps() == run->warmup_steps());
  while (run->warmup_steps() > run->steps_done() && run->steps_done() < 1000) steps(*run, 1);
  steps(*run, 5);
  steps(*resumed, run->steps_done() - 5);
  CHECK(first_difference(run->store(), resumed->store()) == "");

  const Series rate = run->history()->rate();
  const float peak = spec.train.schedule.peak;
  CHECK(rate.values[0] == Approx(peak / 100));
  CHECK(rate.values[1] == Approx(peak / 100));  // of the first loss, at which the curve begins
  const auto whole = static_cast<size_t>(run->warmup_steps());
  REQUIRE(whole > 2);
  REQUIRE(whole < 1000);
  CHECK(run->state() != RunState::WarmingUp);
  for (size_t i = 2; i < rate.values.size(); ++i) {
    INFO(i);
    if (i < whole)
      CHECK(rate.values[i] < peak);
    else
      CHECK(rate.values[i] == peak);
  }
}

TEST_CASE("a run whose first loss is below its target has no warm-up, whatever train.warmup says") {
  RunSpec spec = small_spec("pre");
  spec.train.schedule.target = 100;
  spec.train.schedule.warmup = 4;
  const auto run = make_run(spec, 3);
  const Series rate = run->history()->rate();
  CHECK(rate.values[0] == Approx(spec.train.schedule.peak / 100));  // no loss is known yet
  CHECK(rate.values[1] == spec.train.schedule.peak);
  CHECK(rate.values[2] == spec.train.schedule.peak);
  CHECK(run->warmup_steps() == 0);
}

TEST_CASE("live edits act from the next step and replay bitwise") {
  const auto live = make_run(small_spec(), 5);
  live->edit("train.lr", "1e-3");
  steps(*live, 3);
  live->edit("train.warmup", "20");
  live->edit("train.clip", "0.5");
  live->edit("train.label_smoothing", "0.1");
  live->edit("train.clip", "0.5");  // no change, no event
  steps(*live, 6);
  REQUIRE(live->edits().size() == 4);
  CHECK(live->edits()[0] == Edit{6, "train.lr", "0.001"});
  CHECK(live->edits()[3] == Edit{9, "train.label_smoothing", "0.1"});

  const auto replayed = make_run(live->origin());
  replayed->schedule_edits(live->edits());
  steps(*replayed, 14);
  CHECK(replayed->edits() == live->edits());
  CHECK(same_bits(losses(*live), losses(*replayed)));
  CHECK(first_difference(live->store(), replayed->store()) == "");
  CHECK(replayed->spec() == live->spec());

  const auto plain = make_run(small_spec(), 14);
  CHECK(losses(*plain)[5] == losses(*live)[5]);  // the loss is computed before the update
  CHECK(losses(*plain)[6] != losses(*live)[6]);
}

TEST_CASE("edits that cannot be are refused and change nothing") {
  const auto run = make_run(small_spec(), 2);
  CHECK_THROWS_AS(run->edit("model.layers", "3"), Error);
  CHECK_THROWS_AS(run->edit("train.lr", "fast"), Error);
  CHECK_THROWS_AS(run->edit("train.speed", "1"), Error);
  CHECK_THROWS_AS(run->schedule_edits({{2, "train.lr", "1"}}), Error);        // in the past
  CHECK_THROWS_AS(run->schedule_edits({{9, "model.d_model", "15"}}), Error);  // not a multiple of the heads
  CHECK_THROWS_AS(run->schedule_edits({{9, "data.name", "copy"}}), Error);
  CHECK_THROWS_AS(run->schedule_edits({{9, "data.seed", "2"}, {11, "data.seed", "1"}}), Error);  // and back
  CHECK(run->edits().empty());
  CHECK(run->spec() == small_spec());
  RunSpec broken = small_spec();
  broken.train.schedule.kind = Schedule::Kind::LinearDecay;
  broken.train.schedule.end = broken.train.schedule.warmup = 10;
  CHECK_THROWS_AS(make_run(broken), Error);
}

TEST_CASE("a fork keeps by name; norms that moved take gains and moments along") {
  const auto source = make_run(small_spec("post"), 7);
  const auto before = make_run(small_spec("post"), 7);
  const auto fork = forked(*source, "model.placement", "pre");
  CHECK(first_difference(source->store(), before->store()) == "");  // the source is untouched
  CHECK(fork->steps_done() == 7);
  for (Store::Block block : {Store::Block::Value, Store::Block::M, Store::Block::V}) {
    for (const ParameterInfo& info : fork->store().parameters()) {
      INFO(info.name);
      if (source->store().find(info.name) >= 0)
        CHECK(same_bits(weights(*fork, info.name, block), weights(*source, info.name, block)));
    }
    for (std::string place : {"L01.attn", "L01.ffn", "L02.attn", "L02.ffn"})
      for (std::string part : {".gain", ".bias"})
        CHECK(same_bits(weights(*fork, place + ".before" + part, block),
                        weights(*source, place + ".stream" + part, block)));
  }
  CHECK(weights(*fork, "L01.attn.before.gain") != std::vector<float>(16, 1.0f));  // and these were trained
  CHECK(weights(*fork, "final.gain") == std::vector<float>(16, 1.0f));            // new: as at the start
  CHECK(fork->mean_loss(7) == source->mean_loss(7));
  CHECK(fork->history()->loss().values.empty());
  REQUIRE(fork->history()->events().size() == 1);
  CHECK(fork->history()->events()[0].kind == RunEvent::Kind::Forked);
}

TEST_CASE("a fork is its source with edits, bit for bit") {
  for (std::string to : {"pre", "sandwich", "admin", "rezero"}) {
    INFO(to);
    const auto source = make_run(small_spec("post"), 5);
    source->edit("train.lr", "0.002");
    const auto fork = forked(*source, "model.placement", to);
    steps(*source, 3);  // trains on; the fork does not notice
    steps(*fork, 6);
    const auto replayed = make_run(fork->origin());
    replayed->schedule_edits(fork->edits());
    steps(*replayed, 11);
    CHECK(first_difference(fork->store(), replayed->store()) == "");
    const auto tail = losses(*replayed);
    CHECK(tail.size() == 11);
    CHECK(same_bits(losses(*fork), std::vector<float>(tail.begin() + 5, tail.end())));
  }
}

TEST_CASE("several changes between two steps count as the last of them") {
  const auto source = make_run(small_spec("post"), 5);
  const auto bare = forked(*source, "model.placement", "rezero");
  const auto fork = forked(*bare, "model.placement", "pre");
  const auto direct = forked(*source, "model.placement", "pre");
  CHECK(first_difference(fork->store(), direct->store()) == "");
  steps(*fork, 3);
  const auto replayed = make_run(fork->origin());
  replayed->schedule_edits(fork->edits());
  steps(*replayed, 8);
  CHECK(first_difference(fork->store(), replayed->store()) == "");
}

TEST_CASE("forks of one sub-layer, another depth, width and optimizer") {
  const auto source = make_run(small_spec("post"), 4);
  const auto one = forked(*source, "wiring.L02.ffn", "before=ln");
  CHECK(same_bits(weights(*one, "L02.ffn.before.gain"), weights(*source, "L02.ffn.stream.gain")));
  CHECK(same_bits(weights(*one, "L02.attn.stream.gain"), weights(*source, "L02.attn.stream.gain")));
  const auto deep = forked(*source, "model.layers", "3");
  CHECK(same_bits(weights(*deep, "L02.attn.wq"), weights(*source, "L02.attn.wq")));
  CHECK(deep->store().find("L03.attn.wq") >= 0);
  const auto wide = forked(*source, "model.feed_forward", "48");
  CHECK(same_bits(weights(*wide, "L01.attn.wq"), weights(*source, "L01.attn.wq")));
  CHECK(weights(*wide, "L01.ffn.w1").size() == 16 * 48);
  const auto sgd = forked(*source, "train.optimizer", "sgd");
  CHECK(same_bits(weights(*sgd, "L01.attn.wq"), weights(*source, "L01.attn.wq")));
  CHECK(weights(*sgd, "L01.attn.wq", Store::Block::M) == std::vector<float>(16 * 16, 0.0f));
  for (Run* run : {one.get(), deep.get(), wide.get(), sgd.get()}) {
    run->step();
    CHECK(std::isfinite(run->last_loss()));
  }
  RunSpec other = source->spec();
  other.data.data_seed = 9;
  CHECK_THROWS_AS(source->fork(other), Error);
}

TEST_CASE("Admin profiles its first batch, and again when a fork changes the wiring") {
  const auto admin = make_run(small_spec("admin"));
  const std::vector<float> omegas = admin->skip_scales();
  REQUIRE(omegas.size() == 4);
  CHECK(omegas[0] == 1.0f);
  CHECK(omegas[1] > 1.0f);
  const auto source = make_run(small_spec("post"));
  CHECK(source->skip_scales() == std::vector<float>(4, 1.0f));
  steps(*source, 10);
  const auto fork = forked(*source, "model.placement", "admin");
  CHECK(fork->skip_scales()[1] > 1.0f);
  CHECK(fork->skip_scales() != omegas);  // of the present weights
  const auto same = forked(*admin, "train.lr", "0.001");
  CHECK(same->skip_scales() == omegas);  // nothing moved, nothing is measured anew
  CHECK(make_run(small_spec("deepnorm"))->skip_scales()[0] == Approx(std::pow(4.0, 0.25)));
}

TEST_CASE("the history has every learned scale as each step began with it") {
  for (const char* preset : {"admin", "rezero"}) {
    const bool skip = std::string(preset) == "admin";
    const auto run = make_run(small_spec(preset));
    std::vector<std::vector<float>> before;
    for (int i = 0; i < 5; ++i) {
      before.push_back(skip ? run->skip_scales() : run->branch_scales());
      steps(*run, 1);
    }
    const History& history = *run->history();
    const char *learned = skip ? ".skip.mean" : ".branch.mean",
               *constant = skip ? ".branch.mean" : ".skip.mean";
    const char* names[] = {"L01.attn", "L01.ffn", "L02.attn", "L02.ffn"};
    for (size_t place = 0; place < 4; ++place) {
      INFO(preset << " " << names[place]);
      CHECK(history.find(std::string(names[place]) + constant) < 0);
      const Series series = history.series(history.find(std::string(names[place]) + learned));
      REQUIRE(series.values.size() == 5);
      for (size_t i = 0; i < 5; ++i) CHECK(series.values[i] == Approx(before[i][place]).margin(1e-7));
    }
  }
}

TEST_CASE("a learned scale of the branch is reported as it stands now") {
  const auto run = make_run(small_spec("rezero"));
  CHECK(run->branch_scales() == std::vector<float>(4, 0.0f));
  steps(*run, 10);
  for (float alpha : run->branch_scales()) {
    CHECK(std::abs(alpha) > 1e-4f);
    CHECK(std::abs(alpha) < 1.0f);
  }
  CHECK(run->branch_scales()[0] == weights(*run, "L01.attn.branch").at(0));
  CHECK(run->skip_scales() == std::vector<float>(4, 1.0f));
  CHECK(make_run(small_spec("post"))->branch_scales() == std::vector<float>(4, 1.0f));
}

TEST_CASE("states: warming up, learning, finished") {
  const auto run = make_run(small_spec("post-warmup"));
  CHECK(run->state() == RunState::WarmingUp);
  CHECK(std::isnan(run->last_loss()));
  CHECK(std::isnan(run->mean_loss(20)));
  steps(*run, 10);
  CHECK(run->state() == RunState::Training);
  steps(*run, 50);
  CHECK((run->state() == RunState::Finished || run->state() == RunState::Stuck));
  run->set_budget(100);
  CHECK(run->state() != RunState::Finished);
  CHECK(run->edits().empty());
  CHECK(run->history()->events().back().kind == RunEvent::Kind::Finished);
}

TEST_CASE("a run that cannot learn is called stuck") {
  const auto run = make_run(spec_with("pre", {{"train.lr", "0"}, {"train.steps", "200"}}), 150);
  CHECK(run->state() == RunState::Training);
  steps(*run, 1);
  CHECK(run->state() == RunState::Stuck);
  steps(*run, 49);
  CHECK(run->state() == RunState::Stuck);  // the budget does not excuse it
  CHECK(run->plateau_level() == Approx(small_task()->unigram_entropy()));
  run->edit("train.label_smoothing", "0.1");
  CHECK(run->plateau_level() > small_task()->unigram_entropy());
  double smoothed = 0;  // of (1-e) p + e/V, the target's own symbol among the V
  for (const double p : small_task()->unigram()) {
    const double q =
        (1 - static_cast<double>(0.1f)) * p + static_cast<double>(0.1f) / small_task()->vocabulary();
    smoothed -= q * std::log(q);
  }
  CHECK(run->plateau_level() == Approx(smoothed).epsilon(1e-9));
}

TEST_CASE("the first value that is not finite is named, and the run halts there") {
  RunSpec spec = spec_with("none", {{"train.optimizer", "sgd"}, {"train.lr", "100"}});
  const auto run = make_run(spec, 60);
  REQUIRE(run->state() == RunState::NonFinite);
  const NonFiniteReport report = *run->non_finite();
  CHECK(report.step == run->steps_done());
  CHECK(report.step < 60);
  CHECK(report.tensor != "");
  CHECK(run->history()->events().back().kind == RunEvent::Kind::NonFinite);
  CHECK_THROWS_AS(run->fork(spec), Error);

  const auto poisoned = make_run(small_spec("post"));
  poisoned->step();
  change(poisoned->store(), "L02.ffn.w1", [](auto& values) { values[3] = NAN; });
  poisoned->step();
  REQUIRE(poisoned->non_finite());
  CHECK(poisoned->non_finite()->layer == 2);
  CHECK_THAT(poisoned->non_finite()->tensor, Catch::StartsWith("L02.ffn"));
  CHECK(poisoned->non_finite()->step == 2);
}

TEST_CASE("text: as long as asked, the same for the same weights, in portions as in one go") {
  const auto run = make_run(small_spec("pre"), 20);
  const std::string line = run->sample(30);  // longer than the window of 16
  CHECK(line.size() == 30);
  CHECK(run->sample(30) == line);
  CHECK(make_run(small_spec("pre"))->sample(30) != line);
  int portions = 1;
  while (!run->write_some(7, 30)) ++portions;
  CHECK(portions == 5);
  CHECK(run->written() == line);
  const auto task = make_run(spec_with("pre", {{"data.name", "copy"}}));
  CHECK(task->sample(8).size() > 8);  // shows the question too
}

TEST_CASE("validation is fixed and finite") {
  const auto run = make_run(small_spec("pre"));
  CHECK(std::isnan(run->last_validation_loss()));
  const double first = run->validation_loss();
  CHECK(run->validation_loss() == first);
  CHECK(first == Approx(std::log(29.0)).margin(1.5));
  steps(*run, 60);
  CHECK(run->validation_loss() < first);
  CHECK(run->history()->validation().values.size() == 2);  // one a step
}

TEST_CASE("live measurements join the history by name and change no bit of the run") {
  for (const char* preset : {"post", "admin", "pre"}) {
    const auto measured = make_run(small_spec(preset)), plain = make_run(small_spec(preset));
    plain->measure_live(false);
    steps(*measured, 12);
    steps(*plain, 12);
    CHECK(first_difference(measured->store(), plain->store()) == "");
    const History &with = *measured->history(), &without = *plain->history();
    CHECK(same_bits(with.loss().values, without.loss().values));
    REQUIRE(with.layout().size() == without.layout().size());
    for (const char* name :
         {"beta2.4.sum", "beta2.1.0", "beta2.4.4", "L02.attn.token_cosine", "L02.ffn.layer_cosine",
          "L01.attn.attention_entropy", "L02.attn.largest_logit", "L02.attn.first_mass",
          "L02.attn.head.1.logit", "L02.attn.branch.variance", "L02.attn.input.variance"}) {
      INFO(preset << " " << name);
      const Series series = with.series(with.find(name));
      REQUIRE(series.values.size() == 12);
      for (float value : series.values) CHECK(std::isfinite(value));
      CHECK(series.values.front() != series.values.back());
      CHECK(std::isnan(without.series(without.find(name)).values.at(3)));
    }
  }
}

// Any step of a run is reached again, bit for bit, from its keyframes, its edits and its seed.

TEST_CASE(
    "a run at an earlier step is the run as it was: weights, moments, losses, with edits and forks before it") {
  const auto run = make_run(small_spec("post"), 15);
  run->edit("train.lr", "0.002");
  steps(*run, 16);
  const auto forked = run->fork(with_fields(run->spec(), {{"model.placement", "pre"}}));
  steps(*forked, 24);  // at 55
  forked->edit("train.lr", "0.0005");
  steps(*forked, 5);
  CHECK(forked->keyframes() == std::vector<int32_t>{40, 60});
  for (int32_t step : {0, 14, 15, 16, 31, 32, 40, 47, 55, 60}) {
    INFO("step " << step);
    const auto original = trained_straight(small_spec("post"), *forked, step);
    const auto again = forked->at(step);
    CHECK(again->steps_done() == (step >= 60 ? 60 : step >= 40 ? 40 : 0));
    steps(*again, step - again->steps_done());
    CHECK(first_difference(original->store(), again->store()) == "");
    CHECK(again->learning_since() == original->learning_since());
    CHECK(again->edits() == original->edits());
    CHECK(again->history()->loss().steps.empty());
    // and on from there
    steps(*original, 3);
    steps(*again, 3);
    CHECK(first_difference(original->store(), again->store()) == "");
    CHECK(again->history()->loss().steps == std::vector<int32_t>{step + 1, step + 2, step + 3});
    CHECK(
        same_bits({static_cast<float>(original->mean_loss(20))}, {static_cast<float>(again->mean_loss(20))}));
  }
  CHECK_THROWS_AS(forked->at(61), Error);
  CHECK_THROWS_AS(forked->at(-1), Error);
}

TEST_CASE("keyframes keep their budget, the newest, and thin with age") {
  const auto run = make_run(small_spec("pre"));
  const size_t one = 3 * run->store().size() * sizeof(float) + sizeof(Keyframe);
  Keyframes frames;
  frames.set_budget(8 * one);
  for (int32_t step = 1; step <= 2000; ++step) frames.after_step(step, 0, run->store(), {});
  CHECK(frames.bytes() <= 8 * one);
  const std::vector<int32_t> kept = frames.steps();
  REQUIRE(kept.size() == 8);
  CHECK(kept.back() == 2000);
  CHECK(kept.front() <= 1000);
  CHECK(kept[7] - kept[6] < kept[1] - kept[0]);
  CHECK(frames.before(kept.front() - 1) == nullptr);
  CHECK(frames.before(kept[3] + 1)->step == kept[3]);
  frames.set_budget(one);
  CHECK(frames.steps().size() <= 1);
  frames.set_budget(0);
  CHECK(frames.steps().empty());
}

// These tests train the program's first comparison at full size, and try what the diagram promises: moving every norm
// of a stuck run from the residual stream into the branches makes it learn. The comparison has two seeds; the first
// one's runs are also lesson 2's, so where `lessons.check` has trained them already, the store of results has them.
#include "app/cli/study.h"
#include "catch.hpp"
#include "isa_scope.h"
#include "training/data/task.h"
#include "training/experiments/run_store.h"
#include "training/run/run.h"
#include "training/trainer/trainer.h"

using namespace normscope;
using experiments::RunStore;

namespace {

struct StoreFixture {
  std::shared_ptr<RunCache> cache = std::make_shared<RunCache>();
  RunStore store{1, std::make_shared<Trainer>(1, cache), cli::results_folder("")};

  std::unique_ptr<Run> get(const RunSpec& spec) {
    store.get({spec}, {});
    const auto known = cache->find(
        {identity_of(spec, {}, *store.task(spec.data), store.backend()), Wish::Numbers{.end = true}});
    REQUIRE(known);
    return Run::resume(*known, store.task(spec.data), store.backend());
  }
};

void train(Run& run, int steps) {
  for (int i = 0; i < steps; ++i) run.step();
}

// Trains a fresh run until it is stuck and looks sixty steps behind the edit: with all twelve norms
// off the stream it learns; with one of them moved it is where the run itself is, which goes on without an edit.
void check_moved_norms(Run& stuck, const RunSpec& spec) {
  stuck.measure_live(false);  // nobody looks, and it takes a fifth of a step
  train(stuck, 214);
  REQUIRE(stuck.state() == RunState::Stuck);
  RunSpec moved = spec, single = spec;
  for (const std::string& key : wiring_keys(moved))
    if (key.find(".L") != key.npos) set_field(moved, key, "before=ln");
  set_field(single, "wiring.L03.attn", "before=ln");
  const auto all = stuck.fork(moved), one = stuck.fork(single), none = stuck.fork(spec);
  for (Run* run : {all.get(), one.get()})
    CHECK(run->state() == RunState::Training);  // no verdict before another network has losses of its own
  CHECK(none->state() == RunState::Stuck);      // nothing changed: what the losses said still holds
  for (Run* run : {all.get(), one.get()}) {
    run->measure_live(false);
    run->set_budget(1000);
  }
  for (Run* run : {all.get(), one.get(), &stuck}) train(*run, 60);
  CHECK(all->state() == RunState::Learning);
  CHECK(all->learning_since() > 214);
  CHECK(all->mean_loss(20) < stuck.mean_loss(20) - 0.3);
  CHECK(std::abs(one->mean_loss(20) - stuck.mean_loss(20)) < 0.01);
}

}  // namespace

TEST_CASE("without warm-up Post-LN is stuck at letter frequencies where Pre-LN and warm-up learn", "[slow]") {
  StoreFixture trained;
  const auto task = trained.store.task(default_comparison()[0].data);
  for (uint64_t seed : {1, 2}) {
    INFO("seed " << seed);
    const double unigram = unigram_cross_entropy(*task, seed, 251, 301, 16, 64);
    std::vector<std::unique_ptr<Run>> runs;
    for (const RunSpec& spec : default_comparison({}, seed)) {
      if (runs.empty()) {
        // The stuck run is trained here, as it is edited on its way, and then goes on as if nothing had been.
        runs.push_back(std::make_unique<Run>(spec, task, trained.store.backend()));
        check_moved_norms(*runs[0], spec);
        train(*runs[0], spec.train.steps - runs[0]->steps_done());
      } else {
        runs.push_back(trained.get(spec));
      }
      CHECK(runs.back()->steps_done() == 300);
    }
    CHECK(runs[0]->state() == RunState::Stuck);
    CHECK(std::abs(runs[0]->mean_loss(50) - unigram) < 0.05);
    for (size_t i : {1, 2}) {
      CHECK(runs[i]->state() == RunState::Finished);
      CHECK(runs[i]->learning_since() > 0);
      CHECK(runs[i]->mean_loss(50) < unigram - 1);
      CHECK(runs[i]->mean_loss(50) > task->entropy_rate().value());  // no model goes below the floor
    }
    CHECK(runs[2]->learning_since() < runs[1]->learning_since());
  }
}

TEST_CASE("all twelve norms moved off the stream make a stuck run learn on every instruction set", "[slow]") {
  // What a stuck run does much later is luck: seed 1, left alone, leaves the plateau at step 392 on AVX-512 and at 380
  // on AVX2, and on AVX-512 no other seed of five does by step 414. So what is said is said of the 60 steps after the
  // edit: of seed 1 on each instruction set, and of seed 2 on the best one, so that a failure tells the set from the
  // seed; docs/design.md has five seeds on three sets. The best set's two are those above.
  const std::vector<std::string> isas = cpu::available_isas();
  for (size_t i = 1; i < isas.size(); ++i) {
    INFO(isas[i] << ", seed 1");
    const test::IsaScope scope(isas[i]);
    RunStore store(1);
    const RunSpec spec = default_comparison({}, 1)[0];
    Run stuck(spec, store.task(spec.data), store.backend());
    check_moved_norms(stuck, spec);
  }
}

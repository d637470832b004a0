// These tests cover Run::step_along: the loss of a step's batch, had the step been made at other rates.
#include "catch.hpp"
#include "engine/support/limited_backend.h"
#include "training/run/critical_rate.h"
#include "training/support/small_runs.h"

namespace normscope::test {

TEST_CASE("one step at other rates: its losses begin at the run's own, and no bit of the run changes",
          "[critical][step_along]") {
  const std::vector<RunSpec> specs = {
      spec_with("post", {{"model.dropout_residual", "0.1"}, {"model.dropout_attention", "0.1"}}),
      spec_with("pre", {{"train.optimizer", "momentum"}, {"train.clip", "0.5"}, {"train.warmup", "10"}}),
      spec_with("admin", {{"train.optimizer", "adamw"}, {"train.critical_every", "3"}})};
  for (const RunSpec& spec : specs) {
    INFO(default_name(spec));
    const auto plain = make_run(spec), run = make_run(spec);
    steps(*plain, 12);
    steps(*run, 6);
    const double rate = learning_rate(spec.train.schedule, 7);
    const std::vector<double> rates{0, rate / 2, rate, 3 * rate};
    const std::vector<double> losses = run->step_along(rates);
    CHECK(run->take_notice().empty());
    REQUIRE(losses.size() == rates.size());
    CHECK(static_cast<float>(losses[0]) == run->history()->loss().values[6]);
    CHECK(losses[1] != losses[0]);
    CHECK(losses[3] != losses[2]);
    steps(*run, 5);
    CHECK(first_difference(plain->store(), run->store()) == "");
    CHECK(same_bits(plain->history()->loss().values, run->history()->loss().values));
  }
}

TEST_CASE("one step at other rates: it crosses the loss before the step where the critical rate says",
          "[critical][step_along]") {
  for (RunSpec spec : {spec_with("post", {{"train.optimizer", "sgd"}, {"train.lr", "0.1"}}),
                       spec_with("pre", {{"train.lr", "0.02"}, {"train.warmup", "10"}})}) {
    spec.model.activation = Activation::Gelu;
    spec.train.critical_every = 1;
    INFO(default_name(spec));
    const auto look = make_run(spec), run = make_run(spec);
    steps(*look, 2);
    steps(*run, 1);
    const double critical = critical_of(*look);
    // The bracket that bisection leaves around it, and a place half-way down.
    const std::vector<double> losses =
        run->step_along(std::vector<double>{0, critical / 2, critical / kBracket, critical * kBracket});
    CHECK(losses[1] < losses[0]);
    CHECK(losses[2] <= losses[0]);
    CHECK(losses[3] > losses[0]);
    CHECK(critical_of(*run) == critical);
  }
}

TEST_CASE("one step at other rates: refused without rates, without an update and of a broken run",
          "[critical][step_along]") {
  const auto run = make_run(spec_with("pre", {}));
  CHECK_THROWS_WITH(run->step_along({}), "[rates] there are none: expected one at least");
  CHECK(run->steps_done() == 0);
  run->edit("train.lr", "0");
  CHECK_THROWS_WITH(run->step_along(std::vector<double>{0, 0.1}),
                    "[step] it has no update: expected a learning rate above 0");
  const auto wild = make_run(spec_with("post", {{"train.optimizer", "sgd"}, {"train.lr", "100"}}));
  for (int step = 0; step < 50 && !wild->non_finite(); ++step) wild->step();
  REQUIRE(wild->non_finite());
  CHECK_THROWS_WITH(wild->step_along(std::vector<double>{0}),
                    "[step] the run is not finite: expected one that can make a step");
}

TEST_CASE("one step at other rates: without memory the step is made, and the losses are refused",
          "[critical][step_along]") {
  const auto plain = make_run(small_spec("post"));
  LimitedBackend limited;
  Run run(small_spec("post"), small_task(), limited);
  const size_t before = limited.taken();
  limited.refuse_memory = [] { throw Error("[memory] 3 MB cannot be allocated: expected a smaller model"); };
  CHECK_THROWS_WITH(run.step_along(std::vector<double>{0, 0.1}),
                    Catch::Contains("[step] no other rate was tried: ") && Catch::Contains("3 MB"));
  limited.refuse_memory = nullptr;
  CHECK(run.step_along(std::vector<double>{0, 0.1}).size() == 2);
  CHECK(limited.taken() == before);  // the copy is gone
  steps(*plain, 2);
  CHECK(first_difference(plain->store(), run.store()) == "");
}

}  // namespace normscope::test

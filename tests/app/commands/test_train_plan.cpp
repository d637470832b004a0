// These tests cover the memory plan of a run, its refusal, and the profile of its step.
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "training/measure/step/profile.h"
#include "training/run/footprint.h"
#include "training/run/run.h"

using namespace normscope;
using namespace normscope::test;

TEST_CASE("the plan is what the program then takes, and it allocates nothing") {
  RunSpec spec = preset_run("pre");
  spec.data.context = spec.model.sequence;
  const std::shared_ptr<const Task> task = make_task(spec.data);
  const std::unique_ptr<Backend> backend = make_cpu_backend(2);
  Run run(spec, task, *backend);
  const Footprint need = footprint_of(run.spec(), *task, *backend);
  const MemoryPlan& plan = run.program().data().plan;
  CHECK(need.parameters == 4 * run.store().size());
  CHECK(need.optimizer == 8 * run.store().size());
  CHECK(need.activations == 4 * plan.activations);
  CHECK(need.gradients == 4 * plan.gradients);
  CHECK(need.workspace == 4 * (plan.inputs + plan.workspace));
  REQUIRE(!need.largest.empty());
  CHECK(need.largest.front().bytes >= need.largest.back().bytes);
}

TEST_CASE("shares of a profile sum to one and every node is in it") {
  RunSpec spec = preset_run("pre");
  spec.data.context = spec.model.sequence;
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  Run run(spec, make_task(spec.data), *backend);
  run.step();
  const auto rows = profile(run.program(), StepInputs{}, 3);
  CHECK(rows.size() == run.program().data().instructions.size());
  double sum = 0, flop = 0;
  std::map<Phase, int> phases;
  for (const InstructionProfile& row : rows) {
    CHECK(row.seconds >= 0);
    sum += row.share;
    flop += row.cost.flop;
    ++phases[row.phase];
  }
  CHECK(sum == Approx(1.0));
  CHECK(phases.size() == 3);
  CHECK(flop == Approx(step_flop(run.spec().model, run.spec().train.batch)));
}

TEST_CASE("a run that does not fit the machine is refused with the largest tensors") {
  const std::string huge =
      "train --preset pre --set model.layers=24 --set model.d_model=1024 --set model.feed_forward=8192 "
      "--set model.sequence=512 --set train.batch=4096 ";
  for (const std::string option : {"", "--plan"}) {
    const Outcome outcome = run_program(huge + option);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 7);
    CHECK(outcome.out.find("largest tensors") != std::string::npos);
    CHECK(outcome.err.find("this machine has") != std::string::npos);
  }
  CHECK(run_program("train --preset pre --plan").code == 0);
}

TEST_CASE("a run reuses gradients as its plan says, and takes the same steps without") {
  RunSpec spec = preset_run("pre");
  spec.data.context = spec.model.sequence;
  const std::shared_ptr<const Task> task = make_task(spec.data);
  const std::unique_ptr<Backend> backend = make_cpu_backend(2);
  Run run(spec, task, *backend);
  const Footprint need = footprint_of(run.spec(), *task, *backend);
  CHECK(need.gradients == 4 * run.program().data().plan.gradients);
  set_field(spec, "train.reuse_gradients", "false");
  Run keep(spec, task, *backend);
  for (int i = 0; i < 3; ++i) {
    run.step();
    keep.step();
  }
  CHECK(run.last_loss() == keep.last_loss());
  CHECK(run.history()->loss().values == keep.history()->loss().values);
}

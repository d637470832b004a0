// These tests cover what normscope train says of a run: its plan, its profile, its verdict. The rest of the command:
// answers/command-line.txt.
#include "app/commands/run_log.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "training/files/config_file.h"
#include "training/measure/step/profile.h"
#include "training/run/footprint.h"
#include "training/run/run.h"
#include "training/support/tiny.h"

using namespace normscope;

// The memory plan of a run, and the profile of its step.

TEST_CASE("the plan is what the program then takes, and it reuses gradients to the same bits") {
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
  set_field(spec, "train.reuse_gradients", "false");  // takes the same steps
  Run keep(spec, task, *backend);
  for (int i = 0; i < 3; ++i) {
    run.step();
    keep.step();
  }
  CHECK(run.last_loss() == keep.last_loss());
  CHECK(run.history()->loss().values == keep.history()->loss().values);
}

TEST_CASE("shares of a profile sum to one and every node is in it") {
  RunSpec spec = preset_run("pre");
  spec.data.context = spec.model.sequence;
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  Run run(spec, make_task(spec.data), *backend);
  run.step();
  const auto rows = profile(run.program(), StepInputs{.lr = 0}, 3);
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

// Encoders and encoder-decoders on the command line and in files. Fine-tuning on labels: tests/refusals/saved-run.txt.

TEST_CASE("a configuration holds an encoder-decoder with wirings of its own") {
  ConfigRun run;
  run.spec = test::with_fields({}, {{"model.architecture", "encoder-decoder"},
                                    {"data.name", "translation"},
                                    {"model.encoder_layers", "3"},
                                    {"model.encoder_placement", "pre"},
                                    {"wiring.enc.L02.ffn", "before=rms"},
                                    {"wiring.dec.L01.cross", "before=ln after=ln"}});
  const std::vector<ConfigRun> runs = {run};
  const std::string text = write_config(runs);
  INFO(text);
  const auto back = parse_config(text, "both.toml");
  REQUIRE(back.size() == 1);
  CHECK(back[0].spec == run.spec);
  const auto placed =
      parse_config("[data]\nlabels = \"p.tsv\"\nvalid = \"/v.tsv\"\n[model]\narchitecture = \"encoder\"\n",
                   "x.toml", "/folder");
  CHECK(placed[0].spec.data.labels_path == "/folder/p.tsv");
  CHECK(placed[0].spec.data.valid_path == "/v.tsv");
}

TEST_CASE("what learned the language alone and not from its sources does not count as learning") {
  RunSpec spec;
  complete(spec);
  const auto task = make_task(spec.data);
  History history(std::vector<StatInfo>{{"loss", 0}});
  history.append(1, 2.1, 1e-3, std::vector<double>{2.1});
  const auto verdict = [&](double source_use) {
    return commands::result_of({'A', 1}, spec, {}, RunState::Learning, history, *task, 2.1, 0, source_use)
        .verdict_text();
  };
  CHECK(verdict(0) == "not decided");
  history.add_event({1, RunEvent::Kind::LeftPlateau, ""});
  CHECK(verdict(0) == "ignores the source");
  CHECK(verdict(0.09) == "ignores the source");
  CHECK(verdict(0.11) == "learns since step 1");
  CHECK(verdict(std::nan("")) == "learns since step 1");  // reads no source
}

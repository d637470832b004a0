// These tests run normscope average.
#include "app/cli/options.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "training/run/run.h"
#include "training/session/analysis.h"

using namespace normscope;
using namespace normscope::test;

TEST_CASE("average: the mean of kept states is a run that goes on") {
  const Folder folder;
  const std::string config = folder.write("tiny.toml", std::string(kTiny) + "[run]\nname = \"small\"\n"),
                    run = folder.file("x.safetensors"), out = folder.file("mean.safetensors");
  REQUIRE(run_program("train --config " + config + " --save " + run + " --save-every 4 --keep 2").code == 0);
  const std::string kept = folder.file("x-000008.safetensors") + " " + folder.file("x-000012.safetensors");
  const Outcome outcome = run_program("average " + kept + " --out " + out);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "mean weights of 2 states, step 12"));
  const auto loss = [&](const std::string& file) {
    const std::unique_ptr<Backend> backend = make_cpu_backend(1);
    return loss_without(*Run::load(file, cli::task_of(Run::saved_spec(file)), *backend), {});
  };
  const double mean = loss(out), last = loss(run), earlier = loss(folder.file("x-000008.safetensors"));
  CHECK(mean != last);
  CHECK(mean == Approx((last + earlier) / 2).margin(0.2));
  CHECK(run_program("train --resume " + out + " --steps 15").code == 0);
  CHECK(loss(run) == last);
}

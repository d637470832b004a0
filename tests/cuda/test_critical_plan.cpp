// What the critical rate takes of a device is in the plan, which is made before anything is allocated. A recording fake
// of the driver counts memory and computes nothing.
#include "catch.hpp"
#include "cuda/fake_driver.h"
#include "engine/cuda/backend_cuda.h"
#include "training/run/footprint.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

/// Counts the bytes that the plan of a run grows by with the critical rate.
size_t planned_for_it(RunSpec spec, const Task& task, Backend& backend) {
  spec.train.critical_every = 0;
  const size_t without = footprint_of(spec, task, backend).peak();
  spec.train.critical_every = 1;
  return footprint_of(spec, task, backend).peak() - without;
}

}  // namespace

TEST_CASE("cuda host: the plan counts what the critical rate takes of a device", "[cuda]") {
  for (const char* reuse : {"true", "false"}) {
    INFO("train.reuse_gradients = " << reuse);
    const auto driver = std::make_shared<FakeDriver>();
    const auto backend = cuda::make_backend(driver, {});
    RunSpec spec = small_spec("pre");
    set_field(spec, "train.batch", "64");  // so that what the program takes is most of it
    set_field(spec, "model.sequence", "64");
    set_field(spec, "train.reuse_gradients", reuse);
    Run run(spec, small_task(), *backend);
    run.step();
    const size_t before = driver->memory_left;
    run.edit("train.critical_every", "1");
    run.step();
    const size_t taken = before - driver->memory_left;
    CHECK(taken > size_t{2} << 20);
    const size_t planned = planned_for_it(run.spec(), run.task(), *backend);
    CHECK(planned >= taken);
    CHECK(planned < 2 * taken);
    // On the CPU programs share their memory where that is asked for, and the plan of a device must not say so.
    const size_t shared = planned_for_it(run.spec(), run.task(), shared_backend());
    CHECK((shared < taken) == (std::string(reuse) == "true"));
    run.edit("train.critical_every", "0");
    CHECK(driver->memory_left == before);
  }
}

}  // namespace normscope::test
